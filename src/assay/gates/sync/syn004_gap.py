"""Samples are missing in the middle of a stream.

What: how much time is missing between two neighbouring stamps of a stream, in frames.

Why: across a hole the next state is not the consequence of the last action; a window over it teaches a
jump.

Method: the stamps' step less the stream's median step, in frames of 1/30 s (of the median step where that is
longer), so that a lost sample at 500 Hz weighs what it weighs. A single late stamp that the next step makes
good is not a hole: the smallest of a step alone and a step with either neighbour counts. One rule for any
hole of three frames or more, another for the share of steps with a lost frame. Streams with the same stamps
are judged once. Stamps made by index/fps say nothing, unless they do have holes; streams that come at no
steady rate have no holes, if no rate is declared. The finding's channel says whose fault it looks like:
*recorder*, where every other real clock that is quick enough to tell has a hole at the middle of this one;
*driver*, where none has; *several*, where some have; nothing where there is no other clock to ask. The note
counts the samples lost, in the stream's own periods.

Source: FAULTS D05; METHODS 4 and 12 (three frames as for a frozen stream).

Blind spots: stamps rewritten to an even grid; holes filled with repeated samples (SYN008); a missing start
or end; arrival stamps move holes by the length of a queue, and a recorder that stalls and then empties its
queue shows no hole in the sensors' stamps, as nothing was lost.

Dose: number of consecutive samples removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.clocks import Ticks
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.clocks import LEAST
from assay.synth.episodes import retime, teleop

TIMED = tuple(role for role in Role if role not in (Role.EVENT, Role.INSTRUCTION))
FRAME = 1e9 / 30
WHOSE = ("", "recorder", "driver", "several")
_CAMERA = "observation.images.cam_0"


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of SYN004."""

    limit: float = param(2.5, "frame", "three lost frames are 0.1 s, as long as SYN008's freeze", judged=True)
    quota: float = param(0.0, "1", "no hole of three frames is acceptable", judged=True)
    limit_lost: float = param(0.5, "frame", "half a frame over is one sample lost, not jitter", judged=True)
    jitter: float = param(
        1.0 / 60.0, "s", "half a picture of 30 Hz: samples pair with a neighbour", judged=True
    )
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


def sporadic() -> Episode:
    """Calls of a service: no declared rate, and no rhythm."""
    ep, rng = clean(Clock.LOG), np.random.default_rng(0)
    steps = np.rint(rng.exponential(0.2e9, len(ep.streams[0])) + 1e3).astype(np.int64)
    streams = (replace(s, t=np.cumsum(steps), rate=None) for s in ep.streams)
    return replace(ep, streams=tuple(streams))


def lost_in(*names: str) -> Episode:
    """20 s of three clocks at 30 Hz; some streams lost what came between 10.0 and 10.5 s."""
    ep = teleop(20.0, clock=Clock.SENSOR)
    for i, stream in enumerate(ep.streams):
        rng = np.random.default_rng(i)
        t = stream.t + np.rint(rng.normal(0, 1e6, len(stream))).astype(np.int64)
        keep = (t < 10 * 10**9) | (t > round(10.5e9)) | (stream.name not in names)
        ep = ep.with_stream(replace(stream, t=t[keep], x=np.asarray(stream.x)[keep]))
    return ep


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
    Case("messages that come when they come", sporadic, "abstain", reason="not-declared"),
    Case("half a second lost in every stream", lambda: lost_in("observation.state", "action", _CAMERA),
         "fail", at=(9.9, 10.6), channel="recorder"),
    Case("half a second lost by the camera", lambda: lost_in(_CAMERA), "fail", at=(9.9, 10.6),
         channel="driver"),
    Case("half a second lost by two of three", lambda: lost_in(_CAMERA, "action"), "fail", at=(9.9, 10.6),
         channel="several"),
)  # fmt: skip


