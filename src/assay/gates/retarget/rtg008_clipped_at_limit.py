"""Motion was clipped at a joint limit.

What: how long joints of arms, legs and waist rest exactly on a limit: plateaus that clipping leaves behind.

Why: clipping makes a violation disappear from RTG001 and leaves a corner in the motion: the hand or foot
was not where the frame says it was meant to be.

Method: a plateau is a stretch in which a joint stays within 1e-3 rad of a limit (hence does not move); each
frame carries the length of the longest plateau it lies in. Frames in plateaus of three frames at 30 Hz or
more are counted, by time and not by frames. A joint that never moves in the episode is parked, not clipped.

Source: METHODS 2, counter-test to the limit rule; plateaus were found in 21 of 43 public G1 clips, nearly
all ankle roll and waist pitch; 0 of 38 teleoperated G1 episodes.

Blind spots: an inverse kinematics solver with bounds leaves the same corner as a clip; sensor noise above
5e-4 rad breaks plateaus up (at 1e-3 rad a share of 3.3 % reads 2.4 %); hands and grippers, which rest on
their end stops by design, are not looked at; whether the plateau costs anything is not measured.

Dose: share of frames clipped (%), at a cut of known depth (rad).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.joints import Joints
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role
from assay.signals.frozen import runs
from assay.signals.intervals import ends
from assay.synth.episodes import edit, teleop

STATES = (Role.JOINT_POSITION,)
PARTS = ("arm", "leg", "waist")


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG008."""

    near: float = param(1e-3, "rad", "survives encoder noise of 5e-4 rad; the G1's is 1e-5 to 4.6e-4")
    limit: float = param(
        0.09, "s", "three frames at 30 Hz (0.1 s) less the jitter of a real clock", judged=True
    )
    quota: float = param(0.02, "1", "published rule: at most 2 % of frames on plateaus", judged=True)


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
    Case("no rate", untimed, "abstain", reason="not-declared"),
    Case("no body", lambda: replace(teleop(), embodiment=None), "abstain", reason="unknown-body"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG008", name="clipped-at-limit", reads=STATES)
def measure(ep: Episode, p: Params, joint_groups: Sequence[Joints]) -> Iterator[Outcome]:
    """Length of the plateau that each frame lies in, the longest over the joints."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*STATES))
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
    elif ep.embodiment is None:
        yield Abstain("unknown-body", "no limits without a body")
    else:
        for joints in joint_groups:
            yield from _group(ep, joints, p)


def _group(ep: Episode, joints: Joints, p: Params) -> Iterator[Outcome]:
    limited = np.isfinite(joints.lower) | np.isfinite(joints.upper)
    use = np.flatnonzero(np.isin(joints.part, PARTS) & (joints.unit == "rad") & limited)
    if not len(use):
        if joints.unknown_units:
            yield Abstain("unresolved-unit", ", ".join(joints.unknown_units[:5]), joints.stream)
        return  # another clock's joints may be arms; with none at all the gate abstains
    own = next(s for s in ep.by_role(*STATES) if np.array_equal(s.t, joints.t))
    if own.clock is Clock.NOMINAL and joints.rate is None:
        yield Abstain("not-declared", "the rate (fps) is not stated: how long it rests is unknown", own.name)
        return
    x = joints.x[:, use]
    t1 = ends(joints.t, joints.rate)
    value, which = _plateaus(x, joints.lower[use], joints.upper[use], joints.t, t1, p.near)
    value[np.isnan(x).any(axis=1)] = np.nan
    yield Evidence(
        value, joints.t, t1, "s", p.limit, stream=joints.stream, quota=p.quota, which=which,
        channels=tuple(joints.names[i] for i in use), note="data cut at the limit, or a solver with bounds",
    )  # fmt: skip


def _plateaus(
    x: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64],
    t0: NDArray[np.int64], t1: NDArray[np.int64], near: float,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:  # fmt: skip
    """Seconds of the longest plateau over each frame, and its column; (n,), (n,)."""
    longest, which = np.zeros(len(x)), np.zeros(len(x), np.intp)
    if not len(x):
        return longest, which
    low, high = x.min(axis=0), x.max(axis=0)
    # NaN compares False: a column with holes is looked at in full
    touched = ~(low > lower + near) | ~(high < upper - near)
    for column in np.flatnonzero(touched & ~(high - low <= near)):
        for bound in (lower[column], upper[column]):
            first, end = runs(np.abs(x[:, column] - bound) <= near)
            seconds = (t1[end - 1] - t0[first]) * 1e-9 if len(first) else np.empty(0)
            here = np.zeros(len(x) + 1)
            np.add.at(here, first, seconds)
            np.subtract.at(here, end, seconds)
            length = np.cumsum(here[:-1])
            better = length > longest + 1e-9
            longest[better], which[better] = length[better], column
    return longest, which
