"""Quantiles of what is sorted already: NumPy's own take longer than the sort on the clips that we see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["median", "quantile"]


def quantile(ordered: NDArray[np.floating[Any]], share: float) -> float:
    """The value below which a share of ascending values (n,), n > 0, lies: linear between two, like NumPy."""
    at = (len(ordered) - 1) * share
    below = int(at)
    low, high, part = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)]), at - below
    # From whichever end is nearer, so that rounding is the same as NumPy's.
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def median(values: NDArray[np.floating[Any]]) -> float:
    """The median of values (n,), n > 0, none of them NaN."""
    ordered = np.sort(values)
    n = len(ordered)
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2)
