"""A clock jumps back, stands still, or was never set.

What: by how many seconds a stamp lies before the one it follows; how many stamps are repeated; how far
stamps lie outside the years in which robots recorded; by how much one clock jumps against another that
stamped the same samples, and stays.

Why: rows sorted or joined by time change places, durations become absurd, and a split at the step cuts an
attempt in two.

Method: differences of neighbouring stamps in stored order. Stamps count as calendar time where their median
lies after 2001; then every one must lie between 2015 and the day after today, and so must those of the
episode's other real clocks. Where a reader counts from an episode's start, its date counts too; where all
clocks of such an episode count from 1970, as those from boot do, that is reported only. A jump forwards is
SYN004's. Streams with the same stamps are judged once. Stamps made by index/fps say nothing, unless they do
step.

Source: FAULTS D02, D04.

Blind spots: a clock that is wrong by a constant; clocks that all count from 1970, which may be from boot; a
slow slew (SYN002); a recorder that sorted its messages hides the step from stamps in log order.

Dose: size of the backward step (s); of a jump of one clock against another (s).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.clocks import Held, Ticks
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.clocks import LEAST
from assay.signals.intervals import span
from assay.signals.stamp_pair import dated
from assay.synth.episodes import retime, teleop

TIMED = tuple(role for role in Role if role not in (Role.EVENT, Role.INSTRUCTION))
FIRST = 1_420_070_400 * 10**9  # 2015-01-01
LAST = 1_767_225_600 * 10**9  # 2026-01-01, before this was written: what is ahead is counted from here
_UNDATED = "every clock counts from 1970: from boot, or never set"
DAY = 86_400 * 10**9  # what time zones may differ by
NOW = 1_750_000_000 * 10**9


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of SYN005."""

    limit: float = param(0.0, "s", "time does not run backwards, not even a little", judged=True)
    quota: float = param(0.0, "1", "one step back is one too many", judged=True)
    quota_repeated: float = param(0.005, "1", "rounding may join a few stamps of a fast stream", judged=True)
    jump: float = param(1.0 / 30.0, "s", "one picture at 30 Hz, from which SYN001 fails as well", judged=True)


def shifted(first: int, last: int, seconds: float, clock: Clock = Clock.SENSOR, start: int = NOW) -> Episode:
    """A clean episode of 10 s from ``start`` (ns), in which rows first to last are moved by some seconds."""
    ep = teleop(clock=clock)

    def move(t: NDArray[np.int64]) -> NDArray[np.int64]:
        t += start
        t[first:last] += round(seconds * 1e9)
        return t

    for stream in ep.streams:
        ep = retime(ep, stream.name, move)
    return ep


def repeated(rows: int) -> Episode:
    """A clean episode of 300 rows in which some stamps are those of the row before."""

    def repeat(t: NDArray[np.int64]) -> NDArray[np.int64]:
        at = 30 + 10 * np.arange(rows)
        t[at] = t[at - 1]
        return t

    ep = teleop(clock=Clock.SENSOR)
    for stream in ep.streams:
        ep = retime(ep, stream.name, repeat)
    return ep


def one_unset() -> Episode:
    """The state's clock was never set while the others' were."""
    ep = shifted(0, 0, 0.0)
    return retime(ep, "observation.state", lambda t: t - NOW + 181_043 * 10**9)


def counted(start: int, unset: bool = False) -> Episode:
    """Stamps since the episode's start, which was at ``start`` (ns); or the state's clock was never set."""
    ep = shifted(0, 0, 0.0, start=0)
    if unset:
        ep = retime(ep, "observation.state", lambda t: t - start)
    return replace(ep, meta={**ep.meta, "stamps/start": start})


