"""What a recorder with known faults of its clocks would have written of a rendered episode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from benchmarks.rigs.render import Shot, shots
from benchmarks.rigs.scene import Rig
from numpy.typing import NDArray

from assay.signals.content_map import Take
from assay.signals.flow import Flow, block_flow
from assay.signals.pictures import GREY, Thumbs

__all__ = ["Recorded", "beginning", "dropped", "late", "long_take", "recorded", "take"]

_RATE: Final = 30.0  # Hz that every file says
_CODED_AGAIN: Final = 0.1  # grey that a repeated picture differs by
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """One episode of a rig as its files hold it, pictures by their true time.

    Attributes:
        shot: the rendered episode.
        t: (n,) ns, stamps of the file's 30 pictures per second, without any bias.
        thumbs: (n, 60, 80) what a decoding pass keeps.
        flow: of them.
        deviation: s by which this episode's pictures are later than its rig's, by nature (sd 2 ms).
    """

    shot: Shot
    t: NDArray[np.int64]
    thumbs: Thumbs
    flow: Flow
    deviation: float


def recorded(one: Rig) -> tuple[list[Recorded], float]:
    """All episodes of a rig, and the bias of its camera: s, within 100 ms."""
    bias = float(np.random.default_rng([12, one.seed]).uniform(-0.1, 0.1))
    return [_filed(one, e, shot) for e, shot in enumerate(shots(one))], bias


def _filed(one: Rig, episode: int, shot: Shot) -> Recorded:
    """15 Hz cameras show every picture twice in a file of 30."""
    rng = np.random.default_rng([13, one.seed, episode])
    noisy = shot.luma + rng.normal(0.0, one.noise, shot.luma.shape)
    twice = round(_RATE / one.fps)
    shown = np.repeat(noisy, twice, axis=0)
    if twice > 1:
        shown[1::2] += rng.normal(0.0, _CODED_AGAIN, noisy.shape)
    thumbs = np.rint(np.clip(shown, 0, 255) * GREY).astype(np.uint16)
    t = shot.t[0] + np.arange(len(thumbs)) / _RATE + rng.normal(0.0, 1.5e-3, len(thumbs))  # stamps jitter
    stamps = np.sort(np.rint(t * 1e9).astype(np.int64))
    return Recorded(shot, stamps, thumbs, block_flow(thumbs, stamps), float(rng.normal(0.0, 2e-3)))


def beginning(found: Recorded, seconds: float) -> Recorded:
    """The first seconds of an episode."""
    n = int(np.searchsorted(found.t, found.t[0] + round(seconds * 1e9)))
    flow = Flow(found.flow.t[: n - 2], found.flow.x[: n - 2])
    return replace(found, t=found.t[:n], thumbs=found.thumbs[:n], flow=flow)


def take(one: Rig, found: Recorded, seconds: float, ppm: float = 0.0) -> Take:
    """Pictures ``seconds`` later than joints at 30, 50 or 100 Hz, with jitter and encoder noise."""
    return late(found.flow, seconds, ppm), *_joints(one, found.shot, found.flow.t)


def late(flow: Flow, seconds: float, ppm: float = 0.0) -> Flow:
    """The same flow, its stamps later by ``seconds`` and by ``ppm`` of the time since the first."""
    drift = (flow.t - flow.t[0]) * (ppm * 1e-6)
    return Flow(flow.t + round(seconds * 1e9) + np.rint(drift).astype(np.int64), flow.x)


def _joints(one: Rig, shot: Shot, t: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng([14, one.seed])
    rate = float(rng.choice([30.0, 50.0, 100.0]))
    true = np.arange(t[0] * 1e-9 - 0.4, t[-1] * 1e-9 + 0.4, 1 / rate)
    q = shot.motion(true) + rng.normal(0.0, 2e-4, (len(true), 17))
    stamps = np.sort(np.rint((true + rng.normal(0.0, 1e-3, len(true))) * 1e9).astype(np.int64))
    return q, stamps


def dropped(one: Rig, found: Recorded, seconds: float, count: int, at: int) -> Take:
    """Pictures ``at`` to ``at + count`` of the file are missing, and the later ones closed up."""
    kept = np.delete(np.arange(len(found.t)), slice(at, at + count))
    flow = block_flow(found.thumbs[kept], found.t[: len(kept)])
    return late(flow, seconds), *_joints(one, found.shot, found.flow.t)


def long_take(one: Rig, found: Recorded, minutes: float, seconds: float, ppm: float) -> Take:
    """An episode of some minutes of which three thirds of ``found`` are all that moves: start, middle, end.

    Nothing was rendered in between: the robot rests there, and the picture shows its own noise.
    """
    flow, (q, tq) = found.flow, _joints(one, found.shot, found.flow.t)
    length, third = round(minutes * 60e9), (flow.t[-1] - flow.t[0]) // 3
    rest = np.random.default_rng([15, one.seed])
    flows, times, rows, stamps = [], [], [], []
    for part in range(3):
        first = flow.t[0] + part * third
        shift = part * (length - third) // 2 - part * third
        mine, ours = (flow.t >= first) & (flow.t < first + third), (tq >= first) & (tq < first + third)
        if part:
            gap = np.arange(times[-1][-1] + 33_333_333, flow.t[mine][0] + shift, 33_333_333)
            quiet = np.median(np.abs(flow.x), axis=0) * 0.02
            flows.append(rest.normal(0.0, 1.0, (len(gap), flow.x.shape[1])).astype(np.float32) * quiet)
            times.append(gap)
        flows.append(flow.x[mine])
        times.append(flow.t[mine] + shift)
        rows.append(q[ours])
        stamps.append(tq[ours] + shift)
    whole = Flow(np.concatenate(times), np.concatenate(flows))
    return late(whole, seconds, ppm), *_resting(rows, stamps)


def _resting(rows: list[Floats], stamps: list[NDArray[np.int64]]) -> tuple[Floats, NDArray[np.int64]]:
    """Joints that wait between stretches, and creep to where the next one begins."""
    q, t = [rows[0]], [stamps[0]]
    for x, at in zip(rows[1:], stamps[1:], strict=True):
        gap = np.arange(t[-1][-1] + 33_333_333, at[0], 33_333_333)
        share = np.linspace(0, 1, len(gap) + 2)[1:-1, None]
        q += [q[-1][-1] + (x[0] - q[-1][-1]) * share, x]
        t += [gap, at]
    return np.concatenate(q), np.concatenate(t)
