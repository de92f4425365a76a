"""From stamps to intervals: every sample lasts until the next one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ends", "period", "span"]


def period(t: NDArray[np.int64], rate: float | None = None) -> float:
    """Nanoseconds between samples: by the declared rate (Hz), else the median step of ``t`` (n,) ns.

    0 where neither is known (fewer than two samples, or equal stamps).
    """
    if rate:
        return 1e9 / float(rate)
    if len(t) < 2:
        return 0.0
    step = t[1:] - t[:-1]
    step.sort()  # quicker than a median for clips, and every gate asks
    return float(step[(len(step) - 1) // 2] + step[len(step) // 2]) / 2


def ends(t: NDArray[np.int64], rate: float | None = None) -> NDArray[np.int64]:
    """The end of each sample, (n,) ns: the next stamp, but never before its own; the last lasts a period."""
    if not len(t):
        return t
    last = t[-1] + max(0, round(period(t, rate)))
    following = np.empty_like(t)
    following[:-1], following[-1] = t[1:], last
    return np.maximum(following, t, out=following)


def span(*stamps: NDArray[np.int64]) -> tuple[int, int]:
    """First and last stamp (ns) of several streams; (0, 0) where all are empty."""
    filled = [t for t in stamps if len(t)]
    if not filled:
        return 0, 0
    return min(int(t.min()) for t in filled), max(int(t.max()) for t in filled)
