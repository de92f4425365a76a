"""A joint would need more torque than its drive has.

What: torque that the motion asks of each joint, over the joint's rated effort.

Why: a tracker that saturates falls behind or falls over; human mass moves by muscle, a robot's by motors of
known strength.

Method: inverse dynamics over the body's masses, after a low pass at 6 Hz; the ground's forces are the least
ones at the soles, inside friction cones, that account for the motion of the whole body. More than the rated
effort in more than 1 % of frames fails, arms, waist and legs apart; legs only on one foot. Where sources
disagree about the effort, a torque between two of them is not decided.

Source: METHODS 3 (own suggestion: 1 % of frames). REAL-CLIPS: 38 of 43 public clips are
beyond 1 %, depending on how the ground's force is split: for information until it is calibrated.

Blind spots: legs with two feet down, between which the split of force is not known; speed lowers what a
drive gives; impacts and all above 6 Hz are filtered away; friction and gears, loads and worn hands are not
counted; frames in which a knee or a hand may touch the ground are unknown; a clip with a moved object
abstains.

Dose: peak torque over rated effort (1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.gate import IN, OUT, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.dynamics import Dynamics
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.synth.efforts import swung
from assay.synth.squats import squats
from assay.unmet import no_dynamics, no_soles

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG010."""

    limit: float = param(1.0, "1", "what the drive is rated for", judged=True)
    quota: float = param(0.01, "1", "METHODS 3: 1 % of frames; own figure, not calibrated", judged=True)
    u: float = param(0.03, "1", "arms: 95 % within 6 % of the drives' torque in simulation")
    u_body: float = param(0.1, "1", "waist: 95 % within 16 % of the same; legs on one foot are not better")


def rated(ep: Episode, effort: float) -> Episode:
    """The same body, all of whose joints are rated for ``effort`` N*m by every source."""
    assert ep.embodiment is not None
    limits = tuple(replace(s, effort=np.full(len(s.effort), effort)) for s in ep.embodiment.limits)
    return replace(ep, embodiment=replace(ep.embodiment, limits=limits))


CASES = (
    Case("squats", squats, "pass"),
    Case("an arm swung gently", lambda: swung(0.15), "pass"),
    Case("an arm swung at 0.8 of its drive", lambda: swung(0.26), "pass"),
    Case("an arm swung at 1.3 of its drive", lambda: swung(0.5), "fail", at=(2.0, 4.0)),
    Case("the same at 200 Hz", lambda: swung(0.5, rate=200), "fail", at=(2.0, 4.0)),
    Case("no rated effort", lambda: rated(squats(), np.inf), "abstain", reason="no-reference"),
    Case("20 frames a second", lambda: squats(rate=20), "abstain", reason="undecided"),
    Case("no base pose", lambda: squats().without_stream("root"), "abstain", reason="absent-stream"),
    Case("no body", lambda: replace(squats(), embodiment=None), "abstain", reason="unknown-body"),
)  # fmt: skip


@gate(
    code="RTG010", name="torque-saturation", version=2,
    reads=(Role.JOINT_POSITION, Role.BASE_POSE, Role.OBJECT_POSE),
)  # fmt: skip
def measure(ep: Episode, p: Params, poses: Poses | None, dynamics: Dynamics | None) -> Iterator[Outcome]:
    """Torque over rated effort, the largest over the joints, in each frame."""
    missing = no_soles(ep, poses) or no_dynamics(ep, poses, dynamics)
    if missing is not None or poses is None or dynamics is None or ep.embodiment is None:
        yield missing or Abstain("absent-stream")
        return
    weak, strong, card = _efforts(ep.embodiment, ep.limit_set, dynamics.torque.shape[1])
    parts = np.array([j.part for j in ep.embodiment.joints[: len(strong)]])
    found = False
    for part in ("arm", "waist", "leg"):
        use = np.flatnonzero((parts == part) & np.isfinite(strong))
        if len(use):
            found = True
            yield _evidence(ep, p, poses, dynamics, use, (weak[use], strong[use], card[use]), part)
    if not found:
        yield Abstain("no-reference", "no source says what the drives are rated for", poses.stream)


def _evidence(
    ep: Episode, p: Params, poses: Poses, dynamics: Dynamics, use: NDArray[np.intp],
    rated: tuple[Floats, Floats, Floats], part: str,
) -> Evidence:  # fmt: skip
    weak, strong, card = rated
    torque = np.abs(dynamics.torque[:, use])
    value = (torque / strong).max(axis=1)
    scope = np.where(dynamics.steady & ((part != "leg") | (dynamics.carried < 2)), IN, OUT)
    scope[dynamics.other & (scope == IN)] = UNKNOWN
    low = bool((scope == UNKNOWN).any())
    narrow = (torque / weak).max(axis=1)
    between = (narrow > p.limit) & ~(value > p.limit) & (scope == IN)
    scope[between] = UNKNOWN
    only = between & ((torque / card).max(axis=1) > p.limit)
    open_ = "claimed-body" if only.mean() > p.quota else "limits-conflict"
    rate = ep.by_role(Role.JOINT_POSITION)[0].rate
    return Evidence(
        np.where(between, narrow, value), poses.t, ends(poses.t, float(rate) if rate else None), "1", p.limit,
        u=p.u if part == "arm" else p.u_body, scope=scope, stream=poses.stream, against="rated effort",
        which=(torque / strong).argmax(axis=1), channels=tuple(poses.tree.joints[i] for i in use),
        quota=p.quota, reason=open_ if between.any() else "scope-unknown" if low else "undecided",
        doubt="two sources rate the drive differently" if between.any() else "",
    )  # fmt: skip


def _efforts(body: Embodiment, chosen: str, width: int) -> tuple[Floats, Floats, Floats]:
    """The weakest and the strongest rating of each joint; one set's where the sheet chose it.

    Third: the strongest without a model file of the corpus's own.
    """
    if chosen:
        effort = body.limit_set(chosen).effort[:width]
        return effort, effort, effort
    every, card = (
        [s.effort[:width] for s in sets if s.grade != "soft"] for sets in (body.limits, body.unclaimed)
    )
    return np.min(every, axis=0), _strongest(every), _strongest(card)


def _strongest(rated: list[Floats]) -> Floats:
    known = np.where(np.isfinite(rated), rated, -np.inf).max(axis=0)
    return np.where(known > 0, known, np.inf)
