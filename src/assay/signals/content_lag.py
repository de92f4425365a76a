"""How late pictures are by what they show: their motion against the motion that the joints predict.

A linear map from joint velocities to the flow of each picture block is learnt over a corpus; an episode's
lag is where its measured flow agrees best with the flow that its joints predict. What the whole corpus shares
(the rig's own delay, the map's bias) is in the reference, so that only an episode's deviation is measured.

Own method, measured on a real Unitree G1 (docs/power/SYN001.md): cosine over lags, delete-one-block jackknife
(Quenouille 1956), windows that must agree, Huber's mean (1964). Windows that show no motion, or have a rival
peak, are left out; an episode with too few left, or in which chance does as well, is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from assay.signals.flow import Flow
from assay.signals.lag_curve import Curve, Peaks, huber, peaks

__all__ = ["Estimate", "Map", "Take", "Windows", "estimate", "learn", "windows"]

Floats = NDArray[np.float64]
Take = tuple[Flow, NDArray[Any], NDArray[np.int64]]
"""A camera's `Flow`, joint positions (m, d) and their stamps (m,) int64 ns on the same time axis."""

FLOOR: Final = 0.22
"""Units (see `Map.unit`) by which untouched episodes of a real corpus differ beyond their noise."""

_SMOOTH: Final = 1.0  # units, sd of the low-pass
_SLOW: Final = 8.0  # units, sd of what is taken off as slow
_REACH: Final = 15  # steps on either side of the expected lag
_BLOCK: Final = 15.0  # units that the jackknife leaves out at a time
_PER_WINDOW: Final = 6  # blocks
_RIDGES: Final = (1e-3, 1e-2, 1e-1)
_ROUNDS: Final = 3
_FIRST: Final = np.arange(-0.4, 0.81, 1 / 30)  # s, where a rig's lag is looked for
_FEW: Final = 8  # episodes; a map learnt from fewer must be surer
_LEAD, _LEAD_FEW = 1.5, 3.0  # z of the best lag over its rival in one window
_AGREE: Final = 0.3  # cosine in one window
_UNSURE: Final = 0.8  # units of standard error in one window
_KEPT, _KEPT_SHARE = 3, 0.4  # windows that must be left


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """What joints predict of pictures, learnt over a corpus.

    Attributes:
        weights: (d, c) cells per second of each block for each joint's velocity.
        trust: (c,) weight of each block.
        lag: s from joints to pictures, median over the corpus; spread: robust sd of single episodes.
        episodes: it was learnt from; step: s of the grid; share: of the flow that it predicts of
            episodes that it did not see.
    """

    weights: Floats
    trust: Floats
    lag: float
    spread: float
    episodes: int
    step: float
    share: float

    @property
    def unit(self) -> float:
        """Seconds of one picture, but not less than 1/30 s: what filters and thresholds count in."""
        return max(self.step, 1 / 30)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        numbers = {"weights": _short(self.weights), "trust": _short(self.trust)}
        rest = ("lag", "spread", "episodes", "step", "share")
        return numbers | {name: getattr(self, name) for name in rest}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Self:
        """Read what `to_json` gave."""
        return cls(**said | {"weights": np.array(said["weights"]), "trust": np.array(said["trust"])})


