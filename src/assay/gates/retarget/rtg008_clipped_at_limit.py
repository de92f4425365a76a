"""Motion was laundered: cut at a limit, held, or smoothed until the violation was gone.

What: how long joints of arms, legs and waist rest exactly on a limit (channel `clipped`) or on a bound that
the body does not have (`own-bound`); single values held while their limb moves (`held`); the frequency above
which the robot stops following its human (`low-pass`); how much more the standing sole tilts on plateaus than
off them (`residual`).

Why: each makes a violation disappear from the gates on limits, speed and feet, and leaves its own trace: the
hand or foot was not where the frame says it was meant to be.

Method: a plateau is a stretch in which a joint stays within 1e-3 rad of a limit (hence does not move); each
frame carries the length of the longest plateau it lies in. Frames in plateaus of three frames at 30 Hz or
more are counted, by time and not by frames; the same at an extreme of the clip that is a multiple of 0.01 rad
or of a degree, and no limit, while the limb moves. A joint that never moves is parked. A knee or elbow whose
limit is the straight limb is out of scope where the human's is straight as well. The finding's note says how
far beyond the motion would have gone, (v_in + v_out) / 2 times a quarter of the plateau's length, and whether
the file was cut before delivery: nothing beyond any limit, and several joints exactly on theirs. A held value
counts where the joint is faster than 0.05 rad/s just before and just after, by more than three grains of its
numbers, while its limb and its human move. The cut-off is where the gain from the human's hands and feet to
the robot's, over that below 1.5 Hz, falls under one half for good (`signals.followed`): it asks for neither
scale nor pace, and is good to 10 %. Without a human the frequency that holds 99.9 % of the joints' speed is
reported and takes no part. The residual compares the frames of a stance on plateaus with those beside them.

Source: METHODS, rule 5 and section 2. Untouched: plateaus beyond 2 % in 9 of 23 public G1 clips, nearly all
ankle roll and waist pitch, 0 of 38 teleoperated G1 episodes; bounds of nobody's body in 7 of the 23: shoulder
yaw at 1.4 rad in g1-moves, waist and wrists at 0.05, 0.1, 0.2 and 0.3 in holosoma; of 3,989 holds of three
frames and more in 38 teleoperated episodes the quickest is at 0.018 rad/s before or after, a third of the
limit; the gain of 13 clips with a human stays over 0.42 up to 12 Hz. Overshoot: REAL-CLIPS, ratio to the
truth 1.04 in the median.

Blind spots: an inverse kinematics solver with bounds leaves the same corner as a clip; sensor noise above
5e-4 rad breaks plateaus up (at 1e-3 rad a share of 3.3 % reads 2.4 %); hands and grippers, which rest on
their end stops by design, are not looked at. Smoothing without a human cannot be told: untouched clips of one
rate already differ by 20 dB at 14 Hz, and smooth motion looks the same as smoothed; nor where the human is
smooth herself (the gate abstains). Bounds that are no round number. Holds of a slow joint, at a turning
point, or of a coarse encoder. What plateaus of waist and arms cost is not measured.

Dose: share of frames clipped (%), at a cut of known depth (rad); frames held; cut-off (Hz); rise of the tilt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.features.joints import Joints
from assay.gate import IN, OUT, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.followed import SPREAD, Followed, cutoff, hands_and_feet, highest
from assay.signals.holds import holds
from assay.signals.human_limbs import excused, moves
from assay.signals.intervals import ends
from assay.signals.laundering import rise, tilt, traces
from assay.signals.posture import Poses
from assay.signals.rests import (
    Columns,
    Limbs,
    Rests,
    amid_motion,
    beside,
    columns_of,
    joined,
    limbs,
    longest,
    own_bounds,
    rests,
)  # fmt: skip
from assay.signals.stance import SIDES, Stance
from assay.synth.episodes import teleop
from assay.synth.laundered import (
    at_the_stop,
    blocked,
    clipped,
    end_stop,
    followed_by,
    held,
    parked,
    smoothed,
    tilted,
    untimed,
)  # fmt: skip

STATES = (Role.JOINT_POSITION,)
PARTS = ("arm", "leg", "waist")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG008."""

    near: float = param(1e-3, "rad", "survives encoder noise of 5e-4 rad; the G1's is 1e-5 to 4.6e-4")
    limit: float = param(
        0.09, "s", "three frames at 30 Hz (0.1 s) less the jitter of a real clock", judged=True
    )
    quota: float = param(0.02, "1", "published rule: at most 2 % of frames on plateaus", judged=True)
    straight: float = param(0.35, "rad", "20 degrees: straight human limbs read 1 to 16 by their joints")
    moving: float = param(0.05, "rad/s", "METHODS 12; by themselves joints leave holds at 0.018 at most")
    limit_held: float = param(0.09, "s", "three frames at 30 Hz, as for plateaus", judged=True)
    quota_held: float = param(0.0, "1", "no joint of 61 untouched clips does it once", judged=True)
    limit_cutoff: float = param(
        6.0, "Hz", "METHODS 1 and 3 filter at 6 Hz themselves; human motion ends about there", judged=True
    )
    limit_residual: float = param(
        0.087, "rad", "5 degrees; untouched plateaus without a cost rise by less than 2", judged=True
    )


