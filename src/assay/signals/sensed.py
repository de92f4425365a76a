"""What streams show of motion: joints, human bodies, bases, fingers and objects laid on one even grid.

Each function adds to `assay.signals.activity.Signals`, on even stamps ``at`` (m,) ns at 30 Hz, what its
streams can say, what that rests on, and what they cannot say.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.model import Episode, Role, Stream
from assay.signals.activity import STEP, Signals, any_of
from assay.signals.limbs import Hands, human_hands, robot_limbs
from assay.signals.segmentation import (
    GRID,
    NO,
    UNKNOWN,
    YES,
    Floats,
    centred_median,
    half,
    resample,
    speed,
    swing,
)  # fmt: skip
from assay.signals.walked import headed, steady, walked

__all__ = ["base", "fingers", "human", "robot", "things"]

Int64 = NDArray[np.int64]

_TOUCHING: Final = ("hand", "wrist", "palm", "finger", "thumb", "index", "middle", "ring", "pinky", "object")
_GRASPING: Final = (Role.HAND_JOINTS, Role.GRIPPER)
_LIMBS: Final = ("arm", "leg", "waist", "head")


def robot(seen: Signals, body: Embodiment, group: Any, at: Int64) -> Floats | None:
    """Joints and hands of a robot whose ``group`` of joints (the feature of that name) has one clock.

    Returns:
        Its feet seen from the root, (m, f, 3) m; None where no whole leg is recorded.
    """
    q = resample(group.t, group.x, at)
    limbs, legs = _of_limbs(tuple(group.part.tolist()), tuple(group.unit.tolist()))
    seen.motion = swing(q[:, limbs], STEP) if limbs.any() else None
    seen.legs = swing(q[:, legs], STEP) if legs.any() else None
    hands, feet = robot_limbs(body, group.joint, q)
    _hands(seen, hands, body.name)
    return feet if legs.any() else None


@lru_cache(maxsize=64)
def _of_limbs(part: tuple[str, ...], unit: tuple[str, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(c,) which joints are hinges of a limb, and which of those are of a leg."""
    limbs = np.isin(np.array(part, np.str_), _LIMBS) & (np.array(unit, np.str_) == "rad")
    return limbs, limbs & (np.array(part, np.str_) == "leg")


def human(seen: Signals, stream: Stream, at: Int64) -> None:
    """Joints, hands, feet and base of a human body in the world, m."""
    names, root, feet, hips = _joints_of(stream.names)
    x = resample(stream.t, np.asarray(stream.x, np.float64), at).reshape(len(at), -1, 3)
    own = x - x[:, root : root + 1]
    seen.motion = speed(own, STEP).max(axis=1)
    seen.legs = speed(own[:, feet], STEP).max(axis=1) if feet else None
    _hands(seen, human_hands(x, names), stream.name)
    rooted = np.ptp(x[:, root], axis=0).max() < 1e-3
    if rooted and np.nanmax(seen.motion, initial=0.0) > 0.1:
        seen.unknown["locomotion"] = f"{stream.name} is told from the pelvis, which then stays where it is"
        return
    across = x[:, hips[0], :2] - x[:, hips[1], :2] if min(hips) >= 0 else None
    heading = None if across is None else np.arctan2(-across[:, 0], across[:, 1])
    _travel(seen, x[:, root, :2], heading, x[:, feet] if feet else None, stream.name)


@lru_cache(maxsize=64)
def _joints_of(channels: tuple[str, ...]) -> tuple[tuple[str, ...], int, list[int], list[int]]:
    """Names of joints, the pelvis (else the first), those of the feet, both hips (-1: absent)."""
    names = tuple(n.rpartition(".")[0] for n in channels[::3])
    feet = [i for i, n in enumerate(names) if "ankle" in n or "foot" in n]
    hips = [names.index(n) if n in names else -1 for n in ("left_hip", "right_hip")]
    return names, names.index("pelvis") if "pelvis" in names else 0, feet, hips


def _hands(seen: Signals, hands: Hands | None, whose: str) -> None:
    if hands is None:
        seen.unknown["manipulation"] = f"no whole arm of {whose} is recorded"
        return
    seen.hand, seen.front = speed(hands.p, STEP), hands.front
    seen.evidence.append(f"hands of {whose}")


