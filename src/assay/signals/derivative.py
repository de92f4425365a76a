"""Do stored velocities belong to the stored positions, and at which rate?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fitting_rate", "likeness"]

Floats = NDArray[np.float64]


def likeness(q: Floats, dq: Floats) -> tuple[float, float]:
    """Correlation of velocities (n, c) with the changes of positions (n, c), pooled, and its standard error.

    A velocity may be the change before its frame, after it, or the mean of both: the best of the three. The
    rate does not matter. NaN where nothing moves or too few rows are finite.
    """
    n = min(len(q), len(dq))
    moved, v = np.diff(q[:n], axis=0), dq[:n]
    whole = np.isfinite(moved).all(axis=1) & np.isfinite(v[1:]).all(axis=1) & np.isfinite(v[:-1]).all(axis=1)
    if whole.sum() < 8:
        return np.nan, np.nan
    moved, before, after = moved[whole], v[:-1][whole], v[1:][whole]
    best = max(_cosine(moved, w) for w in (before, after, (before + after) / 2))
    return best, (1.0 - best * best) / float(np.sqrt(whole.sum()))


def fitting_rate(q: Floats, dq: Floats) -> tuple[float, float]:
    """The rate in Hz at which summed-up velocities give the positions, and how well they do (correlation)."""
    n = min(len(q), len(dq))
    if n < 8 or not (np.isfinite(q[:n]).all() and np.isfinite(dq[:n]).all()):
        return np.nan, np.nan
    steps = (dq[1:n] + dq[: n - 1]) / 2
    summed = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(steps, axis=0)])
    a, b = q[:n] - q[:n].mean(axis=0), summed - summed.mean(axis=0)
    ab, bb = float((a * b).sum()), float((b * b).sum())
    return (bb / ab, _cosine(a, b)) if ab > 0 else (np.nan, np.nan)


def _cosine(a: Floats, b: Floats) -> float:
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 0 else np.nan
