"""Three-valued decisions along time: even sampling, speeds over seconds, hysteresis, shortest durations.

All lengths are seconds and all signals are laid on one even grid first, so that the same motion at 25 or at
500 Hz is decided alike. NaN is never filled: where a value is needed and not known, so is the decision.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.intervals import period
from assay.signals.loops import held, laid, largest, median, way

__all__ = [
    "DAY",
    "GRID",
    "NO",
    "UNKNOWN",
    "YES",
    "Flags",
    "Floats",
    "centred_median",
    "grid",
    "half",
    "hold",
    "resample",
    "rest",
    "runs",
    "speed",
    "swing",
]

GRID: Final = 30.0
"""Hz; every decision takes 0.25 s or longer, which this resolves."""

DAY: Final = 86_400_000_000_000
"""ns; no episode is longer, and a grid over fifty years would fill the memory."""

YES: Final = np.int8(1)
NO: Final = np.int8(0)
UNKNOWN: Final = np.int8(-1)

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]


def grid(t0: int, t1: int) -> NDArray[np.int64]:
    """Even stamps (ns) from ``t0`` to ``t1``, ``1 / GRID`` apart."""
    count = int(max((int(t1) - int(t0)) * 1e-9, 0.0) * GRID + 1e-6) + 1
    stamps: NDArray[np.int64] = t0 + np.rint(np.arange(count) * (1e9 / GRID)).astype(np.int64)
    return stamps


def resample(t: NDArray[np.int64], x: Floats, at: NDArray[np.int64], reach: float = 0.2) -> Floats:
    """Values (n, c) at ``t`` (n,) ns, laid linearly on ``at`` (m,) ns; (m, c).

    NaN beside a NaN, outside ``t``, and in holes longer than ``reach`` seconds (or five usual steps, for slow
    streams). Stamps that go back or stand still count for nothing.
    """
    x = np.asarray(x, np.float64)
    if not (t[1:] > t[:-1]).all():
        ahead = np.concatenate(([True], np.diff(np.maximum.accumulate(t)) > 0))
        t, x = t[ahead], x[ahead]
    if len(t) < 2:
        return np.full((len(at), x.shape[1]), np.nan)
    usual = period(t)
    slack = (
        max(usual * 1e-9, 1.0 / GRID) * 1e9
    )  # a grid that ends within a step of the stream is still its own
    return laid(t, x, at, max(reach, 5 * (usual * 1e-9)), slack)


def speed(x: Floats, seconds: float) -> Floats:
    """How far points (m, ..., c) get in a straight line in ``seconds`` around each grid sample, per second.

    (m, ...). One-sided at the ends. Jitter of s m shows as s * sqrt(2) / seconds.
    """
    made = way(x.reshape(len(x), prod(x.shape[1:-1]), x.shape[-1]), half(seconds), GRID, straight=True)
    return made.reshape(x.shape[:-1])


def swing(q: Floats, seconds: float) -> Floats:
    """The largest change of a column of (m, c) in ``seconds`` around each grid sample, per second; (m,)."""
    return way(q[:, None], half(seconds), GRID, straight=False)[:, 0]


def half(seconds: float) -> int:
    """Grid samples on either side that a window of some seconds reaches to, one at least."""
    return max(1, round(seconds * GRID / 2))


def centred_median(v: Floats, seconds: float) -> Floats:
    """Median of (m,) over ``seconds`` around each grid sample; NaN where the window holds a NaN."""
    return median(v, _reach(v, seconds))


def rest(v: Floats, seconds: float) -> Floats:
    """Largest of (m,) over ``seconds`` around each grid sample; NaN where the window holds a NaN."""
    return largest(v, _reach(v, seconds))


def _reach(v: Floats, seconds: float) -> int:
    """The same as far as there are samples: ends are mirrored, which makes up nothing."""
    return min(max(0, round(seconds * GRID / 2)), max(0, len(v) - 1))


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
    return held(flags, gap * GRID - 1e-6, shortest * GRID - 1e-6)
