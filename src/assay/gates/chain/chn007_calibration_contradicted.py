"""CHN007 calibration-contradicted: what is said of a camera is not what its pictures show.

What: A camera that is said to ride on one arm (by its parent link in the sheet, else by its name) moves
with the other one: *arm*, the rank correlation of the picture's motion with the other arm's speed less that
with its own arm's.

Why: Exchanged wrist cameras teach a policy to steer the left hand by what the right one sees. Every file is
there, every picture is sharp, and nobody looks at both at once.

Method: The motion of the picture is the median speed of 6 x 8 blocks, as a camera's own motion moves all of
them and a hand in view some. An arm's speed is the root mean square of its joints', up to 300 ms earlier.
Ranks of both are correlated, for either arm at its own best lag, and the error of the difference is a
jackknife over blocks of 1.5 s, times 1.5, for a verdict at three standard errors. It abstains where either
arm moves for less than 3 s, where the picture goes with neither (0.3), and where it cannot tell them apart.
A parent link that is known decides by the joint that carries it; a camera on the head or on a tripod is not
looked at. Bodies with one arm have nothing to exchange.

Source: own method. On the 8 simulated rigs with a camera on the left wrist and both arms at work (MuJoCo,
28 s, 15 and 30 Hz) it tells the left arm 6 times and abstains twice; of 28 rigs whose camera is on the head
or fixed, taken for one of a wrist, it accepts and accuses none.

Blind spots: Arms that move as one, a walking robot, scenes without texture, episodes below 10 s. Which of
two cameras on the same arm. Lens and pose within the hand are not looked at yet.

Dose: cameras exchanged, or not; share of the motion that both arms have in common, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.features.content import Moves
from assay.gate import Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Episode, Role, Stream
from assay.signals.pictures import Pictures
from assay.signals.wrists import SIDES, Riding, arm_columns, carried_by, riding
from assay.synth import teleop
from assay.synth.riding import CAMERAS, STATE, ridden, two_handed


@dataclass(frozen=True, slots=True)
class Params:
    """Limits, and what has to be seen before they are asked."""

    limit: float = param(0.0, "1", "a picture that goes with the other arm more than its own", judged=True)
    shown: float = param(0.3, "1", "less is not the camera's own motion: hands in view reach as much")
    moved: float = param(3.0, "s", "some reaches of each arm, or there is nothing to tell them by")
    floor: float = param(0.05, "1", "two equal arms differ by less, whatever the jackknife says")
    widening: float = param(1.5, "1", "three standard errors for a verdict instead of two")


def _seen(left: str, right: str, ep: Episode) -> dict[str, Any]:
    """The camera called left rides on ``left``, the one called right on ``right``."""
    sides: Any = {"left": left, "right": right}
    return {"pictures": {CAMERAS[k]: ridden(ep, side) for k, side in sides.items()}}


def _parent(side: str) -> Episode:
    """The left camera's parent is the palm of a side; the right one is not there."""
    ep = two_handed().without_stream(CAMERAS["right"])
    ep = replace(ep, declared=tuple(d for d in ep.declared if d.name != CAMERAS["right"]))
    return replace(ep, meta={**ep.meta, f"cameras/{CAMERAS['left']}/parent": f"{side}_wrist_yaw_link"})