@gate(code="SYN004", name="gap", reads=TIMED)
def measure(ep: Episode, p: Params, ticks: Sequence[Ticks]) -> Iterator[Outcome]:
    """Missing frames between neighbouring stamps of each clock."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*TIMED))
    for clock in ticks:
        if len(clock.t) < 3 or not clock.period:
            yield Abstain("too-short", "fewer than three different stamps", clock.stream)
            continue
        if not (_rated(ep, clock) or _steady(clock)):
            yield Abstain("not-declared", "comes at no steady rate, and none is declared", clock.stream)
            continue
        lost = _lost(clock)
        if clock.clock is Clock.NOMINAL and lost.max() <= p.limit_lost:
            yield Abstain("nominal-clock", clock.note, clock.stream)
            continue
        ends = np.minimum(clock.t[:-1], clock.t[1:]), np.maximum(clock.t[:-1], clock.t[1:])
        whose = _whose(clock, lost > p.limit_lost, [c for c in ticks if c is not clock], p)
        holes = Evidence(
            lost, *ends, "frame", p.limit, stream=clock.stream, which=whose, channels=WHOSE, quota=p.quota,
            note=_note(clock),
        )  # fmt: skip
        yield holes
        yield replace(
            holes, limit=p.limit_lost, quota=p.quota_lost, limit_key="limit_lost", quota_key="quota_lost"
        )


def _rated(ep: Episode, clock: Ticks) -> bool:
    return any((s := ep.stream(name)) is not None and s.rate for name in (clock.stream, *clock.others))


def _steady(clock: Ticks) -> bool:
    """Whether most steps lie within half a period of the usual one: calls and events come when they come."""
    usual = float(np.median(np.abs(clock.step - clock.period))) < clock.period / 2
    return usual and len(clock.t) >= LEAST  # a handful of messages has no rhythm to miss


def _over(clock: Ticks) -> NDArray[np.float64]:
    """(n-1,) ns missing in each step; what the next step or the last one makes good is not."""
    over = clock.step - clock.period
    good = over.copy()
    both = over[1:] + over[:-1]
    good[:-1] = np.minimum(good[:-1], both)
    good[1:] = np.minimum(good[1:], both)
    return np.asarray(np.maximum(good, 0.0))


def _lost(clock: Ticks) -> NDArray[np.float64]:
    """(n-1,) frames missing in each step."""
    return _over(clock) / max(clock.period, FRAME)


def _note(clock: Ticks) -> str:
    gone = np.rint(_over(clock) / clock.period)
    said = ""
    if gone.any():
        n, times = int(gone.sum()), int(np.count_nonzero(gone))
        said = f"{n} sample{'s' * (n > 1)} lost in {times} gap{'s' * (times > 1)}"
    return "; ".join(filter(None, (said, clock.note)))


def _whose(clock: Ticks, holes: NDArray[np.bool_], others: Sequence[Ticks], p: Params) -> NDArray[np.intp]:
    """(n-1,) index into WHOSE, by what the other real clocks did in the middle of each hole."""
    whose = np.zeros(len(holes), np.intp)
    at = np.flatnonzero(holes)
    if not len(at):
        return whose
    asked, shared = np.zeros(len(at), np.intp), np.zeros(len(at), np.intp)
    middle = clock.t[at] + clock.step[at] // 2
    for other in others:
        if other.clock is Clock.NOMINAL or len(other.t) < 3 or not other.period:
            continue
        before = np.searchsorted(np.maximum.accumulate(other.t), middle, "right") - 1
        inside = (before >= 0) & (before < len(other.step))
        able = inside & (other.period < clock.step[at] / 2)
        asked += able
        shared += able & (_lost(other)[np.clip(before, 0, len(other.step) - 1)] > p.limit_lost)
    kind = np.where(shared == asked, 1, np.where(shared == 0, 2, 3))
    whose[at] = np.where(asked > 0, kind, 0)
    return whose
