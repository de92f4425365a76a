"""The label speaks of motion, and nothing moves.

What: how far the most active joint, or the base, travels in an episode whose instruction names a motion.

Why: a wrong label teaches the wrong word; an attempt in which nothing happens teaches to stand still on
command.

Method: words of the instruction are compared with two small lists. Words of handling (pick, place, open...)
ask for motion of arms or hands, words of walking (walk, run, turn...) for motion of the base, or of the
legs where the base is not recorded. The value is the range of the most active joint of the kind, or the
extent of the base's path, against a few degrees or centimetres. Without such a word the gate abstains.

Source: FAULTS D51; loco-mujoco's 05-run_ATLAS, whose pelvis moves less than 1 mm/s; 24 to 38 real G1
episodes range over 0.46 rad or more, the quietest second over 0.004 to 0.05 rad.

Blind spots: the wrong motion (placing instead of picking); languages other than English; one jerk of the
arm satisfies it.

Dose: range of the most active joint (rad).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.joints import Joints
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Channel, Episode, Role, Stream
from assay.signals.intervals import span
from assay.synth.episodes import edit, teleop

STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
HANDLING_WORDS = """
    pick place put grab grasp lift take move push pull open close pour wipe fold stack insert turn press give
    throw catch wave reach clean sort pack unpack load unload hang carry bring sweep cut stir shake rotate
    flip screw plug unplug assemble transfer arrange collect remove drop dance
"""
WALKING_WORDS = "walk run jog step jump hop climb kick dance turn march sprint crawl squat"
HANDLING, WALKING = frozenset(HANDLING_WORDS.split()), frozenset(WALKING_WORDS.split())
FORMS = re.compile(r"(ing|s|es|ed)$")
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of CHN010."""

    limit: float = param(0.05, "rad", "3 degrees: above a resting arm, a ninth of real motion", judged=True)
    limit_base: float = param(0.05, "m", "5 cm: less than a step, more than a sway", judged=True)


def moving(rad: float, task: str | None = "put the can on the plate") -> Episode:
    """Ten seconds in which the left elbow ranges over some radians and nothing else moves."""
    ramp = np.linspace(0.6, 0.6 + rad, 300)

    def still(x: Float, names: tuple[str, ...]) -> Float:
        x[:] = 0.5
        x[:, names.index("left_elbow")] = ramp
        return x

    return replace(edit(teleop(), "observation.state", still), task=task)


def walking(metres: float) -> Episode:
    """A base that goes straight on for some metres under ``run to the door``."""
    ep = moving(0.0, "run to the door")
    x = np.zeros((300, 7))
    x[:, 0], x[:, 3] = np.linspace(0.0, metres, 300), 1.0
    names = ("x", "y", "z", "qw", "qx", "qy", "qz")
    channels = tuple(Channel(n, "m" if n in "xyz" else "1") for n in names)
    return ep.with_stream(Stream("base", Role.BASE_POSE, ep.streams[0].t, x, channels))


CASES = (
    Case("the arms move", teleop, "pass"),
    Case("the elbow moves by 0.06 rad", lambda: moving(0.06), "pass"),
    Case("the elbow moves by 0.04 rad", lambda: moving(0.04), "fail", at=(0.0, 10.0), channel="left_elbow"),
    Case("running for 1 cm", lambda: walking(0.01), "fail", channel="base"),
    Case("running for 2 m", lambda: walking(2.0), "pass"),
    Case("running, and no base or leg is recorded", lambda: moving(1.0, "run to the door"), "abstain",
         reason="absent-stream"),
    Case("no label", lambda: moving(0.0, None), "abstain", reason="not-declared"),
    Case("no motion in the label", lambda: moving(0.0, "stand by the door"), "abstain",
         reason="not-declared"),
    Case("no body", lambda: replace(moving(0.0), embodiment=None), "abstain", reason="unknown-body"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="CHN010", name="label-contradicts-motion", reads=(*STATES, Role.BASE_POSE))
def measure(ep: Episode, p: Params, joint_groups: Sequence[Joints]) -> Iterator[Outcome]:
    """Range of what the label says should move."""
    words = {w for word in re.findall(r"[a-z]+", (ep.task or "").lower()) for w in _stems(word)}
    handling, walking = bool(words & HANDLING), bool(words & WALKING)
    if not handling and not walking:
        yield Abstain("not-declared", "no instruction" if not ep.task else "the instruction names no motion")
        return
    base = [s for s in ep.by_role(Role.BASE_POSE) if len(s) and s.x.shape[1] >= 3]
    # A word of both kinds (turn, dance) is true if either moves.
    if walking and base:
        extent = max(float(np.linalg.norm(np.ptp(np.asarray(s.x)[:, :3], axis=0))) for s in base)
        if not handling or extent >= p.limit_base:
            yield Evidence.single(
                extent, *span(base[0].t), unit="m", limit=p.limit_base, sense="below", stream=base[0].name,
                channel="base", limit_key="limit_base", note=_label(ep),
            )  # fmt: skip
            return
    yield _joints(ep, p, joint_groups, ("arm", "hand", "gripper", "waist") if handling else ("leg",))


def _stems(word: str) -> set[str]:
    """The word, and what is left of it without an English ending: running, runs, placed."""
    root = FORMS.sub("", word)
    return {word, root, root + "e", root[:-1] if root[-1:] == root[-2:-1] else root}


def _joints(ep: Episode, p: Params, groups: Sequence[Joints], parts: tuple[str, ...]) -> Outcome:
    if not ep.by_role(*STATES):
        return Abstain("absent-stream", "no joint positions")
    if ep.embodiment is None:
        return Abstain("unknown-body", "which column moves what is not known")
    best, worst, time = -np.inf, "", (0, 0)
    for joints in groups:
        use = np.flatnonzero(np.isin(joints.part, parts))
        if not len(use) or not len(joints.t):
            continue
        reach = np.ptp(joints.x[:, use], axis=0)
        at = int(np.argmax(reach))  # NaN, where there is one, is largest: it could have moved
        if not reach[at] <= best:
            best, worst, time = float(reach[at]), joints.names[int(use[at])], span(joints.t)
            stream = joints.stream
    if not worst:
        unknown = any(j.unknown_units for j in groups)
        return Abstain("unresolved-unit" if unknown else "absent-stream", f"no joint of {', '.join(parts)}")
    return Evidence.single(
        best, *time, unit="rad", limit=p.limit, sense="below", stream=stream, channel=worst,
        note=_label(ep),
    )  # fmt: skip


def _label(ep: Episode) -> str:
    return f"label: {ep.task}" + (f" ({ep.meta['task']})" if "task" in ep.meta else "")
