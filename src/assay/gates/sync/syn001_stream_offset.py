"""SYN001 stream-offset: the pictures of a camera and the joints are not from the same instant.

What: For each camera, how far its pictures stand from the rows of the joints, at both ends of the episode:
*absolute*, and *deviation* from what the rig's other episodes share.

Why: A policy that sees the hand where it was two pictures ago learns to act late. Owners of public sets
have confirmed images one or two steps late, and recorders that pair each row with whatever picture was
latest.

Method: All evidence that there is, each named. *stamps*: where both streams carry real clocks (made by the
sensor or at receipt) with as many pictures as rows, the median difference of the stamps of paired samples
over every ten rows, each with its own error; otherwise the difference of the first and of the last stamps,
which does not pass where the camera's shortest way to a later clock, within 3 s, changes in between against
the joints' by more than the limit; and stamps that lie after their own receipt (or log) while those of the
other stream do not. Stamps that never move, or that both streams share to the nanosecond in every row, are
one clock written twice and say nothing of when a picture was taken. *claps*, *trigger*,
*log*: events that both streams show, or what the sheet's evidence says; of claps two have to agree, at one
end or at both, since one may be a glitch: alone it is a figure without a verdict. *content*: the motion of
picture blocks against the motion that the joints predict, by a map learnt from the corpus's other episodes;
windows of 3 s have to agree, and no other lag may fit. Content tells the deviation from the corpus's median,
start and end apart in episodes of 20 s or more; with a declared offset of the camera (``[cameras.NAME]
offset`` and ``offset_u``) also the absolute one, unless pictures and joints show a lag of which that is more
than 120 ms off; without it the absolute one is bounded only and takes no part in the verdict. Streams without
pictures: the way of a tracked hand against that of its arm's joints, knocks in sound against those of a
force, within a second; a hand that leads a robot is reported only, as the controller's delay is part of it.
The limit is one picture period, at most 1/30 s. Where stamps are nominal (index / fps, which says nothing
about when anything happened) and content cannot tell, the gate abstains. It is n/a only where the sheet
declares one clock and the kind is simulation.

Source: own measurement on 24 real episodes (docs/power/SYN001.md); yanlai00/bridge_data_robot_infra#1
(images one or two steps late), almond-bot/axol PR 34 and unitreerobotics/xr_teleoperate#22 (rows that are
not of one instant), RocSync (arXiv 2511.14948) for what stamps can reach.

Blind spots: Stamps made at receipt hold the transport's delay, which no stamp shows. Where pictures and rows
differ in number and no later clock stamped both, stamps are held together at the ends only. A lateness that a
whole corpus shares needs a clap or a declared offset. Content cannot tell still scenes, gaits of one rhythm,
cameras that do not see the robot, or what only a few episodes teach.

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
from assay.signals.content_lag import Estimate
from assay.signals.offsets import BELIEVED, Offset, offsets_of, wander, windows
from assay.synth import retime, teleop

_CAMERA = "observation.images.cam_0"
_REAL = (Clock.SENSOR, Clock.RECEIVE)
_JOINTS = (Role.JOINT_POSITION, Role.REQUEST)
_DAY = 86_400.0
_METHOD = 0.5 / 30  # s; estimators of the lag itself disagree by more than a picture (docs/power/SYN001.md)


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(
        1.0 / 30.0,
        "s",
        "one picture at 30 Hz, published; at most its own period",
        judged=True,
    )
    pairs: float = param(10.0, "row", "a median of ten stands against jitter of single stamps")
    believed: float = param(
        BELIEVED, "s", "content runs 83 ms after a real G1's joints, and estimators of it differ"
    )


def _late(seconds: float, clock: Clock = Clock.SENSOR, shape: str = "flat") -> Episode:
    """The camera's own stamps; late throughout, in a half sine, or for a second amid the episode."""

    def own(t: NDArray[np.int64]) -> NDArray[np.int64]:
        x = np.linspace(0.0, 1.0, len(t))
        part = {"flat": np.ones(len(t)), "bow": np.sin(np.pi * x), "amid": (x > 0.4) & (x < 0.5)}[shape]
        noise = np.random.default_rng(1).normal(0.0, 1e5, len(t))
        return t + np.rint(noise + seconds * 1e9 * part).astype(np.int64)

    return retime(teleop(clock=clock), _CAMERA, own)


