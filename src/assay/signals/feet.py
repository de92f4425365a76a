"""How feet move: displacement over a fixed time, stillness with hysteresis, and what a stance drifts.

Every limit on motion is a displacement over 1/30 s, interpolated between samples, so that the same motion
reads the same at any rate.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.intervals import period
from assay.signals.lasting import runs
from assay.signals.loops import bends, falling, ready
from assay.signals.moved import back_from, strides_from

__all__ = [
    "WINDOW",
    "displaced",
    "latched",
    "length",
    "noise",
    "runs_of",
    "stamps",
    "strides",
    "within",
]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

WINDOW: Final = 1.0 / 30.0
"""Seconds over which per-frame limits are displacements: the frame of the published rules."""

MANY: Final = 5000
"""Second differences that are enough to tell the jitter to 2 %."""


def stamps(t: Int64, rate: float | None, *, nominal: bool) -> Int64 | None:
    """Stamps in real nanoseconds (n,), or None where only the order of samples is known.

    A nominal clock is index/rate. Where a rate was declared after the stamps were made (a reader counts one
    second a frame while it knows none), the stamps are made again from it.
    """
    if not nominal:
        return t
    if rate is None:
        return None
    if len(t) < 2 or abs(period(t) * rate * 1e-9 - 1.0) < 0.01:
        return t
    made: Int64 = int(t[0]) + np.rint(np.arange(len(t)) * (1e9 / rate)).astype(np.int64)
    return made


def displaced(t: Int64, x: NDArray[Any], window: float = WINDOW) -> Floats:
    """How far each value moved in the last ``window`` seconds; (n, ...) in the unit of x.

    Args:
        t: (n,) int64 ns, not decreasing.
        x: (n, ...).
        window: s. Between samples x is interpolated linearly.

    Returns:
        x(t) - x(t - window); NaN before the first whole window.
    """
    made = np.empty(x.shape)
    if len(t) and back_from(t, ready(x).reshape(len(t), -1), window, made.reshape(len(t), -1)):
        return made
    return _looked_up(t, x, window)


def strides(t: Int64, x: Floats, *, level: bool) -> Floats:
    """How far points (n, k, 3) m got in the last `WINDOW`, see `displaced`; (n, k) m, ``level`` without z."""
    here, made = ready(x), np.empty(x.shape[:2])
    if len(t) and strides_from(t, here, WINDOW, made, level=level):
        return made
    return length(_looked_up(t, here[..., :2] if level else here, WINDOW))


def _looked_up(t: Int64, x: Floats, window: float) -> Floats:
    """`displaced` by a clock whose samples are not evenly apart."""
    out = np.full(x.shape, np.nan)
    wanted = t - round(window * 1e9)
    known = wanted >= t[0] if len(t) > 1 else np.zeros(len(t), bool)
    if not known.any():
        return out
    at = np.clip(np.searchsorted(t, wanted[known], "right") - 1, 0, len(t) - 2)
    span = np.maximum(t[at + 1] - t[at], 1)
    part_of = ((wanted[known] - t[at]) / span).reshape((-1,) + (1,) * (x.ndim - 1))
    out[known] = x[known] - (x[at] * (1.0 - part_of) + x[at + 1] * part_of)
    return out


def length(d: Floats) -> Floats:
    """Length of vectors (..., c); (...). Faster than a norm for two or three components."""
    total = d[..., 0] * d[..., 0]
    for i in range(1, d.shape[-1]):
        total = total + d[..., i] * d[..., i]
    return np.asarray(np.sqrt(total))


def latched(value: Floats, enter: float, leave: float) -> Bools:
    """Hysteresis: on once the value falls below ``enter``, off once it rises above ``leave``; (n,).

    NaN neither enters nor stays.
    """
    return falling(value, enter, leave)


def runs_of(mask: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last index of each run of True; (k,), (k,)."""
    first, end = runs(mask)
    return first, end - 1


def within(t: Int64, first: Int64, last: Int64) -> Bools:
    """Which of the stamps (n,) lie in one of the closed intervals (k,), (k,)."""
    if not len(first):
        return np.zeros(len(t), bool)
    begun = np.bincount(np.searchsorted(t, first, "left"), minlength=len(t) + 1)
    ended = np.bincount(np.searchsorted(t, last, "right"), minlength=len(t) + 1)
    return np.asarray(np.cumsum((begun - ended)[:-1]) > 0)


def noise(x: NDArray[Any], quiet: Bools | None = None) -> float:
    """Standard deviation of white jitter in x (n, c), in its unit: from second differences.

    1.4826 MAD of the second difference over sqrt 6, the mean over the columns; NaN with fewer than 8
    samples. With ``quiet`` (n,) only where all three samples are quiet.
    """
    if len(x) < 3:
        return float("nan")
    second = bends(x, 1 + len(x) // MANY, quiet)
    n = second.shape[1]
    if n < 8:
        return float("nan")
    second.sort(axis=1)
    middle = (second[:, (n - 1) // 2] + second[:, n // 2]) / 2
    return float(1.4826 / np.sqrt(6.0) * (middle.sum() / len(middle)))
