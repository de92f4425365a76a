"""A foot slides slowly while it stands.

What: how far a foot has gone from the start to the end of one stance, beyond what its source went.

Why: 0.9 cm a frame for half a second is 13 cm of slide and passes every limit on frames.

Method: for each stance of the human source (see RTG003) the horizontal way of each sole point from start to
end, as it is or less the way of the source's own least-moving foot point, whichever is smaller; the smallest
over the sole points counts, so that pivots and rolling do not. A stance in which the source itself goes
further than 3 cm is not decided.

Source: METHODS 1, its second skate metric; REAL-CLIPS for the difference to the source: a fixed 3 cm fires
on 16 of 16 real clips, since the human source itself drifts that far in up to 75 % of its stances.

Blind spots: a slide that returns within one stance; without a human source nothing is said; a source of
another size than the robot counts as it is.

Dose: speed of a 0.4 s slide within one stance (m/s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.gate import IN, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.feet import length, noise
from assay.signals.posture import Poses
from assay.signals.stance import SIDES, Phases, Stance, edges
from assay.synth.walks import jittered, pivoted, slid, walk
from assay.unmet import no_source


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG004."""

    limit: float = param(0.03, "m", "published limit of slow slides: 3 cm in one stance", judged=True)
    source_drift: float = param(0.03, "m", "a source that slides 3 cm is no reference for standing")


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("a slide of 0.25 m/s", lambda: slid(0.25), "fail", at=(3.2, 4.1), channel="left"),
    Case("a slide of 0.4 m/s", lambda: slid(0.4), "fail", at=(3.2, 4.1), channel="left"),
    Case("a slide of 0.085 m/s: 3.4 cm", lambda: slid(0.085), "fail", at=(3.2, 4.1), channel="left"),
    Case("a slide of 0.065 m/s: 2.6 cm", lambda: slid(0.065), "pass"),
    Case("a slide of 0.25 m/s at 25 Hz", lambda: slid(0.25, ep=walk(rate=25)), "fail",
         at=(3.2, 4.1), channel="left"),
    Case("a pivot on the heel at 2 rad/s", lambda: pivoted(2.0), "pass"),
    Case("no human source", lambda: walk(human=False), "abstain", reason="no-reference"),
    Case("no base pose", lambda: walk().without_stream("root"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG004", name="stance-drift", reads=(Role.JOINT_POSITION, Role.BASE_POSE, Role.HUMAN_BODY))
def measure(ep: Episode, p: Params, poses: Poses | None, stance: Stance | None) -> Iterator[Outcome]:
    """Way of the sole in each stance, less the source's."""
    missing = no_source(ep, poses, stance)
    if missing is not None or poses is None or stance is None:
        yield missing or Abstain("absent-stream")
        return
    for side in SIDES:
        phases = stance.phases[side]
        value, scope = _ways(poses, phases, side, p.source_drift)
        shake = noise(poses.soles[side][:, 0, :2], stance.state[side] == 1)
        u = np.sqrt(2.0) * np.hypot(0.0 if np.isnan(shake) else shake, stance.noise)
        if len(value):
            yield Evidence(
                value, phases.t0, phases.t1, "m", p.limit, u=float(u), scope=scope, stream=poses.stream,
                against=stance.stream, channel=side, reason="reference-noisy", apart=True,
                doubt="the source itself drifts" if (scope == UNKNOWN).any() else "",
            )  # fmt: skip


def _ways(
    poses: Poses, phases: Phases, side: str, most: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.int8]]]:
    first, last = edges(poses.t, phases)
    x = poses.soles[side][..., :2]
    way = x[last] - x[first]
    # A robot that stays where it is while the source drifts stands better than its source, not worse.
    value = np.minimum(length(way), length(way - phases.drift[:, None])).min(axis=1)
    scope = np.where(length(phases.drift) > most, UNKNOWN, IN)
    # The robot's clock may not reach into a stance, and a hole anywhere in it hides where the foot was.
    holed = scope == UNKNOWN
    if not np.isfinite(x.sum()):
        holes = np.concatenate(([0], np.cumsum(~np.isfinite(x).all(axis=(1, 2)))))
        holed |= holes[last + 1] != holes[first]
    value[holed] = np.nan
    return value, scope