def _stopped() -> Episode:
    """A camera whose clock stands still."""
    return retime(teleop(clock=Clock.SENSOR), _CAMERA, lambda t: np.full(len(t), t[0]))


def _slow(share: float) -> Episode:
    return retime(teleop(clock=Clock.SENSOR), _CAMERA, lambda t: (t * (1 + share)).astype(np.int64))


def _one_clock(kind: Kind = Kind.SIMULATION, seconds: float = 0.0) -> Episode:
    return replace(_late(seconds), sync="one-clock", kind=kind)


def _seen(*seconds: float, u: float = 0.008, why: str = "") -> dict[str, Any]:
    """What content says at the ends (or of the whole); NaN is an end that it cannot tell."""
    long = 10.0 / max(len(seconds), 1)
    parts = tuple(
        Estimate(x, u, "" if np.isfinite(x) else "still", t0=i * long, t1=(i + 1) * long)
        for i, x in enumerate(seconds)
    )
    return {"content": {_CAMERA: Content(ends=parts, why=why)}}


def _clapped(seconds: float) -> dict[str, Any]:
    clap = Offset(_CAMERA, "observation.state", 0, 10**9, seconds, 2e-3, "claps", end="start")
    return {"claps": (clap,), **_seen(why="not-calibrated")}


def _logged(seconds: float, bow: float = 0.0) -> Episode:
    """Stamps of one instant, the recorder's 3 ms after them; the camera's own are moved, its ends apart.

    With a bow the camera's own stamps are early by up to so many seconds amid the episode.
    """
    ep = _late(0.0)
    for s in ep.streams:
        ep = ep.with_stream(replace(s, t=s.t + 10**9, stamps={Clock.LOG: s.t + 10**9 + 3_000_000}))
    camera = ep.stream(_CAMERA)
    assert camera is not None
    t = np.linspace(camera.t[0], camera.t[-1], 200).astype(np.int64)
    log = t + round((0.003 - seconds) * 1e9)
    t = t - np.rint(bow * 1e9 * np.sin(np.pi * np.linspace(0, 1, 200))).astype(np.int64)
    return ep.with_stream(replace(camera, t=t, x=camera.x[:200], stamps={Clock.LOG: log}))


def _declared(offset: float, u: float | None = 3e-3) -> Episode:
    ep, about = teleop(), f"cameras/{_CAMERA}"
    return replace(ep, meta={**ep.meta, f"{about}/offset": offset, f"{about}/offset_u": u})