def logged(seconds: float, stall: int = 0, unset: int = 0) -> Episode:
    """20 s by sensor and log: the log jumps at row 300; or 30 rows wait for it; or rows were not stamped."""
    ep = teleop(20.0, clock=Clock.SENSOR, cameras=0)
    for i, stream in enumerate(ep.streams):
        rng, rows = np.random.default_rng(i), np.arange(len(stream))
        sensed = stream.t + NOW + i
        log = sensed + np.rint(rng.exponential(3e6, len(stream)) + 1e6).astype(np.int64)
        log[rows >= 300] += round(seconds * 1e9)
        log[300 : 300 + stall] = log[300 + stall] - np.arange(stall, 0, -1) * 10_000
        sensed[100 : 100 + unset] = 0
        first, further = (Clock.LOG, Clock.SENSOR) if unset else (Clock.SENSOR, Clock.LOG)
        t, other = (log, sensed) if unset else (sensed, log)
        ep = ep.with_stream(replace(stream, t=t, clock=first, stamps={further: other}))
    return ep


CASES = (
    Case("clean", lambda: shifted(0, 0, 0.0), "pass"),
    Case("37.2 s back from row 150 on", lambda: shifted(150, 300, -37.2), "fail",
         at=(NOW / 1e9 - 32.3, NOW / 1e9 + 5.0)),
    Case("half a frame back", lambda: shifted(150, 300, -0.05), "fail",
         at=(NOW / 1e9 + 4.9, NOW / 1e9 + 5.0)),
    Case("a step forward is not this gate's", lambda: shifted(150, 300, 37.2), "pass"),
    Case("the first 20 stamps are of 1970", lambda: shifted(0, 20, 181_043 - NOW / 1e9), "fail"),
    Case("one stamp is 0", lambda: shifted(100, 101, -NOW / 1e9 - 100 / 30), "fail"),
    Case("one clock was never set", one_unset, "fail"),
    Case("stamps of 2090", lambda: shifted(0, 0, 0.0, start=3_800_000_000 * 10**9), "fail", channel="date"),
    Case("counted from a start in 2025", lambda: counted(NOW), "pass"),
    Case("counted from a start in 2090", lambda: counted(3_800_000_000 * 10**9), "fail", channel="date"),
    Case("counted from a start, one clock never set", lambda: counted(NOW, unset=True), "fail",
         channel="date"),
    Case("all clocks count from boot", lambda: counted(181_043 * 10**9), "pass"),
    Case("1 of 300 stamps repeated", lambda: repeated(1), "pass"),
    Case("3 of 300 stamps repeated", lambda: repeated(3), "fail", at=(0.9, 1.8)),
    Case("a nominal clock", teleop, "abstain", reason="nominal-clock"),
    Case("a nominal clock that steps back", lambda: shifted(150, 300, -1.0, Clock.NOMINAL, 0), "fail",
         at=(3.9, 5.0)),
    Case("the log jumps by 25 ms against the sensors", lambda: logged(0.025), "pass"),
    Case("the log jumps by 45 ms against the sensors", lambda: logged(0.045), "fail",
         at=(NOW / 1e9 + 9.8, NOW / 1e9 + 10.2), channel="jump"),
    Case("the log jumps back by 45 ms", lambda: logged(-0.045), "fail"),
    Case("the log stalls for 1 s and then catches up", lambda: logged(0.0, stall=30), "pass"),
    Case("three sensor stamps are 0", lambda: logged(0.0, unset=3), "fail", channel="date"),
    Case("no state", lambda: shifted(0, 0, 0.0).without_stream("observation.state"), "abstain",
         reason="absent-stream"),
)  # fmt: skip


