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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.features.joints import Joints
from assay.gate import IN, OUT, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.followed import SPREAD, Followed, cutoff, hands_and_feet, highest, straight_at
from assay.signals.intervals import ends
from assay.signals.laundering import (
    EXACT,
    Columns,
    Rests,
    amid_motion,
    beside,
    holds,
    joined,
    limbs_of,
    longest,
    overshoot,
    own_bounds,
    rests,
    rise,
    tilt,
)  # fmt: skip
from assay.signals.posture import Poses
from assay.signals.stance import SIDES, Stance
from assay.synth.episodes import edit, teleop
from assay.synth.laundered import at_the_stop, blocked, followed_by, held, smoothed, tilted

STATES = (Role.JOINT_POSITION,)
PARTS = ("arm", "leg", "waist")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BENDS: Final = {"knee": ("hip", "knee", "ankle"), "elbow": ("shoulder", "elbow", "wrist")}


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


ELBOW_UPPER = 2.0944  # g1_29dof_rev_1_0.urdf


def clipped(frames: int, *, rate: int = 30, noise: float = 0.0) -> Episode:
    """20 s in which the left elbow rises over its limit at 10 s and is cut there for ``frames`` of 30 Hz."""

    def cut(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        column = names.index("left_elbow")
        t = np.arange(len(x)) / rate
        half = frames / 60
        inside = np.abs(t - 10.0) < half + 1e-9
        # A bump whose flanks are 1 rad/s steep and whose top is beyond the limit only inside.
        bump = ELBOW_UPPER - np.maximum(np.abs(t - 10.0) - half, 0.0)
        x[:, column] = np.where(
            inside, ELBOW_UPPER, np.maximum(x[:, column], np.minimum(bump, ELBOW_UPPER - 0.01))
        )
        x[:, column] += np.where(inside, np.random.default_rng(1).normal(0, noise, len(x)), 0.0)
        return x

    return edit(teleop(20.0, rate), "observation.state", cut)


def parked() -> Episode:
    """The left elbow stands on its limit for the whole episode."""

    def park(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[:, names.index("left_elbow")] = ELBOW_UPPER
        return x

    return edit(teleop(), "observation.state", park)


def end_stop() -> Episode:
    """The left little finger rests on its end stop for half of the episode."""

    def rest(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[:150, names.index("left_hand_pinky")] = 0.0
        return x

    return edit(teleop(), "observation.state", rest)


def untimed() -> Episode:
    """A clip whose rate nobody states: its stamps count frames."""
    ep = clipped(18)
    state = ep.by_role(*STATES)[0]
    return ep.with_stream(replace(state, clock=Clock.NOMINAL, rate=None))


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


@gate(code="RTG008", name="clipped-at-limit", version=2, reads=(*STATES, Role.HUMAN_BODY))
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
    use = np.flatnonzero(np.isin(joints.part, PARTS) & (joints.unit == "rad") & limited)
    if not len(use):
        if joints.unknown_units:
            yield Abstain("unresolved-unit", ", ".join(joints.unknown_units[:5]), joints.stream)
        return  # another clock's joints may be arms; with none at all the gate abstains
    own = next(s for s in seen.ep.by_role(*STATES) if np.array_equal(s.t, joints.t))
    if own.clock is Clock.NOMINAL and joints.rate is None:
        yield Abstain("not-declared", "the rate (fps) is not stated: how long it rests is unknown", own.name)
        return
    t1 = ends(joints.t, joints.rate)
    of = _columns(joints, use, t1)
    x = of.x
    holed: Bools = np.zeros(len(x), bool)
    if not np.isfinite(of.low).all():
        holed = np.asarray(np.isnan(x).any(axis=1))
    at_limit, at_own = rests(of, p.near), own_bounds(of, p.near)
    limbs = limbs_of(joints.part[use], joints.side[use])
    at_own = amid_motion(at_own, of, limbs, p.moving)
    named = tuple(joints.names[i] for i in use)

    def over_time(found: Rests, channel: str, free: dict[int, Bools], **rest: Any) -> Evidence:
        if channel != "clipped" and not len(found.first) and len(x):  # one sample says it all
            t = int(joints.t[0]), int(t1[-1])
            return Evidence.single(0.0, *t, unit="s", stream=joints.stream, channel=channel, **rest)
        value, which, excused = longest(found, len(x), free)
        value[holed] = np.nan
        return Evidence(
            value, joints.t, t1, "s", stream=joints.stream, which=which, channels=named, channel=channel,
            scope=np.where(excused & ~holed, OUT, IN) if excused.any() else None, **rest,
        )  # fmt: skip

    costs = tuple(_costs(seen, at_limit, use, t1, p))
    yield over_time(at_limit, "clipped", _excused(seen, at_limit, use, p), limit=p.limit, quota=p.quota,
                    note=_note(of, at_limit, costs, p))  # fmt: skip
    yield over_time(at_own, "own-bound", {}, limit=p.limit, quota=p.quota,
                    note=f"rests at {_values(at_own)} rad, no limit of this body")  # fmt: skip
    elsewhere = holds(of, limbs, p.moving)
    elsewhere = beside(elsewhere, joined([at_limit, at_own]), len(x))
    elsewhere = elsewhere.only(_human_moves(seen.human, elsewhere, joints, use))
    yield over_time(elsewhere, "held", {}, limit=p.limit_held, limit_key="limit_held", quota=p.quota_held,
                    quota_key="quota_held", note="one value repeated while its limb moves on")  # fmt: skip
    yield from costs
    yield from _followed(seen, x, p)


# ------------------------------------------------------------------------------------ plateaus and holds


def _columns(joints: Joints, use: NDArray[np.intp], t1: NDArray[np.int64]) -> Columns:
    x = joints.x if len(use) == joints.x.shape[1] else joints.x[:, use]
    low, high = (x.min(axis=0), x.max(axis=0)) if len(x) else (np.zeros(len(use)), np.zeros(len(use)))
    return Columns(x, joints.t, t1, joints.lower[use], joints.upper[use], low, high)


def _human_moves(human: Followed | None, found: Rests, joints: Joints, use: NDArray[np.intp]) -> Bools:
    """Whether the human's hand or foot moves against her pelvis in each hold; true where nothing tells."""
    keep = np.ones(len(found.first), bool)
    for i, (column, a, b) in enumerate(zip(found.column, found.first, found.end, strict=True)):
        at = use[column]
        end = {"arm": "wrist", "leg": "ankle"}.get(str(joints.part[at]))
        if human is None or end is None:
            continue
        mine, pelvis = human.place(f"{joints.side[at]}_{end}"), human.place("pelvis")
        if mine is not None and pelvis is not None:
            way = np.diff(mine[a:b] - pelvis[a:b], axis=0)
            seconds = (joints.t[b - 1] - joints.t[a]) * 1e-9
            keep[i] = not np.linalg.norm(way, axis=1).sum() < SLOW * seconds
    return keep


SLOW: Final = 0.005
"""m/s of a hand or foot below which a human rests; a turning forearm moves its wrist by little more."""


# ------------------------------------------------------------------------------ end stops that are right


def _excused(seen: _Seen, found: Rests, use: NDArray[np.intp], p: Params) -> dict[int, Bools]:
    """Column → (n,) frames in which the human's limb is straight, for stops that are the straight limb."""
    free: dict[int, Bools] = {}
    if seen.human is None:
        return free
    for column in np.unique(found.column):
        joint = int(seen.joints.joint[use[column]])
        bends = next((b for k, b in BENDS.items() if k in seen.body.joints[joint].name), None)
        side = seen.body.joints[joint].side
        stop = found.value[found.column == column][0]
        if bends is not None and side and straight_at(seen.body, joint, float(stop)):
            bend = seen.human.bend(*(f"{side}_{b}" for b in bends))
            if bend is not None:
                free[int(column)] = bend <= p.straight  # NaN excuses nothing
    return free


# ------------------------------------------------------------------------------------ cost, and in words


def _costs(
    seen: _Seen, found: Rests, use: NDArray[np.intp], t1: NDArray[np.int64], p: Params
) -> Iterator[Evidence]:
    """For each foot whose leg has plateaus: how much further its sole tilts on them, while it stands."""
    if seen.poses is None or seen.stance is None or not len(found.first):
        return
    n, joints = len(t1), seen.joints
    legs = (joints.part[use] == "leg")[found.column]
    for side in SIDES:
        mine = found.only(legs & (joints.side[use] == side)[found.column])
        sole = seen.poses.soles.get(side)
        on = longest(mine, n, {})[0] >= p.limit
        standing = seen.stance.state[side] == 1
        if sole is None or not (on & standing).any():
            continue
        angle = np.full(n, np.nan)
        angle[standing] = tilt(sole[standing])
        more, u = rise(angle, on & standing, ~on & standing)
        if np.isfinite(more):
            at = np.flatnonzero(on & standing)
            yield Evidence.single(
                more, int(joints.t[at[0]]), int(t1[at[-1]]), unit="rad", limit=p.limit_residual,
                limit_key="limit_residual", u=u, stream=joints.stream, against=seen.stance.stream,
                channel=side, by="residual", decides=seen.stance.grade == "source",
                note=f"the standing sole tilts {max(np.degrees(more), 0.0):.1f} degrees further on plateaus",
            )  # fmt: skip


def _note(of: Columns, found: Rests, costs: Sequence[Evidence], p: Params) -> str:
    """What a finding of plateaus says beside its figures."""
    said = ["data cut at the limit, or a solver with bounds"]
    counted = found.only(found.seconds >= p.limit)
    if not len(counted.first):
        return said[0]
    beyond = np.nanmax(np.maximum(of.high - of.upper, of.lower - of.low), initial=-np.inf)
    exact = [c for c in np.unique(found.column) if _exactly(of.x[:, c], of.lower[c], of.upper[c]) >= 3]
    if beyond <= EXACT and len(exact) >= 2:
        said.append(f"cut before delivery: {len(exact)} joints exactly on a bound, none beyond any")
    cut = overshoot(of.x, counted, of.t0)
    if np.isfinite(cut).any():
        said.append(f"up to {np.nanmax(cut):.2f} rad cut off")
    said += [f"{c.channel}: {c.note}" for c in costs if c.value[0] > 0]
    return "; ".join(said)


def _exactly(x: Floats, lower: float, upper: float) -> int:
    return int(np.count_nonzero((np.abs(x - lower) <= EXACT) | (np.abs(x - upper) <= EXACT)))


def _values(found: Rests) -> str:
    return ", ".join(f"{v:g}" for v in np.unique(np.round(found.value, 4))[:5])


# ----------------------------------------------------------------------------------------- smoothing


def _followed(seen: _Seen, x: Floats, p: Params) -> Iterator[Outcome]:
    """The cut-off against the human; without one, where the joints' own speed ends, as a figure only."""
    joints, n = seen.joints, len(seen.joints.t)
    t0, t1 = (int(joints.t[0]), int(joints.t[-1])) if n else (0, 0)
    rate = (n - 1) * 1e9 / (t1 - t0) if t1 > t0 else 0.0
    told: dict[str, Any] = {"unit": "Hz", "limit": p.limit_cutoff, "limit_key": "limit_cutoff",
                            "sense": "below", "stream": joints.stream, "channel": "low-pass"}  # fmt: skip
    if seen.human is not None and seen.poses is not None:
        robot, human = hands_and_feet(seen.poses, seen.human)
        if not robot:  # the human lacks hands, feet or a pelvis
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
    elif seen.human is None and np.isfinite(x).all():
        hertz = highest(x, rate)
        if np.isfinite(hertz):  # smooth motion looks like smoothed motion: a figure, no verdict
            yield Evidence.single(hertz, t0, t1, decides=False, by="spectrum", **told)
