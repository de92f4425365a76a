"""The numbers mean something else than declared.

What: whether a clip makes more of a body under another convention than under the declared one: joints in
another order, quaternions in another order, degrees, ticks or percent for radians, centimetres, millimetres,
inches or feet for metres, and what else is cheaply tried (left for right, signs, an inverse rotation, another
axis up, another set of 23 joints, two of these at once); whether stored velocities belong to the stored
positions; and whether it falls at the stated rate.

Why: the same 36 columns are written in two quaternion orders and two joint orders. A clip read the wrong way
is nonsense in every frame; its thousand violations of limits, skates and floats have one cause and one cure,
so read this finding first and those of the other kinematic gates after the cure.

Method: up to 200 pairs of moments 1/30 s apart are read under the declared conventions and under each rival.
A reading costs the sum of logarithms of: speed of the slowest sole point, scatter of the lowest sole,
share of frames over a limit, share with the base tilted by more than 60 degrees, how far the soles rest from
z = 0, share with an elbow inside its shoulder, with knees that cross. The value is what
the declared reading costs more than the rival. Beyond ln 2 for the best rival the gate fails, once, with the
likely cure; rivals within ln 2 of it are named with it. Within ln 2 either way it abstains on that kind.
A unit of length is tried where the base is more than twice as high as straight legs, and must win by ln 20
without the height of the soles, since people stand on upper floors too.
Where the data alone decided the order of a clip's joints or quaternion, most other clips of its body and
folder that Calibration saw must have been decided alike, or it abstains; where it saw no other, the clip's
own evidence stands alone. The corpus fails where clips of one body were decided differently.
Without a base or whole legs, limits alone are left. Stored velocities are correlated with the changes of
position (the best of the change before, after and around the frame); where they fit, summed up they give the
rate. Without them a jump does, coarsely: the centre of mass falls by g, and a rate off by half or more is
accused.

Source: REAL-CLIPS, "Conventions" (43 clips, one wrong factor at a time); fault D39 (velocities stored apart
from positions).

Blind spots: a pass speaks of joint order and quaternion order (and of velocities and rate where they are
stored), not of the other rivals, which only ever accuse: a third of the clips look as good with left and
right legs swapped, half of them as good in feet, and one that stands still in any unit of length. A wrong
rate shows in jumps only. Orders that are neither depth-first nor breadth-first are not tried. A short stretch
of wrong velocities drowns in a long clip. Thresholds were set on the clips of the table.

Dose: which convention is wrong; noise in stored velocities, as a share of their size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.counts import COVERAGE
from assay.features.joints import Joints
from assay.features.orders import corpus_of, inferred
from assay.gate import Abstain, Case, Evidence, Fact, NotApplicable, Outcome, gate, param
from assay.model import Clock, Episode, Listing, Role, Stream
from assay.signals.conventions import PAIRS, costs, legs_known, without_stages
from assay.signals.derivative import fitting_rate, likeness
from assay.signals.flight import fall
from assay.signals.intervals import span
from assay.signals.moments import pairs_of, whole
from assay.signals.posture import Poses
from assay.signals.readings import Motion, Reading, pairs, readings
from assay.synth.squats import at_rate, foreign, longer, shuffled, squats, swapped, undeclared, unpaced

Floats = NDArray[np.float64]
STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
GRAVITY = 9.81
SPOKEN = ("joint-order", "quaternion-order")  # what a pass speaks of
DECIDED = {"joint-order": "joint order", "quaternion-order": "quaternion", "inverse-quaternion": "quaternion"}


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG012."""

    margin: float = param(
        log(2.0), "1", "odds of two to one: REAL-CLIPS, no wrong answer in 43 clips", judged=True
    )
    second: float = param(log(4.0), "1", "a second factor costs odds of four to one: one cause is likelier")
    length: float = param(
        log(20.0),
        "1",
        "without the height of their ground, real clips on an upper floor reach 2.3, in cm 8.8",
    )
    likeness: float = param(
        0.85,
        "1",
        "real stored velocities correlate by 0.89 or more, those of 05-run_ATLAS by 0.70",
        judged=True,
    )
    fall: float = param(log(1.25), "1", "25 and 30, 50 and 60 Hz cannot be told apart by a jump", judged=True)
    fall_u: float = param(0.09, "1", "scatter of log rate over jumps of real clips: 0.04, with room")
    late: float = param(
        1.12, "1", "rate that jumps of real clips read over their true one, the median of six"
    )
    orders: float = param(0.0, "1", "clips of one corpus have one writer and one order", judged=True)
    rate: float = param(
        0.05, "1", "25 and 30, 50 and 60 Hz differ by a fifth; real fits by 0.3 %", judged=True
    )


