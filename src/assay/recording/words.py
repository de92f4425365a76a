"""What a topic or field is about, from the words of its name."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

from assay.model import Role

__all__ = ["by_words", "is_request", "side_of", "unit_of", "words"]

_REQUEST: Final = frozenset(
    {"command", "commands", "commanded", "cmd", "lowcmd", "target", "targets", "desired", "goal", "action"}
    | {"actions", "request", "leader", "master", "setpoint", "reference", "ctrl"}
)

# The first rule with a word of the name decides: quantities before body parts, hands before arms.
_WORDS: Final[tuple[tuple[Role, frozenset[str]], ...]] = tuple(
    (role, frozenset(found.split()))
    for role, found in (
        (Role.OTHER, "eef ee tcp effector cartesian pose poses quat quaternion ori rpy euler tf twist"),
        (Role.JOINT_VELOCITY, "vel velocity velocities qvel dq speed speeds"),
        (Role.JOINT_TORQUE, "torque torques effort efforts tau"),
        (Role.CURRENT, "current currents"),
        (Role.TACTILE, "tactile touch taxel taxels pressure"),
        (Role.FORCE_TORQUE, "force forces wrench ft"),
        (Role.IMU, "imu gyro gyroscope accel accelerometer acceleration"),
        (Role.REWARD, "reward rewards"),
        (Role.EVENT, "event events success failure marker markers button buttons trigger episode"),
        (Role.OTHER, "temperature voltage"),
        (Role.GRIPPER, "gripper grippers jaw claw"),
        (Role.HAND_JOINTS, "hand hands finger fingers thumb index middle ring pinky little"),
        (Role.JOINT_POSITION, "joint joints qpos q position positions motor motors arm arms leg legs waist"),
    )
)  # fmt: skip
_UNITS: Final = {Role.JOINT_POSITION: "rad", Role.JOINT_VELOCITY: "rad/s", Role.JOINT_TORQUE: "N*m"}
_SLIDING: Final = frozenset(
    {
        "finger",
        "fingers",
        "gripper",
        "grippers",
        "jaw",
        "slide",
        "slider",
        "prismatic",
        "lift",
        "linear",
        "rail",
    }
)


@cache
def words(text: str) -> frozenset[str]:
    """The lower-case words of a name; camel case is split."""
    return frozenset(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()))


def is_request(*texts: str) -> bool:
    """Whether a name says that this was asked for rather than sensed."""
    return any(words(text) & _REQUEST for text in texts)


def by_words(*texts: str) -> Role:
    """The role that names tell, the first name that tells any; ``OTHER`` where none does."""
    for text in texts:
        found = words(text)
        for role, known in _WORDS:
            if known & found:
                return role
    return Role.OTHER


def side_of(text: str) -> Literal["left", "right", ""]:
    """The side that a name tells."""
    left, right = "left" in words(text), "right" in words(text)
    return "left" if left and not right else "right" if right and not left else ""


def unit_of(role: Role, joint: str) -> str:
    """The unit of a joint's value by REP 103; of what may slide instead of turn it is not known."""
    return "unknown" if words(joint) & _SLIDING else _UNITS.get(role, "unknown")