CASES = (
    Case("clean", teleop, "pass"),
    Case("elbow cut for 3 % of frames", lambda: clipped(18), "fail", at=(9.6, 10.4), channel="left_elbow"),
    Case("elbow cut for 1.5 % of frames", lambda: clipped(9), "pass"),
    Case("elbow cut for 3 % with 2e-4 rad of noise", lambda: clipped(18, noise=2e-4), "fail",
         at=(9.6, 10.4), channel="left_elbow"),
    Case("the same cut at 120 Hz", lambda: clipped(18, rate=120), "fail",
         at=(9.6, 10.4), channel="left_elbow"),
    Case("a parked joint is not clipped", parked, "pass"),
    Case("a finger on its end stop", end_stop, "pass"),
    Case("a straight knee at its end stop, the human's straight too", lambda: at_the_stop(0.2), "pass"),
    Case("the same while the human's knee is bent", lambda: at_the_stop(0.6), "fail",
         at=(3.4, 4.6), channel="left_knee_joint"),
    Case("the same and no human to tell", lambda: at_the_stop(0.2).without_stream("smpl_joints"), "fail",
         at=(3.4, 4.6), channel="left_knee_joint"),
    Case("shoulder cut at 1.4 rad for 3 % of frames", lambda: blocked(1.4, 8), "fail", at=(3.9, 4.4),
         channel="left_shoulder_yaw_joint"),
    Case("shoulder cut at 1.4 rad for 1.3 % of frames", lambda: blocked(1.4, 3), "pass"),
    Case("shoulder rests at 1.40327 rad, once", lambda: blocked(1.40327, 8), "pass"),
    Case("untouched beside its human", followed_by, "pass"),
    Case("elbow held for two frames", lambda: held(2), "pass"),
    Case("elbow held for four frames", lambda: held(4), "fail", at=(4.0, 4.2), channel="left_elbow_joint"),
    Case("the same at 120 Hz", lambda: held(4, rate=120), "fail", at=(4.0, 4.2),
         channel="left_elbow_joint"),
    Case("low-passed at 4 Hz", lambda: smoothed(4.0), "fail", channel="low-pass"),
    Case("low-passed at 9 Hz", lambda: smoothed(9.0), "pass"),
    Case("too short to tell", lambda: followed_by(seconds=1.5), "abstain", reason="no-reference"),
    Case("the human's file is gone", lambda: smoothed(4.0).without_stream("smpl_joints"), "abstain",
         reason="absent-stream"),
    Case("ankle at its limit, the sole 0.2 rad off the floor", lambda: tilted(0.2), "fail",
         at=(3.5, 3.7), channel="left"),
    Case("ankle at its limit, the sole 0.04 rad off the floor", lambda: tilted(0.04), "pass"),
    Case("no rate", untimed, "abstain", reason="not-declared"),
    Case("no body", lambda: replace(teleop(), embodiment=None), "abstain", reason="unknown-body"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG008", name="clipped-at-limit", version=3, reads=(*STATES, Role.HUMAN_BODY))
def measure(
    ep: Episode, p: Params, joint_groups: Sequence[Joints], poses: Poses | None, stance: Stance | None,
    followed: Followed | None,
) -> Iterator[Outcome]:  # fmt: skip
    """Lengths of plateaus and holds over each frame, the cut-off against the human, the cost of plateaus."""
    wanted = ep.missing(*STATES, Role.HUMAN_BODY)
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in wanted)
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
    elif ep.embodiment is None:
        yield Abstain("unknown-body", "no limits without a body")
    else:
        for joints in joint_groups:
            mine = poses if poses is not None and np.array_equal(poses.t, joints.t) else None
            whole = _Seen(ep, ep.embodiment, joints, mine, stance, followed if mine is not None else None)
            yield from _group(whole, p)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """The joints of one clock, and what goes with them where they are the body's main ones."""

    ep: Episode
    body: Embodiment
    joints: Joints
    poses: Poses | None
    stance: Stance | None
    human: Followed | None


def _group(seen: _Seen, p: Params) -> Iterator[Outcome]:
    joints = seen.joints
    limited = np.isfinite(joints.lower) | np.isfinite(joints.upper)
    parts, units = joints.part.tolist(), joints.unit.tolist()
    mine = [p in PARTS and u == "rad" and k for p, u, k in zip(parts, units, limited.tolist(), strict=True)]
    use = limbs(tuple(parts), tuple(joints.side.tolist()), tuple(mine))
    if not len(use.at):
        if joints.unknown_units:
            yield Abstain("unresolved-unit", ", ".join(joints.unknown_units[:5]), joints.stream)
        return  # another clock's joints may be arms; with none at all the gate abstains
    own = next(s for s in seen.ep.by_role(*STATES) if s.t is joints.t or np.array_equal(s.t, joints.t))
    if own.clock is Clock.NOMINAL and joints.rate is None:
        yield Abstain("not-declared", "the rate (fps) is not stated: how long it rests is unknown", own.name)
        return
    t1 = ends(joints.t, joints.rate)
    x = joints.x if len(use.at) == joints.x.shape[1] else joints.x[:, use.at]
    of = columns_of(x, joints.t, t1, joints.lower[use.at], joints.upper[use.at])
    at_limit = rests(of, p.near)
    at_own = amid_motion(own_bounds(of, p.near), of, use.mates, p.moving)
    costs = tuple(_costs(seen, at_limit, use, t1, p))
    free = excused(seen.human, seen.body, joints.joint[use.at], at_limit, p.straight)
    tell = _told(of, joints, tuple(joints.names[i] for i in use.at))
    yield tell(at_limit, "clipped", free, limit=p.limit, quota=p.quota,
               note=_note(of, at_limit, costs, p))  # fmt: skip
    yield tell(at_own, "own-bound", limit=p.limit, quota=p.quota,
               note=f"rests at {_values(at_own)} rad, no limit of this body")  # fmt: skip
    elsewhere = beside(holds(of, use.mates, p.moving), joined(at_limit, at_own), len(x))
    elsewhere = elsewhere.only(moves(seen.human, elsewhere, use))
    yield tell(elsewhere, "held", limit=p.limit_held, limit_key="limit_held", quota=p.quota_held,
               quota_key="quota_held", note="one value repeated while its limb moves on")  # fmt: skip
    yield from costs
    yield from _followed(seen, of, p)


def _told(of: Columns, joints: Joints, named: tuple[str, ...]) -> Any:
    """What makes evidence of rests: per frame the length of the longest that lies there."""
    holed = np.zeros(len(of.x), bool) if np.isfinite(of.low).all() else np.isnan(of.x).any(axis=1)

    def tell(found: Rests, channel: str, free: Mapping[int, Bools] | None = None, **rest: Any) -> Evidence:
        if channel != "clipped" and not len(found.first) and len(of.x):  # one sample says it all
            t = int(of.t0[0]), int(of.t1[-1])
            return Evidence.single(0.0, *t, unit="s", stream=joints.stream, channel=channel, **rest)
        value, which, loose = longest(found, len(of.x), free)
        value[holed] = np.nan
        return Evidence(
            value, of.t0, of.t1, "s", stream=joints.stream, which=which, channels=named, channel=channel,
            reason="not-finite" if holed.any() else "undecided",
            scope=np.where(loose & ~holed, OUT, IN) if loose.any() else None, **rest,
        )  # fmt: skip

    return tell


def _costs(seen: _Seen, found: Rests, use: Limbs, t1: NDArray[np.int64], p: Params) -> Iterator[Evidence]:
    """For each foot whose leg has plateaus: how much further its sole tilts on them, while it stands."""
    if seen.poses is None or seen.stance is None or not len(found.first):
        return
    for side in SIDES:
        mine = found.only(use.of("leg", side)[found.column])
        sole = seen.poses.soles.get(side)
        standing = seen.stance.state[side] == 1
        on = (longest(mine, len(t1))[0] >= p.limit) & standing
        if sole is None or not on.any():
            continue
        more, u = rise(tilt(sole, standing), on, standing & ~on)
        if np.isfinite(more):
            at = np.flatnonzero(on)
            yield Evidence.single(
                more, int(seen.joints.t[at[0]]), int(t1[at[-1]]), unit="rad", limit=p.limit_residual,
                limit_key="limit_residual", u=u, stream=seen.joints.stream, against=seen.stance.stream,
                channel=side, by="residual", decides=seen.stance.grade == "source",
                note=f"the standing sole tilts {max(np.degrees(more), 0.0):.1f} degrees further on plateaus",
            )  # fmt: skip


def _note(of: Columns, found: Rests, costs: Sequence[Evidence], p: Params) -> str:
    """What a finding of plateaus says beside its figures."""
    said = ["data cut at the limit, or a solver with bounds"]
    counted = found.only(found.seconds >= p.limit)
    if not len(counted.first):
        return said[0]
    said += traces(of, found, counted)
    said += [f"{c.channel}: {c.note}" for c in costs if c.value[0] > 0]
    return "; ".join(said)


def _values(found: Rests) -> str:
    return ", ".join(f"{v:g}" for v in sorted(set(np.round(found.value, 4).tolist()))[:5])


def _followed(seen: _Seen, of: Columns, p: Params) -> Iterator[Outcome]:
    """The cut-off against the human; without one, where the joints' own speed ends, as a figure only."""
    joints, n = seen.joints, len(of.x)
    t0, t1 = (int(joints.t[0]), int(joints.t[-1])) if n else (0, 0)
    rate = (n - 1) * 1e9 / (t1 - t0) if t1 > t0 else 0.0
    told: dict[str, Any] = {"unit": "Hz", "limit": p.limit_cutoff, "limit_key": "limit_cutoff",
                            "sense": "below", "stream": joints.stream, "channel": "low-pass"}  # fmt: skip
    if seen.human is not None and seen.poses is not None:
        robot, human = hands_and_feet(seen.poses, seen.human)
        if not len(robot):  # the human lacks hands, feet or a pelvis
            return
        hertz, top = cutoff(robot, human, rate)
        if not np.isfinite(hertz):
            said = "shorter than 2 s, or the human shows nothing fast enough to lose"
            yield Abstain("no-reference", said, joints.stream, "low-pass")
            return
        yield Evidence.single(
            hertz, t0, t1, u=SPREAD * hertz, against=seen.human.stream, **told,
            note=f"hands and feet stop following the human above {hertz:.1f} Hz, looked at up to {top:g}",
        )  # fmt: skip
    elif seen.human is None and np.isfinite(of.low + of.high).all():
        hertz = highest(of.x, of.high - of.low, rate)
        if np.isfinite(hertz):  # smooth motion looks like smoothed motion: a figure, no verdict
            yield Evidence.single(hertz, t0, t1, decides=False, by="spectrum", **told)
