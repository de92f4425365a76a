"""How late pictures are by what they show: their motion against the motion that the joints predict.

A linear map from joint velocities to the flow of each picture block is learnt over a corpus; an episode's
lag is where its measured flow agrees best with the flow that its joints predict. What the whole corpus shares
(the rig's own delay, the map's bias) is in the reference, so that only an episode's deviation is measured.

Own method, measured on a real Unitree G1 (docs/power/SYN001.md): cosine over lags, delete-one-block jackknife
(Quenouille 1956), windows that must agree, Huber's mean (1964). Windows that show no motion, or have a rival
peak, are left out; an episode with too few left, or in which chance does as well, is not decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_map import Map, Take, Track, learn
from assay.signals.flow import Flow
from assay.signals.lag_curve import Curve, Peaks, circular, coarse, huber, lead, peaks

__all__ = [
    "FEW",
    "Drift",
    "Estimate",
    "Map",
    "Take",
    "Windows",
    "drift",
    "ends",
    "estimate",
    "learn",
    "segments",
    "windows",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FLOOR: Final = 0.22
"""Units (see `Map.unit`) by which untouched episodes of a real corpus differ beyond their noise."""

LONG: Final = 20.0
"""Seconds from which on an episode's two ends are estimated apart."""

_PER_WINDOW: Final = 6  # blocks
FEW: Final = 8  # episodes; a map learnt from fewer must be surer
_PREDICTS: Final = 0.05  # share of the best blocks' flow in unseen episodes, below which a map is worthless
_LEAD, _LEAD_FEW = 1.5, 3.0  # z of the best lag over its rival in one window
_AGREE: Final = 0.3  # cosine in one window
_UNSURE: Final = 0.8  # units of standard error in one window
_MOVES: Final = 0.05  # of the corpus's mean power of predicted flow; less is no motion
_KEPT, _KEPT_SHARE = 3, 0.4  # windows that must agree, and their share of those in which the robot moves
_APART: Final = 1.5  # units from the common lag at which a window does not agree
_RIVAL: Final = (
    1 / 6
)  # s (2.5 units where those are long) from the best lag at which a peak is another answer
# Agreement at any other lag of the episode, as a share of the best: up to the first it is chance's, beyond
# the second the motion repeats itself; between them the best must lead by so many standard errors.
_CHANCE, _REPEATS, _LEADS = 0.6, 0.9, 5.0
_END: Final = 10.0  # s of an episode's end
_DRIFTS: Final = 60.0  # s; in longer episodes the lag may run away
_FASTEST: Final = 1.5e-3  # s/s of drift that is looked for


@dataclass(frozen=True, slots=True)
class Estimate:
    """The lag of an episode, or of one end of it.

    Attributes:
        seconds: later (positive) than the corpus's median; NaN where it abstains.
        u: standard uncertainty, s.
        why: why it abstains, a code of `assay.gate.REASONS`; empty where it speaks.
        detail: the particulars of that.
        lag: s from joints to pictures as content has it, the method's own bias included.
        kept: share of the windows amid motion that agree.
        t0, t1: s from the first flow on, the stretch that it speaks for.
    """

    seconds: float
    u: float
    why: str = ""
    detail: str = ""
    lag: float = np.nan
    kept: float = 0.0
    t0: float = 0.0
    t1: float = 0.0


