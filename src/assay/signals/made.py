"""Stamps that were made from a rate and not taken from a clock."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["on_grid"]

_GRID: Final = 1e-3
_ROUNDING: Final = 0.05
"""Shares of a period: how close to the grid made stamps lie, and the most that rounding may excuse."""


def on_grid(t: NDArray[np.int64], rate: Fraction) -> bool:
    """Whether every stamp lies a whole number of periods after the first; two stamps cannot tell.

    Within 0.001 of a period, or within twice the rounding of seconds kept in 32 bits.

    Args:
        t: (n,) ns.
        rate: Hz.
    """
    if len(t) < 3:
        return False
    period = 1e9 / float(rate)
    since = (t - t[0]).astype(np.float64)
    rounding = 2e9 * float(np.spacing(np.float32(np.abs(since).max() * 1e-9)))
    index = np.rint(since / period)
    steps = np.diff(index)
    if np.median(steps) < 1 or steps.min() < 0 or index[-1] > 2 * len(t):  # another rate, or jumps to SYN005
        return False
    off = np.abs(since - index * period)
    return bool(off.max() <= max(_GRID * period, min(rounding, _ROUNDING * period)))
