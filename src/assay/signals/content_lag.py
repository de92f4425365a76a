"""How late pictures are by what they show: their motion against the motion that the joints predict.

A linear map from joint velocities to the flow of each picture block is learnt over a corpus; an episode's
lag is where its measured flow agrees best with the flow that its joints predict. What the whole corpus shares
(the rig's own delay, the map's bias) is in the reference, so that only an episode's deviation is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.flow import Flow

__all__ = ["Estimate", "Map", "Take", "estimate", "learn"]

Floats = NDArray[np.float64]
Take = tuple[Flow, NDArray[Any], NDArray[np.int64]]
"""A camera's `Flow`, joint positions (m, d) and their stamps (m,) int64 ns on the same time axis."""

SMOOTH: Final = 0.033  # s, sd of the low-pass
DRIFTS: Final = 0.27  # s, sd of what is taken off as slow
REACH: Final = 0.27  # s on either side of the expected lag
RIVAL: Final = 0.16  # s; a peak this far away is another answer
BLOCK: Final = 0.5  # s left out at a time by the jackknife
RIDGE: Final = 1e-3
FLOOR: Final = 0.22 / 30  # s


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """What joints predict of pictures.

    Attributes:
        weights: (d, c) cells per second of each block for each joint's velocity.
        trust: (c,) weight of each block.
        lag: s, median over the corpus; spread: its robust standard deviation.
        episodes: that it was learnt from; step: s of the grid.
    """

    weights: Floats
    trust: Floats
    lag: float
    spread: float
    episodes: int
    step: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """One episode's lag.

    Attributes:
        seconds: later (positive) than the corpus's median; NaN where it abstains.
        u: standard uncertainty, s.
        why: why it abstains; empty where it speaks.
        lag: s from joints to pictures as content has it, rig and method included.
        z: best against rival; r: agreement at the best lag.
    """

    seconds: float
    u: float
    why: str = ""
    lag: float = np.nan
    z: float = np.nan
    r: float = np.nan


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    t: Floats
    step: float
    flow: Floats
    q: Floats
    tq: Floats


def learn(takes: Sequence[Take], step: float = 1 / 30) -> Map | None:
    """Learn a rig's map from episodes; None where none of them moves."""
    tracks = [t for f, q, tq in takes if len((t := _track(f, q, tq, step)).t) > 30]
    if not tracks:
        return None
    lag, spread = _first_lag(tracks), 0.0
    weights, trust = _fit(tracks, lag)
    for _ in range(3):
        weights, trust = _fit(tracks, lag)
        each = np.array([_peak(_curve(t, weights, trust, lag).score(), lag, step) for t in tracks])
        lag = float(np.median(each))
        spread = float(1.4826 * np.median(np.abs(each - lag)))
    return Map(weights, trust, lag, spread, len(tracks), step)