CASES = (
    Case("each camera on its own wrist", two_handed, "pass",
         features=lambda: _seen("left", "right", two_handed())),
    Case("exchanged", two_handed, "fail", channel="arm", at=(0.0, 30.0),
         features=lambda: _seen("right", "left", two_handed())),
    Case("both on the right wrist", two_handed, "fail", channel="arm",
         features=lambda: _seen("right", "right", two_handed())),
    Case("half of the right arm's motion is the left's, exchanged", lambda: two_handed(alike=0.5), "fail",
         channel="arm", features=lambda: _seen("right", "left", two_handed(alike=0.5))),
    Case("half of the right arm's motion is the left's", lambda: two_handed(alike=0.5), "pass",
         features=lambda: _seen("left", "right", two_handed(alike=0.5))),
    Case("named left, declared on the right wrist, and there", lambda: _parent("right"), "pass",
         features=lambda: _seen("right", "right", two_handed())),
    Case("named left, declared on the right wrist, and not there", lambda: _parent("right"), "fail",
         channel="arm", features=lambda: _seen("left", "right", two_handed())),
    Case("both arms move as one", lambda: two_handed(alike=1.0), "abstain", reason="undecided",
         features=lambda: _seen("right", "left", two_handed(alike=1.0))),
    Case("the right arm rests", lambda: two_handed(still="right"), "abstain", reason="still",
         features=lambda: _seen("left", "right", two_handed(still="right"))),
    Case("cameras that ride on neither", two_handed, "abstain", reason="undecided",
         features=lambda: _seen("", "", two_handed())),
    Case("five seconds", lambda: two_handed(5.0), "abstain", reason="too-short",
         features=lambda: _seen("left", "right", two_handed(5.0))),
    Case("no camera is said to ride on an arm", teleop, "abstain", reason="not-declared",
         features=lambda: {"pictures": {}}),
    Case("not decoded", two_handed, "abstain", reason="not-decoded", features=lambda: {"pictures": None}),
    Case("no joints", lambda: two_handed().without_stream(STATE), "abstain", reason="absent-stream",
         features=lambda: _seen("left", "right", two_handed())),
    Case("a declared camera that is not there", lambda: two_handed().without_stream(CAMERAS["right"]),
         "abstain", reason="absent-stream", features=lambda: _seen("left", "right", two_handed())),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """A body of which only one side has an arm has nothing to exchange."""
    arms = {j.side for j in ep.embodiment.joints if j.part == "arm"} if ep.embodiment else set(SIDES)
    return NotApplicable("one-arm", "embodiment") if not set(SIDES) <= arms else None


@gate(code="CHN007", name="calibration-contradicted", reads=[Role.CAMERA, Role.JOINT_POSITION],
      not_applicable=not_applicable)  # fmt: skip
def calibration_contradicted(
    ep: Episode, p: Params, pictures: Mapping[str, Pictures] | None, moves: Mapping[str, Moves]
) -> Iterator[Outcome]:
    """Each camera that is said to ride on an arm, against both arms."""
    said = {
        name: carried_by(name, ep.meta.get(f"cameras/{name}/parent"), ep.embodiment)
        for name in (*(s.name for s in ep.by_role(Role.CAMERA)), *(d.name for d in ep.missing(Role.CAMERA)))
    }
    if not any(said.values()):
        yield Abstain("not-declared", "no camera's parent link or name says that it rides on an arm")
    for declared in ep.missing(Role.CAMERA):
        if said[declared.name]:
            yield Abstain("absent-stream", "declared, not delivered", declared.name, "arm")
    for camera in ep.by_role(Role.CAMERA):
        if said[camera.name]:
            yield _arm(ep, camera, said[camera.name], pictures, moves.get(camera.name), p)


def _arm(
    ep: Episode, camera: Stream, side: str, pictures: Mapping[str, Pictures] | None, found: Moves | None,
    p: Params,
) -> Outcome:  # fmt: skip
    if pictures is None or camera.name not in pictures:
        return Abstain("not-decoded" if pictures is None else "unreadable", "", camera.name, "arm")
    arms = {} if found is None else arm_columns(found.names, ep.embodiment)
    if found is None or not all(len(columns) for columns in arms.values()):
        return Abstain("absent-stream", "no joints of both arms to compare with", camera.name, "arm")
    seen = riding(found.flow, found.tq, (found.q[:, arms["left"]], found.q[:, arms["right"]]))
    return _silent(camera, seen, p) or _told(camera, side, found, seen, p)


def _silent(camera: Stream, seen: Riding, p: Params) -> Abstain | None:
    if seen.unknown > 0.1:
        said = "not-finite", f"{100 * seen.unknown:.0f} % of the joints' or pictures' motion is unknown"
    elif not np.isfinite(seen.u):
        said = "too-short", f"{seen.seconds:.1f} s of pictures and joints"
    elif min(seen.moved) < p.moved:
        said = "still", f"the arms move for {seen.moved[0]:.1f} s (left) and {seen.moved[1]:.1f} s (right)"
    elif max(seen.left, seen.right) < p.shown:
        said = "undecided", f"goes with neither arm: {seen.left:.2f} (left) and {seen.right:.2f} (right)"
    else:
        return None
    return Abstain(*said, camera.name, "arm")


def _told(camera: Stream, side: str, found: Moves, seen: Riding, p: Params) -> Evidence:
    own, other = (seen.left, seen.right) if side == "left" else (seen.right, seen.left)
    return Evidence.single(
        other - own, int(camera.t[0]), int(camera.t[-1]), unit="1", limit=p.limit,
        u=p.widening * float(np.hypot(seen.u, p.floor)), stream=camera.name, against=found.against,
        channel="arm", by="content", note=f"{own:.2f} with the {side} arm, {other:.2f} with the other",
        doubt=f"{seen.left:.2f} with the left arm, {seen.right:.2f} with the right",
    )  # fmt: skip
