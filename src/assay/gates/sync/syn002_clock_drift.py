"""SYN002 clock-drift: one stream's clock runs away from the joints' over the episode.

What: For each clock of the episode, by how much it has run away from that of the joints since the episode's
beginning, in seconds, up to its end; the rate of it in ppm.

Why: 200 ppm, a crystal in the sun beside one in the shade, is nothing in a clip of ten seconds and half a
second after 40 minutes: the picture no longer belongs to the joint state beside it, and no playback shows
it.

Method: The best evidence that there is, named in the measure. *log*, *receive*: both streams were stamped
by a common later clock too; the lower envelope of the difference to it (delays are one-sided), least of 12
samples or more, Theil-Sen line, delete-a-group jackknife; jumps that last begin a line of their own
(SYN005). *rows*: the same for the difference of paired rows' stamps. *count*: each stream's stamps against
its own number of samples at its exact declared rate (29.97 is 30000/1001), where both keep that rate within
0.05 %; how well sensors keep it is an uncertainty, so that this decides short episodes only. *claps*: both
ends. *trigger*, *log of the clock service*: what the sheet's evidence says. *content*: windows of pictures
against joints, and how much such lags wander. Claps go before all else where they decide, otherwise the
least uncertainty at the end of the episode; but stamps that surely run away are told beside a service's
log, which speaks of a clock and not of them. One sample per twentieth of the episode: the line's value at
its end against one picture period, at most 1/30 s.

Source: METHODS 4 (Theil-Sen, claps at both ends); Moon, Skelly and Towsley, INFOCOM 1999 (envelope of
one-way delays); FAULTS D02, D04, D06, D09.

Blind spots: Two streams with one stamp for both, or only the recorder's, or index / fps: the gate abstains,
and only claps or content can tell. A clock that runs ahead and comes back within the episode is a straight
line with a large error. *count* cannot tell a drifting clock from a camera off its rate, and abstains.

Dose: drift of a camera's clock, 50 to 1000 ppm, over 1 to 40 minutes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.features.clocks import TIMED, Apart
from assay.gate import Abstain, Case, Evidence, Fact, NotApplicable, Outcome, gate, param
from assay.model import Clock, Episode, Kind, Role, Stream
from assay.signals.clocks import theil_sen
from assay.signals.intervals import span
from assay.signals.offsets import Offset, offsets_of
from assay.synth.episodes import retime, teleop

_CAMERA = "observation.images.cam_0"
_PARTS = 20
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits, and what evidence is good for."""

    limit: float = param(
        1.0 / 30.0,
        "s",
        "one picture at 30 Hz, as in SYN001; at most its own period",
        judged=True,
    )
    pace: float = param(150.0, "ppm", "sensors time lines in whole clocks: true rates miss by up to 300 ppm")
    wander: float = param(0.01, "s", "content lags wander 0.3 to 0.5 frame within seconds, cause unknown")
    decisive: float = param(0.25, "1", "claps this sure, in limits, go before what stamps say of themselves")


def _recorded(ppm: float, minutes: float = 4.0, delay: float = 4e-3, steps: float = 0.0) -> Episode:
    """State and camera with sensor stamps of two clocks, and the recorder's, which delays."""
    ep = teleop(60 * minutes, 15, clock=Clock.SENSOR)
    for i, stream in enumerate(ep.streams):
        rng = np.random.default_rng(i)
        logged = stream.t + np.rint(rng.exponential(delay * 1e9, len(stream)) + 2e6).astype(np.int64)
        sensed = stream.t + np.rint(rng.normal(0, 1e5, len(stream))).astype(np.int64)
        if stream.name == _CAMERA:
            late = np.arange(len(stream)) >= len(stream) // 3
            sensed = sensed + np.rint(ppm * 1e-6 * sensed + steps * 1e9 * late).astype(np.int64)
        ep = ep.with_stream(replace(stream, t=sensed, stamps={Clock.LOG: logged}))
    return ep


def _paired(ppm: float, minutes: float = 4.0) -> Episode:
    """A camera stamped by its own clock, row by row."""
    rng = np.random.default_rng(1)

    def run(t: NDArray[np.int64]) -> NDArray[np.int64]:
        return t + np.rint(ppm * 1e-6 * t + rng.normal(0, 1e6, len(t))).astype(np.int64)

    return retime(teleop(60 * minutes, 15, clock=Clock.SENSOR), _CAMERA, run)


