"""Samples are missing in the middle of a stream.

What: how much time is missing between two neighbouring stamps of a stream, in frames.

Why: across a hole the next state is not the consequence of the last action; a window over it teaches a
jump.

Method: the stamps' step less the stream's median step, in frames of 1/30 s (of the median step where that
is longer), so that a lost sample at 500 Hz weighs what it weighs. A single late stamp that the next step
makes good is not a hole: the smallest of a step alone and a step with either neighbour counts. One rule for
any hole of three frames or more, another for the share of steps with a lost frame. Streams with the same
stamps are judged once. Stamps made by index/fps say nothing, unless they do have holes.

Source: FAULTS D05; METHODS 4 and 12 (three frames as for a frozen stream).

Blind spots: stamps rewritten to an even grid; holes filled with repeated samples (SYN008); a missing start
or end; arrival stamps move holes by the length of a queue.

Dose: number of consecutive samples removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.features.clocks import Ticks
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.synth.episodes import retime, teleop

TIMED = tuple(role for role in Role if role not in (Role.EVENT, Role.INSTRUCTION))
FRAME = 1e9 / 30


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of SYN004."""

    limit: float = param(2.5, "frame", "three lost frames are 0.1 s, as long as SYN008's freeze", judged=True)
    quota: float = param(0.0, "1", "no hole of three frames is acceptable", judged=True)
    limit_lost: float = param(0.5, "frame", "half a frame over is one sample lost, not jitter", judged=True)
    quota_lost: float = param(0.005, "1", "as many frames as the limit rule of RTG001 allows", judged=True)


def hole(frames: float, clock: Clock = Clock.SENSOR, rate: int = 30, *, times: int = 1) -> Episode:
    """A clean episode of 20 s with ``frames`` of 1/30 s missing at 10 s (and at later seconds)."""
    ep = teleop(20.0, rate, clock=clock)

    def shift(t: NDArray[np.int64]) -> NDArray[np.int64]:
        for i in range(times):
            t[(10 + i) * rate :] += round(frames * FRAME)
        return t

    for stream in ep.streams:
        ep = retime(ep, stream.name, shift)
    return ep


def late() -> Episode:
    """Every tenth stamp is 0.8 frames late; nothing is lost."""

    def delay(t: NDArray[np.int64]) -> NDArray[np.int64]:
        t[5::10] += round(0.8 * FRAME)
        return t

    ep = teleop(clock=Clock.RECEIVE)
    for stream in ep.streams:
        ep = retime(ep, stream.name, delay)
    return ep


def clean(clock: Clock) -> Episode:
    """A clean episode by this clock."""
    return teleop(clock=clock)


CASES = (
    Case("clean", lambda: clean(Clock.SENSOR), "pass"),
    Case("three frames lost", lambda: hole(3), "fail", at=(9.9, 10.15), channel=""),
    Case("two frames lost once", lambda: hole(2), "pass"),
    Case("one frame lost in 5 of 600", lambda: hole(1, times=5), "fail", at=(9.9, 14.2)),
    Case("one frame lost in 2 of 600", lambda: hole(1, times=2), "pass"),
    Case("1 s lost at 200 Hz", lambda: hole(30, rate=200), "fail", at=(9.9, 11.1)),
    Case("late stamps, nothing lost", late, "pass"),
    Case("a nominal clock", lambda: clean(Clock.NOMINAL), "abstain", reason="nominal-clock"),
    Case("a nominal clock with a hole", lambda: hole(30, Clock.NOMINAL), "fail", at=(9.9, 11.1)),
    Case("no state", lambda: clean(Clock.SENSOR).without_stream("observation.state"), "abstain",
         reason="absent-stream"),
)  # fmt: skip


@gate(code="SYN004", name="gap", reads=TIMED)
def measure(ep: Episode, p: Params, ticks: Sequence[Ticks]) -> Iterator[Outcome]:
    """Missing frames between neighbouring stamps of each clock."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*TIMED))
    for clock in ticks:
        if len(clock.t) < 3 or not clock.period:
            yield Abstain("too-short", "fewer than three different stamps", clock.stream)
            continue
        lost = _lost(clock)
        if clock.clock is Clock.NOMINAL and lost.max() <= p.limit_lost:
            yield Abstain("nominal-clock", clock.note, clock.stream)
            continue
        ends = np.minimum(clock.t[:-1], clock.t[1:]), np.maximum(clock.t[:-1], clock.t[1:])
        yield Evidence(
            lost, *ends, "frame", p.limit, stream=clock.stream, quota=p.quota, note=clock.note
        )  # fmt: skip
        yield Evidence(
            lost, *ends, "frame", p.limit_lost, stream=clock.stream, quota=p.quota_lost, note=clock.note,
            limit_key="limit_lost", quota_key="quota_lost",
        )  # fmt: skip


def _lost(clock: Ticks) -> NDArray[np.float64]:
    """(n-1,) frames missing in each step."""
    over = clock.step - clock.period
    good = over.copy()
    both = over[1:] + over[:-1]
    good[:-1] = np.minimum(good[:-1], both)
    good[1:] = np.minimum(good[1:], both)
    lost: NDArray[np.float64] = np.maximum(good, 0.0) / max(clock.period, FRAME)
    return lost