def _travel(seen: Signals, p: Floats, heading: Floats | None, feet: Floats | None, whose: str) -> None:
    """Speeds over the ground of the base (m, 2) and the feet (m, f, 3), and the rate of turn."""
    travel, turn, step = walked(p, heading, feet, GRID, (half(1 / 3), half(1.0)))
    seen.travel = centred_median(travel, 1.0)
    seen.feet = step if feet is not None else None
    seen.turn = centred_median(turn, 1.0) if heading is not None else None
    seen.evidence.append(f"base {whose}")


def base(seen: Signals, stream: Stream | None, soles: Floats | None, at: Int64) -> None:
    """The base's way and turns, and those of the feet ``soles`` (m, f, 3) m that are seen from it."""
    if seen.travel is not None or "locomotion" in seen.unknown:
        return
    if stream is None:
        seen.unknown["locomotion"] = "no base pose"
    elif not stream.rate:
        seen.unknown["locomotion"] = f"{stream.name} has no rate"
    elif stream.x.shape[1] < 7 or stream.frame.startswith("unresolved-axes"):
        seen.unknown["locomotion"] = f"{stream.name}: its axes are not declared"
    elif stream.frame.startswith("unresolved"):
        # Its way is known and its turns are not: travelling can be seen, standing cannot.
        _travel(seen, resample(stream.t, stream.x[:, :2], at), None, None, stream.name)
        seen.unknown["turning"] = f"{stream.name}: {stream.frame}"
    else:
        x = resample(stream.t, steady(stream.x), at)
        heading, feet = headed(x, soles)
        _travel(seen, x, heading, feet, stream.name)


def fingers(seen: Signals, ep: Episode, at: Int64) -> None:
    """Fingers and grippers, in shares of what they can move."""
    found = []
    for stream in ep.by_role(Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER):
        use = [i for i, c in enumerate(stream.channels) if (c.role or stream.role) in _GRASPING]
        if not use:
            continue
        ranges = np.array([_range(ep.embodiment, stream, i) for i in use])
        known = np.isfinite(ranges)
        if not known.all():
            seen.unknown["fingers"] = f"units of {stream.name} are unknown"
        if known.any() and len(stream):
            x = resample(stream.t, np.asarray(stream.x[:, np.array(use)[known]], np.float64), at)
            found.append(swing(x / ranges[known], STEP))
            seen.evidence.append(f"fingers {stream.name}")
    if found:
        seen.fingers = np.max(found, axis=0)


def _range(body: Embodiment | None, stream: Stream, column: int) -> float:
    """What a finger can move, in the column's unit; one without limits may bend by 90°, a gripper by 8 cm."""
    channel = stream.channels[column]
    joint = int(body.resolve([channel.name])[0]) if body is not None else -1
    if channel.unit == "rad" and body is not None and joint >= 0:
        span = float(body.limits[0].upper[joint] - body.limits[0].lower[joint])
        return span if 0 < span < np.inf else np.pi / 2
    return {"1": 1.0, "%": 100.0, "rad": np.pi / 2, "deg": 90.0, "m": 0.08, "mm": 80.0}.get(
        channel.unit, np.nan
    )


def things(seen: Signals, ep: Episode, at: Int64) -> None:
    """Objects, and declared contacts of hands."""
    for stream in ep.by_role(Role.OBJECT_POSE):
        if len(stream) > 1 and stream.rate and stream.x.shape[1] >= 3:
            v = speed(resample(stream.t, np.asarray(stream.x[:, :3], np.float64), at), STEP)
            seen.thing = v if seen.thing is None else np.maximum(seen.thing, v)
            seen.evidence.append(f"object {stream.name}")
    for stream in ep.by_role(Role.EVENT):
        words = [n.lower() for n in stream.names]
        use = [i for i, n in enumerate(words) if "contact" in n and any(w in n for w in _TOUCHING)]
        if use and stream.rate and len(stream):
            x = resample(stream.t, np.asarray(stream.x[:, use], np.float64), at).max(axis=1)
            flags = np.where(np.isnan(x), UNKNOWN, np.where(x > 0.5, YES, NO)).astype(np.int8)
            seen.contact = flags if seen.contact is None else any_of(seen.contact, flags)
            seen.evidence.append(f"contact {stream.name}")
