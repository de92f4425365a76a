"""Compiled loops along time: decisions and windows that NumPy takes a dozen passes for.

A clip of ten seconds has 300 samples: there a pass costs its call and no more, and what is decided by
looking back needs many. Flags are int8: 1 yes, 0 no, -1 unknown. What the functions are for is said by their
callers.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled

__all__ = ["any_of_two", "bends", "falling", "held", "laid", "largest", "median", "ready",
           "way", "whole"]  # fmt: skip

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]
Bools = NDArray[np.bool_]
Int64 = NDArray[np.int64]

_YES: Final = 1
_NO: Final = 0


def ready(x: NDArray[Any]) -> Floats:
    """Contiguous float64 that a loop may be given; a read-only array is copied, as loops take none."""
    made = np.ascontiguousarray(x, np.float64)
    return made if made.flags.writeable else made.copy()


def whole(t: NDArray[Any]) -> Int64:
    """The same of stamps: contiguous int64."""
    made = np.ascontiguousarray(t, np.int64)
    return made if made.flags.writeable else made.copy()


def falling(v: Floats, enter: float, leave: float) -> Bools:
    """(m,) on from below ``enter`` until above ``leave``; off where v is NaN and before anything is below."""
    made = np.empty(len(v), bool)
    compiled(_fall, "void(float64[::1], float64, float64, boolean[::1])")[0](ready(v), enter, leave, made)
    return made


def _fall(v, enter, leave, made):  # type: ignore[no-untyped-def]
    on = False
    for i in range(len(v)):
        on = v[i] <= leave and (on or v[i] < enter)
        made[i] = on


def bends(x: NDArray[Any], every: int, quiet: Bools | None) -> Floats:
    """(c, k) sizes of second differences of x (n, c), one in ``every``, if all three are quiet and finite."""
    made, count = np.empty((x.shape[1], max(len(x) - 2, 0) // every + 1)), np.zeros(1, np.int64)
    still = np.array(() if quiet is None else quiet, bool)
    signature = "void(float64[:,::1], int64, boolean[::1], float64[:,::1], int64[::1])"
    compiled(_bend, signature)[0](ready(x), every, still, made, count)
    return made[:, : count[0]]


def _bend(x, every, quiet, made, count):  # type: ignore[no-untyped-def]
    k = 0
    for i in range(0, len(x) - 2, every):
        if len(quiet) and not (quiet[i] and quiet[i + 1] and quiet[i + 2]):
            continue
        whole = True
        for c in range(x.shape[1]):
            made[c, k] = abs(x[i + 2, c] - 2.0 * x[i + 1, c] + x[i, c])
            whole &= math.isfinite(made[c, k])
        k += whole
    count[0] = k


def held(flags: Flags, gap: float, shortest: float) -> Flags:
    """(m,) no between two yes filled if shorter than ``gap`` samples, then yes between two no dropped."""
    made = np.array(flags, np.int8)
    compiled(_hold, "void(int8[::1], float64, float64)")[0](made, gap, shortest)
    return made


def _hold(flags, gap, shortest):  # type: ignore[no-untyped-def]
    for around in (_YES, _NO):
        most = gap if around == _YES else shortest
        start, end = 0, 0
        while start < len(flags):
            while end < len(flags) and flags[end] == flags[start]:
                end += 1
            within = start > 0 and end < len(flags) and flags[start] == 1 - around
            if within and flags[start - 1] == around and flags[end] == around and end - start < most:
                flags[start:end] = around
            start = end


def any_of_two(a: Flags, b: Flags) -> Flags:
    """(m,) yes where one is, else unknown where one is, else no."""
    return np.where((a == _YES) | (b == _YES), np.int8(_YES), np.minimum(a, b))


def largest(v: Floats, half: int) -> Floats:
    """(m,) largest within ``half`` samples on either side; NaN where one of them is."""
    made = np.empty(len(v))
    compiled(_largest, "void(float64[::1], int64, float64[::1])")[0](ready(v), half, made)
    return made


def _largest(v, half, made):  # type: ignore[no-untyped-def]
    top, until = -1, -1  # of what is still in the window: where the largest is, and up to where NaN reaches
    for i in range(len(v)):
        first, last = max(i - half, 0), min(i + half, len(v) - 1)
        new = last if i else 0
        if top < first:
            top, new = first, first
        for j in range(new, last + 1):
            if math.isnan(v[j]):
                until = max(until, j)
            elif v[j] >= v[top] or math.isnan(v[top]):
                top = j
        made[i] = math.nan if until >= first else v[top]


def median(v: Floats, half: int) -> Floats:
    """(m,) median within ``half`` samples on either side, ends mirrored; NaN where one of them is."""
    made = np.empty(len(v))
    compiled(_median, "void(float64[::1], int64, float64[::1])")[0](ready(v), half, made)
    return made


def _median(v, half, made):  # type: ignore[no-untyped-def]
    n, width = len(v), 2 * half + 1
    row = np.empty(width)  # the window in order, NaN counted apart
    size, blank = 0, 0
    for i in range(-half, n + half):
        at = -i if i < 0 else (2 * (n - 1) - i if i >= n else i)
        if math.isnan(v[at]):
            blank += 1
        else:
            j = size
            while j > 0 and row[j - 1] > v[at]:
                row[j] = row[j - 1]
                j -= 1
            row[j] = v[at]
            size += 1
        if i < half:
            continue
        made[i - half] = math.nan if blank else row[half]
        old = i - 2 * half
        gone = v[-old if old < 0 else old]
        if math.isnan(gone):
            blank -= 1
            continue
        j = 0
        while row[j] != gone:
            j += 1
        size -= 1
        for k in range(j, size):
            row[k] = row[k + 1]


def laid(t: Int64, x: Floats, at: Int64, most: float, slack: float) -> Floats:
    """Values (n, c) at ``t`` (n,) ns, n > 1 and rising, laid linearly on ``at`` (m,) ns; (m, c).

    NaN in steps of t longer than ``most`` s, and more than ``slack`` ns outside of it.
    """
    made = np.empty((len(at), x.shape[1]))
    signature = "void(int64[::1], float64[:,::1], int64[::1], float64, float64, float64[:,::1])"
    compiled(_laid, signature)[0](whole(t), ready(x), whole(at), most, slack, made)
    return made


def _laid(t, x, at, most, slack, made):  # type: ignore[no-untyped-def]
    right = 1
    for i in range(len(at)):
        while right < len(t) - 1 and t[right] < at[i]:
            right += 1
        while right > 1 and t[right - 1] >= at[i]:
            right -= 1
        step = (t[right] - t[right - 1]) * 1e-9
        share = (at[i] - t[right - 1]) * 1e-9 / step
        if step > most or at[i] < t[0] - slack or at[i] > t[-1] + slack:
            share = math.nan
        for c in range(x.shape[1]):
            made[i, c] = x[right - 1, c] + share * (x[right, c] - x[right - 1, c])


def way(x: Floats, half: int, rate: float, *, straight: bool) -> Floats:
    """What points (m, k, c) get per second across ``half`` samples on either side; (m, k).

    Args:
        x: at ``rate`` Hz.
        half: samples; fewer at the ends.
        rate: Hz.
        straight: in a straight line through the c components, else the largest change of one.
    """
    made = np.empty(x.shape[:2])
    signature = "void(float64[:,:,::1], int64, float64, boolean, float64[:,::1])"
    compiled(_way, signature)[0](ready(x), half, rate, straight, made)
    return made


def _way(x, half, rate, straight, made):  # type: ignore[no-untyped-def]
    n = len(x)
    for i in range(n):
        low, high = max(i - half, 0), min(i + half, n - 1)
        took = (high - low) / rate
        for k in range(x.shape[1]):
            total = 0.0
            for c in range(x.shape[2]):
                change = x[high, k, c] - x[low, k, c]
                if straight:
                    total += change * change
                elif abs(change) > total or math.isnan(change):
                    total = abs(change)
                    if math.isnan(change):
                        break
            made[i, k] = (math.sqrt(total) if straight else total) / took
