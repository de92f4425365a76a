"""Whether limbs keep to their own side: an elbow outside its shoulder, a left knee left of the right one.

Left read for right turns every roll round: elbows go into the trunk and knees cross. On 23 retargeted and 14
teleoperated clips of a G1 no elbow is ever 2 cm further in than its shoulder and no knees are closer than a
third of their distance at rest; read the wrong way round, elbows are in 16 to 97 % of the frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.body import normalise
from assay.embodiment.kinematics import compiled, points

__all__ = ["Markers", "astray", "markers"]

Floats = NDArray[np.float64]

INWARD: Final = 0.02
"""m that an elbow lies further in than its shoulder."""
CLOSE: Final = 1 / 3
"""Of the knees' distance at rest."""
_PAIRS: Final = (("arm", "elbow"), ("leg", "knee"))


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Links whose origins tell sides.

    Attributes:
        links: left root, right root, left middle, right middle of the arms, of the legs, or of both.
        parts: which of ``arm`` and ``leg`` they are of, four links each.
        apart: m, distance of the knees at rest.
    """

    links: tuple[str, ...]
    parts: tuple[str, ...]
    apart: float


def markers(body: Embodiment, joint: NDArray[np.intp]) -> Markers:
    """The markers of a body of which the joints (c,) are recorded; none where a limb has no known middle."""
    tree = body.tree
    links: list[str] = []
    parts: list[str] = []
    for part, middle in _PAIRS if tree is not None else ():
        assert tree is not None
        left, right = (_limb(body, tree, part, middle, side) for side in ("left", "right"))
        if left and right and _recorded(tree, [left[1], right[1]], joint):
            links += [left[0], right[0], left[1], right[1]]
            parts.append(part)
    return Markers(tuple(links), tuple(parts), _apart(tree, links, parts))


def astray(x: Floats, index: NDArray[np.intp], part: str, apart: float) -> Floats:
    """Share of moments in which limbs leave their side, mean of both for arms; (a,).

    Args:
        x: (n, k, 3) m, places in any one frame a moment.
        index: (a, 4) which of them are the four markers of a part, see `Markers.links`.
        part: ``arm`` or ``leg``.
        apart: m, see `Markers`.
    """
    found = np.empty(len(index))
    signature = "void(float64[:,:,::1], int64[:,::1], boolean, float64, float64[::1])"
    compiled(_astray, signature)[0](x, index, part == "arm", CLOSE * apart, found)
    return found


# Where middles are along the line from the right root to the left one.
def _astray(x, index, arm, close, found):  # type: ignore[no-untyped-def]
    for r in range(len(index)):
        count, n = 0, len(x)
        for t in range(n):
            left, right = x[t, index[r, 0]], x[t, index[r, 1]]
            far_left, far_right = x[t, index[r, 2]], x[t, index[r, 3]]
            size, out_left, out_right, between = 0.0, 0.0, 0.0, 0.0
            for e in range(3):
                across = left[e] - right[e]
                size += across * across
                out_left += (far_left[e] - left[e]) * across
                out_right -= (far_right[e] - right[e]) * across
                between += (far_left[e] - far_right[e]) * across
            size = max(math.sqrt(size), 1e-9)
            if arm:
                count += (out_left / size < -INWARD) + (out_right / size < -INWARD)
            else:
                count += between / size < close
        found[r] = count / (2 * n if arm else n)


def _limb(body: Embodiment, tree: Tree, part: str, middle: str, side: str) -> tuple[str, str] | None:
    """The first link that a limb's joints move, and the one that its elbow or knee does."""
    mine = {j.name for j in body.joints if j.part == part and j.side == side}
    moved = [link for link, carrier in zip(tree.links, tree.carrier, strict=True) if carrier in mine]
    bent = [link for link in moved if middle in normalise(tree.carrier[tree.index(link)])]
    return (moved[0], bent[0]) if bent else None


def _recorded(tree: Tree, links: list[str], joint: NDArray[np.intp]) -> bool:
    above = tree.ancestors(np.array([tree.index(link) for link in links]))
    return set(tree.column[above].tolist()) - {-1} <= set(joint.tolist())


def _apart(tree: Tree | None, links: list[str], parts: list[str]) -> float:
    if tree is None or "leg" not in parts:
        return 0.0
    knees = links[4 * parts.index("leg") + 2 :][:2]
    x = points(tree, np.zeros((1, len(tree.joints))), None, None, knees, np.zeros((2, 3)))[0]
    return float(np.linalg.norm(x[0] - x[1]))
