"""What clipping, holding and smoothing leave behind in joints: rests, holds, bounds, what they cost.

Gate RTG008 counts them; how each was measured on real clips is in its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.frozen import runs

__all__ = [
    "EXACT", "Columns", "Rests", "amid_motion", "beside", "holds", "joined", "limbs_of", "longest",
    "overshoot", "own_bounds", "rests", "rise", "tilt",
]  # fmt: skip

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Index = NDArray[np.intp]
Bools = NDArray[np.bool_]

EXACT: Final = 1e-6
"""rad; float32 near pi is good to 2.4e-7."""
EASE: Final = 0.5
"""A step below this share of its neighbour further from the hold slows down, or gathers speed."""
CREDIBLE: Final = 0.3
"""s; of longer rests the speed at their edges says nothing (REAL-CLIPS)."""


@dataclass(frozen=True, slots=True, eq=False)
class Rests:
    """Stretches in which one joint stays at one value.

    Attributes:
        column, first, end: (k,) the joint, its first frame, one past its last.
        seconds: (k,) from the first frame's stamp to the last one's end.
        value: (k,) rad.
    """

    column: Index
    first: Index
    end: Index
    seconds: Floats
    value: Floats

    def only(self, keep: Bools) -> Rests:
        """Those that the mask (k,) keeps."""
        return Rests(
            self.column[keep], self.first[keep], self.end[keep], self.seconds[keep], self.value[keep]
        )


def joined(parts: list[Rests]) -> Rests:
    """Several as one."""

    def whole(name: str) -> Index:
        return np.concatenate([np.zeros(0, np.intp), *(getattr(p, name) for p in parts)]).astype(np.intp)

    def real(name: str) -> Floats:
        return np.concatenate([np.zeros(0), *(getattr(p, name) for p in parts)])

    return Rests(whole("column"), whole("first"), whole("end"), real("seconds"), real("value"))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Joints over time with their bounds and extremes.

    Attributes:
        x: (n, c) rad; t0, t1: (n,) int64 ns, each frame's interval.
        lower, upper: (c,) limits; low, high: (c,) the clip's extremes, NaN where it has holes.
    """

    x: Floats
    t0: Int64
    t1: Int64
    lower: Floats
    upper: Floats
    low: Floats
    high: Floats


def rests(of: Columns, near: float) -> Rests:
    """Rests within ``near`` of a limit; a column that never moves is parked."""
    low, high, lower, upper = of.low, of.high, of.lower, of.upper
    # NaN compares False: a column with holes is looked at in full.
    touched = ~(low > lower + near) | ~(high < upper - near)
    found = []
    for column in np.flatnonzero(touched & ~(high - low <= near)):
        bounds = (float(lower[column]), float(upper[column]))
        found += [_at(of, int(column), bound, near) for bound in bounds]
    return joined(found)


def own_bounds(of: Columns, near: float) -> Rests:
    """Rests of three frames and more at an extreme of the clip that is no limit of the body and no accident.

    A value is no accident if it is a multiple of 0.01 rad or of a degree; 0 is where unused joints rest.
    """
    low, high, found = of.low, of.high, []
    for value in (low, high):
        free = (value > of.lower + near) & (value < of.upper - near) & (high - low > near)
        for column in np.flatnonzero(free & _chosen(value)):
            here = _at(of, int(column), float(value[column]), EXACT)
            found.append(here.only(here.end - here.first >= 3))
    return joined(found)


def holds(of: Columns, limbs: Mapping[int, Index], moving: float) -> Rests:
    """Three and more equal values, bit for bit, of a joint in motion whose limb moves on.

    A joint that stops by itself slows down before, and gathers speed after. Here it does not: it is as fast
    as ``moving`` (rad/s) over the step that leads to the hold and over the one that leaves it, by more than
    three grains of its numbers, and one of the joints that ``limbs`` names for it is as fast meanwhile.
    """
    x, t0, n, found = of.x, of.t0, len(of.x), []
    if n < 5:
        return joined([])
    columns, firsts, ends = _held(x, t0, moving)
    for column in np.unique(columns):
        mine = np.abs(np.diff(x[:, column]))
        first, end = firsts[columns == column], ends[columns == column]
        quick = np.minimum(mine[first - 1], mine[end]) > 3 * _grain(mine)
        others = limbs.get(int(column), np.zeros(0, np.intp))
        step = np.abs(np.diff(x[:, others], axis=0)).max(axis=1, initial=0.0)
        way = np.concatenate(([0.0], np.cumsum(np.nan_to_num(step))))
        quick &= (way[end] - way[first]) * 1e9 >= moving * (t0[end] - t0[first])
        first, end = first[quick], end[quick] + 1
        seconds = np.asarray((of.t1[end - 1] - t0[first]) * 1e-9, np.float64)
        found.append(Rests(np.full(len(first), column), first, end, seconds, x[first, column]))
    return joined(found)


