"""The motion needs a force that nothing supplies.

What: the part of the force and of the moment on the whole body that no contact of its soles can give.

Why: a body that hangs on nothing, leans beyond its feet or falls too slowly cannot be tracked; the source had
a rope, a table or a load, or the retargeting lost the contact.

Method: after a low pass at 6 Hz, inverse dynamics over the body's masses give the force and moment that the
world must supply. Sole points within 3 cm of the ground may push, inside friction cones and however fast they
move (soles that spin or skid carry too, and RTG003 speaks of skids); what the nearest such forces leave is
counted, the force in weights of the body, the moment in weights times the height of its centre of mass, the
larger of both. In flight that is the difference from a free fall. More than 0.2 in more than 5 % of frames
fails.

Source: METHODS 3 (0.2 of the weight; 2 m/s^2 in flight). REAL-CLIPS: 17 of 43 public clips beyond 5 % with
unfiltered differences: a figure for information until it is calibrated.

Blind spots: flat ground; a load, which a body at rest over its feet carries unseen; 0.1 s around take-off
and landing; frames in which a knee or a hand may touch the ground are unknown; a clip with a moved object
abstains.

Dose: missing share of gravity in flight (1); angle of a lean (rad).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.gate import IN, OUT, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.dynamics import Dynamics
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.synth.efforts import dropped, leaned, lifted
from assay.synth.squats import squats
from assay.synth.walks import walk
from assay.unmet import no_dynamics, no_soles


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG011."""

    limit: float = param(0.2, "1", "METHODS 3: a fifth of the weight, 2 m/s^2 in flight", judged=True)
    quota: float = param(0.05, "1", "METHODS 3: 5 % of frames; own figure, not calibrated", judged=True)


CASES = (
    Case("squats", squats, "pass"),
    Case("a walk", lambda: walk(rate=50), "pass"),
    Case("squats carried along at 1 m/s", lambda: squats(travel=1.0), "pass"),
    Case("squats 2 cm above where they were, for 2 s", lambda: lifted(0.02), "pass"),
    Case("squats 6 cm above where they were, for 2 s", lambda: lifted(0.06), "fail", at=(2.0, 4.0)),
    Case("a jump in free fall", lambda: dropped(0.0), "pass"),
    Case("a jump that falls with 0.85 of gravity", lambda: dropped(0.15), "pass"),
    Case("a jump that falls with half of gravity", lambda: dropped(0.5, flight=0.8), "fail", at=(3.0, 3.8)),
    Case("a lean of 0.2 rad", lambda: leaned(0.2), "pass"),
    Case("a lean of 0.4 rad", lambda: leaned(0.4), "fail", at=(2.0, 4.0)),
    Case("a lean of 0.4 rad at 200 Hz", lambda: leaned(0.4, rate=200), "fail", at=(2.0, 4.0)),
    Case("20 frames a second", lambda: squats(rate=20), "abstain", reason="undecided"),
    Case("no base pose", lambda: squats().without_stream("root"), "abstain", reason="absent-stream"),
    Case("no body", lambda: replace(squats(), embodiment=None), "abstain", reason="unknown-body"),
)  # fmt: skip


@gate(
    code="RTG011",
    name="unsupported-motion",
    version=2,
    reads=(Role.JOINT_POSITION, Role.BASE_POSE, Role.OBJECT_POSE),
)
def measure(ep: Episode, p: Params, poses: Poses | None, dynamics: Dynamics | None) -> Iterator[Outcome]:
    """Share of the weight that no contact supplies, in each frame."""
    missing = no_soles(ep, poses) or no_dynamics(ep, poses, dynamics)
    if missing is not None or poses is None or dynamics is None:
        yield missing or Abstain("absent-stream")
        return
    scope = np.where(dynamics.steady, IN, OUT)
    scope[dynamics.other] = UNKNOWN
    both = np.stack([dynamics.force, dynamics.moment], axis=1)
    rate = ep.by_role(Role.JOINT_POSITION)[0].rate
    yield Evidence(
        both.max(axis=1), poses.t, ends(poses.t, float(rate) if rate else None), "1", p.limit,
        u=dynamics.u, scope=scope, stream=poses.stream, against="weight", which=both.argmax(axis=1),
        channels=("force", "moment"), quota=p.quota,
        reason="scope-unknown" if dynamics.other.any() else "undecided",
        doubt="something else than the soles may touch the ground" if dynamics.other.any() else "",
    )  # fmt: skip