def estimate(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Estimate:
    """An episode's deviation from the corpus's median lag."""
    track = _track(flow, q, tq, known.step)
    if len(track.t) < 3 / known.step:
        return Estimate(np.nan, np.nan, "too-short")
    curve = _curve(track, known.weights, known.trust, known.lag)
    score = curve.score()
    lag = _peak(score, known.lag, known.step)
    left = curve.without_blocks(round(BLOCK / known.step))
    lags = np.array([_peak(s, known.lag, known.step) for s in left])
    blocks = len(left)
    factor = (blocks - 1) / blocks
    u = float(np.sqrt(factor * np.sum((lags - lags.mean()) ** 2)))
    best = int(score.argmax())
    far = np.abs(np.arange(len(score)) - best) * known.step >= RIVAL
    rival = int(np.where(far, score, -np.inf).argmax())
    lead = left[:, best] - left[:, rival]
    se = float(np.sqrt(factor * np.sum((lead - lead.mean()) ** 2)))
    z, r = float((score[best] - score[rival]) / max(se, 1e-9)), float(score[best])
    why = "edge" if best in (0, len(score) - 1) else "ambiguous" if z < 3 else "weak" if r < 0.3 else ""
    seconds = np.nan if why else lag - known.lag
    return Estimate(seconds, float(np.hypot(u, FLOOR)), why, lag, z, r)


def _track(flow: Flow, q: NDArray[Any], tq: NDArray[np.int64], step: float) -> _Track:
    start = int(flow.t[0]) if len(flow) else 0
    tf, tj = (flow.t - start) * 1e-9, (tq - start) * 1e-9
    n = int(np.floor((tf[-1] - tf[0]) / step + 1e-6)) + 1 if len(tf) > 1 else 0
    t = np.arange(n) * step
    y = _at(t, tf, np.asarray(flow.x, np.float64)) if n else np.zeros((0, flow.x.shape[1]))
    return _Track(t, step, _band(y, step), np.asarray(q, np.float64), tj)


def _at(t: Floats, tx: Floats, x: Floats) -> Floats:
    """(n, c) x at t by straight lines, held beyond the ends."""
    i = np.clip(np.searchsorted(tx, t, side="right") - 1, 0, max(len(tx) - 2, 0))
    share = np.clip((t - tx[i]) / np.maximum(tx[i + 1] - tx[i], 1e-9), 0.0, 1.0)[:, None]
    return np.asarray(x[i] + share * (x[i + 1] - x[i]))


def _band(x: Floats, step: float) -> Floats:
    """Smooth, and take off what is slow: a difference of two Gaussians along axis 0, mirrored at the ends."""
    n = len(x)
    if n < 4:
        return np.zeros_like(x)
    pad = min(int(4 * DRIFTS / step), n - 1)
    wide = np.concatenate((x[pad:0:-1], x, x[-2 : -pad - 2 : -1]))
    f = np.fft.rfftfreq(len(wide), step)[:, None]
    gain = np.exp(-2 * (np.pi * f * SMOOTH) ** 2) * (1 - np.exp(-2 * (np.pi * f * DRIFTS) ** 2))
    return np.asarray(np.fft.irfft(np.fft.rfft(wide, axis=0) * gain, len(wide), axis=0)[pad : pad + n])


def _motion(track: _Track, lag: float) -> Floats:
    """(n, d) filtered joint velocity at the grid's times less ``lag``."""
    g = track.step
    ahead, behind = _at(track.t - lag + g, track.tq, track.q), _at(track.t - lag - g, track.tq, track.q)
    return _band((ahead - behind) / (2 * g), g)


def _fit(tracks: Sequence[_Track], lag: float) -> tuple[Floats, Floats]:
    x = np.concatenate([_motion(t, lag) for t in tracks])
    y = np.concatenate([t.flow for t in tracks])
    normal = x.T @ x
    normal += RIDGE * max(float(np.trace(normal)), 1e-12) / len(normal) * np.eye(len(normal))
    weights = np.linalg.solve(normal, x.T @ y)
    rest, whole = ((y - x @ weights) ** 2).mean(0), (y**2).mean(0)
    share = np.clip(1 - rest / np.maximum(whole, 1e-12), 0, 1)
    return weights, np.where(whole > 1e-3 * whole.max(), share / np.maximum(rest, 1e-12), 0.0)


def _first_lag(tracks: Sequence[_Track]) -> float:
    """The lag at which a map explains most, over -0.2 to 0.5 s."""
    lags = np.arange(-6, 16) / 30
    shares = []
    y = np.concatenate([t.flow for t in tracks])
    y = y / np.maximum(y.std(0), 1e-3 * y.std(0).max() + 1e-12)
    for lag in lags:
        x = np.concatenate([_motion(t, lag) for t in tracks])
        normal = x.T @ x
        normal += RIDGE * max(float(np.trace(normal)), 1e-12) / len(normal) * np.eye(len(normal))
        xy = x.T @ y
        shares.append(float(np.sum(xy * np.linalg.solve(normal, xy))))
    return float(lags[int(np.argmax(shares))])


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    inner: Floats  # (n, k)
    ours: Floats  # (n, k)
    theirs: Floats  # (n,)

    def score(self) -> Floats:
        return np.asarray(
            self.inner.sum(0) / np.sqrt(np.maximum(self.ours.sum(0) * self.theirs.sum(), 1e-30))
        )

    def without_blocks(self, rows: int) -> Floats:
        edges = np.arange(0, max(len(self.inner) - rows // 2, 1), rows)
        a, b, c = (np.add.reduceat(x, edges, axis=0) for x in (self.inner, self.ours, self.theirs))
        a, b, c = a.sum(0) - a, b.sum(0) - b, c.sum(0) - c
        return np.asarray(a / np.sqrt(np.maximum(b * c[:, None], 1e-30)))


def _curve(track: _Track, weights: Floats, trust: Floats, lag: float) -> _Curve:
    """Products at each time and lag."""
    reach = round(REACH / track.step)
    lags = lag + np.arange(-reach, reach + 1) * track.step
    felt = track.flow * trust @ weights.T
    metric = weights * trust @ weights.T
    moves = [_motion(track, float(x)) for x in lags]
    inner = np.stack([np.sum(felt * x, axis=1) for x in moves], axis=1)
    ours = np.stack([np.sum(x @ metric * x, axis=1) for x in moves], axis=1)
    return _Curve(inner, ours, np.sum(track.flow**2 * trust, axis=1))


def _peak(score: Floats, lag: float, step: float) -> float:
    """Seconds of the best lag, by a parabola."""
    k = int(np.clip(score.argmax(), 1, len(score) - 2))
    a, b, c = score[k - 1 : k + 2]
    bend = a - 2 * b + c
    off = float(np.clip(0.5 * (a - c) / bend, -1, 1)) if bend < 0 else 0.0
    return lag + (k - len(score) // 2 + off) * step
