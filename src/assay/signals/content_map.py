"""What a robot's joints predict of a camera's pictures: a linear map learnt over many episodes.

From joint velocities to the velocity of each picture block, by ridge regression at the lag that explains
most.
Trust in a block and the strength of the ridge come from episodes that the fit did not see, so that a map of
too few or too still episodes shows itself as worthless.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_usual import SIZES, usual
from assay.signals.flow import Flow, steadied
from assay.signals.lag_curve import Curve, peaks
from assay.signals.onward import onward, sparse

__all__ = ["BLOCK", "Bend", "Map", "Take", "Track", "learn"]

Floats = NDArray[np.float64]
Take = tuple[Flow, NDArray[Any], NDArray[np.int64]]
"""A camera's `Flow`, joint positions (m, d) and their stamps (m,) int64 ns on the same time axis."""

BLOCK: Final = 0.5
"""Seconds that the jackknife leaves out at a time."""

_SMOOTH: Final = 1.0  # units, sd of the low-pass
_SLOW: Final = 8.0  # units, sd of what is taken off as slow
_REACH: Final = 0.5  # s on either side of the expected lag
_RIDGES: Final = (1e-3, 1e-2, 1e-1, 1.0)
_TRIED: Final = 10  # episodes on which forms of the map are tried
_POSTURES: Final = 4  # directions of posture along which the map changes
_ROUNDS: Final = 2
_FIRST: Final = (0.2, 0.6)  # s, middle and half width of where a rig's lag is looked for
_STILL: Final = 1e-3  # of the liveliest block's flow
_GRID: Final = (1e-3, 1.0)  # s, a map's grid
_FAR: Final = 10.0  # s; no rig's pictures run so far behind its joints
_BEST: Final = 6  # blocks by which a map is known
_USUAL: Final = (len(SIZES), 4)


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """What joints predict of pictures, learnt over a corpus.

    Attributes:
        weights: (f, c) cells per second of each block for each feature of the joints' motion.
        trust: (c,) weight of each block.
        bend: how posture enters; steady: whether the camera's own motion is taken out of the flow.
        lag: s from joints to pictures, median over the corpus; spread: robust sd of single episodes.
        episodes: it was learnt from; step: s of the grid.
        share: of the best blocks' flow that it predicts in episodes that it did not see.
        power: mean weighted square of the predicted flow.
        usual: (s, 4) what windows of its episodes show of that flow, rows of NaN where too few tell: see
            `assay.signals.content_usual`.
    """

    weights: Floats
    trust: Floats
    bend: Bend
    steady: bool
    lag: float
    spread: float
    episodes: int
    step: float
    share: float
    power: float
    usual: Floats

    def track(self, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> Track:
        """A `Take` as this map wants it."""
        return Track.of(steadied(flow) if self.steady else flow, q, tq, self.step, self.bend)

    @property
    def unit(self) -> float:
        """Seconds of one picture, but not less than 1/30 s: what filters and thresholds count in."""
        return max(self.step, 1 / 30)

    @property
    def reach(self) -> int:
        """Steps on either side of the expected lag."""
        return round(_REACH / self.step)

    @property
    def rows(self) -> int:
        """Steps of a block."""
        return _rows(self.step)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; arrays as base64 of float32."""
        arrays = {"weights": self.weights, "trust": self.trust, "centre": self.bend.centre,
                  "basis": self.bend.basis, "usual": self.usual}  # fmt: skip
        rest = ("steady", "lag", "spread", "episodes", "step", "share", "power")
        return {k: _packed(x) for k, x in arrays.items()} | {name: getattr(self, name) for name in rest}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave.

        Raises:
            KeyError, TypeError, ValueError: if it is not that: a file of a calibration may be anybody's.
        """
        rest = {k: v for k, v in said.items() if not isinstance(v, list)}
        x = {k: _unpacked(v) for k, v in said.items() if isinstance(v, list)}
        found = cls(x["weights"], x["trust"], Bend(x["centre"], x["basis"]), usual=x["usual"], **rest)
        fits = found.weights.shape[1:] == found.trust.shape and found.usual.shape == _USUAL
        numbers = (found.lag, found.spread, found.step, found.share, found.power)
        whole = np.isfinite(numbers).all() and all(np.isfinite(v).all() for k, v in x.items() if k != "usual")
        known = np.isfinite(found.usual).all(axis=1) | np.isnan(found.usual).all(axis=1)
        if not whole or not fits or not known.all() or (found.usual[:, 1:] < 0).any():
            raise ValueError("the map holds no finite numbers that fit each other")
        if not (_GRID[0] <= found.step <= _GRID[1] and abs(found.lag) <= _FAR and found.spread >= 0):
            raise ValueError("the map's grid or lag is none")
        return found


def learn(takes: Sequence[Take], step: float | None = None) -> Map | None:
    """Learn a rig's map from episodes; None where none of them is long enough.

    Args:
        takes: what each episode shows and does, all of one camera and one set of joints.
        step: s of the grid; by default the pictures' median period.
    """
    if not takes:
        return None
    step = step or _period(takes)
    bends = [Bend.of(takes, count) for count in (0, _POSTURES)]
    drafts = []
    for steady in (False, True):
        shown = [(steadied(flow) if steady else flow, q, tq) for flow, q, tq in takes]
        tracks = [t for take in shown if (t := Track.of(*take, step, bends[0])).usable]
        if not tracks:
            return None
        few = tracks[:_TRIED]
        lag = _first_lag(few)
        for bend in bends:
            decided = _decided([replace(t, bend=bend) for t in few], lag)
            drafts.append((decided, steady, bend, tracks, lag))
    _, steady, bend, tracks, lag = max(drafts, key=lambda d: d[0])
    return _refined([replace(t, bend=bend) for t in tracks], lag, steady, bend)


def _refined(tracks: Sequence[Track], lag: float, steady: bool, bend: Bend) -> Map:
    """The map at the median lag of its own episodes, found in turns."""
    each = np.zeros(1)
    for _ in range(_ROUNDS):
        fit = _fit(tracks, lag)
        each = np.array([_own(t, fit, i, lag)[0] for i, t in enumerate(tracks)])
        lag += float(np.median(each))
    fit = _fit(tracks, lag)
    spread = 1.4826 * float(np.median(np.abs(each - np.median(each))))
    power = float(fit.power @ fit.trust)
    step = tracks[0].step
    shown = usual([_shown(t, fit, i, lag) for i, t in enumerate(tracks)], power * _rows(step))
    return Map(fit.weights, fit.trust, bend, steady, lag, spread, len(tracks), step, fit.share, power, shown)


def _decided(tracks: Sequence[Track], lag: float) -> float:
    """How surely maps tell the lag of episodes that they did not see: median z over rivals."""
    fit = _fit(tracks, lag)
    return float(np.median([_own(t, fit, i, lag)[1] for i, t in enumerate(tracks)]))


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """How the map changes with posture: along the directions in which the joints vary most.

    An arm moves a block's picture only where it is, and differently in each posture: beside each joint's
    velocity stand its products with ``(q - centre) @ basis``.

    Attributes:
        centre: (d,); basis: (d, p), p may be 0.
    """

    centre: Floats
    basis: Floats

    @classmethod
    def of(cls, takes: Sequence[Take], count: int) -> Self:
        """The ``count`` strongest principal directions over all episodes, each of unit variance."""
        q = np.concatenate([np.asarray(q, np.float64)[:: max(len(q) // 300, 1)] for _, q, _ in takes])
        q = q[np.isfinite(q).all(axis=1)]
        centre = q.mean(axis=0) if len(q) else np.zeros(q.shape[1])
        if not count or len(q) < 2:
            return cls(centre, np.zeros((q.shape[1], 0)))
        _, size, along = np.linalg.svd(q - centre, full_matrices=False)
        strong = np.flatnonzero(size > 1e-6 * max(size[0], 1e-12))[:count]
        return cls(centre, along[strong].T / size[strong] * np.sqrt(len(q)))

    def __call__(self, q: Floats, dq: Floats) -> Floats:
        """(n, d (1 + p)) features of positions and velocities (n, d)."""
        postures = (q - self.centre) @ self.basis
        return np.concatenate([dq, *(dq * p[:, None] for p in postures.T)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """An episode on an even grid: filtered flow (n, c), and joints to be sampled at any lag."""

    t: Floats
    step: float
    flow: Floats
    q: Floats
    tq: Floats
    bend: Bend

    @classmethod
    def of(cls, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64], step: float, bend: Bend) -> Self:
        """From a `Take`, at ``step`` s, without stamps that leap or go back and what is not a number.

        Of a time that the pictures do not fill there is no grid: see `assay.signals.onward`.
        """
        tq, q = _known(tq, q)  # over what is not known runs a straight line
        tf, x = _known(flow.t, flow.x)
        start = int(tf[0]) if len(tf) else 0
        enough = len(tf) > 1 and len(tq) > 1 and not sparse(tf)
        n = int(np.floor((tf[-1] - tf[0]) * 1e-9 / step + 1e-6)) + 1 if enough else 0
        t = np.asarray(np.arange(n) * step, np.float64)
        y = _at(t, _seconds(tf, start), x) if n else np.zeros((0, x.shape[1]))
        return cls(t, step, _band(y, step), q, _seconds(tq, start), bend)

    @property
    def usable(self) -> bool:
        """Whether it is long enough to learn from."""
        return len(self.t) * max(self.step, 1 / 30) > 2.0

    def motion(self, lag: float, reach: int = 0, line: tuple[float, float] = (0.0, 0.0)) -> Floats:
        """(n + 2 reach, f) filtered features at the grid's times less ``lag`` and a line (s, s/s)."""
        g, n = self.step, len(self.t)
        t = np.asarray(np.arange(-reach, n + reach) * g, np.float64)
        t = t - lag - line[0] - line[1] * t
        ahead, behind = _at(t + g, self.tq, self.q), _at(t - g, self.tq, self.q)
        return _band(self.bend((ahead + behind) / 2, (ahead - behind) / (2 * g)), g)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A map at one ridge, and one for each of up to five groups of episodes that it did not see.

    ``whole``: (c,) mean square of the flow; ``rest``: what the unseen episodes' has left; ``explained``: the
    share that it has not.
    """

    weights: Floats
    whole: Floats
    rest: Floats
    explained: Floats
    power: Floats
    others: tuple[Floats, ...]

    @property
    def share(self) -> float:
        return float(np.sort(self.explained)[-_BEST:].mean())

    @property
    def trust(self) -> Floats:
        # No block is trusted beyond measure because a simulator renders it without noise.
        least = _STILL * self.whole.max() + 1e-12
        return np.asarray(np.clip(self.explained, 0, 1) / np.maximum(self.rest, least))


def _fit(tracks: Sequence[Track], lag: float) -> _Fit:
    """The map at ``lag`` with the ridge that predicts most of unseen episodes."""
    moves, groups = [t.motion(lag) for t in tracks], min(len(tracks), 5)
    normal = [np.sum([x.T @ x for x in moves[g::groups]], axis=0) for g in range(groups)]
    cross = [
        np.sum([x.T @ t.flow for x, t in zip(moves[g::groups], tracks[g::groups], strict=True)], axis=0)
        for g in range(groups)
    ]
    whole = np.sum([(t.flow**2).sum(0) for t in tracks], axis=0)
    count = sum(len(t.t) for t in tracks)
    fits = [_ridge(np.array(normal), np.array(cross), whole, count, ridge) for ridge in _RIDGES]
    return max(fits, key=lambda f: f.share)


def _ridge(normal: Floats, cross: Floats, whole: Floats, count: int, ridge: float) -> _Fit:
    """Fit sums of groups (g, d, d) and (g, d, c); ``whole`` (c,) is the flow's sum of squares."""
    weights = _solved(normal.sum(0), cross.sum(0), ridge)
    one = len(normal) == 1  # a single episode cannot show what an unseen one would
    others = [weights if one else _solved(normal.sum(0) - n, cross.sum(0) - c, ridge)
              for n, c in zip(normal, cross, strict=True)]  # fmt: skip
    told = [2 * (w * c).sum(0) - (w * (n @ w)).sum(0) for w, n, c in zip(others, normal, cross, strict=True)]
    rest = np.maximum(whole - np.sum(told, axis=0), 0.0)
    live = whole > _STILL * whole.max()  # still blocks of a simulator have no motion at all
    explained = np.where(live, 1 - rest / np.maximum(whole, 1e-12), 0.0)
    power = np.sum(weights * (normal.sum(0) @ weights), axis=0) / count
    return _Fit(weights, whole / count, rest / count, explained, power, tuple(others))


def _own(track: Track, fit: _Fit, i: int, lag: float) -> tuple[float, float]:
    """Seconds that episode i is later than ``lag`` by the map that did not see it, and z over its rival."""
    found = peaks(*_unseen(track, fit, i, lag).whole(_rows(track.step)))
    return float(found.at[0]) * track.step, float(found.lead[0])


def _shown(track: Track, fit: _Fit, i: int, lag: float) -> Floats:
    """(b, 2) measured times predicted and predicted squared of episode i's blocks at its own lag."""
    curve, rows = _unseen(track, fit, i, lag), _rows(track.step)
    middle = curve.inner.shape[1] // 2
    at = round(float(peaks(*curve.whole(rows)).at[0])) + middle
    inner, ours, _ = curve.blocks(rows)
    return np.stack((inner[:, at], ours[:, at]), axis=1)


def _unseen(track: Track, fit: _Fit, i: int, lag: float) -> Curve:
    reach = round(_REACH / track.step)
    mine = fit.others[i % len(fit.others)]
    return Curve.of(track.flow, track.motion(lag, reach), mine, fit.trust, reach)


def _rows(step: float) -> int:
    return max(round(BLOCK / step), 2)


def _solved(normal: Floats, cross: Floats, ridge: float) -> Floats:
    size = np.diag(normal)
    return np.asarray(
        np.linalg.solve(normal + np.diag(ridge * np.maximum(size, 1e-6 * size.max() + 1e-12)), cross)
    )


def _first_lag(tracks: Sequence[Track]) -> float:
    """The lag at which a map explains most."""
    y = np.concatenate([t.flow for t in tracks])
    size = y.std(0)
    y = y / np.maximum(size, 1e-2 * size.max() + 1e-12)
    step, middle = tracks[0].step, _FIRST[0]
    reach = round(_FIRST[1] / step)
    moves = [t.motion(middle, reach) for t in tracks]
    lags = np.arange(-reach, reach + 1, max(round(1 / 15 / step), 1))
    shares = []
    for lag in lags.tolist():
        x = np.concatenate(
            [m[reach - lag : reach - lag + len(t.t)] for m, t in zip(moves, tracks, strict=True)]
        )
        xy = x.T @ y
        shares.append(float(np.sum(xy * _solved(x.T @ x, xy, _RIDGES[0]))))
    return middle + float(lags[int(np.argmax(shares))]) * step


def _period(takes: Sequence[Take]) -> float:
    steps = [np.diff(flow.t) for flow, _, _ in takes if len(flow) > 1]
    return float(np.clip(np.median(np.concatenate(steps)) * 1e-9, 1 / 60, 1 / 5)) if steps else 1 / 30


def _seconds(t: NDArray[np.int64], start: int) -> Floats:
    return np.asarray((t - start) * 1e-9, np.float64)


def _known(t: NDArray[np.int64], x: NDArray[Any]) -> tuple[NDArray[np.int64], Floats]:
    """The rows that are numbers and whose stamps go on."""
    there = np.isfinite(x).all(axis=1)
    t, x = t[there], np.asarray(x, np.float64)[there]
    keep = onward(t)
    return (t, x) if keep.all() else (t[keep], x[keep])


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


def _packed(x: Floats) -> list[Any]:
    return [list(x.shape), base64.b64encode(x.astype("<f4").tobytes()).decode("ascii")]


def _unpacked(said: Sequence[Any]) -> Floats:
    shape, text = said
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64).reshape(shape)
