"""What a column means, from its name, the feature it stands in, and GR00T's ``modality.json``.

A unit is given only where something says it: a joint of a packaged body, or the name (``…_rad``).
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Joint, cards, load
from assay.model import Channel, Clock, Role

__all__ = [
    "STAMPS",
    "TIMES",
    "WHO",
    "by_body",
    "channel",
    "in_scale",
    "sided",
    "stamp_name",
    "stream_role",
    "words",
]

_PARTS: Final[dict[str, Role]] = {"hand": Role.HAND_JOINTS, "gripper": Role.GRIPPER}

_UNITS: Final[dict[str, str]] = {
    "rad": "rad", "radian": "rad", "radians": "rad", "deg": "deg", "degree": "deg", "degrees": "deg",
    "m": "m", "mm": "mm", "cm": "cm", "nm": "N*m", "amp": "A", "amps": "A",
}  # fmt: skip

_MOST: Final = {"rad": 2 * math.pi, "1": 2.0}
"""The largest usual value of a joint, and of a drive that reports a share of its range."""

_JOINTED: Final = "shoulder elbow wrist hip knee ankle waist torso neck head arm leg joint motor"

# The first rule with a word of the name decides: quantities before body parts, hands before arms.
_WORDS: Final[tuple[tuple[Role, frozenset[str]], ...]] = tuple(
    (role, frozenset(words.split()))
    for role, words in (
        (Role.JOINT_VELOCITY, "vel velocity velocities qvel dq speed"),
        (Role.JOINT_TORQUE, "torque torques effort efforts tau"),
        (Role.CURRENT, "current currents"),
        (Role.TACTILE, "tactile touch taxel taxels pressure"),
        (Role.FORCE_TORQUE, "force forces wrench ft"),
        (Role.IMU, "imu gyro gyroscope accel accelerometer acceleration"),
        (Role.OTHER, "eef ee tcp effector cartesian pose quat quaternion ori rpy euler base root"),
        (Role.GRIPPER, "gripper grippers jaw claw"),
        (Role.HAND_JOINTS, "hand finger fingers thumb index middle ring pinky little palm proximal distal"),
        (Role.JOINT_POSITION, _JOINTED),
    )
)  # fmt: skip
_QUANTITY: Final = re.compile(r"[._](vel|velocity|qvel|dq|torque|tau|effort)$", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"j(?:oint|nt)?\d+|motor\d+")

STAMPS: Final = frozenset({"timestamp", "timestamps", "stamp", "stamps"})
TIMES: Final = frozenset({"time", "times"})
WHO: Final = {
    Clock.SENSOR: frozenset({"capture", "captured", "sensor", "device", "hardware", "hw", "exposure"}),
    Clock.RECEIVE: frozenset({"receive", "received", "recv", "arrival", "host"}),
    Clock.LOG: frozenset({"log", "logged", "record", "recorded", "written", "wall"}),
}  # fmt: skip
"""Words that tell of a stamp, and who made it."""

_LIMBS: Final = ("arm", "leg", "hand", "gripper", "waist", "head", "neck", "torso")


def words(text: str) -> list[str]:
    """The lower-case words of a name; camel case is split."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower())


def stamp_name(feature: str) -> bool:
    """Whether a feature of this name holds stamps, such as ``observation.state.capture_time``."""
    found = set(words(feature))
    return bool(found & STAMPS or (found & TIMES and found & frozenset().union(*WHO.values())))


@cache
def _known(name: str) -> Joint | None:
    """The joint of any packaged body that this name resolves to."""
    for card in cards():
        body = load(card)
        at = int(body.resolve([name])[0])
        if at >= 0:
            return body.joints[at]
    return None


def _by_words(found: list[str]) -> Role | None:
    for role, known in _WORDS:
        if known.intersection(found):
            return role
    return Role.JOINT_POSITION if any(_NUMBERED.fullmatch(word) for word in found) else None


@cache
def channel(name: str, feature: str, part: str) -> Channel:
    """A column's role and unit.

    Args:
        name: its native name.
        feature: the feature it stands in, e.g. ``observation.state.left_arm``.
        part: the limb that ``modality.json`` gives its index, or empty.
    """
    joint = _known(_QUANTITY.sub("", name))
    quantity = _by_words([w for w in words(feature) if w not in ("state", "observation", "action")])
    if quantity in (Role.JOINT_VELOCITY, Role.JOINT_TORQUE, Role.CURRENT, Role.TACTILE, Role.FORCE_TORQUE):
        speed = quantity is Role.JOINT_VELOCITY and joint is not None and joint.unit == "rad"
        return Channel(name, "rad/s" if speed else _said(name), quantity)
    if joint is not None:
        return Channel(name, joint.unit, _PARTS.get(joint.part, Role.JOINT_POSITION))
    own = _by_words(words(name))
    limb = _by_words(words(part)) or quantity
    # A bare "motor_7" says less than the limb its index belongs to.
    role = limb if own in (None, Role.JOINT_POSITION) and limb is not None else own
    return Channel(name, _said(name), role)


def _said(name: str) -> str:
    return _UNITS.get(words(name)[-1], "unknown") if words(name) else "unknown"


@cache
def by_body(name: str) -> bool:
    """Whether only a packaged body's joint of this name tells the unit of a column."""
    return _known(name) is not None and _said(name) == "unknown"


def in_scale(channels: tuple[Channel, ...], x: NDArray[Any]) -> bool:
    """Whether columns whose unit only the body tells can be in it: usually within a turn, or twice the range.

    Per cent and degrees under a joint's name are neither, while a joint beyond its limit still is; a column
    of nonsense beyond 10,000 does not decide.
    """
    most = [_MOST.get(c.unit, np.inf) if by_body(c.name) else np.inf for c in channels]
    if len(most) != x.shape[1] or not len(x) or x.dtype.kind != "f" or not np.isfinite(most).any():
        return True
    size = np.abs(x)
    wide = np.flatnonzero((size.max(axis=0) > most) & (size.max(axis=0) < 1e4))
    return not (np.median(size[:, wide], axis=0) > np.array(most)[wide]).any()


def stream_role(feature: str, channels: tuple[Channel, ...]) -> Role:
    """The role of a numeric feature as a whole."""
    if feature == "action" or feature.startswith(("action.", "actions.")):
        return Role.REQUEST
    if feature.startswith("next."):
        return Role.REWARD if feature == "next.reward" else Role.EVENT
    roles = {c.role for c in channels if c.role is not None}
    if feature == "observation.state" or feature.startswith("observation.state."):
        if len(roles) == 1:
            return roles.pop()
        return Role.JOINT_POSITION if not roles or Role.JOINT_POSITION in roles else Role.OTHER
    quantity = _by_words(words(feature))
    plain = {Role.JOINT_VELOCITY, Role.JOINT_TORQUE, Role.CURRENT, Role.TACTILE, Role.FORCE_TORQUE, Role.IMU}
    return quantity if quantity in plain and feature.startswith("observation.") else Role.OTHER


def sided(feature: str) -> tuple[Literal["left", "right", ""], str]:
    """Side and limb that a split key names: ``observation.state.left_arm`` → left, arm."""
    found = words(feature)
    side: Literal["left", "right", ""] = ""
    if ("left" in found) != ("right" in found):
        side = "left" if "left" in found else "right"
    return side, next((limb for limb in _LIMBS if limb in found), "")