def _read_in(order: str) -> Episode:
    """A clip whose joints the reader named in an order that it took from the data."""
    ep = squats()
    names = " ".join(ep.streams[0].names)
    return replace(ep, id=order, meta={"decided": {"joint order": (names, f"joints of g1 in {order} order")}})


def _read_twice(body: str, order: str) -> list[Episode]:
    """Two such clips of another body by name."""
    ep = _read_in(order)
    assert ep.embodiment is not None
    ep = replace(ep, embodiment=replace(ep.embodiment, name=body))
    return [replace(ep, id=f"{body} {i}") for i in range(2)]


_OTHERS = {"orders": {"unitree_g1_29": {"joints": {"Isaac Lab order": 3}}}}
CASES = (
    Case("as declared", squats, "pass"),
    Case("joints breadth-first under depth-first names", shuffled, "fail", channel="joint-order"),
    Case("xyzw under wxyz", lambda: swapped((1, 2, 3, 0)), "fail", channel="quaternion-order"),
    Case("wxyz under xyzw", lambda: swapped((3, 0, 1, 2)), "fail", channel="quaternion-order"),
    Case("heading straight ahead: orders differ still", lambda: squats(heading=0.0), "pass"),
    Case("velocities with a tenth of noise", lambda: foreign(0.1), "pass"),
    Case("velocities with more noise than signal", lambda: foreign(1.5), "fail", channel="stored-velocity"),
    Case("velocities of 25 Hz under 30", lambda: at_rate(30 / 25), "fail", channel="rate"),
    Case("velocities within 2 % of the rate", lambda: at_rate(1.02), "pass"),
    Case("an order that nobody declared", undeclared, "abstain", reason="not-declared"),
    Case("a rate that nobody states", unpaced, "abstain", reason="not-declared"),
    Case("base in centimetres", lambda: longer(100.0), "fail", channel="length-unit"),
    Case("base in millimetres", lambda: longer(1000.0), "fail", channel="length-unit"),
    Case("metres, two floors up", lambda: longer(1.0, up=6.0), "pass"),
    Case("an order that other clips share", lambda: _read_in("Isaac Lab"), "pass", models=_OTHERS),
    Case("another order than the others'", lambda: _read_in("model"), "abstain", reason="not-declared",
         models=_OTHERS),
    Case("clips of one order", lambda: _read_twice("unitree_g1_29", "model"), "pass",
         listing=lambda: Listing("synth", Path("synth"), ())),
    Case("clips of two bodies, each in its own order", lambda: [*_read_twice("a", "model"),
         *_read_twice("b", "Isaac Lab")], "pass", listing=lambda: Listing("synth", Path("synth"), ())),
    Case("one clip", lambda: [_read_in("model")], "abstain", reason="too-short",
         listing=lambda: Listing("synth", Path("synth"), ())),
    Case("clips of two orders", lambda: [_read_in("model"), _read_in("Isaac Lab")], "fail", channel="joints",
         listing=lambda: Listing("synth", Path("synth"), ())),
    Case("no base", lambda: squats().without_stream("root"), "abstain", reason="undecided"),
    Case("no body", lambda: replace(squats(), embodiment=None), "abstain", reason="unknown-body"),
    Case("no joints", lambda: squats().without_stream("joints"), "abstain", reason="absent-stream"),
    Case("a fifth of a second", lambda: squats(0.2).without_stream("velocities"), "abstain",
         reason="too-short"),
)  # fmt: skip


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """Whether all clips of a corpus were read in one order, where data alone decided it."""
    del listing
    seen: dict[tuple[str, str], Counter[str]] = {}
    for mine in facts.values():
        for item, order in mine.get("orders", {}).items():
            seen.setdefault((item, mine["read with"]), Counter())[order] += 1
    if not seen:
        yield NotApplicable("no order was taken from the data", "the files or the sheet")
    for (item, _), orders in sorted(seen.items()):
        told = ", ".join(
            f"{order} in {n}" for order, n in sorted(orders.items(), key=lambda o: (-o[1], o[0]))
        )
        if orders.total() < 2:
            yield Abstain("too-short", f"one clip alone ({told})", "", item)
            continue
        yield Evidence.single(
            1.0 - max(orders.values()) / orders.total(), 0, 0, unit="1", limit=p.orders, limit_key="orders",
            channel=item, note=f"orders that the clips were read in: {told}",
        )  # fmt: skip