def _held(x: Floats, t0: Int64, moving: float) -> tuple[Index, Index, Index]:
    """Column, first and last frame of each hold but those that a joint slows down for and leaves slowly."""
    most = x.shape[1] * (len(x) // 3 + 1)
    found = np.empty((3, most), np.int64)
    count = np.zeros(1, np.int64)
    signature = "void(float64[:,:], int64[::1], float64, float64, int64[:,::1], int64[::1])"
    made = x if x.flags.writeable else x.copy()
    compiled(_stopped, signature)[0](made, np.array(t0), moving, EASE, found, count)
    column, first, end = found[:, : count[0]]
    return column, first, end


# Steps are those between frames: step i leads from frame i to frame i + 1.
def _stopped(x, t0, moving, ease, found, count):  # type: ignore[no-untyped-def]
    last = len(x) - 1
    for c in range(x.shape[1]):
        end = 0
        for i in range(last):
            if i < end or x[i, c] != x[i + 1, c]:
                continue
            end = i + 1
            while end < last and x[end, c] == x[end + 1, c]:
                end += 1
            if end - i < 2 or i == 0 or end == last:
                continue
            before, after = abs(x[i, c] - x[i - 1, c]), abs(x[end + 1, c] - x[end, c])
            into = max((t0[i] - t0[i - 1]) * 1e-9, 1e-9)
            out = max((t0[end + 1] - t0[end]) * 1e-9, 1e-9)
            earlier, later = max(i - 2, 0), min(end + 1, last - 1)
            slows = before < ease * abs(x[earlier + 1, c] - x[earlier, c])
            gathers = after < ease * abs(x[later + 1, c] - x[later, c])
            if before / into >= moving and after / out >= moving and not (slows and gathers):
                found[0, count[0]], found[1, count[0]], found[2, count[0]] = c, i, end
                count[0] += 1


def limbs_of(part: NDArray[np.str_], side: NDArray[np.str_]) -> dict[int, Index]:
    """Column → the other columns of its limb, by part and side (c,); the waist's are the whole body."""
    return _limbs(tuple(part.tolist()), tuple(side.tolist()))


@lru_cache(maxsize=64)
def _limbs(part: tuple[str, ...], side: tuple[str, ...]) -> dict[int, Index]:
    return {
        i: np.array([
            k for k in range(len(part))
            if k != i and (part[i] == "waist" or (part[k], side[k]) == (part[i], side[i]))
        ], np.intp)
        for i in range(len(part))
    }  # fmt: skip


def amid_motion(found: Rests, of: Columns, limbs: Mapping[int, Index], moving: float) -> Rests:
    """Rests during which some joint of the limb goes at ``moving`` rad/s on average."""
    keep = np.zeros(len(found.first), bool)
    for column in np.unique(found.column):
        step = np.abs(np.diff(of.x[:, limbs[int(column)]], axis=0)).max(axis=1, initial=0.0)
        way = np.concatenate(([0.0], np.cumsum(np.nan_to_num(step))))
        mine = np.flatnonzero(found.column == column)
        a, b = found.first[mine], found.end[mine] - 1
        keep[mine] = (way[b] - way[a]) * 1e9 >= moving * (of.t0[b] - of.t0[a])
    return found.only(keep)


def beside(found: Rests, others: Rests, n: int) -> Rests:
    """Those that lie on none of the others of their column."""
    keep = np.ones(len(found.first), bool)
    for column in np.unique(found.column):
        taken = longest(others.only(others.column == column), n, {})[0] > 0
        mine = np.flatnonzero(found.column == column)
        keep[mine] = ~taken[found.first[mine]]
    return found.only(keep)


def longest(found: Rests, n: int, free: Mapping[int, Bools]) -> tuple[Floats, Index, Bools]:
    """Seconds of the longest rest over each of n frames, its column, and where only free ones lie.

    Args:
        found: the rests.
        n: frames.
        free: column → (n,) frames in which its rests are legitimate.

    Returns:
        (n,) s, (n,) column, (n,) whether a legitimate rest and no other lies there.
    """
    best, which, excused = np.zeros(n), np.zeros(n, np.intp), np.zeros(n, bool)
    for column in np.unique(found.column):
        mine = found.only(found.column == column)
        here = np.zeros(n + 1)
        np.add.at(here, mine.first, mine.seconds)
        np.subtract.at(here, mine.end, mine.seconds)
        length = np.cumsum(here[:-1])
        if int(column) in free:
            excused |= (length > 1e-9) & free[int(column)]
            length[free[int(column)]] = 0.0
        better = length > best + 1e-9
        best[better], which[better] = length[better], column
    return best, which, excused & (best <= 0)


def overshoot(x: Floats, found: Rests, t0: Int64) -> Floats:
    """(k,) rad that each rest cut off: (v_in + v_out) / 2 times a quarter of its length; NaN where untold.

    v is taken one step outside. REAL-CLIPS: the median ratio to the truth is 1.04 over 783 clips made from
    real joints, and nothing can be told beyond 0.3 s.
    """
    n, a, b = len(x), found.first, found.end
    told = (a >= 2) & (b + 1 < n) & (found.seconds <= CREDIBLE)
    a, b = np.where(told, a, 2), np.where(told, b, 0)
    if n < 3:
        return np.full(len(a), np.nan)
    c = found.column
    speed_in = np.abs(x[a - 1, c] - x[a - 2, c]) / np.maximum(t0[a - 1] - t0[a - 2], 1)
    speed_out = np.abs(x[b + 1, c] - x[b, c]) / np.maximum(t0[b + 1] - t0[b], 1)
    made: Floats = np.where(told, (speed_in + speed_out) * 1e9 / 2 * found.seconds / 4, np.nan)
    return made


def tilt(sole: Floats) -> Floats:
    """(m,) rad between the plane of a sole (m, k, 3) m and the floor; NaN with fewer than three points."""
    if sole.shape[1] < 3:
        return np.full(len(sole), np.nan)
    a, b = sole[:, 1] - sole[:, 0], sole[:, -1] - sole[:, 0]
    up = np.cross(a, b)
    size = np.linalg.norm(up, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Floats = np.arccos(np.minimum(np.abs(up[:, 2]) / size, 1.0))
    return made


def rise(value: Floats, on: Bools, off: Bools) -> tuple[float, float]:
    """How much higher value (n,) is on some frames than on others, and its standard uncertainty.

    Medians are compared within each stretch of ``on`` and ``off`` frames, since stretches differ by
    themselves; the median of their differences counts. Where no stretch has three frames of both, all are
    compared at once. NaN with fewer than three frames of either.
    """
    on, off = on & np.isfinite(value), off & np.isfinite(value)
    if np.count_nonzero(on) < 3 or np.count_nonzero(off) < 3:
        return float("nan"), 0.0
    both = [slice(a, b) for a, b in zip(*runs(on | off), strict=True)]
    both = [s for s in both if min(np.count_nonzero(on[s]), np.count_nonzero(off[s])) >= 3] or [slice(None)]
    pairs = [(value[s][on[s]], value[s][off[s]]) for s in both]
    more = np.array([np.median(x) - np.median(y) for x, y in pairs])
    if len(more) >= 3:
        scatter = np.abs(more - np.median(more))
        return float(np.median(more)), 1.4826 * float(np.median(scatter)) / float(np.sqrt(len(more)))
    around = np.concatenate([np.abs(y - np.median(y)) for _, y in pairs])
    return float(np.median(more)), 1.4826 * float(np.median(around)) / float(np.sqrt(len(more)))


def _at(of: Columns, column: int, value: float, near: float) -> Rests:
    first, end = runs(np.abs(of.x[:, column] - value) <= near)
    seconds = np.asarray((of.t1[end - 1] - of.t0[first]) * 1e-9, np.float64)
    return Rests(np.full(len(first), column, np.intp), first, end, seconds, np.full(len(first), value))


def _grain(step: Floats) -> float:
    """The smallest step of a column whose steps (n,) are multiples of it; 0 where numbers have no grain."""
    step = step[step > 0]
    grain = float(step.min())
    odd = np.abs(step / grain - np.rint(step / grain))
    return grain if np.count_nonzero(odd < 0.1) > 0.9 * len(step) else 0.0


def _chosen(value: Floats) -> Bools:
    """Which of (c,) values a person would write: by chance one in 3,000 is."""
    rounded = [np.abs(value - np.rint(value / grain) * grain) <= EXACT for grain in (0.01, np.pi / 180)]
    return np.asarray((rounded[0] | rounded[1]) & (np.abs(value) > EXACT))
