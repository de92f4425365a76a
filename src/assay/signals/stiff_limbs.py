"""Arms and legs that hold one pose exactly throughout a clip in which the rest of the body moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Limb", "limbs"]

FEW: Final = 4
"""Joints of the shortest arm that public humanoid data have: shoulder (3) and elbow."""


@dataclass(frozen=True, slots=True)
class Limb:
    """One arm or leg of which at least four joints are recorded.

    Attributes:
        name: e.g. ``left arm``.
        travel: rad, the largest range of any other joint while all of this limb's are constant; else 0.
    """

    name: str
    travel: float


def limbs(
    x: NDArray[np.float64], part: NDArray[np.str_], side: NDArray[np.str_], equal: float, *, carried: bool
) -> list[Limb]:
    """Every arm and leg, and how far the rest of the body moves while it is stiff.

    Legs that are both constant are those of a body that stands, of which only the upper half was retargeted;
    they count where the base is carried along over them.

    Args:
        x: (n, j) rad, one column a joint.
        part: (j,) of the body's joints.
        side: (j,) left, right or neither.
        equal: rad, the range of a constant joint at most. NaN is no constant.
        carried: whether the base moves.
    """
    if len(x) < 2:
        return []
    span = np.ptp(x, axis=0)
    found = {(p, s): np.asarray((part == p) & (side == s)) for p in ("arm", "leg") for s in ("left", "right")}
    found = {key: mine for key, mine in found.items() if np.count_nonzero(mine) >= FEW}
    stiff = {key: bool((span[mine] <= equal).all()) for key, mine in found.items()}
    stands = not carried and all(stiff.get(("leg", s), True) for s in ("left", "right"))
    return [
        Limb(f"{s} {p}", float(np.nanmax(span[~mine], initial=0.0)) if stiff[p, s] else 0.0)
        for (p, s), mine in found.items()
        if not (p == "leg" and stands)
    ]
