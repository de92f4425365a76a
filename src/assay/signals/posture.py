"""Where the links that feet and hands need are, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Poses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Poses of feet and hands over one clip.

    Attributes:
        t: (n,) int64 ns; timed: whether these are real times, or only the order of frames (no rate known).
        stream: name of the joints; base: name of the base pose, empty where there is none to use.
        why: why there is no base, in a few words.
        soles: side → (n, k, 3) m in the world, undersides of the sole's points; empty without a base.
        world: link → (p (n, 3) m, quat (n, 4) wxyz) of each hand's link in the world; empty without a base.
        torso: link → the same in the frame of the link that all arms hang on.
    """

    t: NDArray[np.int64]
    timed: bool
    stream: str
    base: str
    why: str
    soles: dict[str, Floats]
    world: dict[str, tuple[Floats, Floats]]
    torso: dict[str, tuple[Floats, Floats]]

    def lowest(self, side: str) -> Floats:
        """(n,) m: height of the lowest sole point of one foot."""
        return np.asarray(self.soles[side][..., 2].min(axis=1))
