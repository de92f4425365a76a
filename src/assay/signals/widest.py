"""Which of several columns goes furthest, frame by frame."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.loops import ready

__all__ = ["largest", "outside"]

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]


def largest(x: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The largest of each row of x (n, c), c > 0, and the first column that has it; a NaN is the largest."""
    value, which = np.empty(len(x)), np.empty(len(x), np.int64)
    compiled(_largest, "void(float64[:,::1], float64[::1], int64[::1])")[0](ready(x), value, which)
    return value, which


def _largest(x, value, which):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        top = 0
        for c in range(x.shape[1]):
            if math.isnan(x[i, top]):
                break
            if x[i, c] > x[i, top] or math.isnan(x[i, c]):
                top = c
        value[i], which[i] = x[i, top], top


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
