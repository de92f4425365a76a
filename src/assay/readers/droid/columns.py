"""The arrays of a DROID trajectory that become streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from assay.model import Channel, Role

__all__ = ["COLUMNS", "Column"]


@dataclass(frozen=True, slots=True)
class Column:
    """One array: its path, what it holds, and its columns."""

    path: str
    role: Role
    channels: tuple[Channel, ...]
    frame: str = ""


def _arm(path: str, role: Role, unit: str, quantity: Role, tail: str = "") -> Column:
    channels = tuple(Channel(f"panda_joint{i}{tail}", unit, quantity) for i in range(1, 8))
    return Column(path, role, channels)


def _one(path: str, role: Role, name: str, unit: str, quantity: Role) -> Column:
    return Column(path, role, (Channel(name, unit, quantity),))


def _hand(path: str, role: Role, units: tuple[str, str], tail: str = "") -> Column:
    """Xyz and Euler angles of the hand in the frame of the robot's base."""
    names = (("x", units[0]), ("y", units[0]), ("z", units[0]), ("roll", units[1]), ("pitch", units[1]),
             ("yaw", units[1]))  # fmt: skip
    return Column(path, role, tuple(Channel(f"hand.{n}{tail}", u, Role.OTHER) for n, u in names), "base")


_STATE: Final = "observation/robot_state"
_POSITION, _VELOCITY, _TORQUE = Role.JOINT_POSITION, Role.JOINT_VELOCITY, Role.JOINT_TORQUE

COLUMNS: Final = (
    _arm(f"{_STATE}/joint_positions", _POSITION, "rad", _POSITION),
    _arm(f"{_STATE}/joint_velocities", _VELOCITY, "rad/s", _VELOCITY),
    _arm(f"{_STATE}/joint_torques_computed", _TORQUE, "N*m", _TORQUE),
    _arm(f"{_STATE}/motor_torques_measured", _TORQUE, "N*m", _TORQUE),
    _one(f"{_STATE}/gripper_position", Role.GRIPPER, "gripper", "1", Role.GRIPPER),
    _hand(f"{_STATE}/cartesian_position", Role.OTHER, ("m", "rad")),
    _one(f"{_STATE}/prev_controller_latency_ms", Role.OTHER, "latency", "ms", Role.OTHER),
    _arm("action/joint_position", Role.REQUEST, "rad", _POSITION),
    _arm("action/joint_velocity", Role.REQUEST, "unknown", _VELOCITY, " velocity"),
    _one("action/gripper_position", Role.REQUEST, "gripper", "1", Role.GRIPPER),
    _one("action/gripper_velocity", Role.REQUEST, "gripper velocity", "unknown", Role.GRIPPER),
    _hand("action/cartesian_position", Role.REQUEST, ("m", "rad")),
    _hand("action/cartesian_velocity", Role.REQUEST, ("unknown", "unknown"), " velocity"),
    _one("observation/timestamp/skip_action", Role.EVENT, "skip_action", "1", Role.EVENT),
)
"""Every array that is read, in the order of the streams."""
