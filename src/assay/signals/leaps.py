"""How far a base moves at once beyond what it did just before and just after: a jump, and no motion."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.rotation import compose
from assay.signals.feet import WINDOW, displaced, length
from assay.signals.intervals import period

__all__ = ["beyond"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

ROUNDING: Final = 1000
"""ns by which stamps of a nominal clock may be off."""
TINY: Final = 1e-6
"""A quaternion shorter than this, half-way between opposite ones, is no rotation."""


def beyond(t: Int64, place: Floats, window: float = WINDOW) -> tuple[Floats, Floats]:
    """What the base's move over one window is beyond the window before and the one after; of both the less.

    A body that is hit, lands or sets off changes its speed once, and its neighbours explain that, but for
    half of the change within the one window that it falls into; a body that is elsewhere from one frame to
    the next is explained by neither. The same motion reads the same at every rate above 1/window; where
    frames are further apart they are the window, and what is read is brought to the window as an acceleration
    would be, by the square of time.

    Args:
        t: (n,) int64 ns, real times, not decreasing.
        place: (n, 7) m and wxyz.
        window: s.

    Returns:
        (n,) m and (n,) rad of the windows that end with each row; NaN before the first whole window, where
        the base is not known, and where there is no neighbour to be held to.
    """
    over = max(window, period(t) * 1e-9)
    quat = _straight(place[:, 3:])
    way = displaced(t, place[:, :3], over)
    turn = _turned(quat - displaced(t, quat, over), quat)
    row = np.arange(len(t))
    ago = np.minimum(np.searchsorted(t, t - round(over * 1e9) - ROUNDING), row - 1)
    on = np.maximum(np.searchsorted(t, t + round(over * 1e9) - ROUNDING), row + 1)
    metres, radians = [], []
    for at in (ago, on):
        there = (at >= 0) & (at < len(t))
        i = np.where(there, at, 0)
        metres.append(np.where(there, length(way - way[i]), np.nan))
        radians.append(np.where(there, _apart(turn, turn[i]), np.nan))
    scale = (window / over) ** 2
    return np.fmin(*metres) * scale, np.fmin(*radians) * scale


def _straight(quat: Floats) -> Floats:
    """Quaternions (n, 4) of which none is the negative of its neighbour's side, so that they interpolate."""
    against = (quat[1:] * quat[:-1]).sum(axis=1) < 0
    return quat * np.concatenate(([1.0], np.cumprod(np.where(against, -1.0, 1.0))))[:, None]


def _turned(a: Floats, b: Floats) -> Floats:
    """The rotations (n, 4) that turn a into b, seen from the world."""
    made = compose(b, a * np.array([1.0, -1.0, -1.0, -1.0]))
    size = np.sqrt((made * made).sum(axis=1))
    return made / np.where(size > TINY, size, np.nan)[:, None]


def _apart(a: Floats, b: Floats) -> Floats:
    """The angle between rotations (n, 4), rad."""
    return np.asarray(2.0 * np.arccos(np.clip(np.abs((a * b).sum(axis=1)), 0.0, 1.0)))