CASES = (
    Case("stamps of one instant", lambda: _late(0.0), "pass"),
    Case("30 ms late", lambda: _late(0.030), "pass"),
    Case("37 ms late", lambda: _late(0.037), "fail", at=(0.0, 10.0), channel="absolute"),
    Case("37 ms early, stamped at receipt", lambda: _late(-0.037, Clock.RECEIVE), "fail", channel="absolute"),
    Case("drifts by 20 ms over the episode", lambda: _slow(0.002), "pass"),
    Case(
        "drifts by 50 ms over the episode", lambda: _slow(0.005), "fail", at=(6.5, 10.1), channel="absolute",
    ),
    Case("25 ms late amid the episode", lambda: _late(0.025, shape="bow"), "pass"),
    Case("100 ms late amid the episode, both ends meet", lambda: _late(0.1, shape="bow"), "fail",
         at=(0.9, 9.1), channel="absolute"),
    Case("40 ms early for a second", lambda: _late(-0.04, shape="amid"), "fail", at=(3.9, 5.1),
         channel="absolute"),
    Case("one stamp for camera and joints", lambda: teleop(clock=Clock.SENSOR), "abstain",
         features=lambda: _seen(why="not-calibrated")),
    Case("one stamp for both, content as the corpus", lambda: teleop(clock=Clock.SENSOR), "pass",
         features=lambda: _seen(0.012)),
    Case("a clock that stands still", _stopped, "abstain",
         features=lambda: _seen(why="not-calibrated")),
    Case("content: 12 ms from the corpus", teleop, "pass", features=lambda: _seen(0.012)),
    Case("content: two pictures late", teleop, "fail", at=(0.0, 10.0), channel="deviation",
         features=lambda: _seen(0.067)),
    Case("content: 33 ms late, give or take 16", teleop, "abstain", reason="undecided",
         features=lambda: _seen(0.033)),
    Case("content: late at the end only", teleop, "fail", at=(5.0, 10.0), channel="deviation",
         features=lambda: _seen(0.0, 0.06)),
    Case("content: cannot tell the end", teleop, "abstain", reason="undecided",
         features=lambda: _seen(0.0, np.nan)),
    Case("not calibrated", teleop, "abstain", reason="not-calibrated",
         features=lambda: _seen(why="not-calibrated")),
    Case("still pictures", teleop, "abstain", reason="still", features=lambda: _seen(why="still")),
    Case("not decoded", teleop, "abstain", reason="not-decoded", features=lambda: _seen(why="not-decoded")),
    Case("claps 20 ms apart", teleop, "pass", features=lambda: _clapped(0.020)),
    Case("claps 40 ms apart", teleop, "fail", channel="absolute", features=lambda: _clapped(-0.040)),
    Case("declared 10 ms late, content agrees", lambda: _declared(0.010), "pass",
         features=lambda: _seen(0.0, u=0.006)),
    Case("declared 60 ms late, content agrees", lambda: _declared(0.060), "fail", channel="absolute",
         features=lambda: _seen(0.0)),
    Case("declared 10 ms late without an error", lambda: _declared(0.010, None), "abstain",
         reason="not-declared", features=lambda: _seen(0.0)),
    Case("declared 10 ms late, pictures run 230 ms after joints", lambda: _declared(0.010), "abstain",
         reason="reference-noisy",
         features=lambda: {"content": {_CAMERA: replace(_seen(0.0)["content"][_CAMERA], lag=0.230)}}),
    Case("stamped 30 ms after the log, both ends meet", lambda: _logged(0.033), "pass"),
    Case("stamped 47 ms after the log, both ends meet", lambda: _logged(0.050), "fail", channel="absolute"),
    Case("stamps 20 ms early against the log amid the episode", lambda: _logged(0.0, bow=0.02), "pass"),
    Case("stamps 150 ms early against the log amid the episode", lambda: _logged(0.0, bow=0.15), "abstain",
         reason="reference-noisy"),
    Case("stamps 37 ms late, content as the corpus", lambda: _late(0.037), "fail", channel="absolute",
         features=lambda: _seen(0.0)),
    Case("stamps of one instant, content three pictures late", lambda: _late(0.0), "fail",
         channel="deviation", features=lambda: _seen(0.1)),
    Case("one simulator clock, declared", _one_clock, "n/a"),
    Case(
        "one clock declared for a robot, 37 ms late", lambda: _one_clock(Kind.TELEOPERATION, 0.037), "fail",
        channel="absolute",
    ),
    Case("no camera at all", lambda: teleop(cameras=0), "abstain", reason="absent-stream"),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream",
    ),
    Case(
        "no joints",
        lambda: teleop(clock=Clock.SENSOR).without_stream("observation.state").without_stream("action"),
        "abstain", reason="absent-stream",
    ),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """The one clock of a simulator has no offset; nothing else has one clock, whatever a sheet says."""
    one = ep.sync == "one-clock" and ep.kind is Kind.SIMULATION
    return NotApplicable("one-clock", "sheet: sync, kind") if one else None