@gate(
    code="RTG012", name="convention-mismatch", version=2, conclude=conclude,
    reads=(*STATES, Role.JOINT_VELOCITY, Role.BASE_POSE),
)  # fmt: skip
def measure(
    ep: Episode,
    p: Params,
    joint_groups: Sequence[Joints],
    poses: Poses | None,
    orders: Mapping[str, Any] | None,
) -> Iterator[Outcome]:
    """Odds of the best rival reading against the declared one; what stored velocities and jumps say."""
    yield from _velocities(ep, p)
    yield from _as_others(ep, orders)
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
        return
    if ep.embodiment is None:
        yield Abstain("unknown-body", "what fits a body takes a body")
        return
    for joints in joint_groups:
        if joints.unresolved and not len(joints.joint):
            why = ep.meta.get("unresolved", {}).get("joint order", ", ".join(joints.unresolved[:5]))
            yield Abstain("unresolved-names", str(why), joints.stream, "joint-order")
    joints = max(joint_groups, key=lambda g: len(g.joint))
    if not joints.rate and not _stamped(ep, joints):
        yield Abstain("not-declared", "the rate (fps) is not stated", joints.stream, "rate")
    if len(joints.joint):
        yield from _readings(ep, p, joints, poses)


def _as_others(ep: Episode, orders: Mapping[str, Any] | None) -> Iterator[Outcome]:
    """Whether orders that were taken from this clip's data are those of most other clips of the corpus."""
    mine = inferred(ep)
    if mine:
        yield Fact("orders", mine)
        yield Fact("read with", corpus_of(ep))
    for item, order in mine.items():
        seen = dict((orders or {}).get(corpus_of(ep), {}).get(item, {}))
        own = seen.pop(order, 0)
        if seen and own <= max(seen.values()):
            other = max(sorted(seen), key=lambda o: seen[o])
            told = (
                f"{item}: the data say {order} here, and {other} in {seen[other]} other clips of the corpus"
            )
            streams = ep.by_role(Role.BASE_POSE if item == "quaternion" else Role.JOINT_POSITION)
            yield Abstain("not-declared", told, streams[0].name if streams else "",
                          "quaternion-order" if item == "quaternion" else "joint-order")  # fmt: skip


def _stamped(ep: Episode, joints: Joints) -> bool:
    """Whether a real clock made the stamps, so that nothing hangs on a declared rate."""
    own = ep.stream(joints.stream)
    return own is not None and own.clock is not Clock.NOMINAL


def _readings(ep: Episode, p: Params, joints: Joints, poses: Poses | None) -> Iterator[Outcome]:
    base = next((s for s in ep.by_role(Role.BASE_POSE) if len(s) and s.x.shape[1] >= 7), None)
    motion = _moments(ep, joints, base)
    if len(motion.q) < 20:
        reason = "too-short" if np.isfinite(joints.x).all() else "not-finite"
        yield Abstain(reason, f"{len(motion.q) // 2} pairs of moments", joints.stream)
        return
    offered = readings(motion)
    tried = without_stages(motion, offered, p.length)
    cost = costs(motion, tried)
    better = cost[0] - cost
    best = int(np.argmax(better))
    if base is not None and base.frame == "unresolved-quaternion":
        likely = [
            r.name
            for r, b in zip(tried, better, strict=True)
            if r.kind == "quaternion-order" and b > p.margin
        ]
        said = f"the data say {likely[0]}" if likely else "wxyz fits as well as any"
        yield Abstain("not-declared", f"the quaternion's order; {said}", base.name, "quaternion-order")
    elif better[best] > p.margin:
        yield _finding(ep, p, joints, base, *_with_pairs(p, motion, tried, better))
    else:
        yield from _spoken(p, joints, base, tried, better)
        if tried == offered:  # nothing falls as it should while misread, or maybe in another unit
            yield from _falls(p, joints, poses)


def _with_pairs(
    p: Params, motion: Motion, tried: tuple[Reading, ...], better: Floats
) -> tuple[tuple[Reading, ...], Floats]:
    """The readings, with two wrong at once where two explain the clip so much better that one cannot."""
    two = pairs(tried)
    cost = costs(motion, (tried[0], *two))
    gain = cost[0] - cost[1:]
    if two and gain.max() > better.max() + p.second:
        return two, gain
    return tried, better


def _finding(
    ep: Episode, p: Params, joints: Joints, base: Stream | None, tried: tuple[Reading, ...], better: Floats
) -> Evidence:
    best = int(np.argmax(better))
    kind = tried[best].kind
    near = [r for r, b in zip(tried, better, strict=True) if b > better[best] - p.margin]
    kinds = list(dict.fromkeys(r.kind for r in near))
    cure = " or ".join(r.name for r in near)
    decided = ep.meta.get("decided", {}).get(DECIDED.get(kind, ""), ("", ""))[1]
    note = f"fits better read as: {cure}"
    note += f" (until now by: {decided})" if decided else ""
    note += "; other gates' findings about poses may follow from it"
    ours = base.name if base is not None and tried[best].base is not None else joints.stream
    t0, t1 = span(joints.t)
    return Evidence.single(
        float(better[best]), t0, t1, unit="1", limit=p.margin, stream=ours,
        channel=kind if len(kinds) == 1 and kind != "two" else "convention", limit_key="margin", note=note,
    )  # fmt: skip


