"""Bodies and limbs that hold one pose: each takes (clips, dose, generator) and gives a planted clip, or None.

The dose is what results, computed plainly from the planted clip; a draw that misses it by more than 5 %, or
that has no room for it, is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.rows import pick, planted
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

__all__ = ["held_body", "held_pose", "padded", "stiff_limb"]

NEAR: Final = 0.05
DEAD_STOP: Final = 0.3
"""rad/s of the fastest joint over the 1/30 s before a stop; the gate asks for 0.2."""
STILL: Final = 1e-3
"""rad within 0.2 s of the liveliest joint; the gate calls 5e-4 held."""
LIMBS: Final = {
    "left arm": ("left_shoulder", "left_elbow", "left_wrist"),
    "right arm": ("right_shoulder", "right_elbow", "right_wrist"),
    "left leg": ("left_hip", "left_knee", "left_ankle"),
    "right leg": ("right_hip", "right_knee", "right_ankle"),
}


def held_pose(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """All joints of a retargeted clip hold one pose for ``dose`` s somewhere in between."""
    base = pick(bases, rng)
    a, b = _stretch(base, dose, rng)
    if a < 3:
        return None
    x = np.array(base.state.x, np.float64)
    x[a : b + 1] = x[a]
    if (x[a] == x[a - 1]).all() or (x[b] == x[b + 1]).all():
        return None
    return planted(base.ep.with_stream(replace(base.state, x=x)), base.state, a, b, "held")


def held_body(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """State and request of a teleoperated clip stop dead amid a move and hold for ``dose`` s."""
    base = pick(bases, rng)
    a, b = _stretch(base, dose, rng)
    if a < 6:
        return None
    state, action = (np.array(s.x, np.float64) for s in (base.state, base.action))
    rate = float(base.state.rate or 30)
    before, last = (np.abs(state[a - i] - state[a - i - 1]) * rate for i in (1, 0))
    if not ((last >= DEAD_STOP) & (last > 0.8 * before) & (before > 0)).any():
        return None
    state[a : b + 1], action[a : b + 1] = state[a], action[a]
    ep = base.ep.with_stream(replace(base.state, x=state)).with_stream(replace(base.action, x=action))
    return planted(ep, base.state, a, b, "held")


def padded(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """One pose fills ``dose`` of a retargeted clip, at its start or at its end."""
    base = pick(bases, rng)
    n = base.rows
    k = round(dose * (n - 1))
    if k < 1 or abs(k / (n - 1) - dose) > NEAR * dose:
        return None
    a, b = (0, k) if rng.integers(2) else (n - 1 - k, n - 1)
    x = np.array(base.state.x, np.float64)
    x[a : b + 1] = x[b if a == 0 else a]
    return planted(base.ep.with_stream(replace(base.state, x=x)), base.state, a, b, "padded")


def stiff_limb(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """An arm or leg is 0 throughout while the liveliest other joint ranges over ``dose`` rad."""
    base = pick(bases, rng)
    name = list(LIMBS)[int(rng.integers(len(LIMBS)))]
    mine = np.array([any(part in channel for part in LIMBS[name]) for channel in base.state.names])
    x = np.array(base.state.x, np.float64)
    range_ = float(np.ptp(x[:, ~mine], axis=0).max())
    if mine.sum() < 4 or range_ < dose:
        return None
    x = x[0] + (x - x[0]) * dose / range_
    x[:, mine] = 0.0
    fifth = max(2, round(0.2 * float(base.state.rate or 30)))
    if np.abs(x[fifth:] - x[:-fifth]).max(axis=1).min() < STILL:
        return None  # so little is left of the motion that the whole body is held somewhere
    return planted(base.ep.with_stream(replace(base.state, x=x)), base.state, 0, base.rows - 1, name)


def _stretch(base: Base, dose: float, rng: Rng) -> tuple[int, int]:
    """First and last row of ``dose`` s amid a clip; -1 where it has no room or no such number of rows."""
    t: NDArray[np.int64] = base.state.t
    rate = float(base.state.rate or 30)
    k = round(dose * rate)
    if k < 1 or abs(k / rate - dose) > NEAR * dose or len(t) < k + 16:
        return -1, -1
    a = int(rng.integers(7, len(t) - k - 8))
    return a, a + k
