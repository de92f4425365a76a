"""Frozen stretches of pictures, rows or poses. Measured on real coding noise; see gate SYN008."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.cadence import STALE, Fresh
from assay.signals.lasting import runs
from assay.signals.pictures import GREY, Thumbs

__all__ = [
    "blank",
    "held_poses",
    "local_change",
    "near_held",
    "quiet_change",
    "still_runs",
    "stop_speed",
]

Bools = NDArray[np.bool_]

_TOP: Final = 0.02  # share of a thumbnail that a small moving hand covers
_PLAIN: Final = 1.0  # grey; a covered lens or a wall close by still shades by more
_THIRTIETH: Final = 33_333_333  # ns
_EASE: Final = 0.5  # of the speed before: a body that stops by itself slows down
_BLOCK: Final = 256  # pictures held as float32 at a time


def held_poses(x: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last row of each stretch in which all columns of x (n, c) keep their values bit for bit."""
    return runs(np.asarray((x[1:] == x[:-1]).all(axis=1)))


def near_held(
    x: NDArray[np.float64], rate: float, still: float, seconds: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last row of each stretch in which a pose is held but for noise, or creeps along.

    Args:
        x: (n, c) rad or m, evenly sampled.
        rate: rows a second.
        still: what no column ranges over more than, anywhere in the stretch, within ``seconds``; stretches
            that are held bit for bit count whatever their length.
        seconds: the shortest other stretch.
    """
    step = np.abs(np.diff(x, axis=0))
    rows = max(2, math.ceil(seconds * rate)) + 1
    held = (step == 0).all(axis=1)
    for a, b in zip(*runs(np.asarray((step <= still).all(axis=1))), strict=True):
        if b - a + 1 < rows:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(x[a : b + 1], rows, axis=0)
        fit = (np.ptp(windows, axis=2) <= still).all(axis=1)
        held[a:b] |= np.convolve(fit, np.ones(rows - 1)) > 0.5
    return runs(held)


def stop_speed(
    x: NDArray[np.float64], t: NDArray[np.int64], first: NDArray[np.intp], last: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(k,) how fast the fastest column goes into or out of each held stretch, where it does not slow down.

    Args:
        x: (n, c) rad or m.
        t: (n,) int64 ns.
        first: (k,) of `held_poses`.
        last: (k,) of `held_poses`.

    Returns:
        Units a second over 1/30 s outside the stretch; a column that has less than half of the speed of the
        1/30 s before (or gathers it in the one after) counts as 0, and so does one that the clip's end hides.
    """
    return np.maximum(_leaving(x, t, last, 1), _leaving(x, t, first, -1))


def _leaving(
    x: NDArray[np.float64], t: NDArray[np.int64], at: NDArray[np.intp], way: int
) -> NDArray[np.float64]:
    """(k,) speed right outside rows ``at``, forwards (1) or backwards (-1) in time."""
    seconds = (t - t[0]) * 1e-9
    inner = t[at] + way * _THIRTIETH
    outer = inner + way * _THIRTIETH
    rows = [np.clip(np.searchsorted(t, when - way * 1000, "left" if way > 0 else "right") - (way < 0),
                    0, len(t) - 1) for when in (inner, outer)]  # fmt: skip
    near, far = rows
    lasted = np.maximum(np.abs(seconds[near] - seconds[at]), 1e-9)[:, None]
    beyond = np.maximum(np.abs(seconds[far] - seconds[near]), 1e-9)[:, None]
    speed = np.abs(x[near] - x[at]) / lasted
    further = np.where((far == near)[:, None], np.inf, np.abs(x[far] - x[near]) / beyond)
    made: NDArray[np.float64] = np.where(speed >= _EASE * further, speed, 0.0).max(axis=1, initial=0.0)
    return made


def blank(thumbs: Thumbs) -> Bools:
    """(n,) whether a picture shows nothing: its cells (h, w) spread by less than a grey level.

    A cell is a mean of some 64 pixels, in which sensor noise is gone. Pictures of real and simulated scenes
    spread by 14 grey and more, see gate SYN008.
    """
    spread = [thumbs[i : i + _BLOCK].std((1, 2), dtype=np.float32) for i in range(0, len(thumbs), _BLOCK)]
    return (
        np.concatenate(spread) < _PLAIN * GREY if spread and thumbs[0].size else np.zeros(len(thumbs), bool)
    )


def local_change(a: Thumbs, b: Thumbs) -> NDArray[np.float64]:
    """(k,) grey: mean of the largest 2 % of |b - a| (k, h, w), averaged over 2 x 2 cells.

    The mean over the whole picture is too blunt: a hand that moves alone covers 2 % of it.
    """
    out = np.empty(len(b))
    for start in range(0, len(b), _BLOCK):
        end = start + _BLOCK
        first = a[start:end] if len(a) == len(b) else a
        d = b[start:end].astype(np.float32) - first.astype(np.float32)
        for axis in (1, 2):  # 2 x 2 means, where there are two rows and columns
            if d.shape[axis] > 1:
                low, high = (slice(None),) * axis + (slice(-1),), (slice(None),) * axis + (slice(1, None),)
                d = d[low] + d[high]
        scale = 1 / ((1 + (a.shape[1] > 1)) * (1 + (a.shape[2] > 1)) * GREY)
        d = np.abs(d).reshape(len(d), -1)
        top = max(1, int(_TOP * d.shape[1]))
        out[start:end] = np.partition(d, -top, axis=1)[:, -top:].mean(1) * scale
    return out


def quiet_change(thumbs: Thumbs, fresh: Fresh) -> float:
    """Local change (grey) up to which two pictures are the same: from repeats that were coded again.

    1.25 times the 90th percentile of their local change, within 0.5 to 4 grey; 0.5 where there are none.
    """
    again = np.flatnonzero((fresh.share < STALE / 2) & (fresh.energy > 0))
    if len(again) < 10 or np.mean(fresh.stale) <= 0.15:
        return 0.5
    change = local_change(thumbs[again], thumbs[again + 1])
    return float(np.clip(1.25 * np.quantile(change, 0.9), 0.5, 4.0))


def still_runs(thumbs: Thumbs, same: float, at_least: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Stretches in which every picture equals the stretch's first one.

    Args:
        thumbs: (n, h, w).
        same: local change (grey) up to which two pictures are equal.
        at_least: shortest stretch, in transitions.

    Returns:
        First picture and last picture of each stretch, (k,), (k,); stretches do not overlap.
    """
    n = len(thumbs)
    start = np.arange(max(n - at_least, 0))
    for step in range(1, at_least + 1):
        start = start[local_change(thumbs[start], thumbs[start + step]) <= same]
    firsts, lasts, done = [], [], -1
    while len(start := start[start >= done]):  # one turn for each frozen stretch
        first = int(start[0])
        done = _last_equal(thumbs, first, first + at_least, same)
        firsts.append(first)
        lasts.append(done)
    return np.array(firsts, np.intp), np.array(lasts, np.intp)


def _last_equal(thumbs: Thumbs, first: int, last: int, same: float) -> int:
    block = 8
    while last + 1 < len(thumbs):
        change = local_change(thumbs[first : first + 1], thumbs[last + 1 : last + 1 + block])
        beyond = np.flatnonzero(change > same)
        if len(beyond):
            return last + int(beyond[0])
        last, block = last + len(change), min(2 * block, _BLOCK)
    return last
