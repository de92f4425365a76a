"""What inverse dynamics need, and why they cannot be had (not a feature: shared sentences)."""

from __future__ import annotations

from assay.gate import Abstain
from assay.model import Episode, Role
from assay.signals.dynamics import LEAST, LEAST_RATE, Dynamics, mass_known
from assay.signals.intervals import period
from assay.signals.posture import Poses

__all__ = ["no_dynamics"]


def no_dynamics(ep: Episode, poses: Poses | None, dynamics: Dynamics | None) -> Abstain | None:
    """Why forces are not known of a body whose soles are (see `assay.features.feet`); None where they are."""
    if poses is None:
        return Abstain("unresolved-names", "no joint of the body is named, or no unit is known")
    rate = 1e9 / (period(poses.t) or 1.0)
    reasons = (
        (not mass_known(poses.tree), "no-reference", "the model does not say what every link weighs"),
        (
            bool(ep.by_role(Role.OBJECT_POSE)),
            "no-reference",
            "forces of the object that it moves are unknown",
        ),
        (not poses.known.all(), "unresolved-names", "some joints of the body are not recorded"),
        (len(poses.t) < LEAST, "too-short", f"{len(poses.t)} frames"),
        (rate < LEAST_RATE / 1.001, "undecided", f"{rate:.0f} frames a second: too few for accelerations"),
        (dynamics is None, "no-reference", "no ground, or frames at uneven times"),
    )
    return next((Abstain(code, why, poses.stream) for holds, code, why in reasons if holds), None)