@dataclass(frozen=True, slots=True)
class Estimate:
    """The lag of an episode, or of one end of it.

    Attributes:
        seconds: later (positive) than the corpus's median; NaN where it abstains.
        u: standard uncertainty, s.
        why: why it abstains: ``too-short``, ``still``, ``undecided``; empty where it speaks.
        lag: s from joints to pictures as content has it, the method's own bias included.
        kept: share of the windows that could be used; t0, t1: s from the first picture's time.
    """

    seconds: float
    u: float
    why: str = ""
    lag: float = np.nan
    kept: float = 0.0
    t0: float = 0.0
    t1: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The lag over time, in windows of about 3 s every half second.

    Attributes:
        t: (w,) s, their middles, from the first flow on; lag: (w,) s; se: (w,) s, of noise alone.
        ok: (w,) bool, whether a window may be used; moving: (w,) bool, whether joints and pictures move.
        long: s of a window; length: s of the episode.
        lead: best over its best rival among all circular shifts of the whole episode.
    """

    t: Floats
    lag: Floats
    se: Floats
    ok: NDArray[np.bool_]
    moving: NDArray[np.bool_]
    long: float
    length: float
    lead: float


def learn(takes: Sequence[Take], step: float | None = None) -> Map | None:
    """Learn a rig's map from episodes; None where too few of them move.

    Args:
        takes: what each episode shows and does, all of one camera and one set of joints.
        step: s of the grid; by default the pictures' median period.
    """
    step = step or _period(takes)
    tracks = [t for flow, q, tq in takes if (t := _Track.of(flow, q, tq, step)).usable]
    if not tracks:
        return None
    lag = _first_lag(tracks)
    for _ in range(_ROUNDS):
        fits = _Fits.of(tracks, lag)
        each = np.array([fits.own_lag(i) for i in range(len(tracks))])
        lag += float(np.median(each))
    fits = _Fits.of(tracks, lag)
    spread = float(1.4826 * np.median(np.abs(each - np.median(each))))
    return Map(fits.weights, fits.trust, lag, spread, len(tracks), step, fits.share)


def estimate(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Estimate:
    """An episode's deviation from the corpus's median lag: all of it, `Take` as for `learn`."""
    return _summed(known, windows(known, flow, q, tq))


def windows(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Windows:
    """The lag over time, before it is summed up."""
    track = _Track.of(flow, q, tq, known.step)
    length = len(track.t) * known.step
    rows = round(_BLOCK * known.unit / known.step)
    long = _PER_WINDOW * rows
    if len(track.t) < long:
        none = np.zeros(0)
        return Windows(none, none, none, none > 0, none > 0, long * known.step, length, 0.0)
    curve = Curve.of(track.flow, track.motion(known.lag, _REACH), known.weights, known.trust, _REACH)
    found = peaks(*curve.windows(rows, _PER_WINDOW), rival=5 * known.unit / known.step)
    t = (np.arange(len(found.at)) + _PER_WINDOW / 2) * rows * known.step
    ok = _usable(found, known)
    moving = found.ours > 0
    return Windows(t, known.lag + found.at * known.step, found.se * known.step, ok, moving,
                   long * known.step, length, 0.0)  # fmt: skip


def _usable(found: Peaks, known: Map) -> NDArray[np.bool_]:
    lead = _LEAD if known.episodes >= _FEW else _LEAD_FEW
    sure = found.se * known.step <= _UNSURE * known.unit
    return (found.lead >= lead) & (found.score >= _AGREE) & sure & ~found.edge


def _summed(known: Map, seen: Windows) -> Estimate:
    n, kept = len(seen.t), int(seen.ok.sum())
    if not n:
        return Estimate(np.nan, np.nan, "too-short")
    if kept < min(_KEPT, n) or kept < _KEPT_SHARE * n:
        return Estimate(np.nan, np.nan, "undecided", kept=kept / n)
    lag, scatter = huber(seen.lag[seen.ok])
    apart = max(kept * (seen.t[1] - seen.t[0] if n > 1 else seen.long) / seen.long, 1.0)
    noise = max(scatter, float(np.median(seen.se[seen.ok]))) / np.sqrt(apart)
    u = float(np.hypot(noise, FLOOR * known.unit))
    return Estimate(lag - known.lag, u, "", lag, kept / n, 0.0, seen.length)


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """An episode on an even grid: filtered flow (n, c), and joints to be sampled at any lag."""

    t: Floats
    step: float
    flow: Floats
    q: Floats
    tq: Floats

    @classmethod
    def of(cls, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64], step: float) -> Self:
        start = int(flow.t[0]) if len(flow) else 0
        tf, tj = (flow.t - start) * 1e-9, (tq - start) * 1e-9
        n = int(np.floor((tf[-1] - tf[0]) / step + 1e-6)) + 1 if len(tf) > 1 and len(tq) > 1 else 0
        t = np.arange(n) * step
        y = _at(t, tf, np.asarray(flow.x, np.float64)) if n else np.zeros((0, flow.x.shape[1]))
        return cls(t, step, _band(y, step), np.asarray(q, np.float64), tj)

    @property
    def usable(self) -> bool:
        return len(self.t) * max(self.step, 1 / 30) > 2.0

    def motion(self, lag: float, reach: int = 0) -> Floats:
        """(n + 2 reach, d) filtered joint velocity at the grid's times less ``lag``."""
        g, n = self.step, len(self.t)
        t = np.arange(-reach, n + reach) * g - lag
        return _band((_at(t + g, self.tq, self.q) - _at(t - g, self.tq, self.q)) / (2 * g), g)


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """A map, and one for each of up to five groups of episodes that it did not see."""

    tracks: Sequence[_Track]
    lag: float
    weights: Floats
    trust: Floats
    share: float
    others: Sequence[Floats]

    @classmethod
    def of(cls, tracks: Sequence[_Track], lag: float) -> Self:
        moves = [t.motion(lag) for t in tracks]
        groups = min(len(tracks), 5)
        normal = np.stack([np.sum([x.T @ x for x in moves[g::groups]], axis=0) for g in range(groups)])
        cross = np.stack([
            np.sum([x.T @ t.flow for x, t in zip(moves[g::groups], tracks[g::groups], strict=True)], axis=0)
            for g in range(groups)
        ])  # fmt: skip
        whole = np.sum([(t.flow**2).sum(0) for t in tracks], axis=0)
        best: tuple[float, Any] = (-np.inf, None)
        for ridge in _RIDGES:
            out = [_solved(normal.sum(0) - normal[g] * (groups > 1), cross.sum(0) - cross[g] * (groups > 1), ridge)
                   for g in range(groups)]  # fmt: skip
            # What is left of the unseen groups' flow: |y|^2 - 2 w.xy + w.xx.w, summed over groups.
            rest = whole - np.sum(
                [2 * (w * cross[g]).sum(0) - (w * (normal[g] @ w)).sum(0) for g, w in enumerate(out)], axis=0
            )
            share = 1 - float(rest.sum() / max(whole.sum(), 1e-12))
            if share > best[0]:
                best = share, (ridge, rest, out)
        ridge, rest, out = best[1]
        weights = _solved(normal.sum(0), cross.sum(0), ridge)
        count = sum(len(t.t) for t in tracks)
        explained = np.clip(1 - rest / np.maximum(whole, 1e-12), 0, 1)
        trust = np.where(whole > 1e-3 * whole.max(), explained / np.maximum(rest / count, 1e-12), 0.0)
        return cls(tracks, lag, weights, trust, best[0], out)

    def own_lag(self, i: int) -> float:
        """Seconds that episode i is later than ``lag``, by the map that did not see it."""
        track = self.tracks[i]
        mine = self.others[i % len(self.others)]
        curve = Curve.of(track.flow, track.motion(self.lag, _REACH), mine, self.trust, _REACH)
        return float(peaks(*curve.whole(round(_BLOCK))).at[0]) * track.step


