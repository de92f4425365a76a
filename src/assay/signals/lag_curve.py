"""Agreement of two multichannel signals over lags: cosines of any stretch, peaks, their errors and rivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve", "Peaks", "circular", "coarse", "huber", "lead", "peaks"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Products at each time and lag, of which any stretch's cosine is a sum.

    Attributes:
        inner: (n, k) measured times predicted; ours: (n, k) predicted squared; theirs: (n,) measured squared.
    """

    inner: Floats
    ours: Floats
    theirs: Floats

    @classmethod
    def of(cls, flow: Floats, motion: Floats, weights: Floats, trust: Floats, reach: int) -> Self:
        """Measured ``flow`` (n, c) against ``motion`` (n + 2 reach, d) @ ``weights`` (d, c).

        Column j of the products is a lag of j - reach steps: positive is flow that comes later.
        """
        n = len(flow)
        felt = (flow * trust) @ weights.T
        power = np.einsum("ij,ij->i", motion @ ((weights * trust) @ weights.T), motion)
        starts = range(2 * reach, -1, -1)
        inner = np.stack([np.einsum("ij,ij->i", felt, motion[a : a + n]) for a in starts], axis=1)
        ours = np.stack([power[a : a + n] for a in starts], axis=1)
        return cls(inner, ours, (flow * flow) @ trust)

    def blocks(self, rows: int) -> tuple[Floats, Floats, Floats]:
        """Sums over blocks of ``rows``, (b, k) (b, k) (b, 1); what is over at the end joins the last."""
        edges = np.arange(0, max(len(self.inner) // rows, 1) * rows, rows)
        theirs = self.theirs[:, None]
        a, b, c = (np.add.reduceat(x, edges, axis=0) for x in (self.inner, self.ours, theirs))
        return a, b, c

    def windows(self, rows: int, per: int) -> tuple[Floats, Floats, Floats]:
        """Block sums of every run of ``per`` blocks: (w, per, k) (w, per, k) (w, per, 1)."""
        parts = self.blocks(rows)
        each = np.arange(len(parts[0]) - per + 1)[:, None] + np.arange(per)
        a, b, c = (x[each] for x in parts)
        return a, b, c

    def whole(self, rows: int) -> tuple[Floats, Floats, Floats]:
        """Block sums of everything as one window."""
        a, b, c = self.blocks(rows)
        return a[None], b[None], c[None]


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """The best lag of each window.

    Attributes:
        at: (w,) steps from the middle of the lags; se: (w,) steps, delete-one-block jackknife.
        score: (w,) cosine there; lead: (w,) z of it over the best rival.
        edge: (w,) whether the best lag is the first or the last; ours: (w,) power of the prediction.
    """

    at: Floats
    se: Floats
    score: Floats
    lead: Floats
    edge: NDArray[np.bool_]
    ours: Floats


def peaks(inner: Floats, ours: Floats, theirs: Floats, rival: float = 5.0) -> Peaks:
    """Peaks of windows given as sums of their blocks (w, b, k) (w, b, k) (w, b, 1).

    A peak ``rival`` steps or more from the best one is another answer.
    """
    whole = tuple(x.sum(axis=1) for x in (inner, ours, theirs))
    left = tuple(a[:, None] - b for a, b in zip(whole, (inner, ours, theirs), strict=True))
    score, without = _cosine(*whole), _cosine(*left)
    best = score.argmax(axis=-1)
    away = np.abs(np.arange(score.shape[-1]) - best[:, None]) >= rival
    other = np.where(away, score, -np.inf).argmax(axis=-1)
    rows = np.arange(len(score))
    gap = score[rows, best] - score[rows, other]
    gaps = without[rows, :, best] - without[rows, :, other]
    middle = score.shape[-1] // 2
    return Peaks(
        _refined(score) - middle, _spread(_refined(without)), score[rows, best],
        gap / np.maximum(_spread(gaps), 1e-9), (best == 0) | (best == score.shape[-1] - 1),
        whole[1][:, middle],
    )  # fmt: skip


def circular(flow: Floats, motion: Floats, weights: Floats, trust: Floats) -> Floats:
    """(n,) cosine of flow (n, c) and motion (n, d) @ weights at every circular shift of the motion."""
    n, felt = len(flow), (flow * trust) @ weights.T
    spectrum = np.sum(np.fft.rfft(felt, axis=0) * np.fft.rfft(motion, axis=0).conj(), axis=1)
    ours = np.einsum("ij,ij->", motion @ ((weights * trust) @ weights.T), motion)
    theirs = np.sum((flow * flow) @ trust)
    return np.asarray(np.fft.irfft(spectrum, n) / np.sqrt(max(float(ours * theirs), 1e-30)))


def lead(flow: Floats, pair: Floats, weights: Floats, trust: Floats, rows: int) -> float:
    """Standard errors by which the first of two motions (2, n, d) agrees better with the flow (n, c)."""
    felt, metric = (flow * trust) @ weights.T, (weights * trust) @ weights.T
    edges = np.arange(0, max(len(flow) // rows, 1) * rows, rows)
    inner = np.stack([np.add.reduceat(np.einsum("ij,ij->i", felt, m), edges) for m in pair])
    ours = np.stack([np.add.reduceat(np.einsum("ij,ij->i", m @ metric, m), edges) for m in pair])
    theirs = np.add.reduceat((flow * flow) @ trust, edges)
    left = [x.sum(axis=-1, keepdims=True) - x for x in (inner, ours, theirs)]
    without = _cosine(*left)
    gap = _cosine(inner.sum(axis=-1), ours.sum(axis=-1), theirs.sum())
    return float((gap[0] - gap[1]) / max(float(_spread(without[0] - without[1])), 1e-9))


def coarse(flow: Floats, motion: Floats, weights: Floats, trust: Floats, reach: int, rows: int) -> Floats:
    """(w, 2 reach + 1) cosine of windows of ``rows`` side by side; like `Curve.of`, in less memory."""
    n, felt = len(flow), (flow * trust) @ weights.T
    power = np.einsum("ij,ij->i", motion @ ((weights * trust) @ weights.T), motion)
    edges = np.arange(0, max(n // rows, 1) * rows, rows)
    theirs = np.add.reduceat((flow * flow) @ trust, edges)
    score = [
        _cosine(np.add.reduceat(np.einsum("ij,ij->i", felt, motion[a : a + n]), edges),
                np.add.reduceat(power[a : a + n], edges), theirs)
        for a in range(2 * reach, -1, -1)
    ]  # fmt: skip
    return np.stack(score, axis=1)


def _cosine(inner: Floats, ours: Floats, theirs: Floats) -> Floats:
    return np.asarray(inner / np.sqrt(np.maximum(ours * theirs, 1e-30)))


def _refined(score: Floats) -> Floats:
    """Place of the maximum along the last axis, by a parabola."""
    k = np.clip(score.argmax(axis=-1), 1, score.shape[-1] - 2)[..., None]
    a, b, c = (np.take_along_axis(score, k + i, axis=-1)[..., 0] for i in (-1, 0, 1))
    bend = a - 2 * b + c
    off = np.where(bend < 0, 0.5 * (a - c) / np.where(bend < 0, bend, -1.0), 0.0)
    return np.asarray(k[..., 0] + np.clip(off, -1, 1))


def _spread(x: Floats) -> Floats:
    """Jackknife standard error over the last axis of delete-one values."""
    n = x.shape[-1]
    return np.asarray(np.sqrt((n - 1) / n * np.sum((x - x.mean(axis=-1, keepdims=True)) ** 2, axis=-1)))


def huber(x: Floats) -> tuple[float, float]:
    """Huber's mean of x (n,), tuned for 95 % efficiency, and the robust scatter around it."""
    mean = float(np.median(x))
    scatter = max(1.4826 * float(np.median(np.abs(x - mean))), 1e-6)
    for _ in range(20):
        weight = np.minimum(1.0, 1.345 * scatter / np.maximum(np.abs(x - mean), 1e-12))
        mean = float(np.sum(weight * x) / np.sum(weight))
    return mean, scatter
