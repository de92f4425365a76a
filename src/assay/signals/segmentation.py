"""Three-valued decisions along time: even sampling, speeds over seconds, hysteresis, shortest durations.

All lengths are seconds and all signals are laid on one even grid first, so that the same motion at 25 or at
500 Hz is decided alike. NaN is never filled: where a value is needed and not known, so is the decision.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GRID",
    "NO",
    "UNKNOWN",
    "YES",
    "Flags",
    "Floats",
    "centred_median",
    "grid",
    "hold",
    "latch",
    "resample",
    "rest",
    "runs",
    "speed",
    "swing",
]

GRID: Final = 30.0
"""Hz; every decision takes 0.25 s or longer, which this resolves."""

DAY: Final = 86_400.0

YES: Final = np.int8(1)
NO: Final = np.int8(0)
UNKNOWN: Final = np.int8(-1)

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]


def grid(t0: int, t1: int) -> NDArray[np.int64]:
    """Even stamps (ns) from ``t0`` to ``t1``, ``1 / GRID`` apart; of no more than the first day.

    A clock that starts in 1970 makes an episode of fifty years, of which nothing is told (SYN005 says where).
    """
    seconds = min((int(t1) - int(t0)) * 1e-9, DAY)
    count = int(max(seconds, 0.0) * GRID + 1e-6) + 1
    stamps: NDArray[np.int64] = t0 + np.rint(np.arange(count) * (1e9 / GRID)).astype(np.int64)
    return stamps


def resample(t: NDArray[np.int64], x: Floats, at: NDArray[np.int64], reach: float = 0.2) -> Floats:
    """Values (n, c) at ``t`` (n,) ns, laid linearly on ``at`` (m,) ns; (m, c).

    NaN beside a NaN, outside ``t``, and in holes longer than ``reach`` seconds (or five usual steps, for slow
    streams). Stamps that go back or stand still count for nothing.
    """
    ahead = np.concatenate(([True], np.diff(np.maximum.accumulate(t)) > 0)) if len(t) else np.zeros(0, bool)
    t, x = t[ahead], np.asarray(x, np.float64)[ahead]
    if len(t) < 2:
        return np.full((len(at), x.shape[1]), np.nan)
    right = np.clip(np.searchsorted(t, at, side="left"), 1, len(t) - 1)
    step = (t[right] - t[right - 1]) * 1e-9
    share = ((at - t[right - 1]) * 1e-9 / step)[:, None]
    made: Floats = x[right - 1] + share * (x[right] - x[right - 1])
    usual = float(np.median(np.diff(t))) * 1e-9
    slack = max(usual, 1.0 / GRID) * 1e9  # a grid that ends within a step of the stream is still its own
    lost = (step > max(reach, 5 * usual)) | (at < t[0] - slack) | (at > t[-1] + slack)
    made[lost] = np.nan
    return made


def speed(x: Floats, seconds: float) -> Floats:
    """How far points (m, ..., c) get in a straight line in ``seconds`` around each grid sample, per second.

    (m, ...). One-sided at the ends. Jitter of s m shows as s * sqrt(2) / seconds.
    """
    moved, took = _moved(x, seconds)
    made: Floats = np.sqrt((moved * moved).sum(axis=-1)) / took.reshape(-1, *[1] * (x.ndim - 2))
    return made


def swing(q: Floats, seconds: float) -> Floats:
    """The largest change of a column of (m, c) in ``seconds`` around each grid sample, per second; (m,)."""
    moved, took = _moved(q, seconds)
    made: Floats = np.abs(moved).max(axis=1) / took
    return made


def _moved(x: Floats, seconds: float) -> tuple[Floats, Floats]:
    """The change across a window around each sample, and how many seconds that was."""
    n = len(x)
    if n < 2:
        return np.full(x.shape, np.nan), np.ones(n)
    half, at = max(1, round(seconds * GRID / 2)), np.arange(n)
    low, high = np.maximum(at - half, 0), np.minimum(at + half, n - 1)
    return x[high] - x[low], (high - low) / GRID


def centred_median(v: Floats, seconds: float) -> Floats:
    """Median of (m,) over ``seconds`` around each grid sample; NaN where the window holds a NaN."""
    windows = _windows(v, seconds)
    half = windows.shape[1] // 2
    made: Floats = np.partition(windows, half, axis=1)[:, half]
    return np.where(np.isnan(rest(v, seconds)), np.nan, made) if np.isnan(v).any() else made


def rest(v: Floats, seconds: float) -> Floats:
    """Largest of (m,) over ``seconds`` around each grid sample; NaN where the window holds a NaN."""
    made: Floats = _windows(v, seconds).max(axis=1)
    return made


def _windows(v: Floats, seconds: float) -> Floats:
    """(m, w) what lies around each sample; ends are mirrored, which makes up nothing."""
    half = min(max(0, round(seconds * GRID / 2)), max(0, len(v) - 1))
    return np.lib.stride_tricks.sliding_window_view(np.pad(v, half, mode="reflect"), 2 * half + 1)


def latch(v: Floats, enter: float, leave: float) -> Flags:
    """Schmitt trigger along (m,): YES from above ``enter`` until below ``leave``; UNKNOWN where v is NaN.

    Between the two the last decision holds; before the first there is none to hold, which is NO, and after a
    NaN it stays UNKNOWN until one of them is passed.
    """
    mark = np.where(np.isnan(v), 3, np.where(v > enter, 2, np.where(v < leave, 1, 0)))
    last = np.maximum.accumulate(np.where(mark > 0, np.arange(len(v)), -1))
    held = np.where(last >= 0, mark[np.maximum(last, 0)], 1) if len(v) else mark
    return np.array([NO, NO, YES, UNKNOWN], np.int8)[held]


def runs(flags: Flags) -> tuple[NDArray[np.intp], NDArray[np.intp], Flags]:
    """Starts, ends (exclusive) and values of the stretches of equal values; (k,) each."""
    if not len(flags):
        none = np.zeros(0, np.intp)
        return none, none, flags
    cut = np.flatnonzero(np.diff(flags)) + 1
    start = np.concatenate(([0], cut)).astype(np.intp)
    end = np.concatenate((cut, [len(flags)])).astype(np.intp)
    return start, end, flags[start]


def hold(flags: Flags, gap: float, shortest: float) -> Flags:
    """Bridge NO between two YES that lasts less than ``gap`` s, then drop YES shorter than ``shortest`` s.

    A YES that touches an UNKNOWN or an end of the recording may be longer than is seen, and is kept.
    """
    start, end, value = runs(flags)
    inner = np.zeros(len(value), bool)
    inner[1:-1] = (value[:-2] == YES) & (value[2:] == YES)
    value = np.where(inner & (value == NO) & (end - start < gap * GRID - 1e-6), YES, value)
    start, end, value = runs(np.repeat(value, end - start))
    alone = np.zeros(len(value), bool)
    alone[1:-1] = (value[:-2] == NO) & (value[2:] == NO)
    value = np.where(alone & (value == YES) & (end - start < shortest * GRID - 1e-6), NO, value)
    return np.repeat(value, end - start).astype(np.int8)
