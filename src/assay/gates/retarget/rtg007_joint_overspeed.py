"""A joint is faster than its drive can be.

What: the largest ratio of joint speed to rated speed in each frame; how fast the base moves, and how far it
is carried in 1/30 s beyond what it did just before and just after.

Why: no drive follows. In retargeted motion it is nearly always a branch flip of inverse kinematics, in
which pitch and yaw of a shoulder jump together.

Method: displacement of each joint over 1/60 s, interpolated, over the rated speed of the body's limit set;
one frame is enough. Where sources rate a joint differently and the sheet chooses none, a frame between the
slowest and the fastest rating is unknown and both figures are given. Unknown ratings are listed. The base
is held to 15 m/s and 60 rad/s, and to 8 cm and 0.7 rad in 1/30 s beyond both of its neighbouring moves: a
root that jumps is two clips in one, or an order that changes half-way. A blow, a landing or a start changes
the speed once, which the neighbours explain but for half of it: 4.8 m/s at once would be a jump.

Source: METHODS 3 (|qdot| against the model's limit); REAL-CLIPS: 3 of 43 public clips have such frames, all
of them shoulder flips. 1/60 s, not 1/30: the flip of one frame at 60 Hz reads 0.78 of the rating over
1/30 s and 1.2 over the frame. A faster motion than 1/60 s reads the same at every rate above 60 Hz; below,
a flip within one frame is blurred by the file itself. The base of 32 real clips (23 of them robots', with
jumps, spins and kicks among them) is carried at most 6.1 cm and 0.28 rad so, at 10 to 500 Hz and with up to
4 mm of jitter at most 6.9 cm.

Blind spots: jumps of the base that a filter spreads over more than 1/15 s; a base that is renewed so rarely
that it moves by 8 cm at once reads as jumping. Torque limits what a drive reaches at that speed (RTG010);
revisions of a model disagree; stored velocities that do not belong to the positions are not looked at; hands
without a rating.

Dose: ratio of speed to rating, held for 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, LimitSet
from assay.embodiment.rotation import about, compose
from assay.features.joints import Joints
from assay.gate import IN, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.feet import displaced, stamps
from assay.signals.intervals import ends
from assay.signals.leaps import beyond, speeds
from assay.signals.posture import Poses
from assay.signals.widest import fastest
from assay.synth.episodes import edit, retime
from assay.synth.walks import walk

STATES: Final = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
ROUGH: Final = ("hand", "gripper")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG007."""

    limit: float = param(1.0, "1", "the rated speed itself, by the maker's model", judged=True)
    quota: float = param(0.0, "1", "published rule: no frame; flips last one frame", judged=True)
    base: float = param(15.0, "m/s", "the fastest sprinter runs 12.4 m/s, a humanoid a third of it")
    turn: float = param(60.0, "rad/s", "one rad in a frame at 60 Hz; a skater's spin is 38 rad/s")
    jump: float = param(0.08, "m", "32 real clips reach 0.061 in 1/30 s, 0.069 with 4 mm of jitter",
                        judged=True)  # fmt: skip
    twist: float = param(0.7, "rad", "40 degrees; 32 real clips reach 16 in 1/30 s", judged=True)
    window: float = param(1 / 60, "s", "a frame at 60 Hz: over 1/30 s a one-frame flip reads half")


ELBOW: Final = "left_elbow_joint"
RATED: Final = 37.0  # rad/s, in every G1 revision
HIP: Final = "left_hip_pitch_joint"  # 32 rad/s in g1_29dof_rev_1_0.urdf, 20 in g1_29dof_mode_15.urdf


def dashing(speed: float, joint: str = ELBOW, rate: float = 60, limit_set: str = "") -> Episode:
    """A clean walk in which one joint runs at ``speed`` rad/s for 50 ms from 3.0 s, and back at 4.0 s."""

    def run(x: Floats, names: tuple[str, ...]) -> Floats:
        t = np.arange(len(x)) / rate
        there = np.clip(t - 3.0, 0.0, 0.05) - np.clip((t - 4.0) / 10, 0.0, 0.05)
        x[:, names.index(joint)] = 0.4 + speed * there
        return x

    return replace(edit(walk(rate=rate), "joints", run), limit_set=limit_set)


def unrated() -> Episode:
    """A clean walk of a body whose rated speeds are unknown."""
    ep = walk()
    assert ep.embodiment is not None
    sets = tuple(replace(s, speed=np.full_like(s.speed, np.inf)) for s in ep.embodiment.limits)
    return replace(ep, embodiment=replace(ep.embodiment, limits=sets))


def untimed() -> Episode:
    """A clean walk whose rate nobody states."""
    ep = walk()
    for stream in ep.streams:
        ep = ep.with_stream(replace(stream, rate=None))
    return ep