@dataclass(frozen=True, slots=True)
class Drift:
    """How much later pictures become per time.

    Attributes:
        ppm: 1e-6 s per s; u: its standard uncertainty; NaN where it abstains, with ``why``.
        seconds: s by which they are later at the end than at the start.
    """

    ppm: float
    u: float
    why: str = ""
    seconds: float = np.nan


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The lag over time, in windows of about 3 s every half second.

    Attributes:
        t: (w,) s, their middles, from the first flow on; lag: (w,) s; se: (w,) s, of noise alone.
        course: (w,) s, the straight line along which a long episode's lag was looked for.
        ok: (w,) bool, whether a window may be used; moving: (w,) bool, whether the joints move.
        inner, ours: (b, k) sums of blocks at each lag beside the course, as `Curve.blocks` gives them.
        long: s of a window; length: s of the episode.
        ambiguous: whether the episode as a whole agrees about as well at another lag.
    """

    t: Floats
    lag: Floats
    se: Floats
    course: Floats
    ok: Bools
    moving: Bools
    inner: Floats
    ours: Floats
    long: float
    length: float
    ambiguous: bool


def estimate(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Estimate:
    """An episode's deviation from the corpus's median lag: all of it, a `Take` as for `learn`."""
    seen = windows(known, flow, q, tq)
    return _summed(known, seen, np.ones(len(seen.t), bool))


def ends(known: Map, seen: Windows) -> tuple[Estimate, ...]:
    """Start and end of an episode of 20 s or more, else the whole: one or two estimates.

    An end is the first (last) 10 s of windows amid motion, sought in the first (last) third of the episode.
    """
    if seen.length < LONG:
        return (_summed(known, seen, np.ones(len(seen.t), bool)),)
    return _summed(known, seen, _end(seen)), _summed(known, seen, _end(seen, late=True))


def _end(seen: Windows, *, late: bool = False) -> Bools:
    """(w,) the windows of the first or last 10 s amid motion."""
    enough = max(round(_END / (seen.t[1] - seen.t[0])), _KEPT)
    near = seen.t > seen.length * 2 / 3 if late else seen.t < seen.length / 3
    moving = near & seen.moving
    before = np.cumsum(moving[::-1])[::-1] if late else np.cumsum(moving)
    return np.asarray(near & (before <= enough))


def tells(known: Map, seen: Windows) -> bool:
    """Whether anything can be told of this episode, also if its lag steps so that no one lag fits."""
    return _refused(known, seen, seen.moving) is None


def segments(known: Map, seen: Windows) -> tuple[Estimate, ...]:
    """One estimate per 10 s of an episode of a minute or more: what a drift is seen by."""
    if seen.length < _DRIFTS:
        return ()
    number = (seen.t // _END).astype(np.intp)
    found = [_summed(known, seen, number == i) for i in range(int(number[-1]) + 1)]
    return tuple(e for e in found if not e.why)


def drift(known: Map, seen: Windows) -> Drift:
    """The slope of the lag over the episode, by a robust line through the windows that may be used.

    Its error takes windows that overlap for one, and the lag's wandering for no less than `FLOOR`.
    """
    whole = _summed(known, seen, np.ones(len(seen.t), bool))
    if whole.why:
        return Drift(np.nan, np.nan, whole.why)
    t, lag = seen.t[seen.ok], seen.lag[seen.ok]
    slope, _, scatter = _line(t, lag)
    apart = len(t) * (seen.t[1] - seen.t[0]) / seen.long
    if apart < 3:
        return Drift(np.nan, np.nan, "too-short")
    u = max(scatter, FLOOR * known.unit) / (float(np.std(t)) * np.sqrt(apart))
    return Drift(slope * 1e6, u * 1e6, "", slope * seen.length)


def windows(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Windows:
    """The lag over time, before it is summed up."""
    track = known.track(flow, q, tq)
    length = len(track.t) * known.step
    rows = known.rows
    long = _PER_WINDOW * rows
    if len(track.t) < long:
        none, wide = np.zeros(0), np.zeros((0, 0))
        return Windows(
            none, none, none, none, none > 0, none > 0, wide, wide, long * known.step, length, True
        )
    line = _course(known, track, rows) if length > _DRIFTS else (0.0, 0.0)
    motion = track.motion(known.lag, known.reach, line)
    curve = Curve.of(track.flow, motion, known.weights, known.trust, known.reach)
    found = peaks(*curve.windows(rows, _PER_WINDOW), rival=_apart(known))
    t = np.asarray((np.arange(len(found.at)) + _PER_WINDOW / 2) * rows * known.step, np.float64)
    course = line[0] + line[1] * t
    lag = known.lag + course + found.at * known.step
    moving = found.ours >= _MOVES * known.power * long
    inner, ours, _ = curve.blocks(rows)
    return Windows(t, lag, found.se * known.step, course, moving & _usable(found, known), moving, inner, ours,
                   long * known.step, length, _ambiguous(known, track, motion))  # fmt: skip


def _usable(found: Peaks, known: Map) -> Bools:
    lead = _LEAD if known.episodes >= FEW else _LEAD_FEW
    sure = found.se * known.step <= _UNSURE * known.unit
    return (found.lead >= lead) & (found.score >= _AGREE) & sure & ~found.edge


def _apart(known: Map) -> float:
    return max(_RIVAL, 2.5 * known.unit) / known.step


def _ambiguous(known: Map, track: Track, motion: Floats) -> bool:
    """Whether the episode as a whole agrees about as well at another lag, of all circular shifts."""
    n, reach = len(track.t), known.reach
    moves = motion[reach : reach + n]
    score = circular(track.flow, moves, known.weights, known.trust)
    lag = np.arange(n)
    lag = np.where(lag > n // 2, lag - n, lag)
    best = int(np.where(np.abs(lag) <= reach, score, -np.inf).argmax())
    apart = np.abs(lag - lag[best])
    far = np.minimum(apart, n - apart) >= _apart(known)
    other = int(np.where(far, score, -np.inf).argmax())
    share = score[other] / max(score[best], 1e-9)
    if share <= _CHANCE or share > _REPEATS:
        return bool(share > _CHANCE)
    pair = np.stack([np.roll(moves, x, axis=0) for x in (best, other)])
    return lead(track.flow, pair, known.weights, known.trust, known.rows) < _LEADS


def _course(known: Map, track: Track, rows: int) -> tuple[float, float]:
    """The straight line (s, s/s) along which the lag of a long episode runs, to one step at its end.

    The sum of the windows' cosines along every line within reach at its start (a Radon transform).
    """
    runs = int(np.ceil(_FASTEST * len(track.t)))
    reach = known.reach + runs
    motion = track.motion(known.lag, reach)
    parts = coarse(track.flow, motion, known.weights, known.trust, reach, 3 * _PER_WINDOW * rows)
    share = (np.arange(len(parts)) + 0.5) / len(parts)
    starts, falls = np.arange(-known.reach, known.reach + 1), np.arange(-runs, runs + 1)
    at = np.rint(starts[:, None, None] + falls[:, None] * share).astype(np.intp) + reach
    inside = np.clip(at, 0, 2 * reach)
    total = np.sum(parts[np.arange(len(parts)), inside], axis=-1)
    i, j = np.unravel_index(int(total.argmax()), total.shape)
    return float(starts[i]) * known.step, float(falls[j]) / len(track.t)


def _summed(known: Map, seen: Windows, among: Bools) -> Estimate:
    moving, ok = among & seen.moving, among & seen.ok
    refused = _refused(known, seen, moving)
    if refused is not None:
        return refused
    n, kept = int(moving.sum()), int(ok.sum())
    if kept >= _KEPT:
        beside = seen.lag[ok] - seen.course[ok]
        off, scatter = huber(beside)
        lag = off + float(seen.course[ok].mean())
        kept = int(np.sum(np.abs(beside - off) <= _APART * known.unit))
    if kept < _KEPT or kept < _KEPT_SHARE * n:
        return Estimate(np.nan, np.nan, "undecided", f"{kept} of {n} windows agree", kept=kept / n)
    apart = max(kept * (seen.t[1] - seen.t[0]) / seen.long, 1.0)
    noise = max(scatter, float(np.median(seen.se[ok]))) / np.sqrt(apart)
    u = float(np.hypot(noise, np.hypot(FLOOR * known.unit, 1.25 * known.spread / np.sqrt(known.episodes))))
    half = seen.long / 2
    first, last = float(seen.t[ok][0]) - half, float(seen.t[ok][-1]) + half
    return Estimate(lag - known.lag, u, "", "", lag, kept / n, first, last)


def _refused(known: Map, seen: Windows, moving: Bools) -> Estimate | None:
    if not len(seen.t):
        why, detail = "too-short", f"{seen.length:.1f} s of pictures and joints"
    elif known.share < _PREDICTS:
        why, detail = "undecided", f"joints predict nothing of these pictures in {known.episodes} episodes"
    elif moving.sum() < _KEPT:
        why, detail = "still", "too little motion to compare"
    elif seen.ambiguous:
        why, detail = "undecided", "another lag fits as well"
    else:
        return None
    return Estimate(np.nan, np.nan, why, detail)


def _line(t: Floats, y: Floats) -> tuple[float, float, float]:
    """Slope, value at t = 0 and robust scatter of Huber's line."""
    weight = np.ones(len(t))
    for _ in range(20):
        mean_t, mean_y = np.average(t, weights=weight), np.average(y, weights=weight)
        slope = float(np.sum(weight * (t - mean_t) * (y - mean_y)) / np.sum(weight * (t - mean_t) ** 2))
        off = y - mean_y - slope * (t - mean_t)
        scatter = max(1.4826 * float(np.median(np.abs(off))), 1e-6)
        weight = np.minimum(1.0, 1.345 * scatter / np.maximum(np.abs(off), 1e-12))
    return slope, float(mean_y - slope * mean_t), scatter
