"""A channel says nothing while its joint moves.

What: how far a joint travels, by one of two streams, while the same joint is exactly constant in the other:
a request that stays put under a moving arm, a measured joint that ignores its requests, a velocity or
torque that reads one value all the time. And how long a whole body that moves otherwise holds one pose
exactly: in between (`held`), or as a share of the clip at its start and end (`padded`). And, of retargeted
motion, how far the rest of the body moves while all joints of an arm or leg are constant throughout.

Why: a fill value that stands for "not recorded" is learnt like any number, and a column that should have
been absent passes every check of shape and count.

Method: for channels that two streams name, stretches of at least 1 s in which one side changes by at most
1e-6 from row to row; the value is the range of the other side within the longest-travelling such stretch,
0.5 s after its start (a limb settles after its last request). Constant on both sides is a locked joint:
listed, not failed. Fingers yield to what they hold and rest on their end stops, so a finger counts only
where its measured side rests for nine tenths of the episode; columns that may be fingers are unknown.
A pose is held where every joint of a stream, six of which move elsewhere in it, repeats its value bit for
bit. Of retargeted motion every such stretch counts, and one of 0.2 s and more within whose every 0.2 s no
joint ranges over more than 5e-4 rad: nobody who is filmed stands so still. Elsewhere coarse encoders and
simulators rest exactly as well: there it counts if some joint runs into it or out of it at 0.2 rad/s or
more over 1/30 s without having slowed to half, and no request moves meanwhile: a state that stands still
under a moving request is SYN008's. A limb is one of four recorded joints or more, and is looked at in
retargeted motion alone: simulators and teleoperation lock joints that are not in use. Two constant legs
under a base that stays where it is are a body that stands. A limb is constant that ranges over no more than
a retargeted body that is held.

Source: METHODS 7 (dead); FAULTS D48, D49. On 43 real episodes no arm channel rests exactly for 1 s, while
in 35 of 38 some finger does; five simulated ones hold 18 locked joints each. Of 30 retargeted clips and
these 43 episodes none holds its whole pose for 0.2 s; in the stillest 0.2 s of any of 23 retargeted ones some
joint ranges over 2.2e-3 rad, and no joint of an arm over less than 0.028 rad in all; eleven lock both ankles'
roll and no other.

Blind spots: fill values on both sides of single channels (of all at once they fail, and so do joints
without any namesake that are all zero from the first row to the last); constant with noise added (a whole
body or limb of retargeted motion: with more than 2.5e-4 rad of it); one pose from the first row to the
last, which may be a recording of rest; held poses of less than six joints; limbs of which some joints move,
and both legs under a base that is not recorded; channels without a namesake; motion by gravity or by a
person under a constant request is an alarm.

Dose: travel of the joint while the other side is dead (rad).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.features.joints import Joints
from assay.features.pairs import Pair
from assay.gate import IN, OUT, UNKNOWN, Abstain, Case, Evidence, Fact, Outcome, gate, param
from assay.model import Clock, Episode, Kind, Role, Stream
from assay.signals.frozen import held_poses, near_held, stop_speed
from assay.signals.held_channels import Travel, moves, travel_beside, unchanging
from assay.signals.intervals import period, span
from assay.signals.lasting import runs
from assay.signals.stiff_limbs import limbs
from assay.synth.episodes import ARM_NAMES, edit, teleop
from assay.synth.stillness import (
    alone,
    anonymous,
    barely,
    creeping,
    dead,
    frozen,
    hold,
    locked,
    noisy,
    sparse,
    stiff,
    still,
    velocity,
    waiting,
)

STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
PARTNERS = (Role.REQUEST, Role.EXECUTION, Role.JOINT_VELOCITY, Role.JOINT_TORQUE)
COMMANDS = (Role.REQUEST, Role.EXECUTION)
WHOLE = 6
"""Joints that make a body, or an arm, whose pose can be held; a pair of fingers is none."""
LEAST = 10
"""Samples of a stream that can be said to be constant; a recording of two seconds may hold four."""
MOVES = 10
"""Times the range of a still joint that one of a body that moves elsewhere has."""
CARRIED = 0.02
"""m; a base that stays within this stands."""
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of ACT005."""

    limit: float = param(0.05, "rad", "3 degrees: resting G1 arms range over 0.004 to 0.05 rad", judged=True)
    limit_share: float = param(0.05, "1", "5 % of a drive's range, the same place as 3 degrees", judged=True)
    limit_fill: float = param(1.0, "s", "no live joint holds a value exactly so long; see hold", judged=True)
    equal: float = param(1e-6, "unknown", "float32 rounding of values of a few radians")
    hold: float = param(1.0, "s", "the longest exact hold of a live arm joint in 43 episodes is 0.8 s")
    finger: float = param(0.9, "1", "of an episode; real fingers rest on an end stop for up to 0.64 of one")
    limit_held: float = param(0.5, "s", "0.2 s is never reached in 73 real clips and episodes", judged=True)
    limit_padded: float = param(
        0.1, "1", "batches are padded to one length; a tenth is our choice", judged=True
    )
    limit_limb: float = param(0.3, "rad", "17 degrees: every real clip ranges over 0.6 or more", judged=True)
    still: float = param(
        5e-4, "rad", "a quarter of what the stillest 0.2 s of 23 retargeted clips range over"
    )
    window: float = param(0.2, "s", "the shortest stretch that still is measured over")
    stop: float = param(0.2, "rad/s", "4 ticks of a 12 bit encoder in 1/30 s: nothing stops dead from there")
    settle: float = param(0.5, "s", "a limb reaches its last request within about 0.1 to 0.3 s")


