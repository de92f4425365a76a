"""Where joints rest: on a limit, on a bound of their own, at one value amid motion.

Each loop along time is compiled: a clip has dozens of joints and a few rests, and NumPy takes a dozen calls
for each joint. What the rests mean is said in gate RTG008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.loops import ready, whole

__all__ = [
    "EXACT", "NONE", "Columns", "Limbs", "Rests", "amid_motion", "beside", "columns_of", "joined", "limbs",
    "longest", "own_bounds", "rests",
]  # fmt: skip

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Index = NDArray[np.intp]
Bools = NDArray[np.bool_]

EXACT: Final = 1e-6
"""rad; float32 near pi is good to 2.4e-7."""
_GRAINS: Final = np.array([0.01, np.pi / 180])[:, None, None]
_MOST: Final = float(np.finfo(np.float64).max)


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
        if keep.all():
            return self
        return Rests(
            self.column[keep], self.first[keep], self.end[keep], self.seconds[keep], self.value[keep]
        )


_NO: Final = np.zeros(0, np.intp)
NONE: Final = Rests(_NO, _NO, _NO, np.zeros(0), np.zeros(0))


def joined(one: Rests, other: Rests) -> Rests:
    """Both as one."""
    if not len(one.first) or not len(other.first):
        return one if len(one.first) else other
    names = ("column", "first", "end", "seconds", "value")
    return Rests(*(np.concatenate([getattr(one, n), getattr(other, n)]) for n in names))


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


def columns_of(x: Floats, t0: Int64, t1: Int64, lower: Floats, upper: Floats) -> Columns:
    """`Columns` of values x (n, c), with their extremes; 0 where there is no frame."""
    made = ready(x)
    low, high = (made.min(axis=0), made.max(axis=0)) if len(made) else (np.zeros(made.shape[1]),) * 2
    return Columns(made, whole(t0), whole(t1), lower, upper, low, high)


def rests(of: Columns, near: float) -> Rests:
    """Rests within ``near`` of a limit; a column that never moves is parked."""
    low, high, lower, upper = of.low, of.high, of.lower, of.upper
    # NaN compares False: a column with holes is looked at in full.
    touched = ~(low > lower + near) | ~(high < upper - near)
    column = np.repeat((touched & ~(high - low <= near)).nonzero()[0], 2)
    value = np.where(np.arange(len(column)) % 2, upper[column], lower[column])
    return _stays(of, column, value, near, 1)


def own_bounds(of: Columns, near: float) -> Rests:
    """Rests of three frames and more at an extreme of the clip that is no limit of the body and no accident.

    A value is no accident if it is a multiple of 0.01 rad or of a degree (which by chance one in 3,000 is); 0
    is where unused joints rest.
    """
    value = np.stack([of.low, of.high])
    free = (value > of.lower + near) & (value < of.upper - near) & (of.high - of.low > near)
    rounded = np.abs(value - np.rint(value / _GRAINS) * _GRAINS) <= EXACT
    at = np.flatnonzero(free & (rounded[0] | rounded[1]) & (np.abs(value) > EXACT))
    return _stays(of, at % value.shape[1], value.reshape(-1)[at], EXACT, 3)


def _stays(of: Columns, column: Index, value: Floats, near: float, least: int) -> Rests:
    """Stretches of ``least`` frames and more in which columns (k,) are within ``near`` of values (k,)."""
    if not len(column):
        return NONE
    most = len(column) * (len(of.x) // (least + 1) + 1)
    found, seconds, count = np.empty((3, most), np.int64), np.empty(most), np.zeros(1, np.int64)
    signature = (
        "void(float64[:,::1], int64[::1], int64[::1], int64[::1], float64[::1], float64, int64,"
        " int64[:,::1], float64[::1], int64[::1])"
    )
    compiled(_stay, signature)[0](of.x, of.t0, of.t1, column, value, near, least, found, seconds, count)
    which, first, end = found[:, : count[0]]
    return Rests(column[which], first, end, seconds[: count[0]], value[which])


def _stay(x, t0, t1, column, value, near, least, found, seconds, count):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    k, n = 0, len(x)
    for job in range(len(column)):
        c, v, first = column[job], value[job], -1
        for i in range(n + 1):
            if i < n and abs(x[i, c] - v) <= near:
                if first < 0:
                    first = i
            elif first >= 0:
                if i - first >= least:
                    found[0, k], found[1, k], found[2, k] = job, first, i
                    seconds[k] = (t1[i - 1] - t0[first]) * 1e-9
                    k += 1
                first = -1
    count[0] = k


@dataclass(frozen=True, slots=True, eq=False)
class Limbs:
    """Joints by the limbs that they are of, in the order in which `Columns` has them.

    Attributes:
        at: (c,) which of the recorded joints they are; part, side: c of each, as the body has them.
        mates: (c, c) whether the second is another joint of the first one's limb; the waist's is the body.
    """

    at: Index
    part: tuple[str, ...]
    side: tuple[str, ...]
    mates: Bools

    def of(self, part: str, side: str) -> Bools:
        """(c,) which are of one part and side."""
        return np.array([p == part and s == side for p, s in zip(self.part, self.side, strict=True)], bool)


@lru_cache(maxsize=64)
def limbs(part: tuple[str, ...], side: tuple[str, ...], wanted: tuple[bool, ...]) -> Limbs:
    """The limbs of the ``wanted`` among recorded joints: the same for clip after clip of one body."""
    at = [i for i, mine in enumerate(wanted) if mine]
    part, side = tuple(part[i] for i in at), tuple(side[i] for i in at)
    mates = [
        [k != i and (part[i] == "waist" or (part[k], side[k]) == (part[i], side[i])) for k in range(len(at))]
        for i in range(len(at))
    ]
    return Limbs(np.array(at, np.intp), part, side, np.array(mates, bool).reshape(len(at), len(at)))


def amid_motion(found: Rests, of: Columns, mates: Bools, moving: float) -> Rests:
    """Rests during which one of a joint's ``mates`` (c, c) of `Limbs` goes at ``moving`` rad/s on average."""
    if not len(found.first):
        return found
    keep = np.zeros(len(found.first), bool)
    signature = (
        "void(float64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[:,::1], float64,"
        " float64, boolean[::1])"
    )
    compiled(_moved_by, signature)[0](
        of.x, of.t0, found.column, found.first, found.end, mates, moving, _MOST, keep
    )
    return found.only(keep)


