"""A foot is below the ground.

What: how deep the lowest sole point lies below the declared ground.

Why: no robot can put its foot there; three sequences with 1 to 6 % of such frames were the ones that no
policy could track, at foot errors that were small everywhere.

Method: depth of the lowest point of both soles per frame. A constant difference of more than 2 cm is
RTG013's one finding: it is taken off first, with its uncertainty, and what scatters around it is judged
here. More than 1 cm in more than 0.5 % of frames fails.

Source: METHODS 1 (OmniRetarget: 1 cm tolerance; the natural experiment of g1-motion-tracking). REAL-CLIPS:
against a ground estimated from the soles 30 of 43 clips fail and no constant offset is seen, so that
nothing but a declared ground is used.

Blind spots: flat ground only; soles are the points of the model, edges between them are not looked at;
penetration by other parts of the body; a constant 1 to 2 cm is penetration on every frame, by design.

Dose: depth of the lowest sole (m).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.ground import Ground, taken_off
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.synth.walks import jittered, raised, walk
from assay.unmet import no_ground


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG005."""

    limit: float = param(0.01, "m", "published tolerance of OmniRetarget's evaluation: 1 cm", judged=True)
    quota: float = param(0.005, "1", "0.9 % and more were untrackable, trackable ones had none", judged=True)
    constant: float = param(0.02, "m", "from here on a constant difference is RTG013's, not penetration")


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("1.2 cm deep for half a second", lambda: raised(-0.012, 3.0, 3.5), "fail", at=(3.0, 3.5)),
    Case("0.8 cm deep for half a second", lambda: raised(-0.008, 3.0, 3.5), "pass"),
    Case("1.5 cm deep throughout", lambda: raised(-0.015), "fail", at=(0.0, 8.0)),
    Case("6 cm deep throughout: for RTG013", lambda: raised(-0.06), "pass"),
    Case("2.1 cm deep throughout: RTG013 is undecided, and so is this", lambda: raised(-0.021), "abstain",
         reason="undecided"),
    Case("2.1 cm up throughout, RTG013 undecided: half a second of it 5 cm deep",
         lambda: raised(-0.071, 3.0, 3.5, raised(0.021)), "fail", at=(3.0, 3.5)),
    Case("6 cm throughout, half a second of it 9 cm", lambda: raised(-0.03, 3.0, 3.5, raised(-0.06)),
         "fail", at=(3.0, 3.5)),
    Case("the ground is not declared", lambda: walk(ground=False), "abstain", reason="no-ground"),
    Case("no base pose", lambda: walk().without_stream("root"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG005", name="ground-penetration", reads=(Role.JOINT_POSITION, Role.BASE_POSE))
def measure(ep: Episode, p: Params, poses: Poses | None, ground: Ground | None) -> Iterator[Outcome]:
    """Depth of the lowest sole below the declared ground."""
    missing = no_ground(ep, poses, ground)
    if missing is not None or poses is None or ground is None:
        yield missing or Abstain("absent-stream")
        return
    level, u = ground.level(p.constant)
    sides = tuple(poses.soles)
    depth = level - np.stack([poses.lowest(side) for side in sides], axis=1)
    which = depth.argmax(axis=1)
    rate = ep.by_role(Role.JOINT_POSITION)[0].rate
    yield Evidence(
        depth.max(axis=1), poses.t, ends(poses.t, float(rate) if rate else None), "m", p.limit, u=u,
        stream=poses.stream, against="ground", which=which, channels=sides, quota=p.quota,
        note=taken_off(ground, level),
        doubt=f"soles rest at heights that differ by {ground.spread * 100:.1f} cm" if u else "",
    )  # fmt: skip