def _solved(normal: Floats, cross: Floats, ridge: float) -> Floats:
    size = np.diag(normal)
    return np.linalg.solve(normal + np.diag(ridge * np.maximum(size, 1e-6 * size.max() + 1e-12)), cross)


def _first_lag(tracks: Sequence[_Track]) -> float:
    """The lag at which a map explains most."""
    y = np.concatenate([t.flow for t in tracks])
    size = y.std(0)
    y = y / np.maximum(size, 1e-2 * size.max() + 1e-12)
    shares = []
    for lag in _FIRST:
        x = np.concatenate([t.motion(float(lag)) for t in tracks])
        xy = x.T @ y
        shares.append(float(np.sum(xy * _solved(x.T @ x, xy, _RIDGES[0]))))
    return float(_FIRST[int(np.argmax(shares))])


def _period(takes: Sequence[Take]) -> float:
    steps = [np.diff(flow.t) for flow, _, _ in takes if len(flow) > 1]
    return float(np.clip(np.median(np.concatenate(steps)) * 1e-9, 1 / 60, 1 / 5)) if steps else 1 / 30


def _at(t: Floats, tx: Floats, x: Floats) -> Floats:
    """(n, c) x at t by straight lines, held beyond the ends."""
    i = np.clip(np.searchsorted(tx, t, side="right") - 1, 0, max(len(tx) - 2, 0))
    share = np.clip((t - tx[i]) / np.maximum(tx[i + 1] - tx[i], 1e-9), 0.0, 1.0)[:, None]
    return np.asarray(x[i] + share * (x[i + 1] - x[i]))


def _band(x: Floats, step: float) -> Floats:
    """Smooth, and take off what is slow: a difference of two Gaussians along axis 0, mirrored at the ends."""
    n, unit = len(x), max(step, 1 / 30)
    if n < 4:
        return np.zeros_like(x)
    pad = min(int(4 * _SLOW * unit / step), n - 1)
    wide = np.concatenate((x[pad:0:-1], x, x[-2 : -pad - 2 : -1]))
    f = np.fft.rfftfreq(len(wide), step)[:, None] * (np.pi * unit)
    gain = np.exp(-2 * (f * _SMOOTH) ** 2) * (1 - np.exp(-2 * (f * _SLOW) ** 2))
    return np.asarray(np.fft.irfft(np.fft.rfft(wide, axis=0) * gain, len(wide), axis=0)[pad : pad + n])


def _short(x: Floats) -> Any:
    """Lists of numbers of six digits."""
    return [_short(row) for row in x] if x.ndim > 1 else [float(f"{v:.6g}") for v in x]