def _spoken(
    p: Params, joints: Joints, base: Stream | None, tried: tuple[Reading, ...], better: Floats
) -> Iterator[Outcome]:
    """Evidence for the kinds that a pass speaks of: the declared reading must win, not only not lose."""
    for kind in SPOKEN:
        also = "two" if kind == "quaternion-order" else kind
        mine = [(float(b), r.name) for r, b in zip(tried, better, strict=True) if r.kind in (kind, also)]
        if not mine:
            continue
        value, name = max(mine)
        stream = base.name if kind == "quaternion-order" and base is not None else joints.stream
        if value >= -p.margin:
            yield Abstain("undecided", f"fits as well read as: {name}", stream, kind)
        else:
            yield Evidence.single(
                value,
                *span(joints.t),
                unit="1",
                limit=p.margin,
                stream=stream,
                channel=kind,
                limit_key="margin",
            )
    if base is None:
        yield Abstain("undecided", "no base pose: limits alone were asked", joints.stream, "quaternion-order")


def _moments(ep: Episode, joints: Joints, base: Stream | None) -> Motion:
    """Pairs of moments 1/30 s apart (one frame where no rate is known), evenly spaced, without NaN."""
    assert ep.embodiment is not None
    rows = pairs_of(len(joints.t), max(1, round((joints.rate or 30.0) / 30.0)), PAIRS).reshape(-1)
    q, pose = joints.x[rows], None
    usable = base is not None and not base.frame.startswith("unresolved-axes")
    if usable and base is not None and legs_known(ep.embodiment, joints.joint):
        same = base.t is joints.t or np.array_equal(base.t, joints.t)
        at = rows if same else np.clip(np.searchsorted(base.t, joints.t[rows]), 0, len(base.t) - 1)
        pose = np.asarray(base.x, np.float64)[at]
    return Motion(ep.embodiment, joints.joint, *whole(q, pose))


def _falls(p: Params, joints: Joints, poses: Poses | None) -> Iterator[Outcome]:
    """A rate that jumps contradict. They only ever accuse: a parabola is too coarse to confirm a rate."""
    rate = joints.rate
    if poses is None or poses.place is None or not poses.soles or not rate or not poses.timed:
        return
    bend, _ = fall(poses.tree, poses.q, poses.place, poses.low)
    if not np.isfinite(bend):
        return
    read = float(np.sqrt(GRAVITY / -bend)) / p.late
    off = abs(log(read / rate))
    if off > p.fall + COVERAGE * p.fall_u:
        yield Evidence.single(
            off, *span(poses.t), unit="1", limit=p.fall, u=p.fall_u, stream=poses.stream, against="free fall",
            channel="rate", limit_key="fall", note=f"jumps fall as at about {read:.0f} Hz, not {rate:.0f}",
        )  # fmt: skip


def _velocities(ep: Episode, p: Params) -> Iterator[Outcome]:
    positions = {frozenset(s.names): s for s in ep.by_role(Role.JOINT_POSITION)}
    for stored in ep.by_role(Role.JOINT_VELOCITY):
        found = positions.get(frozenset(stored.names))
        if found is None or len(found.names) != len(stored.names) or len(stored) < 2:
            continue
        q = np.asarray(found.x, np.float64)
        dq = np.asarray(stored.x, np.float64)[:, [stored.names.index(n) for n in found.names]]
        alike, u = likeness(q, dq)
        if np.isnan(alike):
            yield Abstain("still" if np.isfinite(dq).all() and np.isfinite(q).all() else "not-finite",
                          "nothing to correlate", stored.name, "stored-velocity")  # fmt: skip
            continue
        about: dict[str, Any] = {"stream": stored.name, "against": found.name, "unit": "1"}
        yield Evidence.single(
            alike, *span(stored.t), limit=p.likeness, u=u, sense="below", channel="stored-velocity",
            limit_key="likeness", note="the velocities do not belong to these positions", **about,
        )  # fmt: skip
        rate, fit = fitting_rate(q, dq)
        if found.rate and fit > 0.99:
            yield Evidence.single(
                abs(rate / float(found.rate) - 1.0), *span(stored.t), limit=p.rate, channel="rate",
                limit_key="rate", note=f"the velocities are those of {rate:.1f} Hz", **about,
            )  # fmt: skip
