"""What a gate on motion needs before it can look at feet, ground or forces, and why it is not there."""

from __future__ import annotations

from typing import Final

import numpy as np

from assay.gate import Abstain
from assay.model import Clock, Episode, Role, Stream
from assay.signals.dynamics import LEAST, LEAST_RATE, Dynamics, mass_known
from assay.signals.feet import stamps
from assay.signals.ground import Ground
from assay.signals.human_feet import human_feet
from assay.signals.intervals import period
from assay.signals.posture import Poses
from assay.signals.stance import SHAKY, Stance

__all__ = ["no_dynamics", "no_ground", "no_rate", "no_soles", "no_source"]

_NO_RATE: Final = "the rate of {} is not stated (fps = in its part of the sheet)"
LEAST_STANCE: Final = 0.05
"""Share of frames with a standing foot below which the source says nothing (a walk has 55 to 65 %)."""


def no_soles(ep: Episode, poses: Poses | None) -> Abstain | None:
    """Why the soles' places over time are not known; None where they are."""
    if not ep.by_role(Role.JOINT_POSITION):
        return Abstain("absent-stream", "no joint positions")
    if ep.embodiment is None or ep.embodiment.tree is None:
        return Abstain("unknown-body", "no soles without a body and its links")
    if ep.embodiment.apart:
        return Abstain("claimed-body", ep.embodiment.apart)
    if not ep.embodiment.soles:
        return Abstain("no-reference", f"the model of {ep.embodiment.name} shows no soles")
    return _not_placed(ep, poses)


def _not_placed(ep: Episode, poses: Poses | None) -> Abstain | None:
    """Why links of a known body have no place in the world, or no time."""
    if poses is None:
        return Abstain("unresolved-names", "no joint of the body is named, or no unit is known")
    if not poses.base:
        code = "absent-stream" if not ep.by_role(Role.BASE_POSE) else "not-declared"
        return Abstain(code, poses.why)
    if not poses.timed:
        return Abstain("not-declared", "the rate (fps) is not stated: speeds are unknown", poses.stream)
    return None


def no_source(ep: Episode, poses: Poses | None, stance: Stance | None) -> Abstain | None:
    """Why stance is not known from a human source; None where it is.

    The robot's own soles are no substitute: a floating or sliding foot would leave its own trial.
    """
    missing = no_soles(ep, poses)
    if missing is not None:
        return missing
    if stance is None or stance.grade != "source":
        return Abstain("no-reference", f"stance is taken from the human source: {_unused(ep)}")
    if not stance.noise <= SHAKY:
        return Abstain("reference-noisy", f"the source shakes by {stance.noise * 1e3:.1f} mm", stance.stream)
    seen = max(np.count_nonzero(s) / len(s) for s in stance.state.values()) if len(stance.t) else 0.0
    if seen < LEAST_STANCE:
        return Abstain("reference-noisy", "the source's feet never stand still", stance.stream)
    return None


def _unused(ep: Episode) -> str:
    """Why a human source that may be there is of no use: each has a cure of its own."""
    why = "there is none"
    for stream in ep.by_role(Role.HUMAN_BODY):
        if human_feet(stream) is None:
            why = f"{stream.name} has no joints named as feet, in metres and in the world's frame"
        elif _rateless(stream):
            why = _NO_RATE.format(stream.name)
        else:
            why = f"{stream.name} has no place on the robot's clock (offset = in its part of the sheet)"
    return why


def no_rate(ep: Episode) -> str:
    """Which human has no place on the robot's clock because nobody states its rate; empty where none has."""
    return next((_NO_RATE.format(s.name) for s in ep.by_role(Role.HUMAN_BODY) if _rateless(s)), "")


def _rateless(stream: Stream) -> bool:
    rate = float(stream.rate) if stream.rate else None
    return stamps(stream.t, rate, nominal=stream.clock is Clock.NOMINAL) is None


def no_ground(ep: Episode, poses: Poses | None, ground: Ground | None) -> Abstain | None:
    """Why heights have nothing to be compared with; None where a ground is declared."""
    missing = no_soles(ep, poses)
    if missing is not None:
        return missing
    if ground is None or ground.declared is None:
        rest = ground.offset if ground is not None else float("nan")
        lies = f"; soles rest at z = {rest:.2f} m" if np.isfinite(rest) else ""
        return Abstain("no-ground", f"no ground is declared (ground = in the sheet){lies}")
    return None


def no_dynamics(ep: Episode, poses: Poses | None, dynamics: Dynamics | None) -> Abstain | None:
    """Why forces are not known of a body whose soles are (see `no_soles`); None where they are."""
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
