"""Which arm a camera rides on: its whole picture moves when that arm does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.signals.flow import BLOCKS, Flow

__all__ = ["SIDES", "Riding", "arm_columns", "carried_by", "riding"]

Side = Literal["left", "right", ""]
Floats = NDArray[np.float64]

SIDES: Final = ("left", "right")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ARM: Final = frozenset(("arm", "shoulder", "elbow", "forearm", "wrist"))
_HELD: Final = _ARM | {"hand", "palm", "gripper", "finger", "ee", "eef", "tool", "flange"}
_SHORT: Final = {"l": "left", "r": "right"}
_LAGS: Final = np.arange(-1, 10) / 30.0  # s from joints to pictures
_BLOCK: Final = 1.5  # s that motion remembers
_BLOCKS: Final = 6
_MOVING: Final = 0.05  # rad/s


@dataclass(frozen=True, slots=True)
class Riding:
    """How the motion of a camera's picture goes with the speed of either arm.

    Attributes:
        left, right: rank correlations at their best lags; u: standard error of their difference.
        seconds: that were compared; moved: seconds that each arm moved, left and right.
        unknown: share of the time in which an arm's positions are not finite.
    """

    left: float
    right: float
    u: float
    seconds: float
    moved: tuple[float, float]
    unknown: float


def carried_by(name: str, parent: str | None, body: Embodiment | None) -> Side:
    """The arm that a camera is said to ride on: by its parent link, else by its own name; else empty.

    A side alone says nothing: the left one of two eyes, or of two tripods, rides on no arm.
    """
    if parent is None:
        return _side(name, _HELD)
    tree = body.tree if body is not None else None
    if body is not None and tree is not None and parent in tree.links:
        carrier = tree.carrier[tree.index(parent)]
        joint = next((j for j in body.joints if j.name == carrier), None)
        return joint.side if joint is not None and joint.part in ("arm", "hand") else ""
    return _side(parent, _HELD)


def arm_columns(names: tuple[str, ...], body: Embodiment | None) -> dict[str, NDArray[np.intp]]:
    """Side → columns of the joints of that arm, by the body's joints, else by words of the names."""
    last = [name.rsplit("/", 1)[-1] for name in names]
    index = body.resolve(last) if body is not None else np.full(len(names), -1)
    side = []
    for name, i in zip(names, index.tolist(), strict=True):
        joint = body.joints[i] if body is not None and i >= 0 else None
        side.append(_side(name, _ARM) if joint is None else joint.side if joint.part == "arm" else "")
    return {s: np.flatnonzero(np.array(side) == s) for s in SIDES}


def _side(name: str, parts: frozenset[str]) -> Side:
    words = [w.lower() for w in _WORDS.findall(name)]
    sides = {_SHORT.get(w, w) for w in words} & set(SIDES)
    if len(sides) != 1 or not parts & set(words):
        return ""
    return "left" if "left" in sides else "right"


def riding(flow: Flow, tq: NDArray[np.int64], arms: tuple[Floats, Floats]) -> Riding:
    """Compare the picture's motion with that of both arms.

    The motion is the median speed of the blocks: what moves within the view covers fewer than half of them.
    Each arm's is the root mean square speed of its joints over the same interval, earlier by the one lag of
    -33 to 300 ms that suits it best. Ranks, as speed in the picture hangs on how far the scene is. The
    error is a jackknife over blocks of 1.5 s.

    Args:
        flow: of the camera, on the joints' time line.
        tq: (m,) int64 ns of the joints.
        arms: positions of the left and the right arm's joints, (m, k) rad each.
    """
    t, clock, seen = np.multiply(flow.t, 1e-9), np.multiply(tq, 1e-9), _energy(flow)
    step = float(np.median(np.diff(t))) if len(t) > 1 else 1.0
    inside = (t - _LAGS[-1] - step >= clock[0]) & (t - _LAGS[0] + step <= clock[-1])
    t, seen = t[inside], seen[inside]
    speeds = np.stack([[_speed(t - lag, clock, q, step) for lag in _LAGS.tolist()] for q in arms])
    known = np.isfinite(speeds).all((0, 1)) & np.isfinite(seen)
    unknown = 1.0 - float(known.mean()) if len(known) else 0.0
    left, right = ((speeds[:, 1][:, known] > _MOVING).sum(axis=1) * step).tolist()
    long, rows = float(known.sum()) * step, max(round(_BLOCK / step), 1)
    if known.sum() < _BLOCKS * rows:
        return Riding(np.nan, np.nan, np.nan, long, (left, right), unknown)
    return Riding(*_compared(speeds[:, :, known], seen[known], rows), long, (left, right), unknown)


def _compared(speeds: Floats, seen: Floats, rows: int) -> tuple[float, float, float]:
    """Rank correlation of each arm's speed (2, lags, n) with what is seen (n,), and their gap's error."""
    from scipy.stats import rankdata  # costs half a second of every start, and few rigs have wrist cameras

    n = len(seen)
    ranks, mine = _standard(rankdata(speeds, axis=-1)), _standard(rankdata(seen))
    product = ranks[[0, 1], (ranks @ mine).argmax(axis=1)] * mine
    edges = np.arange(0, n // rows * rows, rows)
    count = np.diff(np.append(edges, n))
    sums = np.add.reduceat(product, edges, axis=1)
    without = (product.sum(axis=1, keepdims=True) - sums) / (n - count)
    gap = without[0] - without[1]
    r = product.mean(axis=1)
    return float(r[0]), float(r[1]), float(np.sqrt((len(gap) - 1) * np.mean((gap - gap.mean()) ** 2)))


def _energy(flow: Flow) -> Floats:
    """(n,) median speed of the blocks, cells per second."""
    half = BLOCKS[0] * BLOCKS[1]
    speed = np.hypot(flow.x[:, :half], flow.x[:, half:])
    return np.asarray(np.median(speed, axis=1), np.float64)


def _speed(t: Floats, clock: Floats, q: Floats, step: float) -> Floats:
    """(n,) root mean square joint speed over the two picture periods around ``t``."""
    ends = [np.stack([np.interp(t + d, clock, c) for c in q.T]) for d in (-step, step)]
    return np.asarray(np.sqrt(np.mean(((ends[1] - ends[0]) / (2 * step)) ** 2, axis=0)))


def _standard(x: Floats) -> Floats:
    x = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(x / np.maximum(x.std(axis=-1, keepdims=True), 1e-12))
