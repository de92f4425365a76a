"""Runs of samples: which last, and which ten seconds have the most."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["drop_short", "lasting", "runs", "worst_window"]

Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]
Times = tuple[Int64, Int64]

TEN_SECONDS: Final = 10_000_000_000


def runs(mask: Bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and one-past-last index of each run of True; (k,), (k,)."""
    padded = np.zeros(len(mask) + 2, bool)
    padded[1:-1] = mask
    edges = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


def drop_short(mask: Bool, t0: Int64, t1: Int64, min_run: float) -> Bool:
    """Clear runs that last less than ``min_run`` seconds."""
    first, end = runs(mask)
    if not len(first):
        return mask
    long = (t1[end - 1] - t0[first]) >= min_run * 1e9 - 1  # a nanosecond of rounding
    marks = np.zeros(len(mask) + 1, np.int8)
    marks[first[long]] += 1
    marks[end[long]] -= 1
    return np.cumsum(marks[:-1]).astype(bool)


def lasting(
    masks: Bool, times: Times, min_run: float, *, keep: Bool | None = None, among: Bool | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Samples of the lasting runs of each of several masks, and those ``among`` some.

    Args:
        masks: (rungs, n); all rungs lie in one row with a gap after each, so that one pass finds all runs.
        times: (n,) and (n,) int64 ns, start and end of each sample.
        min_run: s; shorter runs do not count.
        keep: (n,); runs with one of these samples last, however short.
        among: (n,).
    """
    t0, t1 = times
    rungs, n = masks.shape
    row = np.zeros(rungs * (n + 1) + 1, bool)
    row[1:].reshape(rungs, n + 1)[:, :n] = masks
    edges = (row[1:] != row[:-1]).nonzero()[0]
    rung = edges[::2] // (n + 1)
    first, end = edges[::2] - rung * (n + 1), edges[1::2] - rung * (n + 1)
    long = (t1[end - 1] - t0[first]) >= min_run * 1e9 - 1  # a nanosecond of rounding
    if keep is not None and keep.any():
        held = np.concatenate(([0], np.cumsum(keep)))
        long |= held[end] > held[first]
    rung, first, end = rung[long], first[long], end[long]
    whole = tuple(np.bincount(rung, end - first, rungs).astype(int).tolist())
    if among is None or not among.any():
        return whole, (0,) * rungs
    part = np.concatenate(([0], np.cumsum(among)))
    return whole, tuple(np.bincount(rung, part[end] - part[first], rungs).astype(int).tolist())


def worst_window(sure: Bool, counted: Bool, t0: Int64) -> float:
    """Largest share of sure samples in any 10 s that start at a sample."""
    if not sure.any():
        return 0.0
    if (t0[1:] >= t0[:-1]).all():
        if t0[-1] < t0[0] + TEN_SECONDS:
            return int(np.count_nonzero(sure)) / max(int(np.count_nonzero(counted)), 1)
        end = np.searchsorted(t0, t0 + TEN_SECONDS)
    else:
        end = np.full(len(t0), len(t0))
    bad, all_ = (np.concatenate(([0], np.cumsum(a))) for a in (sure, counted))
    full = (end < len(t0)) | (np.arange(len(t0)) == 0)  # a shorter tail would exaggerate
    n = (all_[end] - all_[:-1])[full]
    return float(np.max((bad[end] - bad[:-1])[full] / np.maximum(n, 1)))
