"""Where pictures are missing inside a file: the lag of what is shown steps there.

Own method: the place is where two lags instead of one leave least of the measured flow unexplained, within
8 s on either side; the step is the difference of both sides' best lags, studentised by delete-one-block
jackknifes. Measured on a real Unitree G1, see docs/power/SYN001.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_map import Map
from assay.signals.flow import Flow
from assay.signals.lag_curve import Curve, peaks

__all__ = ["Step", "lag_steps"]

Floats = NDArray[np.float64]

_SIDE: Final = 16  # blocks on either side of a cut that are looked at: 8 s
_LEAST: Final = 3  # blocks; nearer to an end nothing can be told
_APART: Final = 4  # blocks between two steps
_MOST: Final = 20
_AGREE: Final = 0.3  # cosine on either side
_WANDERS: Final = 0.2  # units by which lags of untouched stretches differ beyond their noise


@dataclass(frozen=True, slots=True)
class Step:
    """A place where the lag of the pictures steps.

    Attributes:
        t: int64 ns on the clock of the flow.
        seconds: by which pictures are later from there on; negative where pictures are missing.
        u: standard error of it, with how much lags wander by themselves.
    """

    t: int
    seconds: float
    u: float


def lag_steps(known: Map, flow: Flow, q: NDArray[Any], tq: NDArray[np.int64]) -> tuple[Step, ...]:
    """The likeliest steps, the likeliest first, at least 2 s apart; many are none, as their errors tell."""
    track = known.track(flow, q, tq)
    rows = known.rows
    if len(track.t) < 2 * _LEAST * rows:
        return ()
    curve = Curve.of(
        track.flow, track.motion(known.lag, known.reach), known.weights, known.trust, known.reach
    )
    gain = _gain(curve, rows)
    found: list[Step] = []
    while len(found) < _MOST and gain.max() > 0:
        at = int(gain.argmax())
        gain[max(at - _APART * rows, 0) : at + _APART * rows] = 0.0
        before, after = _side(curve, at, rows, forwards=False), _side(curve, at, rows, forwards=True)
        if before is None or after is None:
            continue
        u = float(np.hypot(np.hypot(before[1], after[1]) * known.step, _WANDERS * known.unit))
        when = int(flow.t[0]) + round(at * known.step * 1e9)
        found.append(Step(when, (after[0] - before[0]) * known.step, u))
    return tuple(found)


def _gain(curve: Curve, rows: int) -> Floats:
    """(n,) how much less is left unexplained by two lags than by one, if the lag steps before each row."""
    n, side, least = len(curve.inner), _SIDE * rows, _LEAST * rows
    rest = np.zeros((n + 1, curve.inner.shape[1]))
    np.cumsum(curve.ours - 2 * curve.inner, axis=0, out=rest[1:])
    at = np.arange(n)
    low, high = np.maximum(at - side, 0), np.minimum(at + side, n)
    gain = _least(rest[high] - rest[low]) - _least(rest[at] - rest[low]) - _least(rest[high] - rest[at])
    gain[(at < least) | (at > n - least)] = 0.0
    return np.asarray(gain)


def _least(rest: Floats) -> Floats:
    """(n,) minimum over lags (n, k), between the steps by a parabola."""
    k = np.clip(rest.argmin(axis=1), 1, rest.shape[1] - 2)[:, None]
    a, b, c = (np.take_along_axis(rest, k + i, axis=1)[:, 0] for i in (-1, 0, 1))
    bend = a - 2 * b + c
    return np.asarray(b - np.where(bend > 0, (a - c) ** 2 / np.where(bend > 0, 8 * bend, 1.0), 0.0))


def _side(curve: Curve, at: int, rows: int, *, forwards: bool) -> tuple[float, float] | None:
    """Best lag in steps and its standard error on one side of a row; None where nothing agrees."""
    n = len(curve.inner)
    part = slice(at, min(at + _SIDE * rows, n)) if forwards else slice(max(at - _SIDE * rows, 0), at)
    found = peaks(*Curve(curve.inner[part], curve.ours[part], curve.theirs[part]).whole(rows))
    agrees = found.score[0] >= _AGREE and not found.edge[0]
    return (float(found.at[0]), float(found.se[0])) if agrees else None