# The way of a limb is the sum over steps of its largest change of a joint; a step with NaN is none.
def _moved_by(x, t0, column, first, end, mates, moving, most, keep):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    way = np.zeros(len(x))
    for c in range(x.shape[1]):
        last = 0
        for k in range(len(column)):
            last = max(last, end[k]) if column[k] == c else last
        total = 0.0
        for i in range(1, last):
            step = 0.0
            for j in range(x.shape[1]):
                if mates[c, j]:
                    change = abs(x[i, j] - x[i - 1, j])
                    step = change if change > step or math.isnan(change) else step
                    if math.isnan(change):
                        break
            total += 0.0 if math.isnan(step) else min(step, most)
            way[i] = total
        for k in range(len(column)):
            if column[k] == c:
                a, b = first[k], end[k] - 1
                keep[k] = (way[b] - way[a]) * 1e9 >= moving * (t0[b] - t0[a])


def beside(found: Rests, others: Rests, n: int) -> Rests:
    """Those that begin on none of the others of their column, in a clip of n frames."""
    if not len(found.first) or not len(others.first):
        return found
    keep = np.ones(len(found.first), bool)
    for column in np.unique(found.column):
        taken = longest(others.only(others.column == column), n)[0] > 0
        mine = np.flatnonzero(found.column == column)
        keep[mine] = ~taken[found.first[mine]]
    return found.only(keep)


def longest(found: Rests, n: int, free: Mapping[int, Bools] | None = None) -> tuple[Floats, Index, Bools]:
    """Seconds of the longest rest over each of n frames, its column, and where only free ones lie.

    Args:
        found: the rests.
        n: frames.
        free: column → (n,) frames in which its rests are legitimate.

    Returns:
        (n,) s, (n,) column, (n,) whether a legitimate rest and no other lies there.
    """
    best, which, excused = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, bool)
    if not len(found.first):
        return best, which, excused
    width = int(found.column.max()) + 1
    row = np.full(width, -1, np.int64)
    rows = np.zeros((len(free) if free else 0, n), bool)
    for i, (column, frames) in enumerate((free or {}).items()):
        row[column], rows[i] = i, frames
    signature = (
        "void(int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], boolean[:,::1], float64[::1],"
        " int64[::1], boolean[::1])"
    )
    compiled(_longest, signature)[0](
        found.column, found.first, found.end, found.seconds, row, rows, best, which, excused
    )
    return best, which, excused


def _longest(column, first, end, seconds, row, free, best, which, excused):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    n = len(best)
    here = np.zeros(n + 1)
    for c in range(len(row)):
        some = False
        for k in range(len(column)):
            some |= column[k] == c
        if not some:
            continue
        here[:] = 0.0
        for k in range(len(column)):
            if column[k] == c:
                here[first[k]] += seconds[k]
        for k in range(len(column)):
            if column[k] == c:
                here[end[k]] -= seconds[k]
        length = 0.0
        for i in range(n):
            length += here[i]
            right = row[c] >= 0 and free[row[c], i]
            excused[i] |= right and length > 1e-9
            if not right and length > best[i] + 1e-9:
                best[i], which[i] = length, c
    for i in range(n):
        excused[i] &= best[i] <= 0
