"""How far a base moves at once beyond what it did just before and just after: a jump, and no motion."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.feet import WINDOW, displaced
from assay.signals.intervals import period
from assay.signals.loops import ready, whole
from assay.signals.walked import steady

__all__ = ["beyond", "speeds"]

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
    place = steady(place)
    metres, radians = np.empty(len(t)), np.empty(len(t))
    signature = "void(int64[::1], float64[:,::1], float64[:,::1], int64, float64, float64[::1], float64[::1])"
    compiled(_beyond, signature)[0](
        whole(t), place, displaced(t, place, over), round(over * 1e9), (window / over) ** 2,
        metres, radians,
    )  # fmt: skip
    return metres, radians


# The rotation over a window is that from where the base was, seen from the world.
def _beyond(t, place, moved, over, scale, metres, radians):  # type: ignore[no-untyped-def]
    n, ago, on = len(t), 0, 0
    turn = np.empty((n, 4))
    for i in range(n):
        w, x, y, z = place[i, 3], place[i, 4], place[i, 5], place[i, 6]
        a, b, c, d = w - moved[i, 3], moved[i, 4] - x, moved[i, 5] - y, moved[i, 6] - z
        turn[i, 0], turn[i, 1] = w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c
        turn[i, 2], turn[i, 3] = w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a
        size = 0.0
        for e in range(4):
            size += turn[i, e] * turn[i, e]
        size = math.sqrt(size)
        for e in range(4):
            turn[i, e] = turn[i, e] / size if size > TINY else math.nan
    for i in range(n):
        while ago < n and t[ago] < t[i] - over - ROUNDING:
            ago += 1
        while on < n and t[on] < t[i] + over - ROUNDING:
            on += 1
        metres[i], radians[i] = math.nan, math.nan
        for at in (min(ago, i - 1), max(on, i + 1)):
            if at < 0 or at >= n:
                continue
            way, alike = 0.0, 0.0
            for e in range(3):
                way += (moved[i, e] - moved[at, e]) ** 2
            for e in range(4):
                alike += turn[i, e] * turn[at, e]
            way = math.sqrt(way)
            apart = 2.0 * math.acos(min(abs(alike), 1.0)) if not math.isnan(alike) else math.nan
            metres[i] = way if way < metres[i] or math.isnan(metres[i]) else metres[i]
            radians[i] = apart if apart < radians[i] or math.isnan(radians[i]) else radians[i]
        metres[i], radians[i] = metres[i] * scale, radians[i] * scale


def speeds(t: Int64, place: Floats, window: float) -> tuple[Floats, Floats]:
    """How fast a base goes and turns from each frame to the next, over no less than ``window`` s.

    Args:
        t: (n,) int64 ns.
        place: (n, 7) m and wxyz of length 1.
        window: s, so that jitter at 500 Hz is no speed.

    Returns:
        (n - 1,) m/s and (n - 1,) rad/s.
    """
    way, turn = np.empty(max(len(t) - 1, 0)), np.empty(max(len(t) - 1, 0))
    signature = "void(int64[::1], float64[:,::1], float64, float64[::1], float64[::1])"
    compiled(_speeds, signature)[0](whole(t), ready(place), window, way, turn)
    return way, turn


def _speeds(t, place, window, way, turn):  # type: ignore[no-untyped-def]
    for i in range(len(way)):
        over = max((t[i + 1] - t[i]) * 1e-9, 1e-9, window)
        total, alike = 0.0, 0.0
        for e in range(3):
            total += (place[i + 1, e] - place[i, e]) ** 2
        for e in range(3, 7):
            alike += place[i + 1, e] * place[i, e]
        way[i] = math.sqrt(total) / over
        turn[i] = 2.0 * math.acos(min(abs(alike), 1.0)) / over if not math.isnan(alike) else math.nan
