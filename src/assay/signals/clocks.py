"""One clock held against another: lasting jumps, and drift with its error, from stamps of the same samples.

The difference of two stamps of one sample is an offset plus a delay, and delays are one-sided: the lower
envelope moves with the clocks, whatever queues and networks add on top (Moon, Skelly and Towsley, INFOCOM
1999; Paxson, SIGMETRICS 1998). Its line is fitted by Theil and Sen, whose breakdown point of 29 % outlasts
stalls, with a delete-a-group jackknife for the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from assay.signals.lasting import runs

__all__ = [
    "HOLE", "Drift", "Jumps", "counted", "drift", "exact", "jitter", "jumps", "lost_periods", "sibling",
    "theil_sen",
]  # fmt: skip

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

HOLE: Final = 3
"""Lost samples that make a hole, as in SYN004."""

LEAST: Final = 16
"""Samples below which no envelope is looked for."""

_BLOCKS: Final = 30
_PER_BLOCK: Final = 12
_GROUPS: Final = 10
_LASTS: Final = 3.0
"""Seconds on either side over which a jump must hold: queues of recorders drain sooner."""
_TAKEN_BACK: Final = 0.2
_FLOOR: Final = 5e-3
"""Seconds: smaller jumps are left to the drift, which they hardly bend."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """How one clock runs away from another.

    Attributes:
        t: (b,) int64 ns by the other clock, where the envelope was met in each of b blocks.
        level: (b,) s, the envelope there; its zero means nothing.
        slope: s per s, positive where the clock gains on the other; u: its standard error.
        noise: s, robust scatter of the envelope about its line.
    """

    t: Int64
    level: Floats
    slope: float
    u: float
    noise: float

    @property
    def ppm(self) -> str:
        """The slope in words: ``212 ± 3 ppm``."""
        return f"{self.slope * 1e6:.3g} ± {self.u * 1e6:.2g} ppm"

    def less(self, other: Drift) -> Drift:
        """The drift against the clock that ``other`` tells about, both against the same third one."""
        noise = float(np.hypot(self.noise, other.noise))
        u = float(np.hypot(self.u, other.u))
        longer = self if len(self.t) >= len(other.t) else other
        return Drift(longer.t, longer.level, self.slope - other.slope, u, noise)

    def ran(self) -> tuple[Floats, Floats]:
        """(b,) s that the clock has run away since the first block, and (b,) their standard error."""
        since = np.asarray((self.t - self.t[:1]) * 1e-9, np.float64)
        return self.slope * since, self.u * since


@dataclass(frozen=True, slots=True, eq=False)
class Jumps:
    """Lasting jumps of one clock against another.

    Attributes:
        at: (k,) index of the first sample after each jump.
        size: (k,) s.
        u: s, standard uncertainty of a size: the usual unrest of the envelope.
    """

    at: NDArray[np.intp]
    size: Floats
    u: float


def jumps(t: Int64, d: Int64, lasts: float = _LASTS) -> Jumps:
    """Where the lower envelope of ``d`` moves and stays.

    The least difference of the next ``lasts`` seconds against that of the last ones: a queue that fills and
    drains within them leaves both as they were. Within that time of an end nobody can tell.

    Args:
        t: (n,) int64 ns, increasing or not: only its usual step is used.
        d: (n,) int64 ns, the later made stamp less the earlier one, so that delays are positive.
        lasts: s, shortened to a fifth of the episode.
    """
    n = len(d)
    usual = float(np.median(np.abs(np.diff(t)))) if n > 1 else 0.0
    lasts = min(lasts, n * usual * 1e-9 / 5)
    width = max(round(lasts * 1e9 / usual), _PER_BLOCK) if usual else 0
    if not usual or n < 2 * width + 2:
        return Jumps(np.zeros(0, np.intp), np.zeros(0), 0.0)
    ahead = _windows((d - d[0]) * 1e-9, width)  # ahead[i]: least of i to i + width - 1
    change = ahead[width:] - ahead[:-width]  # at sample width + i: what follows less what came before
    change = change - np.median(change)  # what drifts in this time is no jump
    unrest = 1.4826 * float(np.median(np.abs(change)))
    first, end = runs(np.abs(change) > max(_FLOOR, 5 * unrest))
    up = change[first] > 0
    # A rise shows from the jump on until the past forgets, a fall from when it is foreseen to the jump.
    at = np.where(up, first, end - 1) + width
    most = [change[a:b][np.argmax(np.abs(change[a:b]))] for a, b in zip(first, end, strict=True)]
    size = np.array(most, np.float64)
    keep = _clocks_own(size)
    return Jumps(at[keep], size[keep], unrest)


def _clocks_own(size: Floats) -> NDArray[np.bool_]:
    """(k,) False for a rise and the fall that takes it back: a queue that filled and drained slowly."""
    keep = np.ones(len(size), bool)
    back = (size[:-1] > 0) & (np.abs(size[:-1] + size[1:]) < _TAKEN_BACK * size[:-1])
    keep[:-1] &= ~back
    keep[1:] &= ~back
    return keep


def _windows(x: Floats, width: int) -> Floats:
    """(n - width + 1,) least value of each window, from its first sample."""
    from scipy.ndimage import minimum_filter1d

    centred: Floats = minimum_filter1d(x, width, mode="nearest")
    lead = width // 2
    return centred[lead : lead + len(x) - width + 1]


def drift(t: Int64, d: Int64, at: NDArray[np.intp] | None = None) -> Drift | None:
    """The line of the lower envelope of ``d``, with an origin of its own after each jump.

    Args:
        t: (n,) int64 ns by the other clock.
        d: (n,) int64 ns, the clock less the other.
        at: (k,) first samples after jumps.

    Returns:
        None where there are too few samples, or no time passes.
    """
    n = len(d)
    blocks = min(_BLOCKS, n // _PER_BLOCK)
    if n < LEAST or blocks < 2:
        return None
    per = n // blocks
    lead = n - per * blocks
    low = d[lead:].reshape(blocks, per).argmin(1) + np.arange(blocks) * per + lead
    level, when = (d[low] - d[0]) * 1e-9, t[low]
    stretch = np.zeros(blocks, np.intp) if at is None else np.searchsorted(at, low, "right")
    return _line(when, level, stretch)


def _line(when: Int64, level: Floats, stretch: NDArray[np.intp]) -> Drift | None:
    x = (when - when[0]) * 1e-9
    i, j = _pairs(len(x))
    use = (stretch[i] == stretch[j]) & (x[j] > x[i])
    if not use.all():
        i, j = i[use], j[use]
    if len(i) < 3:
        return None
    slopes = (level[j] - level[i]) / (x[j] - x[i])
    order = np.argsort(slopes)
    slopes, i, j = slopes[order], i[order], j[order]
    slope = float(slopes[len(slopes) // 2] + slopes[(len(slopes) - 1) // 2]) / 2
    rest = level - slope * x
    rest = rest - _median_of_each(rest, stretch)
    noise = 1.4826 * float(np.median(np.abs(rest)))
    return Drift(when, level, slope, _slope_error(x, i, j, slopes, noise), noise)


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n, 1)


def _slope_error(x: Floats, i: NDArray[np.intp], j: NDArray[np.intp], slopes: Floats, noise: float) -> float:
    """Delete-a-group jackknife of the median slope, and never less than even scatter would leave.

    Slopes (k,) in ascending order, of the blocks i and j (k,).
    """
    n = len(x)
    groups = min(_GROUPS, n // 2)
    group = np.arange(n) * groups // n
    left_out = np.arange(groups)[:, None]
    rank = np.cumsum((group[i] != left_out) & (group[j] != left_out), axis=1)
    some = rank[:, -1] > 0
    without = slopes[np.argmax(rank > rank[:, -1:] // 2, axis=1)[some]]
    spread = float(np.sqrt((len(without) - 1) / len(without) * np.sum((without - without.mean()) ** 2)))
    even = noise / float(np.sqrt(np.sum((x - x.mean()) ** 2)) or 1.0)
    return max(spread, even)


def _median_of_each(x: Floats, stretch: NDArray[np.intp]) -> Floats:
    if not stretch.any():
        return np.full(len(x), np.median(x))
    middle = np.array([np.median(x[stretch == s]) if (stretch == s).any() else 0.0
                       for s in range(int(stretch[-1]) + 1)])  # fmt: skip
    return np.asarray(middle[stretch])


def theil_sen(x: Floats, y: Floats, u: Floats) -> tuple[float, float]:
    """Slope of few estimates (a clap at each end, windows of content) and its standard error.

    Args:
        x: (m,) s.
        y: (m,) s, offsets.
        u: (m,) s, their standard uncertainties.

    Returns:
        (nan, inf) with fewer than two different x. With two, the error is that of both ends; with more, the
        larger of what ``u`` and what the scatter about the line leave.
    """
    i, j = np.triu_indices(len(x), 1)
    i, j = i[x[i] != x[j]], j[x[i] != x[j]]
    if not len(i):
        return np.nan, np.inf
    slope = float(np.median((y[j] - y[i]) / (x[j] - x[i])))
    rest = y - slope * x
    scatter = 1.4826 * float(np.median(np.abs(rest - np.median(rest)))) if len(x) > 2 else 0.0
    power = float(np.sqrt(np.sum((x - x.mean()) ** 2)))
    return slope, max(float(np.sqrt(np.mean(u**2))), scatter) / power


def jitter(step: Int64) -> float:
    """Robust standard deviation of the time between samples, s; ``step`` (n - 1,) int64 ns."""
    return 1.4826e-9 * float(np.median(np.abs(step - np.median(step)))) if len(step) else np.nan


@lru_cache(maxsize=64)
def exact(rate: Fraction) -> Fraction:
    """The rate that a rounded one stands for: 29.97 is 30000/1001, 30 is 30."""
    for nominal in _BROADCAST:
        true = Fraction(nominal * 1000, 1001)
        if abs(rate / true - 1) < _ROUNDED:
            return true
    return rate


@lru_cache(maxsize=64)
def sibling(rate: Fraction) -> Fraction | None:
    """The other one of a broadcast pair (30 for 29.97, 29.97 for 30), 0.1 % away; None for other rates."""
    rate = exact(rate)
    for nominal in _BROADCAST:
        if rate == nominal:
            return Fraction(nominal * 1000, 1001)
        if rate == Fraction(nominal * 1000, 1001):
            return Fraction(nominal)
    return None


_BROADCAST: Final = (24, 30, 48, 60, 120)
_ROUNDED: Final = Fraction(1, 5000)
"""23.98 is meant as 24000/1001, 0.016 % away; the sibling is 0.1 % away."""


def counted(t: Int64, rate: Fraction) -> tuple[Int64, NDArray[np.intp]]:
    """How far stamps run away from the samples' own count at a rate, and where holes begin.

    Returns:
        (n,) int64 ns, t less count / rate, periods of lost samples counted; and (k,) first samples after
        holes of three periods or more, behind which a stream goes on at any phase.
    """
    since, n = t - t[0], np.arange(len(t))
    x = since * (1e-9 * float(rate))
    lost = lost_periods(x)
    count = n.copy()
    count[1:] += np.cumsum(lost)
    made = np.rint(count * (1e9 / float(rate))).astype(np.int64)
    return since - made, np.flatnonzero(lost >= HOLE) + 1


def lost_periods(x: Floats) -> Int64:
    """(n - 1,) whole periods missing in each step; x (n,) stamps in periods from the first.

    Medians of five: a single late stamp is jitter, what lasts for three is a gap of whole periods. Nothing
    is counted where the steps are far from a period, as they do not tell how many they hold.
    """
    step = np.diff(x)
    if len(x) < 2 or not abs(float(np.median(step)) - 1) < 0.25 or np.abs(step - 1).max() < 0.5:
        return np.zeros(len(step), np.int64)  # a median of five moves by no more than the largest step
    over = np.pad(x - np.arange(len(x)), 2, mode="edge")
    level = np.median(sliding_window_view(over, 5), axis=1)
    return np.rint(np.diff(level)).astype(np.int64)