def backwards() -> Episode:
    """A walk in the middle of which the clock steps back by 37.2 s."""
    return retime(walk(), "joints", lambda t: t - 37_200_000_000 * (np.arange(len(t)) >= len(t) // 2))


def jumping(way: float = 0.0, turn: float = 0.0, rate: float = 60, frames: int | None = None) -> Episode:
    """A walk whose base is ``way`` m further on and ``turn`` rad about z round, from 3 s on or for frames."""
    ep = walk(rate=rate)
    root = ep.by_role(Role.BASE_POSE)[0]
    x = np.array(root.x, np.float64)
    first = int(np.searchsorted(root.t, 3_000_000_000))
    there = slice(first, None if frames is None else first + frames)
    x[there, 0] += way
    x[there, 3:] = compose(about([0.0, 0.0, 1.0], np.array(turn)), x[there, 3:])
    return ep.with_stream(replace(root, x=x))


CASES = (
    Case("clean", walk, "pass"),
    Case("an elbow at 1.05 of its rating for 50 ms", lambda: dashing(1.05 * RATED), "fail",
         at=(3.0, 3.1), channel=ELBOW),
    Case("an elbow at 0.95 of its rating for 50 ms", lambda: dashing(0.95 * RATED), "pass"),
    Case("an elbow at 1.05 of its rating at 500 Hz", lambda: dashing(1.05 * RATED, rate=500), "fail",
         at=(3.0, 3.1), channel=ELBOW),
    Case("a hip between two revisions' ratings", lambda: dashing(25.0, HIP), "abstain",
         reason="limits-conflict"),
    Case("a hip beyond every revision's rating", lambda: dashing(33.0, HIP), "fail", channel=HIP),
    Case("a hip under the chosen revision's rating",
         lambda: dashing(25.0, HIP, limit_set="unitree_ros g1_29dof_rev_1_0"), "pass"),
    Case("a hip over the chosen revision's rating",
         lambda: dashing(25.0, HIP, limit_set="unitree_ros g1_29dof_mode_15"), "fail", channel=HIP),
    Case("a root that jumps by 10 cm in a frame", lambda: jumping(0.1), "fail", channel="base",
         at=(2.9, 3.1)),
    Case("a root that jumps by 6 cm in a frame", lambda: jumping(0.06), "pass"),
    Case("a root that jumps by 10 cm in a frame at 30 Hz", lambda: jumping(0.1, rate=30), "fail",
         channel="base"),
    Case("a root that jumps by 10 cm in a frame at 500 Hz", lambda: jumping(0.1, rate=500), "fail",
         channel="base"),
    Case("a root that jumps by 6 cm in a frame at 500 Hz", lambda: jumping(0.06, rate=500), "pass"),
    Case("a root that is 20 cm off for one frame at 30 Hz", lambda: jumping(0.2, rate=30, frames=1), "fail",
         channel="base"),
    Case("a root that turns by 45 degrees in a frame", lambda: jumping(turn=0.785), "fail", channel="base"),
    Case("a root that turns by 30 degrees in a frame", lambda: jumping(turn=0.524), "pass"),
    Case("ratings unknown", unrated, "abstain", reason="no-reference"),
    Case("no rate", untimed, "abstain", reason="not-declared"),
    Case("time runs backwards", backwards, "abstain", reason="no-reference"),
    Case("no body", lambda: replace(walk(), embodiment=None), "abstain", reason="unknown-body"),
)  # fmt: skip


@gate(code="RTG007", name="joint-overspeed", version=3, reads=(*STATES, Role.BASE_POSE))
def measure(ep: Episode, p: Params, joint_groups: Sequence[Joints], poses: Poses | None) -> Iterator[Outcome]:
    """Ratio of joint speed to rated speed, the largest over the joints; and of the base to what bodies do."""
    yield from _base(p, poses)
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*STATES))
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
    elif ep.embodiment is None:
        yield Abstain("unknown-body", "no rated speeds without a body")
    else:
        for joints in joint_groups:
            yield from _group(ep, ep.embodiment, joints, p)


def _base(p: Params, poses: Poses | None) -> Iterator[Outcome]:
    """The base's own speed, where it and its times are known: a jump of the root is no motion."""
    if poses is None or poses.place is None or not poses.timed or len(poses.t) < 2:
        return
    t, place = poses.t, poses.place
    way, turn = speeds(t, place, p.window)
    value = np.maximum(way / p.base, turn / p.turn)
    if (t[1:] >= t[:-1]).all():
        # Nothing to be held to, at an end or beside a hole, is no jump; a hole itself is above.
        jump, twist = beyond(t, place)
        value = np.maximum(value, np.fmax(np.fmax(jump[1:] / p.jump, twist[1:] / p.twist), 0.0))
    yield Evidence(
        value, t[:-1], t[1:], "1", p.limit, stream=poses.base,
        against="any body", channel="base", reason="not-finite", quota=p.quota,
        note="the base jumps: clips joined, frames lost, or another quaternion order from here on",
    )  # fmt: skip


