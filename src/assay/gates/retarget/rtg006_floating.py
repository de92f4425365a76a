"""A foot that should stand floats.

What: how high the lowest sole point of a foot is above the declared ground while the human stands on it.

Why: the robot would stand on nothing; a policy learns to reach for ground that is not there, or falls.

Method: stance is the human source's (see RTG003): a jump is then no float, and a floating foot cannot
escape by not standing. A constant difference of more than 2 cm is RTG013's one finding: it is taken off
first, with its uncertainty, and what scatters around it is judged here. More than 2 cm in more than 0.5 %
of a foot's stance fails, two frames of 30 Hz in a row at least: a stance is known to end to one.

Source: METHODS 1 (float = source stance without a sole within 2 cm; 26.8 % of frames airborne was
untrackable). REAL-CLIPS: 27 of 43 clips have no sole near z = 0, which are offsets, not floats.

Blind spots: flat ground only; without a human source nothing is said, and RTG013 leaves open what hangs for a
while; a human who stands on a step.

Dose: height of the lowest sole (m).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.gate import UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.ground import Ground, taken_off
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.signals.stance import SIDES, Stance, drifting
from assay.synth.walks import jittered, raised, walk
from assay.unmet import no_ground, no_source


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG006."""

    limit: float = param(0.02, "m", "published: contact is a sole within 2 cm of ground", judged=True)
    quota: float = param(0.005, "1", "as for skate: at most 0.5 % of stance", judged=True)
    min_run: float = param(0.066, "s", "two frames at 30 fps: a source's stance ends within one", judged=True)
    constant: float = param(0.02, "m", "from here on a constant difference is RTG013's, not a float")
    source_drift: float = param(0.03, "m", "a source that slides 3 cm is no reference for standing")


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("2.3 cm up for half a second", lambda: raised(0.023, 3.35, 3.85), "fail", at=(3.35, 3.85),
         channel="left"),
    Case("5 cm up for one frame, where a stance may have ended", lambda: raised(0.05, 3.35, 3.38), "pass"),
    Case("5 cm up for three frames", lambda: raised(0.05, 3.35, 3.45), "fail", channel="left"),
    Case("1.7 cm up for half a second", lambda: raised(0.017, 3.35, 3.85), "pass"),
    Case("6 cm up throughout: for RTG013", lambda: raised(0.06), "pass"),
    Case("6 cm throughout, half a second of it 9 cm", lambda: raised(0.03, 3.35, 3.85, raised(0.06)),
         "fail", at=(3.35, 3.85), channel="left"),
    Case("no human source", lambda: walk(human=False), "abstain", reason="no-reference"),
    Case("the ground is not declared", lambda: walk(ground=False), "abstain", reason="no-ground"),
)  # fmt: skip


@gate(code="RTG006", name="floating", reads=(Role.JOINT_POSITION, Role.BASE_POSE, Role.HUMAN_BODY))
def measure(
    ep: Episode, p: Params, poses: Poses | None, stance: Stance | None, ground: Ground | None
) -> Iterator[Outcome]:
    """Height of each foot's lowest sole point above the declared ground, in the source's stance."""
    missing = no_ground(ep, poses, ground) or no_source(ep, poses, stance)
    if missing is not None or poses is None or stance is None or ground is None:
        yield missing or Abstain("absent-stream")
        return
    level, u = ground.level(p.constant)
    rate = ep.by_role(Role.JOINT_POSITION)[0].rate
    t1 = ends(poses.t, float(rate) if rate else None)
    for side in SIDES:
        scope = stance.state[side].copy()
        scope[drifting(stance, side, p.source_drift) & (scope == 1)] = UNKNOWN
        yield Evidence(
            poses.lowest(side) - level, poses.t, t1, "m", p.limit, u=u, scope=scope, stream=poses.stream,
            against=stance.stream, channel=side, quota=p.quota, min_run=p.min_run,
            reason="reference-noisy" if (scope == UNKNOWN).any() and not u else "undecided",
            note=taken_off(ground, level),
            doubt=f"soles rest at heights that differ by {ground.spread * 100:.1f} cm" if u else "",
        )  # fmt: skip
