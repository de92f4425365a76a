"""Values that a joint holds while it and its limb are in motion: frames that were repeated or filled in."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.rests import NONE, Columns, Rests, amid_motion

__all__ = ["holds"]

EASE: Final = 0.5
"""A step below this share of its neighbour further from the hold slows down, or gathers speed."""


def holds(of: Columns, mates: NDArray[np.bool_], moving: float) -> Rests:
    """Three and more equal values, bit for bit, of a joint in motion whose limb moves on.

    A joint that stops by itself slows down before, and gathers speed after. Here it does not: it is as fast
    as ``moving`` (rad/s) over the step that leads to the hold and over the one that leaves it, by more than
    three grains of its numbers, and one of the joints that ``mates`` (c, c) has for it is as fast meanwhile.
    """
    if len(of.x) < 5:
        return NONE
    found = amid_motion(_held(of, moving), of, mates, moving)
    keep = np.zeros(len(found.first), bool)
    for column in np.unique(found.column) if len(keep) else ():
        step = np.abs(np.diff(of.x[:, column]))
        mine = found.column == column
        before, after = step[found.first[mine] - 1], step[found.end[mine] - 1]
        keep[mine] = np.minimum(before, after) > 3 * _grain(step)
    return found.only(keep)


def _held(of: Columns, moving: float) -> Rests:
    """Each hold but those that a joint slows down for and leaves slowly."""
    most = of.x.shape[1] * (len(of.x) // 3 + 1)
    found = np.empty((3, most), np.int64)
    count = np.zeros(1, np.int64)
    signature = "void(float64[:,::1], int64[::1], float64, float64, int64[:,::1], int64[::1])"
    compiled(_stopped, signature)[0](of.x, of.t0, moving, EASE, found, count)
    if not count[0]:
        return NONE
    column, first, end = found[:, : count[0]]
    end = end + 1
    seconds = np.asarray((of.t1[end - 1] - of.t0[first]) * 1e-9, np.float64)
    return Rests(column, first, end, seconds, of.x[first, column])


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


def _grain(step: NDArray[np.float64]) -> float:
    """The smallest step of a column whose steps (n,) are multiples of it; 0 where numbers have no grain."""
    step = step[step > 0]
    grain = float(step.min())
    odd = np.abs(step / grain - np.rint(step / grain))
    return grain if np.count_nonzero(odd < 0.1) > 0.9 * len(step) else 0.0