@gate(code="SYN005", name="clock-step", version=2, reads=TIMED)
def measure(ep: Episode, p: Params, ticks: Sequence[Ticks], held: Sequence[Held]) -> Iterator[Outcome]:
    """Steps back, repeated stamps and impossible dates of each clock, and jumps of one against another."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*TIMED))
    start = ep.meta.get("stamps/start") or 0
    calendar = any(dated(clock.t + start) for clock in ticks if clock.clock is not Clock.NOMINAL)
    for clock in ticks:
        if len(clock.t) < 2:
            yield Abstain("too-short", "fewer than two stamps", clock.stream)
        elif clock.clock is Clock.NOMINAL and (clock.step > 0).all():
            yield Abstain("nominal-clock", clock.note, clock.stream)
        else:
            yield from _steps(clock, p)
            if clock.clock is not Clock.NOMINAL and (calendar or "stamps/start" in ep.meta):
                date = _dates(clock, clock.t + start)
                yield date if calendar else replace(date, decides=False, note=_UNDATED)
        yield from (o for name, t in clock.further.items() for o in _further(clock, name, t, start, p))
    yield from (_jumps(pair, p) for pair in held)


def _latest() -> int:
    """ns; a day from now, by a machine whose own clock may not be set."""
    return max(time.time_ns(), LAST) + DAY


def _steps(clock: Ticks, p: Params) -> Iterator[Outcome]:
    t0, t1 = np.minimum(clock.t[:-1], clock.t[1:]), np.maximum(clock.t[:-1], clock.t[1:])
    yield Evidence(
        np.maximum(-clock.step, 0) * 1e-9, t0, t1, "s", p.limit, stream=clock.stream, channel="backwards",
        quota=p.quota, note=clock.note,
    )  # fmt: skip
    yield Evidence(
        (clock.step == 0).astype(np.float64), t0, t1, "1", 0.0, stream=clock.stream, channel="repeated",
        quota=p.quota_repeated, limit_key="repeats", quota_key="quota_repeated", note=clock.note,
    )  # fmt: skip


def _dates(clock: Ticks, t: NDArray[np.int64], of: str = "") -> Evidence:
    ahead = np.where(t > _latest(), t - LAST, 0)
    outside = np.maximum(np.maximum(FIRST - t, ahead), 0) * 1e-9
    return Evidence(
        outside, clock.t, clock.t, "s", 0.0, stream=clock.stream, against=of, channel="date",
        limit_key="dates", note=f"{of} stamps before 2015 or in the future, beside calendar time".strip(),
    )  # fmt: skip


def _further(clock: Ticks, of: Clock, t: NDArray[np.int64], start: int, p: Params) -> Iterator[Outcome]:
    """Another clock's stamps of the same samples: steps back, and samples that it left unset."""
    if len(t) < 2:
        return
    back = np.where((t[1:] > 0) & (t[:-1] > 0), np.maximum(-np.diff(t), 0), 0) * 1e-9
    if back.any():  # the first clock's evidence stands for what is in order
        ends = np.minimum(clock.t[:-1], clock.t[1:]), np.maximum(clock.t[:-1], clock.t[1:])
        yield Evidence(
            back, *ends, "s", p.limit, stream=clock.stream, against=of, channel="backwards", quota=p.quota,
            note=f"the {of} clock",
        )  # fmt: skip
    t = t + start
    if (int(t.min()) < FIRST or int(t.max()) > _latest()) and dated(t):
        yield _dates(clock, t, of)


def _jumps(pair: Held, p: Params) -> Outcome:
    """One sample per step: the size of the lasting jump there, 0 elsewhere."""
    if pair.drift is None or len(pair.t) < 2 * LEAST:
        return Abstain("too-short", f"{len(pair.t)} samples of two clocks", pair.stream, "jump")
    found, n = pair.jumps, len(pair.t) - 1
    none = Evidence.single(
        0.0, *span(pair.t), unit="s", limit=p.jump, u=found.u, stream=pair.stream, against=pair.later,
        channel="jump", limit_key="jump", by="stamps",
    )  # fmt: skip
    if not len(found.at):
        return none
    value, u = np.zeros(n), np.zeros(n)
    value[found.at - 1], u[found.at - 1] = np.abs(found.size), found.u
    said = (f"{_jumped(pair, i, s)} by {s:+.3g} s" for i, s in zip(found.at, found.size, strict=True))
    t0, t1 = np.minimum(pair.t[:-1], pair.t[1:]), np.maximum(pair.t[:-1], pair.t[1:])
    return replace(none, value=value, t0=t0, t1=t1, u=u, note="; ".join([*said][:3]))


def _jumped(pair: Held, at: int, size: float) -> str:
    """Which of two clocks made a jump: the one whose own step there is not the usual one."""
    step = np.diff(pair.t)
    odd = abs(float(step[at - 1] - np.median(step))) * 1e-9 > abs(size) / 2
    own, other = pair.earlier, pair.later
    return f"the {own if odd else other} clock jumps against the {other if odd else own} clock"