LEFT_ARM = ("left_shoulder", "left_elbow", "left_wrist")
LEGS = ("hip", "knee", "ankle")


CASES = (
    Case("clean", teleop, "pass"),
    Case("elbow requested at 0 while it moves", lambda: dead("action", "left_elbow"), "fail",
         at=(0.0, 10.0), channel="left_elbow"),
    Case("elbow's request dies after 6 s", lambda: dead("action", "left_elbow", since=6.0), "fail",
         at=(6.0, 10.0), channel="left_elbow"),
    Case("wrist travels 0.06 rad under a constant request", lambda: barely(0.06), "fail",
         channel="left_wrist_yaw"),
    Case("wrist travels 0.04 rad under a constant request", lambda: barely(0.04), "pass"),
    Case("right arm's state is all zero", lambda: dead("observation.state", *ARM_NAMES[7:]), "fail",
         at=(0.0, 10.0)),
    Case("velocity is zero while the arms move", lambda: velocity(alive=False), "fail"),
    Case("velocity is true", lambda: velocity(alive=True), "pass"),
    Case("a locked joint", locked, "pass"),
    Case("a finger's state is 0 all the time while its requests change",
         lambda: dead("observation.state", "left_hand_pinky"), "fail", channel="left_hand_pinky"),
    Case("a finger rests on its end stop",
         lambda: dead("observation.state", "left_hand_pinky", since=1.0), "pass"),
    Case("a finger under a constant request", lambda: dead("action", "left_hand_pinky"), "pass"),
    Case("columns nobody names", lambda: anonymous(dead("action", "left_elbow")), "abstain",
         reason="scope-unknown"),
    Case("nothing moves", still, "abstain", reason="still"),
    Case("no action", lambda: teleop().without_stream("action"), "abstain", reason="absent-stream"),
    Case(
        "every joint and request is 0 throughout",
        lambda: edit(edit(teleop(), "observation.state", lambda x, _: x * 0), "action", lambda x, _: x * 0),
        "fail", channel="all",
    ),
    Case("every joint is 0 throughout, without a namesake",
         lambda: edit(alone(), "joints", lambda x, _: x * 0), "fail", channel="all"),
    Case("the second half repeats one pose", lambda: frozen(3.0, 6.0), "fail", at=(3.0, 6.0),
         channel="padded"),
    Case("the last 1.5 s repeat one pose", lambda: frozen(4.5, 6.0), "fail", at=(4.5, 6.0),
         channel="padded"),
    Case("the first 0.9 s repeat one pose", lambda: frozen(0.0, 0.9), "fail", at=(0.0, 0.9),
         channel="padded"),
    Case("the last 0.5 s repeat one pose: little padding", lambda: frozen(5.5, 6.0), "abstain",
         reason="absent-stream"),
    Case("one pose for 0.8 s in between", lambda: frozen(2.0, 2.8), "fail", at=(2.0, 2.8), channel="held"),
    Case("one pose and a noise of 1e-4 rad from 3 s on", lambda: noisy(frozen(3.0, 6.0), 1e-4), "fail",
         at=(3.0, 6.0), channel="padded"),
    Case("a pose that creeps by 1e-6 rad a row for 0.8 s", lambda: creeping(2.0, 2.8), "fail", at=(2.0, 2.8),
         channel="held"),
    Case("one pose and a noise of 1e-3 rad from 3 s on", lambda: noisy(frozen(3.0, 6.0), 1e-3), "abstain",
         reason="absent-stream"),
    Case("a whole arm is 0 but for a noise of 1e-4 rad", lambda: noisy(stiff(*LEFT_ARM), 1e-4), "fail",
         channel="left arm"),
    Case("one pose for 0.4 s in between", lambda: frozen(2.0, 2.4), "abstain", reason="absent-stream"),
    Case("a robot that waits for 3 s", lambda: waiting(slows=True), "pass"),
    Case("a robot that stops dead for 3 s", lambda: waiting(slows=False), "fail", at=(4.0, 7.0),
         channel="held"),
    Case("a state that stands still under a moving request for 0.8 s: for SYN008",
         lambda: edit(teleop(), "observation.state", lambda x, _: hold(x, 4.0, 4.8)), "pass"),
    Case("a whole arm is 0 throughout while the body squats", lambda: stiff(*LEFT_ARM), "fail",
         channel="left arm"),
    Case("both legs are 0 throughout while the base goes up and down", lambda: stiff(*LEGS), "fail"),
    Case("both legs are 0 throughout under a base that stays", lambda: stiff(*LEGS, base=0.0), "abstain",
         reason="absent-stream"),
    Case("a whole arm is 0 throughout while nothing moves by much", lambda: stiff(*LEFT_ARM, moving=0.2),
         "abstain", reason="absent-stream"),
    Case("a whole arm is 0 throughout in simulation",
         lambda: replace(stiff(*LEFT_ARM), kind=Kind.SIMULATION), "abstain", reason="absent-stream"),
    Case("four samples of each", lambda: sparse(4), "abstain", reason="too-short"),
    Case("ten samples of each, the requests at rest", lambda: sparse(10), "fail"),
    Case("joints that move and nothing else", alone, "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="ACT005", name="dead-channel", version=4, reads=(*STATES, *PARTNERS, Role.BASE_POSE))
def measure(
    ep: Episode, p: Params, pairs: Sequence[Pair], joint_groups: Sequence[Joints]
) -> Iterator[Outcome]:
    """Travel of each joint while its namesake in another stream is constant."""
    yield from (
        Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*STATES, *PARTNERS)
    )
    for state in ep.by_role(Role.JOINT_POSITION):
        yield from _held(state, p, None if ep.kind is Kind.RETARGETED else ep.by_role(*COMMANDS))
    if ep.kind is Kind.RETARGETED:
        for group in joint_groups:
            yield from _limbs(ep, group, p)
    if not ep.by_role(*STATES) or not ep.by_role(*PARTNERS):
        yield from (_empty(s, p) for s in ep.by_role(Role.JOINT_POSITION) if len(s) and not np.any(s.x))
        yield Abstain("absent-stream", "needs a state and a request, velocity or torque")
    elif not pairs:
        yield Abstain("unresolved-names", "no two streams share a channel name")
    for pair in pairs:
        yield from _pair(pair, p)


def _pair(pair: Pair, p: Params) -> Iterator[Outcome]:
    samples = min(len(pair.t), len(pair.state_t))
    if samples < LEAST:
        yield Abstain("too-short", f"{samples} samples of {LEAST}", pair.stream)
        return
    t0, t1 = span(pair.t, pair.state_t)
    how = {"hold": p.hold, "equal": p.equal, "settle": p.settle}
    value, start, end = under = travel_beside(pair.a, pair.t, pair.s, pair.state_t, **how)
    scope = np.full(len(pair.names), IN)
    if pair.role in COMMANDS:
        over = travel_beside(pair.s, pair.state_t, pair.a, pair.t, **how)
        hand, unnamed = (np.array(pair.part) == part for part in ("hand", ""))
        # A finger rests on its end stop or on what it holds; only one that hardly ever moved is dead.
        yields = [under[0] > 0, (over[0] > 0) & (over[2] - over[1] < p.finger * (t1 - t0))]
        scopes = [np.where(y & hand, OUT, np.where(y & unnamed, UNKNOWN, IN)) for y in yields]
        value, start, end, scope = _graver((*under, scopes[0]), (*over, scopes[1]))
    constant = unchanging(pair.a, p.equal) & unchanging(pair.s, p.equal)
    scope[constant] = OUT
    if constant.any():
        yield Fact(f"locked {pair.stream}", [n for n, c in zip(pair.names, constant, strict=True) if c])
    yield from _filled(pair, p)
    if constant.all():
        yield Abstain("still", "every channel is constant", pair.stream)
        return
    whole = end <= start
    start[whole], end[whole] = t0, t1
    for unit in sorted(set(pair.state_unit)):
        use = np.flatnonzero(np.array(pair.state_unit) == unit)
        yield _evidence(pair, use, (value[use], start[use], end[use]), scope[use], p)


def _filled(pair: Pair, p: Params) -> Iterator[Outcome]:
    """The longest stretch in which every value of both streams is 0: no encoder reads that."""
    if len(pair.a) != len(pair.s) or not len(pair.t):
        return
    first, end = runs(np.asarray(~(pair.a.any(axis=1) | pair.s.any(axis=1))))
    if not len(first):
        return
    longest = int(np.argmax(end - first))
    t0, t1 = int(pair.t[first[longest]]), int(pair.t[end[longest] - 1])
    yield Evidence.single(
        (t1 - t0) * 1e-9, t0, t1, unit="s", limit=p.limit_fill, limit_key="limit_fill", stream=pair.stream,
        against=pair.state, channel="all", note="every value of both streams is 0: filled in, not measured",
    )  # fmt: skip


def _empty(stream: Stream, p: Params) -> Evidence:
    """A whole stream of zeros beside which nothing was recorded."""
    t0, t1 = span(stream.t)
    return Evidence.single(
        (t1 - t0) * 1e-9, t0, t1, unit="s", limit=p.limit_fill, limit_key="limit_fill", stream=stream.name,
        channel="all", note="every value is 0 from the first to the last: filled in, not measured",
    )  # fmt: skip


def _limbs(ep: Episode, group: Joints, p: Params) -> Iterator[Evidence]:
    """Arms and legs that are constant throughout while the rest of the body moves."""
    bases = [np.asarray(s.x[:, :3], np.float64) for s in ep.by_role(Role.BASE_POSE) if len(s)]
    carried = any(float(np.nanmax(np.ptp(x, axis=0), initial=0.0)) > CARRIED for x in bases)
    use = group.unit == "rad"
    t0, t1 = span(group.t)
    for limb in limbs(group.x[:, use], group.part[use], group.side[use], p.still, carried=carried):
        yield Evidence.single(
            limb.travel, t0, t1, unit="rad", limit=p.limit_limb, limit_key="limit_limb", stream=group.stream,
            channel=limb.name, note="all joints of the limb hold one value throughout: filled in, not solved",
        )  # fmt: skip


def _held(stream: Stream, p: Params, requests: Sequence[Stream] | None) -> Iterator[Outcome]:
    """Stretches in which all joints of a body that moves otherwise repeat one pose exactly.

    With ``requests``, those count where a joint runs into it or out of it and no request moves; else all.
    """
    x, t = np.nan_to_num(np.asarray(stream.x, np.float64)), stream.t
    moves_by = MOVES * p.still if requests is None else p.equal
    if len(x) < 3 or np.count_nonzero(np.ptp(x, axis=0) > moves_by) < WHOLE or t[-1] <= t[0]:
        return
    step = period(t)
    if requests is None and step:
        first, last = near_held(x, 1e9 / step, p.still, p.window)
    else:
        first, last = held_poses(x)
    if len(first) and stream.clock is Clock.NOMINAL and stream.rate is None:
        said = "the rate (fps) is not stated: how long a pose is held is unknown"
        yield Abstain("not-declared", said, stream.name, "held")
        return
    if requests is not None:
        kept = stop_speed(x, t, first, last) >= p.stop
        for request in requests:
            kept &= ~moves(request, t[first], t[last])
        first, last = first[kept], last[kept]
    edge = (first == 0) | (last == len(x) - 1)
    seconds = np.asarray((t[last] - t[first]) * 1e-9)
    share = np.full(int(edge.sum()), float(seconds[edge].sum() / ((t[-1] - t[0]) * 1e-9)))
    found = (
        (
            "held",
            "s",
            seconds[~edge],
            first[~edge],
            last[~edge],
            "not measured: every joint keeps its value",
        ),
        ("padded", "1", share, first[edge], last[edge], "one pose repeated: padding, or a frozen end"),
    )
    for channel, unit, value, a, b, note in found:
        about: dict[str, Any] = {
            "unit": unit,
            "limit": getattr(p, f"limit_{channel}"),
            "note": note,
            "limit_key": f"limit_{channel}",
            "stream": stream.name,
            "channel": channel,
        }
        if len(value):
            yield Evidence(value, t[a], t[b], apart=True, **about)
        else:
            yield Evidence.single(0.0, *span(t), **about)


def _evidence(
    pair: Pair, use: NDArray[np.intp], found: Travel, scope: NDArray[np.int8], p: Params
) -> Evidence:
    value, start, end = found
    unit = pair.state_unit[int(use[0])]
    key = "limit" if unit in ("rad", "m") else "limit_share"
    reason = "scope-unknown" if (scope == UNKNOWN).any() else "undecided"
    if unit == "unknown":
        value, reason = np.where(value > 0, np.nan, value), "unresolved-unit"
    return Evidence(
        value, start, end, unit, getattr(p, key), scope=scope, stream=pair.stream, against=pair.state,
        which=np.arange(len(use)), channels=tuple(pair.names[i] for i in use), limit_key=key,
        reason=reason, apart=True, note="constant in one stream while it moves in the other",
    )  # fmt: skip


Scoped = tuple[Float, NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]


def _graver(under: Scoped, over: Scoped) -> Scoped:
    """Of the two directions the one that says more about a channel: in scope, then unknown, then larger."""
    weight = [np.array([0, 2, 1])[d[3]] * 1e9 * (d[0] > 0) + d[0] for d in (under, over)]
    take = weight[1] > weight[0]
    value = np.where(take, over[0], under[0])
    start, end = (np.where(take, over[i], under[i]) for i in (1, 2))
    scope = np.where(take, over[3], under[3])
    return value, start, end, scope
