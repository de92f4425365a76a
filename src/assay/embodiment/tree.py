"""A body's kinematic tree as arrays over its links, parents first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.rotation import matrix

__all__ = ["FIXED", "FREE", "HINGE", "SLIDE", "Tree"]

FIXED: Final = 0
HINGE: Final = 1
SLIDE: Final = 2
FREE: Final = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Links and the joints that carry them; link i hangs on its parent by joint i.

    Frames are those of URDF and MJCF: at zero, link i sits in its parent's frame at ``p``, turned by
    ``quat``; a hinge then turns it about ``axis``, a slide shifts it along ``axis``, both given in the link's
    own frame. The value that moves it is ``gain * q[column] + offset``, so that mimic joints read another
    joint's column.

    Attributes:
        links: L names; the first is the root, the only one without a parent.
        joints: n names of the columns of q, in order: the joints that move by themselves.
        carrier: L names of the joint above each link; empty for the root.
        parent: (L,) index of the parent, -1 for the root; always smaller than the link's own index.
        kind: (L,) FIXED, HINGE or SLIDE; FREE for a root that the model lets float. A root of another kind
            still takes the base pose that kinematics are asked for.
        p: (L, 3) m, quat: (L, 4) wxyz: placement in the parent.
        axis: (L, 3) unit vector in the link's frame; zero where nothing moves.
        column: (L,) index into q, -1 where nothing moves.
        gain, offset: (L,) see above; 1 and 0 for a joint that moves by itself.
        mass: (L,) kg, com: (L, 3) m and inertia: (L, 3, 3) kg m^2 about com, both in the link's axes; NaN
            where the model does not say.
    """

    links: tuple[str, ...]
    joints: tuple[str, ...]
    carrier: tuple[str, ...]
    parent: NDArray[np.int64]
    kind: NDArray[np.int64]
    p: Floats
    quat: Floats
    axis: Floats
    column: NDArray[np.int64]
    gain: Floats
    offset: Floats
    mass: Floats
    com: Floats
    inertia: Floats

    @property
    def R(self) -> Floats:  # noqa: N802  # the letter of every formula
        """(L, 3, 3) rotation of each link's placement in its parent."""
        return matrix(self.quat)

    @property
    def floating(self) -> bool:
        """Whether the model itself says that its root floats."""
        return bool(self.kind[0] == FREE)

    def index(self, link: str) -> int:
        """The index of a link by name.

        Raises:
            KeyError: if the tree has no such link.
        """
        try:
            return self.links.index(link)
        except ValueError:
            raise KeyError(link) from None

    def ancestors(self, links: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sorted indices of the given links and of all that they hang on."""
        wanted = np.zeros(len(self.links), bool)
        wanted[links] = True
        for i in range(len(self.links) - 1, 0, -1):
            wanted[self.parent[i]] |= wanted[i]
        return np.flatnonzero(wanted)
