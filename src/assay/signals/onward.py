"""Which stamps of a stream go on in time with the rest, and whether its samples fill the time they span.

One stamp a day ahead must not become a day of an even grid: what is laid out along time is bounded by what a
stream holds, and not by what its stamps say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

__all__ = ["Cut", "cut_off", "onward", "sparse", "stray"]

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

_NEAR: Final = 5  # stamps on either side that say where one belongs: two in a row may be astray
_STANDS: Final = 1.0  # s for which a sample stands at most, as the coarsest grid has it
_THIN: Final = 10.0  # times as long as its samples fill: the rest of the time is made up
_FEW: Final = 0.01  # share of the stamps; more of them are no strays but another course of the clock
_STRETCH: Final = 1.0  # s of samples in a row; more of them are no strays but a part of the recording
_END: Final = np.iinfo(np.int64)


def onward(t: Int64) -> Bools:
    """(n,) the stamps that are later than all before them, one at least, but for those that leap.

    A stamp that leaps ahead and comes back is left out, and not what follows it. Where a gap is longer than
    all samples together fill, only the stretch with most samples is kept: a leap that does not come back.
    """
    keep = np.ones(len(t), np.bool_)
    if len(t) < 2:
        return keep
    if not (t[1:] > t[:-1]).all():
        keep = ~_astray(t)
        keep[0] |= not keep.any()  # of a clock that only runs back
        at = np.flatnonzero(keep)
        high = np.maximum.accumulate(t[at])
        keep[at[1:]] = high[1:] > high[:-1]
    at = np.flatnonzero(keep)
    step = _steps(t[at])
    far = np.flatnonzero(step > _filled(step))
    if not len(far):
        return keep
    edge = np.concatenate(([0], far + 1, [len(at)]))
    most = int(np.diff(edge).argmax())
    keep[:] = False
    keep[at[edge[most] : edge[most + 1]]] = True
    return keep


def stray(t: Int64) -> Bools:
    """(n,) a few stamps that are not `onward`; none where they are many, as behind a step of the clock."""
    away = ~onward(t)
    return away & bool(away.sum() <= max(_FEW * len(t), _NEAR // 2))


@dataclass(frozen=True, slots=True)
class Cut:
    """What `onward` leaves out of a stream beyond single strays.

    Attributes:
        samples: how many are left out in stretches; of: how many there are.
        seconds: that these fill.
        t0, t1: int64 ns, least and greatest stamp of the longest of these stretches.
    """

    samples: int
    of: int
    seconds: float
    t0: int
    t1: int


def cut_off(t: Int64) -> Cut | None:
    """The stretches of more than a second of samples that `onward` leaves out of stamps (n,) ns, if any."""
    away = ~onward(t)
    step = np.abs(_steps(t))
    step = step[step > 0]
    if not away.any() or not len(step):
        return None
    edge = np.flatnonzero(np.diff(np.concatenate(([False], away, [False])).astype(np.int8))).reshape(-1, 2)
    count = edge[:, 1] - edge[:, 0]
    each = float(np.median(step))
    whole = (count > _NEAR // 2) & (count * each > _STRETCH)
    if not whole.any():
        return None
    a, b = edge[whole][int(count[whole].argmax())].tolist()
    n = int(count[whole].sum())
    return Cut(n, len(t), n * each, int(t[a:b].min()), int(t[a:b].max()))


def sparse(t: Int64) -> str:
    """In words, where from first to last stamp (n,) ns is ten times as long as samples fill; else empty."""
    step = _steps(t)
    long, full = float(step.sum()), _filled(step)
    return f"stamps span {long:,.0f} s, samples fill {full:,.0f} s of them" if long > _THIN * full else ""


def _steps(t: Int64) -> NDArray[np.float64]:
    return np.diff(t.astype(np.float64)) * 1e-9  # the difference of two int64 may be none


def _filled(step: NDArray[np.float64]) -> float:
    """Seconds that samples fill: a step of more than one counts as one."""
    return float(np.minimum(np.abs(step), _STANDS).sum())


def _astray(t: Int64) -> Bools:
    """(n,) the stamps that lie beyond the median of the five to come, or before that of the five past."""
    n, middle = len(t), _NEAR // 2
    come = sliding_window_view(np.concatenate((t[1:], np.full(_NEAR, _END.max))), _NEAR)[:n]
    past = sliding_window_view(np.concatenate((np.full(_NEAR, _END.min), t[:-1])), _NEAR)[:n]
    high, low = (np.partition(x, middle, axis=1)[:, middle] for x in (come, past))
    return np.asarray((t > high) | (t < low))
