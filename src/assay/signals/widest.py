"""Which of several columns goes furthest, frame by frame."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.loops import ready

__all__ = ["fastest", "outside"]

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]


def fastest(
    moved: Floats, seconds: float, fast: Floats, slow: Floats, limit: float
) -> tuple[Floats, NDArray[np.intp], Floats, NDArray[np.bool_]]:
    """The largest ratio of speed to rating.

    Args:
        moved: (n, c), c > 0, how far each column went in some seconds.
        seconds: s.
        fast: (c,) the rating by whoever says the most.
        slow: (c,) by whoever says the least.
        limit: a row is open where a ratio to ``slow`` is beyond this and none to ``fast``.

    Returns:
        (n,) of the columns to ``fast`` and (n,) the first column that has it, a NaN being the largest; (n,)
        the same to ``slow``; (n,) whether the row is open.
    """
    value, which, narrow = np.empty(len(moved)), np.empty(len(moved), np.int64), np.empty(len(moved))
    open_ = np.zeros(len(moved), bool)
    signature = (
        "void(float64[:,::1], float64, float64[::1], float64[::1], float64, float64[::1], int64[::1],"
        " float64[::1], boolean[::1])"
    )
    compiled(_fastest, signature)[0](ready(moved), seconds, fast, slow, limit, value, which, narrow, open_)
    return value, which, narrow, open_


def _fastest(moved, seconds, fast, slow, limit, value, which, narrow, open_):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    for i in range(len(moved)):
        top, most, least, over = 0, -math.inf, -math.inf, False
        for c in range(moved.shape[1]):
            speed = abs(moved[i, c]) / seconds
            by = speed / fast[c]
            at_least = by if slow[c] == fast[c] else speed / slow[c]
            if (by > most or math.isnan(by)) and not math.isnan(most):
                top, most = c, by
            if (at_least > least or math.isnan(at_least)) and not math.isnan(least):
                least = at_least
            over |= at_least > limit
        value[i], which[i], narrow[i] = most, top, least
        open_[i] = over and not most > limit


def outside(
    x: Floats, narrow: Bounds, wide: Bounds, limit: float
) -> tuple[Floats, NDArray[np.intp], NDArray[np.bool_]]:
    """How far the furthest column of x (n, c), c > 0, is outside its bounds, and the first that is so far.

    Args:
        x: (n, c).
        narrow: lower and upper bounds (c,) by whoever says the least.
        wide: by whoever says the most.
        limit: a row is open where some column is outside by more than this of the narrow bounds and not of
            the wide ones, and none is of the wide ones.

    Returns:
        (n,) in the unit of x, of the narrow bounds in open rows and the wide ones in others, less than 0
        inside, NaN where one is; (n,) the column; (n,) whether the row is open.
    """
    value, which, open_ = np.empty(len(x)), np.empty(len(x), np.int64), np.zeros(len(x), bool)
    signature = (
        "void(float64[:,::1], float64[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1],"
        " int64[::1], boolean[::1])"
    )
    compiled(_outside, signature)[0](ready(x), *narrow, *wide, limit, value, which, open_)
    return value, which, open_


def _outside(x, low, high, lowest, highest, limit, value, which, open_):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    for i in range(len(x)):
        some, none = False, True
        for c in range(x.shape[1]):
            wide = max(lowest[c] - x[i, c], x[i, c] - highest[c])
            none &= not wide > limit
            some |= max(low[c] - x[i, c], x[i, c] - high[c]) > limit and wide <= limit
        open_[i] = some and none
        top, best = 0, -math.inf
        for c in range(x.shape[1]):
            by = max(lowest[c] - x[i, c], x[i, c] - highest[c])
            by = max(low[c] - x[i, c], x[i, c] - high[c]) if open_[i] else by
            if by > best or math.isnan(by):
                top, best = c, by
                if math.isnan(by):
                    break
        value[i], which[i] = best, top