def _group(ep: Episode, body: Embodiment, joints: Joints, p: Params) -> Iterator[Outcome]:
    own = next(s for s in ep.by_role(*STATES) if s.t is joints.t or np.array_equal(s.t, joints.t))
    t = stamps(joints.t, joints.rate, nominal=own.clock is Clock.NOMINAL)
    for reason, names in (("unresolved-names", joints.unresolved), ("unresolved-unit", joints.unknown_units)):
        if names:
            yield Abstain(reason, ", ".join(names[:5]), joints.stream, names[0])
    if t is None:
        yield Abstain("not-declared", "the rate (fps) is not stated: speeds are unknown", joints.stream)
        return
    if (t[1:] < t[:-1]).any():  # SYN005 says where
        yield Abstain("no-reference", "time runs backwards in it: speeds are unknown", joints.stream)
        return
    slow, fast = _ratings(body, ep.limit_set, joints.joint)
    known = np.isfinite(fast)
    unrated = [joints.names[i] for i in np.flatnonzero(~known) if joints.part[i] not in ROUGH]
    if unrated:
        yield Abstain("no-reference", f"no rated speed: {', '.join(unrated[:5])}", joints.stream, unrated[0])
    if known.any():
        card = fast if ep.limit_set else _rated(body.unclaimed, tuple(joints.joint.tolist()))[1]
        yield from _evidence(joints, t, np.flatnonzero(known), slow, fast, card, p)


def _ratings(body: Embodiment, chosen: str, joint: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The slowest and the fastest rating of each joint; one set's where the sheet chose it."""
    sets = (body.limit_set(chosen),) if chosen else body.limits
    return _rated(sets, tuple(joint.tolist()))


@lru_cache(maxsize=64)
def _rated(sets: tuple[LimitSet, ...], joints: tuple[int, ...]) -> tuple[Floats, Floats]:
    # A controller's soft limits are narrower on purpose: they do not say what the drive can do.
    opinions = sets if len(sets) == 1 else [s for s in sets if s.grade != "soft"]
    rated = np.array([s.speed[np.array(joints, np.intp)] for s in opinions])
    with np.errstate(invalid="ignore"):
        fast = np.where(np.isfinite(rated), rated, -np.inf).max(axis=0)
    return rated.min(axis=0), np.where(fast > 0, fast, np.inf)


def _evidence(
    joints: Joints, t: NDArray[np.int64], use: NDArray[np.intp], slow: Floats, fast: Floats, card: Floats,
    p: Params,
) -> Iterator[Outcome]:  # fmt: skip
    """``card``: the fastest ratings without a model file of the corpus's own."""
    x = joints.x if len(use) == joints.x.shape[1] else joints.x[:, use]
    moved = displaced(t, x, p.window)
    first = int(np.searchsorted(t, t[0] + round(p.window * 1e9) - 1000)) if len(t) else 0
    moved, t0, t1 = moved[first:], t[first:], ends(t, joints.rate)[first:]
    slow, fast = slow[use], fast[use]
    value, which, narrow, open_ = fastest(moved, p.window, fast, slow, p.limit)
    names = joints.names if len(use) == len(joints.names) else tuple([joints.names[i] for i in use.tolist()])
    scope, doubt, reason = None, "", "undecided" if np.isfinite(x).all() else "not-finite"
    if open_.any():
        scope = np.where(open_, UNKNOWN, IN)
        value = np.where(open_, narrow, value)
        speed = np.abs(moved) / p.window
        ratio = np.where(open_[:, None], speed / slow, 0)
        at, column = np.unravel_index(ratio.argmax(), ratio.shape)
        doubt = (f"{names[column]} at {speed[at, column]:.1f} rad/s: rated {slow[column]:g} by one "
                 f"source, {fast[column]:g} by another")  # fmt: skip
        only = open_ & ((speed / card[use]).max(axis=1) > p.limit)
        reason = "claimed-body" if only.mean() > p.quota else "limits-conflict"
    yield Evidence(
        value, t0, t1, "1", p.limit, scope=scope, stream=joints.stream, against="rated speed", which=which,
        channels=names, quota=p.quota, reason=reason, doubt=doubt,
        note="inverse kinematics that changes branch makes such jumps",
    )  # fmt: skip
