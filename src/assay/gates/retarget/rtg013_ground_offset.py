"""The clip is off the ground, as a whole or for a while.

What: the height above or below the declared ground at which soles rest, over the clip as a whole; and how far
above that height the body stays for a while with no sole near it.

Why: one constant, one cure: the base moved by it. Read frame by frame it would be a float or a penetration
on every frame, and hide those that scatter around it. Yet a clip of which a fifth hangs in the air has the
median of one that stands.

Method: a sole rests where the human source stands on it; without a source, where the lowest of all sole
points moves less than 3 mm in 1/30 s (until it exceeds 6 mm). Each half second of rest has one height. Their
median less the declared ground is the offset, with the standard error of a median. Beyond 2 cm it is one
finding, whose note says by how much to move the base. Where nobody declares a ground, the height at which
soles rest is reported, and the gate abstains: many files have their floor elsewhere than at z = 0. A body all
of whose joints are known and none of them in a leg stands on nothing, and the gate does not apply.
Frames whose lowest sole is more than 2 cm above that median are aloft, but for runs in which the base falls
along a parabola with 0.5 to 1.5 of g and for 1 s at most (a jump), and frames in which another link may touch
the ground. What the lowest sole keeps for 0.3 s, or in more than 3 % of the frames, is held to the same
limit; beyond it the gate abstains and names the stretch, since a step or a box that nobody declared looks the
same as a body that was lifted.

Source: REAL-CLIPS: ASAP's clips never rest on z = 0 (offsets to 14 cm); no ground estimated from the soles
sees a constant offset, a declared one finds 1 cm in 90 % and 1.5 cm always. On 23 real clips every true jump
falls with 0.57 to 1.05 of g; the ten that rest on z = 0 keep no more than 1.6 cm above their median.

Blind spots: without a declared ground a clip may hang in the air; a clip that never rests; stairs and boxes
count as offset or are left open; a lift of less than 2 cm, or of less than 0.3 s and 3 % of the frames, or
one as high and short as a jump; a body on its knees or back that hangs less than 8 cm up; a slow drift of the
capture is averaged (its scatter is for RTG005 and RTG006).

Dose: constant offset of the base (m); height of a lift of the base (m).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.embodiment import Embodiment
from assay.gate import UNKNOWN, Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.aloft import aloft
from assay.signals.ground import Ground
from assay.signals.intervals import span
from assay.signals.posture import Poses
from assay.synth.efforts import dropped
from assay.synth.walks import jittered, raised, walk
from assay.unmet import no_ground


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG013."""

    limit: float = param(0.02, "m", "published: contact is a sole within 2 cm of ground", judged=True)
    share: float = param(0.03, "1", "own figure: untouched clips stay below the limit without a quota")
    lasting: float = param(
        0.3, "s", "own figure: shorter than most jumps, longer than a hop or a tiptoe step"
    )


def legless() -> Episode:
    """The walk of a body that is known not to have legs."""
    ep = walk()
    assert ep.embodiment is not None
    upper = tuple(replace(j, part="arm") if j.part == "leg" else j for j in ep.embodiment.joints)
    return replace(ep, embodiment=replace(ep.embodiment, joints=upper))


def jumped(missing: float) -> Episode:
    """A jump ahead by 0.8 m in as many seconds, which falls with less than gravity; the floor is z = 0."""
    ep = dropped(missing)
    (root,) = ep.by_role(Role.BASE_POSE)
    x = np.array(root.x)
    x[:, 0] += np.clip(root.t * 1e-9 - 3.0, 0.0, 0.8)
    return replace(ep.with_stream(replace(root, x=x)), meta={**ep.meta, "ground": "z=0"})


def unknown(ep: Episode, start: float, end: float) -> Episode:
    """The clip whose base is NaN from ``start`` to ``end`` s."""
    (root,) = ep.by_role(Role.BASE_POSE)
    x, t = np.array(root.x), root.t * 1e-9
    x[(t >= start) & (t < end)] = np.nan
    return ep.with_stream(replace(root, x=x))


CASES = (
    Case("clean", walk, "pass"),
    Case("clean with 2 mm of jitter", lambda: jittered(0.002), "pass"),
    Case("2.4 cm up throughout", lambda: raised(0.024), "fail", at=(0.0, 8.0)),
    Case("2.4 cm down throughout", lambda: raised(-0.024), "fail", at=(0.0, 8.0)),
    Case("1.6 cm up throughout", lambda: raised(0.016), "pass"),
    Case("3 cm up for 0.2 s: no constant", lambda: raised(0.03, 3.0, 3.2), "pass"),
    Case("3 cm up for half a second: a step, or lifted", lambda: raised(0.03, 3.0, 3.5), "abstain",
         reason="scope-unknown"),
    Case("1.6 cm up for two seconds", lambda: raised(0.016, 3.0, 5.0), "pass"),
    Case("1.5 m up for two seconds, without a human source", lambda: raised(1.5, 3.0, 5.0, walk(human=False)),
         "abstain", reason="scope-unknown"),
    Case("1.5 m up while the base is NaN for two seconds", lambda: unknown(raised(1.5, 3.0, 5.0), 3.0, 5.0),
         "abstain", reason="scope-unknown"),
    Case("a base that is NaN for a tenth of a second", lambda: unknown(walk(), 3.0, 3.1), "pass"),
    Case("a jump of 0.8 s", lambda: jumped(0.0), "pass"),
    Case("a jump of 0.8 s that falls with a fifth of gravity", lambda: jumped(0.8), "abstain",
         reason="scope-unknown"),
    Case("5 m up without a declared ground", lambda: raised(5.0, ep=walk(ground=False)), "abstain",
         reason="no-ground"),
    Case("a body without legs", legless, "n/a"),
    Case("no base pose", lambda: walk().without_stream("root"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG013", name="ground-offset", version=3, reads=(Role.JOINT_POSITION, Role.BASE_POSE))
def measure(ep: Episode, p: Params, poses: Poses | None, ground: Ground | None) -> Iterator[Outcome]:
    """The constant height of resting soles above the declared ground, and how far above it the body stays."""
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
        yield _kept(ep, p, poses, ground)


def _kept(ep: Episode, p: Params, poses: Poses, ground: Ground) -> Evidence:
    """How far above its resting soles a body stays: never surely a fault, as a step may carry it."""
    assert ep.embodiment is not None
    feet = tuple(sole.link for sole in ep.embodiment.soles)
    level = (ground.declared or 0.0) + ground.offset
    up = aloft(poses, level, feet, p.share, p.lasting)
    return Evidence.single(
        up.height, int(poses.t[0]), int(poses.t[-1]), unit="m", limit=p.limit, stream=poses.base,
        against="resting soles", channel="aloft", scope=np.array([UNKNOWN]), reason="scope-unknown",
        doubt=f"soles rest at {level:+.2f} m, and for {up.seconds:.1f} s (longest from {up.first:.1f} s on) "
              f"the lowest is up to {up.height:.2f} m above that, in no jump: a step, or lifted",
    )  # fmt: skip


def _legless(body: Embodiment) -> bool:
    parts = {joint.part for joint in body.joints}
    return bool(parts) and not parts & {"leg", "other"}
