"""A small whole-body clip with known truth: a G1 that squats, sways and waves on planted feet."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import load
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import about, rotate
from assay.model import Channel, Clock, Episode, Kind, Role, Stream
from assay.signals.readings import breadth_first

__all__ = ["at_rate", "foreign", "longer", "shuffled", "squats", "swapped", "undeclared", "unpaced"]

POSE = tuple(Channel(n, "m" if n in "xyz" else "1") for n in ("x", "y", "z", "qw", "qx", "qy", "qz"))


def squats(seconds: float = 6.0, rate: int = 30, *, heading: float = 1.2, travel: float = 0.0) -> Episode:
    """Squats of a G1 with 29 joints whose left foot stays where it is.

    Args:
        seconds: length.
        rate: frames per second of every stream.
        heading: rad, where it looks.
        travel: m/s at which the whole body is carried along ahead (which no body does).

    Returns:
        Streams ``joints`` (rad), ``velocities`` (rad/s, their derivative) and ``root`` (xyz, wxyz).
    """
    body = load("unitree_g1_29")
    tree = body.tree
    assert tree is not None
    t = np.arange(round(seconds * rate)) / rate
    q = _joints(t, tree.joints)
    turned = np.broadcast_to(about([0.0, 0.0, 1.0], heading), (len(t), 4))
    foot, _ = link_poses(tree, q, None, turned, ["left_ankle_roll_link"])
    ahead = rotate(turned, [1.0, 0.0, 0.0])
    root = np.concatenate([[0.4, -0.2, 0.04] - foot[:, 0] + travel * t[:, None] * ahead, turned], axis=1)
    stamps = np.rint(t * 1e9).astype(np.int64)
    names = tree.joints
    dq = np.gradient(q, 1 / rate, axis=0)
    dq[0] = 0.0  # every bend begins at rest

    def stream(name: str, role: Role, x: NDArray[np.float64], channels: tuple[Channel, ...]) -> Stream:
        return Stream(name, role, stamps, x, channels, Clock.NOMINAL, Fraction(rate))

    streams = (
        stream("joints", Role.JOINT_POSITION, q, tuple(Channel(n, "rad") for n in names)),
        stream("velocities", Role.JOINT_VELOCITY, dq,
               tuple(Channel(n, "rad/s") for n in names)),
        stream("root", Role.BASE_POSE, root, POSE),
    )  # fmt: skip
    return Episode("squats", streams, body, Kind.RETARGETED)


def swapped(order: tuple[int, ...]) -> Episode:
    """The squats with the quaternion's columns in another order."""
    root = squats().stream("root")
    assert root is not None
    x = np.array(root.x)
    x[:, 3:] = x[:, 3:][:, order]
    return squats().with_stream(replace(root, x=x))


def shuffled() -> Episode:
    """The squats with joints stored breadth-first under names that are depth-first."""
    ep = squats()
    assert ep.embodiment is not None
    assert ep.embodiment.tree is not None
    order = list(breadth_first(ep.embodiment.tree))
    joints, velocities = ep.streams[0], ep.streams[1]
    return ep.with_stream(replace(joints, x=joints.x[:, order])).with_stream(
        replace(velocities, x=velocities.x[:, order]))  # fmt: skip


def foreign(share: float) -> Episode:
    """The squats with noise in each stored velocity, as a share of its own size."""
    v = squats().streams[1]
    noise = np.random.default_rng(0).normal(size=v.x.shape) * np.std(v.x, axis=0)
    return squats().with_stream(replace(v, x=v.x + share * noise))


def at_rate(times: float) -> Episode:
    """The squats whose stored velocities are those of another rate."""
    v = squats().streams[1]
    return squats().with_stream(replace(v, x=v.x * times))


def longer(times: float, up: float = 0.0) -> Episode:
    """The squats on a floor ``up`` m high, with a base position so many times as long."""
    root = squats().stream("root")
    assert root is not None
    x = np.array(root.x)
    x[:, :3] = times * (x[:, :3] + [0.0, 0.0, up])
    return squats().with_stream(replace(root, x=x))


def undeclared() -> Episode:
    """The squats with a quaternion whose order nobody declared."""
    root = squats().streams[2]
    return squats().with_stream(replace(root, frame="unresolved-quaternion"))


def unpaced() -> Episode:
    """The squats without a stated rate."""
    ep = squats().without_stream("velocities")
    return replace(ep, streams=tuple(replace(s, rate=None) for s in ep.streams))


def _joints(t: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Bends that keep both soles level and swing nothing beyond a limit; (n, 29) rad."""
    bend = 0.45 - 0.25 * np.cos(2 * np.pi * 0.4 * t)
    sway = 0.08 * np.cos(2 * np.pi * 0.25 * t)
    shares = {"hip_pitch": (-1, bend), "knee": (2, bend), "ankle_pitch": (-1, bend), "hip_roll": (1, sway),
              "ankle_roll": (-1, sway), "waist_yaw": (3, sway), "elbow": (1.5, bend)}  # fmt: skip
    q = np.zeros((len(t), len(names)))
    for column, name in enumerate(names):
        for word, (factor, wave) in shares.items():
            if word in name:
                q[:, column] = factor * wave
        if "shoulder" in name:
            side = 1.0 if "left" in name else -1.0
            reach = {"pitch": -0.5, "roll": 0.3 * side, "yaw": 0.2 * side}[name.split("_")[2]]
            q[:, column] = reach + 0.2 * side * np.cos(2 * np.pi * 0.5 * t)
    return q
