"""Compiled loops over evenly spaced samples: how far each got in the last window.

What is asked, and of clocks that are not even, is in `assay.signals.feet`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.loops import whole

__all__ = ["back_from", "strides_from"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


def back_from(t: Int64, x: Floats, window: float, made: Floats) -> bool:
    """Fill ``made`` (n, c) with x(t) - x(t - window) where the clock is even, and say whether it is.

    Args:
        t: (n,) int64 ns.
        x: (n, c).
        window: s.
        made: NaN before the first whole window.
    """
    ago = _ago(t, window)
    if ago is not None:
        compiled(_back, "void(float64[:,::1], int64, float64, float64[:,::1])")[0](x, *ago, made)
    return ago is not None


def strides_from(t: Int64, x: Floats, window: float, made: Floats, *, level: bool) -> bool:
    """The same of points (n, k, 3): the length of each one's way, (n, k); ``level`` leaves out z."""
    ago = _ago(t, window)
    if ago is not None:
        signature = "void(float64[:,:,::1], int64, float64, int64, float64[:,::1])"
        compiled(_stride, signature)[0](x, *ago, 2 if level else 3, made)
    return ago is not None


def _ago(t: Int64, window: float) -> tuple[int, float] | None:
    """A window in samples, whole ones and the part of one more; nothing where the clock is not even."""
    made = np.full(2, -1.0)
    compiled(_split, "void(int64[::1], float64, float64[::1])")[0](whole(t), window * 1e9, made)
    return (int(made[0]), float(made[1])) if made[0] >= 0 else None


# Exact for the rounded stamps of a nominal clock.
def _split(t, back, made):  # type: ignore[no-untyped-def]
    n = len(t)
    step = (t[-1] - t[0]) / (n - 1) if n > 1 else 0.0
    for i in range(n):
        if step <= 0 or abs(i * step - (t[i] - t[0])) >= 1e3:
            return
    if n:
        ago = back / step
        made[0] = int(ago + 1e-5)
        made[1] = ago - made[0] if ago - made[0] > 1e-4 else 0.0


# Between samples x is interpolated linearly: ``full`` samples back and a ``part`` of the one before.
def _back(x, full, part, made):  # type: ignore[no-untyped-def]
    first = full + (1 if part > 0 else 0)
    for i in range(len(x)):
        for c in range(x.shape[1]):
            if i < first:
                made[i, c] = math.nan
            elif part > 0:
                made[i, c] = x[i, c] - (x[i - full, c] * (1.0 - part) + x[i - first, c] * part)
            else:
                made[i, c] = x[i, c] - x[i - first, c]


def _stride(x, full, part, width, made):  # type: ignore[no-untyped-def]
    first = full + (1 if part > 0 else 0)
    for i in range(len(x)):
        for k in range(x.shape[1]):
            total = 0.0 if i >= first else math.nan
            for c in range(width if i >= first else 0):
                before = x[i - first, k, c]
                if part > 0:
                    before = x[i - full, k, c] * (1.0 - part) + before * part
                total += (x[i, k, c] - before) * (x[i, k, c] - before)
            made[i, k] = math.sqrt(total)
