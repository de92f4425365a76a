"""SYN001 stream-offset: the pictures of a camera and the joints are not from the same instant.

What: For each camera, how far its pictures stand from the rows of the joints, at both ends of the episode:
*absolute*, and *deviation* from what the rig's other episodes share.

Why: A policy that sees the hand where it was two pictures ago learns to act late. Owners of public sets
have confirmed images one or two steps late, and recorders that pair each row with whatever picture was
latest.

Method: All evidence that there is, each named. *stamps*: where both streams carry real clocks (made by the
sensor or at receipt) and rows are paired, the median difference of the stamps of paired samples over every
ten rows, each with its own error. Messages of topics, and pictures and rows that differ in number, are not
paired: whoever uses them aligns them by their stamps, and the first and last ones tell only when each topic
began and ended. Those of sensors need a later clock (receipt, log) that stamped both: a sample is taken
before it is received, so that the shortest way there bounds by how much a stamp is early. Where both ways are
within the limit, the gate passes; where the way changes, within 3 s, from one stream to the other by more
than the limit, or where nothing else tells and there is no such clock or they are stamped on arrival, it
abstains. It fails stamps that lie after their own receipt (or log) while those of the other stream do not.
Stamps that never move, or that both streams share to the nanosecond in every row, are one clock written twice
and say nothing of when a picture was taken; nor do those that both count from 0 at their own first sample, or
that come in two files. Clocks that count from boot are held together like any others; the finding, and the
table of clocks, say that they tell no date. *claps*, *trigger*, *log*: events that both streams show, or what
the sheet's evidence says; of claps two have to agree, at one end or at both, since one may be a glitch: alone
it is a figure without a verdict. *content*: the motion of picture blocks against the motion that the joints
predict, by a map learnt from the corpus's other episodes; windows of 3 s have to agree, no other lag may fit,
and no window of 1 or 3 s may show less of the predicted motion at that lag than hardly any of the corpus's
does; where two such windows show as much as usual at one other lag, that lag is judged. Where the corpus has
too few windows of one of the two lengths amid motion to know its usual, the other one is held alone, and no
other lag is judged without that of 1 s; where it knows neither, the gate abstains. So it does where more than
a second of pictures or joints in a row lies beyond a gap longer than all samples fill, or behind stamps that
run back: that is not looked at, and named. Content tells the
deviation from the corpus's median, start and end apart in episodes of 20 s or more; with a declared offset of
the camera (``[cameras.NAME] offset`` and ``offset_u``) also the absolute one, unless pictures and joints show
a lag of which that is more than 120 ms off; without it the absolute one is bounded only and takes no part in
the verdict. Streams without pictures: the way of a tracked hand against that of its arm's joints, knocks in
sound against those of a force, within a second; a hand that leads a robot is reported only, as the
controller's delay is part of it. The limit is one picture period, at most 1/30 s. Where stamps are nominal
(index / fps, which says nothing about when anything happened) and content cannot tell, the gate abstains. It
is n/a only where the sheet declares one clock and the kind is simulation.

Source: own measurement on 24 real episodes (docs/power/SYN001.md); yanlai00/bridge_data_robot_infra#1
(images one or two steps late), almond-bot/axol PR 34 and unitreerobotics/xr_teleoperate#22 (rows that are
not of one instant), RocSync (arXiv 2511.14948) for what stamps can reach.

Blind spots: Stamps made at receipt hold the transport's delay, which no stamp shows. Of unpaired samples it
stays open by how much stamps are late, up to their log, and whether they are early where the way to the log
is longer than the limit. A lateness that a whole corpus shares needs a clap or a declared offset. Content
cannot tell still scenes, gaits of one rhythm, cameras that do not see the robot, or what only a few episodes
teach. It tells the usual lag, not that of every moment: on a camera whose motion joints predict well, what
can hide is late by two pictures for less than 3 s, by five for half a second, or lies where the robot hardly
moves, at an end too (docs/power/SYN001.md); where joints predict less, longer stretches hide. Foreign
pictures beside joints that rest contradict nothing. A stretch that is seen to be late is not always failed:
of 40 simulated episodes of 18 s, 3.5 s of them 0.3 s late, the lag is told in 36 where joints move quickly
and in 23 where they move slowly, in 17 and 6 where it is 2.5 s; the others stay open.

Dose: shift of a camera's stamps, 10 to 100 ms; shift of its pictures, 0.5 to 5 frames; drift, 0.1 to 1 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.features.content import Content
from assay.gate import Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Clock, Episode, Kind, Role, Stream
from assay.signals.content_ends import ends_of
from assay.signals.content_lag import Estimate
from assay.signals.offsets import BELIEVED, Offset, offsets_of, towards
from assay.signals.stamp_pair import (
    apart,
    bounds,
    mute,
    paired,
    received_early,
    swayed,
    undated,
    unsettled,
)
from assay.synth import teleop
from assay.synth.lateness import CAMERA, counted, declares, late, logged, one_clock, slow, stopped, topics

_JOINTS = (Role.JOINT_POSITION, Role.REQUEST)
_METHOD = 0.5 / 30  # s; estimators of the lag itself disagree by more than a picture (docs/power/SYN001.md)


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(1 / 30, "s", "one picture at 30 Hz, published; at most its own period", judged=True)
    pairs: float = param(10.0, "row", "a median of ten stands against jitter of single stamps")
    believed: float = param(BELIEVED, "s", "content runs 83 ms after a real G1's joints; estimators differ")


def _seen(*seconds: float, u: float = 0.008, why: str = "", open_: str = "still") -> dict[str, Any]:
    """What content says at the ends (or of the whole); NaN is an end that it cannot tell (why: ``open_``)."""
    long = 10.0 / max(len(seconds), 1)
    parts = tuple(
        Estimate(x, u, "" if np.isfinite(x) else open_, t0=i * long, t1=(i + 1) * long)
        for i, x in enumerate(seconds)
    )
    return {"content": {CAMERA: Content(ends=parts, why=why)}}


def _against(t0: float, t1: float, why: str = "undecided") -> dict[str, Any]:
    doubt = Estimate(np.nan, np.nan, why, "pictures show 5 % of the motion", t0=t0, t1=t1)
    return {"content": {CAMERA: replace(_seen(0.0)["content"][CAMERA], doubts=(doubt,))}}


def _clapped(seconds: float) -> dict[str, Any]:
    clap = Offset(CAMERA, "observation.state", 0, 10**9, seconds, 2e-3, "claps", end="start")
    return {"claps": (clap,), **_seen(why="not-calibrated")}


CASES = (
    Case("stamps of one instant", lambda: late(0.0), "pass"),
    Case("30 ms late", lambda: late(0.030), "pass"),
    Case("37 ms late", lambda: late(0.037), "fail", at=(0.0, 10.0), channel="absolute"),
    Case("37 ms early, stamped at receipt", lambda: late(-0.037, Clock.RECEIVE), "fail", channel="absolute"),
    Case("drifts by 20 ms over the episode", lambda: slow(0.002), "pass"),
    Case("drifts by 50 ms over the episode", lambda: slow(0.005), "fail", at=(6.5, 10.1), channel="absolute"),
    Case("25 ms late amid the episode", lambda: late(0.025, shape="bow"), "pass"),
    Case("100 ms late amid the episode, both ends meet", lambda: late(0.1, shape="bow"), "fail",
         at=(0.9, 9.1), channel="absolute"),
    Case("40 ms early for a second", lambda: late(-0.04, shape="amid"), "fail", at=(3.9, 5.1),
         channel="absolute"),
    Case("one stamp for camera and joints", lambda: teleop(clock=Clock.SENSOR), "abstain",
         features=lambda: _seen(why="not-calibrated")),
    Case("one stamp for both, content as the corpus", lambda: teleop(clock=Clock.SENSOR), "pass",
         features=lambda: _seen(0.012)),
    Case("both count from 0 at their own first sample", lambda: counted(0), "abstain",
         features=lambda: _seen(why="not-calibrated")),
    Case("both count from one boot", lambda: counted(181_043), "pass"),
    Case("both count from one boot, 37 ms late", lambda: counted(181_043, 0.037), "fail", channel="absolute"),
    Case("a clock that stands still", stopped, "abstain", features=lambda: _seen(why="not-calibrated")),
    Case("content: 12 ms from the corpus", teleop, "pass", features=lambda: _seen(0.012)),
    Case("content: two pictures late", teleop, "fail", at=(0.0, 10.0), channel="deviation",
         features=lambda: _seen(0.067)),
    Case("content: 33 ms late, give or take 16", teleop, "abstain", reason="undecided",
         features=lambda: _seen(0.033)),
    Case("content: late at the end only", teleop, "fail", at=(5.0, 10.0), channel="deviation",
         features=lambda: _seen(0.0, 0.06)),
    Case("content: cannot tell the end", teleop, "abstain", reason="undecided",
         features=lambda: _seen(0.0, np.nan)),
    Case("content: a map of few episodes cannot tell the end", teleop, "abstain", reason="not-calibrated",
         features=lambda: _seen(0.0, np.nan, open_="not-calibrated")),
    Case("content: a stretch speaks against the rest", teleop, "abstain", reason="undecided",
         features=lambda: _against(4.0, 5.5)),
    Case("content: nothing usual is known to hold it to", teleop, "abstain", reason="not-calibrated",
         features=lambda: _against(0.0, 10.0, "not-calibrated")),
    Case("not calibrated", teleop, "abstain", reason="not-calibrated",
         features=lambda: _seen(why="not-calibrated")),
    Case("still pictures", teleop, "abstain", reason="still", features=lambda: _seen(why="still")),
    Case("not decoded", teleop, "abstain", reason="not-decoded", features=lambda: _seen(why="not-decoded")),
    Case("claps 20 ms apart", teleop, "pass", features=lambda: _clapped(0.020)),
    Case("claps 40 ms apart", teleop, "fail", channel="absolute", features=lambda: _clapped(-0.040)),
    Case("declared 10 ms late, content agrees", lambda: declares(0.010), "pass",
         features=lambda: _seen(0.0, u=0.006)),
    Case("declared 60 ms late, content agrees", lambda: declares(0.060), "fail", channel="absolute",
         features=lambda: _seen(0.0)),
    Case("declared 10 ms late without an error", lambda: declares(0.010, None), "abstain",
         reason="not-declared", features=lambda: _seen(0.0)),
    Case("declared 10 ms late, pictures run 230 ms after joints", lambda: declares(0.010), "abstain",
         reason="reference-noisy",
         features=lambda: {"content": {CAMERA: replace(_seen(0.0)["content"][CAMERA], lag=0.230)}}),
    Case("stamped 30 ms after the log, both ends meet", lambda: logged(0.033), "pass"),
    Case("stamped 47 ms after the log, both ends meet", lambda: logged(0.050), "fail", channel="absolute"),
    Case("stamps 20 ms early against the log amid the episode", lambda: logged(0.0, bow=0.02), "pass"),
    Case("stamps 150 ms early against the log amid the episode", lambda: logged(0.0, bow=0.15), "abstain",
         reason="reference-noisy"),
    Case("a topic of 10 Hz, 32 ms before its log", lambda: topics(10, way=0.032), "pass"),
    Case("a topic of 10 Hz, 35 ms before its log", lambda: topics(10, way=0.035), "abstain",
         features=lambda: _seen(why="still")),
    Case("a topic that begins 150 ms late and ends 100 ms early", lambda: topics(begins=0.15, ends=0.1),
         "pass"),
    Case("a topic that begins and ends 60 ms later, no log", lambda: topics(begins=0.06, way=None), "abstain",
         features=lambda: _seen(why="still")),
    Case("topics of no log, content as the corpus", lambda: topics(20, way=None), "pass",
         features=lambda: _seen(0.012)),
    Case("topics stamped on arrival", lambda: topics(20, clock=Clock.RECEIVE), "abstain",
         features=lambda: _seen(why="still")),
    Case("topics whose log is their stamp", lambda: topics(20, way=0.0), "abstain",
         features=lambda: _seen(why="still")),
    Case("a topic of a few pictures", lambda: topics(20, ends=9.7), "abstain",
         features=lambda: _seen(why="still")),
    Case("a topic stamped 50 ms after its log", lambda: topics(20, way=-0.05), "fail", channel="absolute"),
    Case("stamps 37 ms late, content as the corpus", lambda: late(0.037), "fail", channel="absolute",
         features=lambda: _seen(0.0)),
    Case("stamps of one instant, content three pictures late", lambda: late(0.0), "fail",
         channel="deviation", features=lambda: _seen(0.1)),
    Case("one simulator clock, declared", one_clock, "n/a"),
    Case("one clock declared for a robot, 37 ms late", lambda: one_clock(Kind.TELEOPERATION, 0.037), "fail",
         channel="absolute"),
    Case("no camera at all", lambda: teleop(cameras=0), "abstain", reason="absent-stream"),
    Case("a declared camera that is not there", lambda: teleop().without_stream(CAMERA), "abstain",
         reason="absent-stream"),
    Case("no joints", lambda: late(0.0).without_stream("observation.state").without_stream("action"),
         "abstain", reason="absent-stream"),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """The one clock of a simulator has no offset; nothing else has one clock, whatever a sheet says."""
    one = ep.sync == "one-clock" and ep.kind is Kind.SIMULATION
    return NotApplicable("one-clock", "sheet: sync, kind") if one else None


@gate(code="SYN001", name="stream-offset", version=10, reads=[Role.CAMERA, *_JOINTS],
      not_applicable=not_applicable)  # fmt: skip
def stream_offset(
    ep: Episode, p: Params, content: Mapping[str, Content], claps: Any, outside: Any, pair_lags: Any
) -> Iterator[Outcome]:
    """All evidence of each camera against the joints, then of streams without pictures."""
    for declared in ep.missing(Role.CAMERA):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    cameras, joints = ep.by_role(Role.CAMERA), [s for s in ep.by_role(*_JOINTS) if len(s)]
    if not cameras and not ep.declares(Role.CAMERA):
        yield Abstain("absent-stream", "no camera")
    events = (*offsets_of(claps), *offsets_of(outside))
    for camera in cameras:
        if not joints:
            yield Abstain("absent-stream", "no joints to compare with", camera.name)
        elif not len(camera):
            yield Abstain("too-short", "no picture is stamped", camera.name)
        else:
            yield from _unproven(camera, joints, getattr(claps, "alone", ()), p)
            seen = content.get(camera.name, Content(why="unreadable"))
            yield from _all(ep, camera, joints, seen, events, p)
    yield from (_blind(ep, o, p) for o in offsets_of(pair_lags))


def _all(
    ep: Episode, camera: Stream, joints: Sequence[Stream], seen: Content, events: Sequence[Offset], p: Params
) -> Iterator[Outcome]:
    told = list(_absolute(ep, camera, joints, seen, events, p))
    spoken = not seen.why
    if spoken:
        yield _by_content(camera, joints[0], (*seen.ends, *seen.doubts), p)
    elif not told:  # whatever is measured absolutely holds the deviation as well
        yield Abstain(seen.why, seen.detail, camera.name, "deviation")
    yield from told
    if not told and spoken:
        yield _bounded(camera, joints[0], seen, p)
    elif not told:
        silent = mute(ep, camera, joints[0])
        reason = "nominal-clock" if silent else "no-reference"
        yield Abstain(reason, silent or unsettled(camera, joints[0]), camera.name, "absolute")


def _absolute(
    ep: Episode, camera: Stream, joints: Sequence[Stream], seen: Content, events: Sequence[Offset], p: Params
) -> Iterator[Outcome]:
    """What stamps, events and a declared offset say, each on its own."""
    if not mute(ep, camera, joints[0]):
        if paired(ep, camera, joints[0]):
            yield _offset(ep, camera, joints[0], p)
        else:
            yield from _unpaired(ep, camera, joints[0], p)
        yield from _impossible(camera, joints[0], p)
    mine = towards(events, camera.name, {s.name for s in joints})
    for by in dict.fromkeys(o.by for o in mine):
        yield _by_events(camera, joints[0], [o for o in mine if o.by == by], p)
    declared = (ep.meta.get(f"cameras/{camera.name}/{key}") for key in ("offset", "offset_u"))
    offset, u = (None if x is None else float(x) for x in declared)
    if offset is not None and u is None:
        yield Abstain("not-declared", "the camera's offset has no offset_u", camera.name, "absolute")
    elif offset is not None and abs(seen.lag - offset) > p.believed:  # not so where the lag is NaN
        detail = f"{offset * 1e3:g} ms declared, pictures run {seen.lag * 1e3:.0f} ms after the joints"
        yield Abstain("reference-noisy", detail, camera.name, "absolute")
    elif offset is not None and u is not None and not seen.why:
        yield _by_content(camera, joints[0], (*seen.ends, *seen.doubts), p, offset, u)


def _unproven(
    camera: Stream, joints: Sequence[Stream], alone: Sequence[Offset], p: Params
) -> Iterator[Evidence]:
    """What one clap alone says, without a verdict."""
    mine = towards(alone, camera.name, {s.name for s in joints})
    if mine:
        note = "one pair of events may be a glitch beside a clap: two that agree would decide"
        yield replace(_by_events(camera, joints[0], mine, p), decides=False, note=note)


def _by_events(camera: Stream, joints: Stream, found: Sequence[Offset], p: Params) -> Evidence:
    value = np.array([o.seconds for o in found])
    t0, t1 = (np.array([getattr(o, k) for o in found], np.int64) for k in ("t0", "t1"))
    u = np.array([o.u for o in found])
    return Evidence(
        np.abs(value), t0, t1, "s", _limit(camera, p), u=u, stream=camera.name, against=joints.name,
        channel="absolute", note=_sense(value), by=found[0].by,
    )  # fmt: skip


def _by_content(
    camera: Stream, joints: Stream, found: Sequence[Estimate], p: Params, offset: float | None = None,
    offset_u: float = 0.0,
) -> Evidence:  # fmt: skip
    """One sample per end (or one of all): the deviation, on top of a declared offset if there is one."""
    e = ends_of(found, camera.t, offset or 0.0, offset_u)
    declared = "" if offset is None else f" with {offset * 1e3:g} ms declared"
    return Evidence(
        np.abs(e.value), e.t0, e.t1, "s", _limit(camera, p), u=e.u, stream=camera.name, against=joints.name,
        channel="deviation" if offset is None else "absolute", note=_sense(e.value) + declared,
        doubt=e.doubt, by="content",
        reason="not-calibrated" if any(x.why == "not-calibrated" for x in found) else "undecided",
    )  # fmt: skip


def _blind(ep: Episode, o: Offset, p: Params) -> Evidence:
    """A hand or a sound: decides but where a controller, or an unknown start of a file, is in between."""
    first = ep.stream(o.stream)
    limit = p.limit if first is None else _limit(first, p)
    hand = first is not None and first.role in (Role.HUMAN_BODY, Role.HAND_LANDMARKS)
    part = o.stream.rpartition("/")[0]
    placed = not part or ep.meta.get(f"parts/{part}/offset") is not None
    led = hand and (ep.kind in (Kind.TELEOPERATION, Kind.UNRESOLVED) or not placed)
    late = "late" if o.seconds > 0 else "early"
    return Evidence.single(
        abs(o.seconds), o.t0, o.t1, unit="s", limit=limit, u=o.u, stream=o.stream, against=o.against,
        channel="absolute", by="content", decides=not led,
        note=f"{o.stream} {late}" + (": the controller's delay is part of it" if led else ""),
    )  # fmt: skip


def _bounded(camera: Stream, joints: Stream, seen: Content, p: Params) -> Evidence:
    """The lag that content sees, for the record: what of it is the rig's and what the method's is unknown."""
    lag = seen.lag + float(np.nanmean([e.seconds for e in seen.ends]))
    return Evidence.single(
        abs(lag), int(camera.t[0]), int(camera.t[-1]), unit="s", limit=_limit(camera, p), u=_METHOD,
        stream=camera.name, against=joints.name, channel="absolute", by="content", decides=False,
        note="bounded only: the corpus may share a lateness; claps or a declared offset would tell",
    )  # fmt: skip


def _limit(camera: Stream, p: Params) -> float:
    return min(float(1 / camera.rate), p.limit) if camera.rate else p.limit


def _sense(value: NDArray[np.float64]) -> str:
    """Late pictures show what joints and events did before."""
    return "pictures late" if float(np.nansum(value)) > 0 else "pictures early"


def _offset(ep: Episode, camera: Stream, joints: Stream, p: Params) -> Evidence:
    """A sample for every window of paired rows."""
    value, u, t0, t1 = apart(camera, joints, int(p.pairs))
    worst = value[int(np.argmax(np.abs(value)))]
    when = "after" if worst > 0 else "before"  # a picture taken later shows a later scene
    told = (f"pictures taken {when} the joints beside them", undated(ep, camera, joints))
    return Evidence(
        np.abs(value), t0, t1, "s", _limit(camera, p), u=u, stream=camera.name, against=joints.name,
        channel="absolute", note="; ".join(filter(None, told)), by="stamps",
    )  # fmt: skip


def _unpaired(ep: Episode, camera: Stream, joints: Stream, p: Params) -> Iterator[Outcome]:
    """What a later clock says of stamps that nothing else aligns; silent where it bounds too little."""
    changed, later = swayed(camera, joints) or (0.0, "")
    here, there, _ = bounds(camera, joints) or (np.inf, np.inf, "")
    if changed > _limit(camera, p):
        detail = f"the way to the {later} stamp changes by {changed * 1e3:.0f} ms: the clock, or a long queue"
        yield Abstain("reference-noisy", detail, camera.name, "absolute")
    elif max(abs(here), abs(there)) <= _limit(camera, p) and min(len(camera), len(joints)) >= p.pairs:
        told = (f"shortest way to the {later} stamp {here * 1e3:.3g} and {there * 1e3:.3g} ms",
                undated(ep, camera, joints))  # fmt: skip
        yield Evidence.single(
            abs(there - here) / 2, int(camera.t[0]), int(camera.t[-1]), unit="s", limit=_limit(camera, p),
            u=(abs(here) + abs(there)) / 4, stream=camera.name, against=joints.name, channel="absolute",
            note="; ".join(filter(None, told)), by="stamps",
        )  # fmt: skip


def _impossible(camera: Stream, joints: Stream, p: Params) -> Iterator[Evidence]:
    """Stamps of one of the two that lie after their receipt, which the other's do not: by how much."""
    found = received_early((camera, joints), _limit(camera, p))
    if found is not None:
        value, u, name = found
        yield Evidence.single(
            value, int(camera.t[0]), int(camera.t[-1]), unit="s", limit=_limit(camera, p), u=u,
            stream=camera.name, against=joints.name, channel="absolute", by="stamps",
            note=f"{name} is stamped after it was received",
        )  # fmt: skip
