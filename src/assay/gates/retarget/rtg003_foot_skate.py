"""A standing foot skates.

What: how far a foot moves in 1/30 s while the human that the motion came from stands on it.

Why: a policy that tracks a skating foot either slips or learns to drag its feet; the motion asks for a
friction that is not there.

Method: stance is the human source's (toe or heel moves less than 4 mm in 1/30 s until both exceed 7.5 mm,
67 ms trimmed at both ends). In it each frame carries the horizontal displacement over the last 1/30 s of the
sole point that moves least, so that pivots and rolling do not count. Runs of 66 ms and more, beyond 0.5 % of
stance, fail. Where the source itself drifts more than 3 cm in a stance, and where the soles shake by more
than 3 mm, it is not decided.

Source: METHODS 1 (rule as OmniRetarget's evaluation has it, made pivot-aware); REAL-CLIPS for the strict
stance: judged by its own soles 34 of 43 public clips skate, by the published source rule 14 of 16.

Blind spots: slides slower than 0.3 m/s (RTG004 sees those); without a human source nothing is said; sliding
that is meant; slopes, stairs and moving ground; a source whose feet are not where the robot's should be.

Dose: speed of a 0.4 s slide within one stance (m/s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.gate import UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.feet import noise, strides
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.signals.stance import SIDES, Stance, drifting
from assay.synth.walks import jittered, pivoted, raised, slid, walk
from assay.unmet import no_source


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG003."""

    limit: float = param(0.01, "m", "published rule: 1 cm in a frame of 30 fps, 0.3 m/s", judged=True)
    quota: float = param(0.005, "1", "published rule: at most 0.5 % of stance", judged=True)
    min_run: float = param(0.066, "s", "two frames at 30 fps: one is within the noise of 2 mm", judged=True)
    source_drift: float = param(0.03, "m", "a source that slides 3 cm is no reference for standing")
    shake: float = param(0.003, "m", "white noise of 3 mm puts 6 % of still frames beyond 1 cm, 4 mm 21 %")


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("clean with 4 mm of jitter", lambda: jittered(0.004), "abstain", reason="undecided"),
    Case("a slide of 0.4 m/s", lambda: slid(0.4), "fail", at=(3.4, 3.84), channel="left"),
    Case("a slide of 0.4 m/s at 3 cm above ground", lambda: raised(0.03, ep=slid(0.4)), "fail",
         at=(3.4, 3.84), channel="left"),
    Case("a slide of 0.32 m/s", lambda: slid(0.32), "fail", at=(3.4, 3.84), channel="left"),
    Case("a slide of 0.25 m/s: for RTG004", lambda: slid(0.25), "pass"),
    Case("a slide of 0.28 m/s", lambda: slid(0.28), "pass"),
    Case("a pivot on the heel at 2 rad/s", lambda: pivoted(2.0), "pass"),
    Case("a slide of 0.4 m/s at 120 Hz", lambda: slid(0.4, ep=walk(rate=120)), "fail",
         at=(3.4, 3.84), channel="left"),
    Case("no human source", lambda: walk(human=False), "abstain", reason="no-reference"),
    Case("no base pose", lambda: walk().without_stream("root"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG003", name="foot-skate", reads=(Role.JOINT_POSITION, Role.BASE_POSE, Role.HUMAN_BODY))
def measure(ep: Episode, p: Params, poses: Poses | None, stance: Stance | None) -> Iterator[Outcome]:
    """Displacement of the least-moving sole point in 1/30 s, per foot, in the source's stance."""
    missing = no_source(ep, poses, stance)
    if missing is not None or poses is None or stance is None:
        yield missing or Abstain("absent-stream")
        return
    rate = ep.by_role(Role.JOINT_POSITION)[0].rate
    t1 = ends(poses.t, float(rate) if rate else None)
    for side in SIDES:
        x, scope = poses.soles[side], stance.state[side].copy()
        shake = noise(x[:, 0, :2], scope == 1)
        astray = drifting(stance, side, p.source_drift)
        scope[astray & (scope == 1)] = UNKNOWN
        if shake > p.shake:
            scope[scope == 1] = UNKNOWN
        noisy = not shake > p.shake and bool((scope == UNKNOWN).any())
        yield Evidence(
            strides(poses.t, x, level=True).min(axis=1), poses.t, t1, "m", p.limit, scope=scope,
            stream=poses.stream, against=stance.stream, channel=side, quota=p.quota, min_run=p.min_run,
            reason="reference-noisy" if noisy else "undecided",
            doubt=f"the sole shakes by {shake * 1e3:.1f} mm" if shake > p.shake else "",
        )  # fmt: skip
