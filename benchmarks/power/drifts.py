"""Faults of one clock against another: each takes (clips, dose, generator) and gives a planted recording.

The clips give rate and names; what they were stamped by is made here, as no clip at hand has two clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.rows import pick
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay.model import Channel, Clock, Episode, Role, Stream

__all__ = ["camera_lost", "every_stream_lost", "jumped", "logged", "paired"]

Int64 = NDArray[np.int64]
CAMERA: Final = "observation.images.cam"
GIVEN: Final = {"timing": (), "claps": None, "content": None}
_SENSED: Final = 2e5
_DELAY: Final = 4e6
"""ns: jitter of a sensor's stamps, and the mean of what the way to the recorder adds (exponential)."""
_HELD: Final = 2.0
"""Seconds of one stall in every recording: the recorder's queue fills and is then emptied at once."""


def _times(base: Base, minutes: float, rng: Rng) -> Int64:
    rate = float(base.state.rate or 30)
    t = np.rint(np.arange(round(60 * minutes * rate)) * 1e9 / rate).astype(np.int64)
    return np.asarray(np.sort(t + rng.normal(0, _SENSED, len(t)).astype(np.int64)) + 10**9)


def _arrival(t: Int64, rng: Rng) -> Int64:
    """When the recorder stamps them: late by a little, one in a hundred by 0.2 s, and once held up."""
    late = rng.exponential(_DELAY, len(t)) + 1e6 + 2e8 * (rng.random(len(t)) < 0.01)
    logged = t + np.rint(late).astype(np.int64)
    first = int(rng.integers(0, len(t) - 1))
    end = min(int(np.searchsorted(t, t[first] + round(_HELD * 1e9))), len(t) - 1)
    logged[first:end] = np.maximum(logged[first:end], t[end])
    return logged


def _episode(base: Base, camera: Stream, state: Stream) -> Episode:
    return replace(base.ep, streams=(state, camera), declared=(), embodiment=None, claims=(), meta={})


def _streams(base: Base, camera: Int64, state: Int64) -> tuple[Stream, Stream]:
    rate = base.state.rate
    clocks = {"clock": Clock.SENSOR, "rate": rate}
    return (
        Stream(CAMERA, Role.CAMERA, camera, np.empty((len(camera), 0)), **clocks),  # type: ignore[arg-type]
        Stream(base.state.name, Role.JOINT_POSITION, state, np.zeros((len(state), 1)), (Channel("j"),),
               **clocks),  # type: ignore[arg-type]
    )  # fmt: skip


def _drifting(t: Int64, ppm: float, rng: Rng) -> Int64:
    sign = 1 if rng.integers(2) else -1
    return np.asarray(t + np.rint((t - t[0]) * (sign * ppm * 1e-6)).astype(np.int64))


def _logged(minutes: float, bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    base = pick(bases, rng)
    seen, moved = _times(base, minutes, rng), _times(base, minutes, rng)
    camera, state = _streams(base, _drifting(seen, dose, rng), moved)
    camera = replace(camera, stamps={Clock.LOG: _arrival(seen, rng)})
    state = replace(state, stamps={Clock.LOG: _arrival(moved, rng)})
    ep = _episode(base, camera, state)
    return Planted(ep, int(moved[0]), int(moved[-1]), CAMERA, ("drift",), GIVEN)


def logged(minutes: float) -> partial[Planted]:
    """The camera's clock drifts by ``dose`` ppm; both streams also have the recorder's stamps."""
    return partial(_logged, minutes)


def _paired(minutes: float, bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    base = pick(bases, rng)
    moved = _times(base, minutes, rng)
    seen = np.sort(moved + rng.normal(0, 3e6, len(moved)).astype(np.int64))
    camera, state = _streams(base, _drifting(seen, dose, rng), moved)
    ep = _episode(base, camera, state)
    return Planted(ep, int(moved[0]), int(moved[-1]), CAMERA, ("drift",), GIVEN)


def paired(minutes: float) -> partial[Planted]:
    """The same without a recorder's stamps: a picture to each row, 3 ms of jitter."""
    return partial(_paired, minutes)


def jumped(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """Within a minute the log's clock jumps by ``dose`` ms (either way) against the sensors', and stays."""
    base = pick(bases, rng)
    moved = _times(base, 1.0, rng)
    arrived, at = _arrival(moved, rng), int(rng.integers(len(moved) // 6, len(moved) * 5 // 6))
    arrived[at:] += round(dose * 1e6) * (1 if rng.integers(2) else -1)
    camera, state = _streams(base, _times(base, 1.0, rng), moved)
    ep = _episode(base, camera, replace(state, stamps={Clock.LOG: arrived}))
    near = (max(at - 90, 0), min(at + 90, len(moved) - 1))  # a stall may hide the sample itself
    return Planted(ep, int(moved[near[0]]), int(moved[near[1]]), state.name, ("jump",), GIVEN)


def _lost(base: Base, rows: float, rng: Rng, everywhere: bool) -> Planted:
    seen, moved = _times(base, 0.5, rng), _times(base, 0.5, rng)
    k, at = round(rows), int(rng.integers(2, len(seen) - round(rows) - 2))
    t0, t1 = int(seen[at - 1]), int(seen[at + k])
    if everywhere:
        moved = moved[(moved <= t0) | (moved >= t1)]
    camera, state = _streams(base, np.delete(seen, np.s_[at : at + k]), moved)
    channel = ("recorder",) if everywhere else ("driver",)
    return Planted(_episode(base, camera, state), t0, t1, CAMERA, channel, GIVEN)


def camera_lost(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The camera alone loses ``dose`` frames in a row, anywhere in 30 s; placed means named the driver's."""
    return _lost(pick(bases, rng), dose, rng, everywhere=False)


def every_stream_lost(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """Every stream loses what came in the time of ``dose`` frames; placed means named the recorder's."""
    return _lost(pick(bases, rng), dose, rng, everywhere=True)
