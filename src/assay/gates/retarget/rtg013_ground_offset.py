"""The whole clip is off the ground.

What: the height above or below the declared ground at which soles rest, over the clip as a whole.

Why: one constant, one cure: the base moved by it. Read frame by frame it would be a float or a penetration
on every frame, and hide those that scatter around it.

Method: a sole rests where the human source stands on it; without a source, where the lowest of all sole
points moves less than 3 mm in 1/30 s (until it exceeds 6 mm). Each half second of rest has one height. Their
median less the declared ground is the offset, with the standard error of a median. Beyond 2 cm it is one
finding, whose note says by how much to move the base. Where nobody declares a ground, the height at which
soles rest is reported, and the gate abstains: many files have their floor elsewhere than at z = 0. A body all
of whose joints are known and none of them in a leg stands on nothing, and the gate does not apply.

Source: REAL-CLIPS: ASAP's clips never rest on z = 0 (offsets to 14 cm); no ground estimated from the soles
sees a constant offset, a declared one finds 1 cm in 90 % and 1.5 cm always.

Blind spots: without a declared ground a clip may hang in the air; a clip that never rests; stairs and boxes
count as offset; a slow drift of the capture is averaged (its scatter is for RTG005 and RTG006).

Dose: constant offset of the base (m).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.embodiment import Embodiment
from assay.gate import Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.ground import Ground
from assay.signals.intervals import span
from assay.signals.posture import Poses
from assay.synth.walks import jittered, raised, walk
from assay.unmet import no_ground


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG013."""

    limit: float = param(0.02, "m", "published: contact is a sole within 2 cm of ground", judged=True)


def legless() -> Episode:
    """The walk of a body that is known not to have legs."""
    ep = walk()
    assert ep.embodiment is not None
    upper = tuple(replace(j, part="arm") if j.part == "leg" else j for j in ep.embodiment.joints)
    return replace(ep, embodiment=replace(ep.embodiment, joints=upper))


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("2.4 cm up throughout", lambda: raised(0.024), "fail", at=(0.0, 8.0)),
    Case("2.4 cm down throughout", lambda: raised(-0.024), "fail", at=(0.0, 8.0)),
    Case("1.6 cm up throughout", lambda: raised(0.016), "pass"),
    Case("3 cm up for half a second: no constant", lambda: raised(0.03, 3.0, 3.5), "pass"),
    Case("5 m up without a declared ground", lambda: raised(5.0, ep=walk(ground=False)), "abstain",
         reason="no-ground"),
    Case("a body without legs", legless, "n/a"),
    Case("no base pose", lambda: walk().without_stream("root"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG013", name="ground-offset", version=2, reads=(Role.JOINT_POSITION, Role.BASE_POSE))
def measure(ep: Episode, p: Params, poses: Poses | None, ground: Ground | None) -> Iterator[Outcome]:
    """The constant height of resting soles above the declared ground: one number."""
    if ep.embodiment is not None and _legless(ep.embodiment):
        yield NotApplicable("no-legs", "embodiment")
        return
    missing = no_ground(ep, poses, ground)
    if missing is not None or poses is None or ground is None:
        yield missing or Abstain("absent-stream")
        if poses is not None and ground is not None and np.isfinite(ground.offset):
            yield Evidence.single(
                abs(ground.offset), *span(poses.t), unit="m", limit=p.limit, u=ground.u, stream=poses.base,
                against="z=0", decides=False, by="undeclared",
            )  # fmt: skip
    elif not np.isfinite(ground.offset):
        yield Abstain("undecided", "no sole ever rests", poses.stream)
    else:
        way = "lower" if ground.offset > 0 else "raise"
        yield Evidence.single(
            abs(ground.offset), int(poses.t[0]), int(poses.t[-1]), unit="m", limit=p.limit, u=ground.u,
            stream=poses.base, against="ground",
            note=f"{way} the base by {abs(ground.offset):.3f} m (give or take {2 * ground.u:.3f}); resting "
                 f"heights then still differ by {ground.spread:.3f} m",
            doubt=f"soles rest {ground.offset:+.3f} m off, at heights that differ by {ground.spread:.3f} m",
        )  # fmt: skip


def _legless(body: Embodiment) -> bool:
    parts = {joint.part for joint in body.joints}
    return bool(parts) and not parts & {"leg", "other"}
