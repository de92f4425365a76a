"""How far a joint travels in one stream while it is constant in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.model import Stream
from assay.signals.intervals import period
from assay.signals.lasting import runs

__all__ = ["Travel", "moves", "travel_beside", "unchanging"]

Float = NDArray[np.float64]
Travel = tuple[Float, NDArray[np.int64], NDArray[np.int64]]


def travel_beside(a: Float, t: NDArray[np.int64], s: Float, state_t: NDArray[np.int64], *, hold: float,
                  equal: float, settle: float) -> Travel:  # fmt: skip
    """Range of each channel of ``s`` while its namesake in ``a`` is constant, the largest over stretches.

    Args:
        a: (n, c) channels that may be constant.
        t: (n,) ns, when.
        s: (m, c) the same channels of another stream.
        state_t: (m,) ns, when.
        hold: s, the shortest stretch that counts.
        equal: in the unit of ``a``, what a constant channel changes by from row to row at most.
        settle: s at the start of a stretch that do not count: a limb settles after its last request.

    Returns:
        Three (c,): the range, NaN where a value is; the stretch's start and its end (ns).
    """
    value = np.where(np.isnan(a).any(axis=0) | np.isnan(s).any(axis=0), np.nan, 0.0)
    start, end = np.zeros(len(value), np.int64), np.zeros(len(value), np.int64)
    step = period(t)
    if not step or not len(state_t):
        return value, start, end
    # A hold of a second spans at least one whole block of half a second: look closer only there.
    block = max(1, int(hold * 1e9 / step) // 2)
    held = (np.abs(np.diff(a[::block], axis=0)) <= equal).any(axis=0)
    columns = np.flatnonzero(held & (value == 0))
    rests = np.zeros((len(columns), len(a)), bool)  # the last row parts one column's runs from the next one's
    rests[:, :-1] = (np.abs(np.diff(a[:, columns], axis=0)) <= equal).T
    first, last = runs(rests.ravel())
    row, i, j = first // len(a), t[first % len(a)], t[last % len(a)]
    long = np.flatnonzero(j - i >= hold * 1e9)
    lo = np.searchsorted(state_t, i[long] + int(settle * 1e9))
    hi = np.searchsorted(state_t, j[long], side="right")
    for k, from_, to in zip(long.tolist(), lo.tolist(), hi.tolist(), strict=True):
        column = columns[row[k]]
        travel = float(np.ptp(s[from_:to, column])) if to > from_ else 0.0
        if travel > max(value[column], equal):
            value[column], start[column], end[column] = travel, i[k], j[k]
    return value, start, end


def moves(request: Stream, t0: NDArray[np.int64], t1: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(k,) whether a request changes between two times."""
    changes = request.t[1:][(np.diff(np.asarray(request.x, np.float64), axis=0) != 0).any(axis=1)]
    return np.searchsorted(changes, t1, "left") > np.searchsorted(changes, t0, "right")


def unchanging(x: Float, equal: float) -> NDArray[np.bool_]:
    """(c,) whether a channel of (n, c) ranges over at most ``equal``."""
    return np.ptp(x, axis=0) <= equal if len(x) else np.ones(x.shape[1], bool)