@gate(code="SYN001", name="stream-offset", version=5, reads=[Role.CAMERA, *_JOINTS],
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
            yield from _all(
                ep, camera, joints, content.get(camera.name, Content(why="unreadable")), events, p
            )
    yield from (_blind(ep, o, p) for o in offsets_of(pair_lags))


def _all(
    ep: Episode, camera: Stream, joints: Sequence[Stream], seen: Content, events: Sequence[Offset], p: Params
) -> Iterator[Outcome]:
    told = list(_absolute(ep, camera, joints, seen, events, p))
    spoken = not seen.why
    if spoken:
        yield _by_content(camera, joints[0], seen.ends, p)
    elif not told:  # whatever is measured absolutely holds the deviation as well
        yield Abstain(seen.why, seen.detail, camera.name, "deviation")
    yield from told
    if not told and spoken:
        yield _bounded(camera, joints[0], seen, p)
    elif not told:
        yield Abstain("nominal-clock", _mute(camera, joints[0]), camera.name, "absolute")


def _mute(camera: Stream, joints: Stream) -> str:
    """Why the stamps of the two say nothing of their offset; empty where they do."""
    for one in (camera, joints):
        if one.clock not in _REAL:
            return f"{one.name} is stamped by its {one.clock} clock"
        if len(one) > 1 and one.t.min() == one.t.max():
            return f"the stamps of {one.name} never move"
    if len(camera) > 1 and np.array_equal(camera.t, joints.t):
        return f"{camera.name} and {joints.name} share every stamp to the ns: one clock, written twice"
    return ""


def _absolute(
    ep: Episode, camera: Stream, joints: Sequence[Stream], seen: Content, events: Sequence[Offset], p: Params
) -> Iterator[Outcome]:
    """What stamps, events and a declared offset say, each on its own."""
    if not _mute(camera, joints[0]):
        yield _offset(camera, joints[0], p)
        yield from _between(camera, joints[0], p)
        yield from _impossible(camera, joints[0], p)
    mine = [o for o in (_towards(o, camera, joints) for o in events) if o is not None]
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
        yield _by_content(camera, joints[0], seen.ends, p, offset, u)


def _towards(o: Offset, camera: Stream, joints: Sequence[Stream]) -> Offset | None:
    """The offset as the camera's lateness against joints, if it is of these two."""
    names = {s.name for s in joints}
    if o.stream == camera.name and o.against in names and o.reference == "absolute":
        return o
    turned = o.against == camera.name and o.stream in names and o.reference == "absolute"
    return replace(o, stream=o.against, against=o.stream, seconds=-o.seconds) if turned else None


def _unproven(
    camera: Stream, joints: Sequence[Stream], alone: Sequence[Offset], p: Params
) -> Iterator[Evidence]:
    """What one clap alone says, without a verdict."""
    mine = [o for o in (_towards(o, camera, joints) for o in alone) if o is not None]
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
    camera: Stream, joints: Stream, ends: Sequence[Estimate], p: Params, offset: float | None = None,
    offset_u: float = 0.0,
) -> Evidence:  # fmt: skip
    """One sample per end (or one of all): the deviation, on top of a declared offset if there is one."""
    start = int(camera.t[0])
    value = np.array([e.seconds for e in ends]) + (offset or 0.0)
    u = np.array([float(np.hypot(e.u, offset_u)) if not e.why else 0.0 for e in ends])
    last = [(int(camera.t[-1]) - start) * 1e-9 if e.why else e.t1 for e in ends]
    t0 = start + np.rint([e.t0 * 1e9 for e in ends]).astype(np.int64)
    t1 = start + np.rint(np.array(last) * 1e9).astype(np.int64)
    declared = "" if offset is None else f" with {offset * 1e3:g} ms declared"
    shown = ", ".join(f"{v * 1e3:+.0f} ± {e * 1e3:.0f} ms" for v, e in zip(value, u, strict=True))
    silent = "; ".join(e.detail or e.why for e in ends if e.why)
    return Evidence(
        np.abs(value), t0, t1, "s", _limit(camera, p), u=u, stream=camera.name, against=joints.name,
        channel="deviation" if offset is None else "absolute", note=_sense(value) + declared,
        doubt=silent or shown, by="content",
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


def _offset(camera: Stream, joints: Stream, p: Params) -> Evidence:
    """A sample for every window of paired rows; else the beginning and the end of the episode."""
    if len(camera) == len(joints):
        value, u, rows = windows(camera.t - joints.t, int(p.pairs))
        t0, t1 = joints.t[rows].T
    else:
        value, u = _edges(camera, joints), np.zeros(2)
        n = min(max(int(p.pairs), 1), len(camera), len(joints))
        t0, t1 = joints.t[[0, -n]], joints.t[[n - 1, -1]]
    worst = value[int(np.argmax(np.abs(value)))]
    when = "after" if worst > 0 else "before"  # a picture taken later shows a later scene
    return Evidence(
        np.abs(value), t0, t1, "s", _limit(camera, p), u=u, stream=camera.name, against=joints.name,
        channel="absolute", note=f"pictures taken {when} the joints beside them", by="stamps",
    )  # fmt: skip


def _between(camera: Stream, joints: Stream, p: Params) -> Iterator[Abstain]:
    """Whether a later clock contradicts that unpaired stamps which meet at the ends do so in between."""
    both = (camera, joints)
    later = next((c for c in (Clock.RECEIVE, Clock.LOG) if all(_further(s, c) for s in both)), None)
    if len(camera) == len(joints) or later is None:
        return
    changed = wander((camera.t, camera.stamps[later]), (joints.t, joints.stamps[later]))
    if changed > _limit(camera, p):
        detail = f"the way to the {later} stamp changes by {changed * 1e3:.0f} ms: the clock, or a long queue"
        yield Abstain("reference-noisy", detail, camera.name, "absolute")


def _further(stream: Stream, clock: Clock) -> bool:
    return stream.clock is not clock and len(stream.stamps.get(clock, ())) == len(stream)


def _impossible(camera: Stream, joints: Stream, p: Params) -> Iterator[Evidence]:
    """Stamps of one of the two that lie after their receipt, which the other's do not: by how much."""
    ways = [_way(camera), _way(joints)]
    late = [-way > _limit(camera, p) for way in ways]
    if sum(late) == 1 and max(ways) >= 0:
        yield Evidence.single(
            abs(ways[1] - ways[0]), int(camera.t[0]), int(camera.t[-1]), unit="s", limit=_limit(camera, p),
            u=max(ways) / 3**0.5, stream=camera.name, against=joints.name, channel="absolute", by="stamps",
            note=f"{(camera if late[0] else joints).name} is stamped after it was received",
        )  # fmt: skip


def _way(stream: Stream) -> float:
    """Seconds from a stream's stamps to those of receipt, else of the log: the median.

    NaN without these, or where they count from another date. Receipt goes first: DROID's log is when a
    control step began, which is before its pictures are taken.
    """
    later = next(
        (c for c in (Clock.RECEIVE, Clock.LOG) if c is not stream.clock and c in stream.stamps), None
    )
    if later is None or len(stream.stamps[later]) != len(stream):
        return float("nan")
    there = stream.stamps[later]
    both = (there > 0) & (stream.t > 0)
    way = float(np.median((there - stream.t)[both])) * 1e-9 if both.any() else float("nan")
    return way if abs(way) < _DAY else float("nan")


def _edges(camera: Stream, joints: Stream) -> NDArray[Any]:
    return np.array([camera.t[0] - joints.t[0], camera.t[-1] - joints.t[-1]]) * 1e-9