def _counted(ppm: float, minutes: float = 4.0) -> Episode:
    """A camera of 30 Hz by its own clock beside joints of 15 Hz by theirs."""
    ep = _paired(0.0, minutes)
    faster = teleop(60 * minutes, 30, clock=Clock.SENSOR).stream(_CAMERA)
    assert faster is not None
    return ep.with_stream(replace(faster, t=np.rint(faster.t * (1 + ppm * 1e-6)).astype(np.int64)))


def _clapped(late: float, u: float = 1e-3, by: str = "claps") -> dict[str, Any]:
    ends = ((0, 0.0, "start"), (239 * 10**9, late, "end"))
    return {"claps": [Offset(_CAMERA, "observation.state", t, t + 10**9, s, u, by, end=e)  # type: ignore[arg-type]
                      for t, s, e in ends]}  # fmt: skip


def _nominal() -> Episode:
    return teleop(240.0, 15)


CASES = (
    Case("0 ppm, logged", lambda: _recorded(0.0), "pass"),
    Case("120 ppm, logged: 29 ms after 4 minutes", lambda: _recorded(120.0), "pass"),
    Case("160 ppm, logged: 38 ms", lambda: _recorded(160.0), "fail", at=(200.0, 241.0), channel="drift"),
    Case("the camera's clock loses 300 ppm", lambda: _recorded(-300.0), "fail", channel="drift"),
    Case("120 ppm under delays of 60 ms", lambda: _recorded(120.0, delay=0.06), "pass"),
    Case("300 ppm under delays of 60 ms", lambda: _recorded(300.0, delay=0.06), "fail", channel="drift"),
    Case("a jump of 80 ms is SYN005's", lambda: _recorded(0.0, steps=0.08), "pass"),
    Case("120 ppm between paired rows", lambda: _paired(120.0), "pass"),
    Case("160 ppm between paired rows", lambda: _paired(160.0), "fail", at=(195.0, 241.0), channel="drift"),
    Case("1000 ppm in ten seconds", lambda: _paired(1000.0, 1 / 6), "pass"),
    Case("30 ppm by count in a minute", lambda: _counted(30.0, 1.0), "pass"),
    Case("300 ppm by count: crystals or clocks", lambda: _counted(300.0), "abstain", reason="undecided"),
    Case("1000 ppm by count: a rate or a clock", lambda: _counted(1000.0), "abstain",
         reason="reference-noisy"),
    Case("claps 25 ms apart in lateness", _nominal, "pass", features=lambda: _clapped(0.025)),
    Case("claps 40 ms apart in lateness", _nominal, "fail", channel="drift",
         features=lambda: _clapped(0.040)),
    Case("claps that are not sure", _nominal, "abstain", reason="undecided",
         features=lambda: _clapped(0.030, u=0.01)),
    Case("a service's log of 2 ns beside stamps that run 300 ppm", lambda: _paired(300.0), "fail",
         channel="drift", features=lambda: {"outside": _clapped(0.0, u=2e-9, by="log")["claps"]}),
    Case("nominal clocks", _nominal, "abstain", reason="nominal-clock"),
    Case("one stamp for all", lambda: teleop(60.0, clock=Clock.SENSOR), "abstain", reason="no-reference"),
    Case("one simulator clock, declared",
         lambda: replace(_recorded(300.0), sync="one-clock", kind=Kind.SIMULATION), "n/a"),
    Case("a declared camera that is not there", lambda: _paired(0.0).without_stream(_CAMERA), "abstain",
         reason="absent-stream"),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """The one clock of a simulator cannot drift from itself."""
    one = ep.sync == "one-clock" and ep.kind is Kind.SIMULATION
    return NotApplicable("one-clock", "sheet: sync, kind") if one else None


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """What one kind of evidence says: (s after the beginning) → (s run away, standard error)."""

    by: str
    away: Callable[[Floats], tuple[Floats, Floats]]
    note: str


@gate(code="SYN002", name="clock-drift", reads=TIMED, not_applicable=not_applicable)
def measure(
    ep: Episode, p: Params, apart: Sequence[Apart], claps: Any, outside: Any, content: Any, timing: Any
) -> Iterator[Outcome]:
    """The best evidence of every clock against that of the joints; and the table of what is known of each."""
    yield Fact("timing", [{n: getattr(row, n) for n in row.__slots__} for row in timing])
    yield from (Abstain("absent-stream", "declared, not there", d.name, "drift") for d in ep.missing(*TIMED))
    others = _offsets(claps, outside, content)
    pairs = {(a.stream, a.against): a for a in apart}
    for stream, against in {**dict.fromkeys(pairs), **dict.fromkeys(others)}:
        found = pairs.get((stream, against))
        known = [_by_offsets(o, p) for o in others.get((stream, against), ())]
        if found is not None and found.drift is not None:
            known.append(_by_stamps(found, p))
        sides = ep.stream(stream), ep.stream(against)
        if known:
            yield from _told(stream, against, sides, known, p)
        else:
            assert found is not None
            reason = found.reason or "too-short"
            yield Abstain(reason, found.detail or "too few samples for an envelope", stream, "drift")
    if not pairs and not others and ep.streams:
        real = any(s.clock is not Clock.NOMINAL for s in ep.streams)
        reason = "no-reference" if real else "nominal-clock"
        yield Abstain(reason, "one clock in the episode" if real else "", ep.streams[0].name, "drift")


def _offsets(*found: Any) -> dict[tuple[str, str], list[list[Offset]]]:
    """Offsets of each pair by kind of evidence, where they can make a line."""
    groups: dict[tuple[str, str, str, str], list[Offset]] = defaultdict(list)
    for one in (o for f in found for o in offsets_of(f)):
        groups[one.stream, one.against, one.by, one.reference].append(one)
    lines: dict[tuple[str, str], list[list[Offset]]] = defaultdict(list)
    for (stream, against, _, _), group in groups.items():
        if len({(o.t0 + o.t1) // 2 for o in group}) > 1:
            lines[stream, against].append(group)
    return lines


def _by_offsets(group: Sequence[Offset], p: Params) -> _Run:
    x = np.array([(o.t0 + o.t1) / 2e9 for o in group])
    slope, u = theil_sen(x, np.array([o.seconds for o in group]), np.array([o.u for o in group]))
    wander = p.wander if group[0].by == "content" else 0.0
    note = f"{slope * 1e6:.3g} ± {u * 1e6:.2g} ppm by {len(group)} {group[0].by} estimates"
    return _Run(group[0].by, lambda since: (slope * since, np.hypot(u * since, wander)), note)


def _by_stamps(found: Apart, p: Params) -> _Run:
    line = found.drift
    assert line is not None
    paced = p.pace * 1e-6 * np.sqrt(2) if found.how == "count" else 0.0
    u = float(np.hypot(line.u, paced))
    note = "; ".join(filter(None, (f"{line.ppm} by {found.how}", found.note)))
    return _Run("stamps", lambda since: (line.slope * since, u * since), note)


def _evidence(
    stream: str, against: str, sides: tuple[Stream | None, Stream | None], known: Sequence[_Run], p: Params
) -> Evidence:
    t0, t1 = span(*(s.t for s in sides if s is not None))
    edges = np.linspace(0.0, float(t1 - t0), _PARTS + 1)
    since = edges[1:] * 1e-9
    limit = min([p.limit, *(1 / float(s.rate) for s in sides if s and s.rate and s.role is Role.CAMERA)])
    best = _best(known, float(since[-1]), limit * p.decisive)
    away, u = best.away(since)
    at = t0 + np.rint(edges).astype(np.int64)
    return Evidence(
        np.abs(away), at[:-1], at[1:], "s", limit, u=u, stream=stream, against=against, channel="drift",
        note=best.note, doubt=best.note, by=best.by,
    )  # fmt: skip


def _told(
    stream: str, against: str, sides: tuple[Stream | None, Stream | None], known: Sequence[_Run], p: Params
) -> Iterator[Evidence]:
    """The best evidence; beside a service's log, which tells of a clock, stamps that surely run away too."""
    best = _evidence(stream, against, sides, known, p)
    yield best
    for run in known if best.by == "log" else ():
        if run.by == "stamps":
            own = _evidence(stream, against, sides, [run], p)
            if (np.asarray(own.value) - 2 * np.asarray(own.u) > own.limit).any():
                yield own


def _best(known: Sequence[_Run], end: float, sure: float) -> _Run:
    """Claps where they decide, else what is least uncertain at the end."""
    errors = [float(run.away(np.array([end]))[1][0]) for run in known]
    clapped = [r for r, u in zip(known, errors, strict=True) if r.by == "claps" and u <= sure]
    return clapped[0] if clapped else known[int(np.argmin(errors))]
