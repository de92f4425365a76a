"""Feature: measured joint positions, resolved to the joints of the body."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, LimitSet
from assay.feature import feature
from assay.model import Channel, Episode, Role, Stream
from assay.units import si_factor, si_unit

__all__ = ["Joints", "joint_groups", "joints"]

JOINTED = frozenset(("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "waist", "torso", "neck"))
COMPONENTS = frozenset(("x", "y", "z", "w", "roll", "pitch", "yaw"))
STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Measured positions of the joints that share one clock.

    Attributes:
        t: (n,) int64 ns.
        x: (n, j) in the joint's unit (rad, m, or 1 for a share of a drive's range).
        joint: (j,) index into the body's joints.
        names: (j,) native channel names; with the stream's name in front where several streams are joined.
        part, side, unit: (j,) of the body's joints.
        stream: the stream's name; what the names have in common where several are joined.
        rate: declared rate in Hz, or None.
        lower, upper: (j,) of the limit set that the sheet asks for, else the body's first; unknown is inf.
        unresolved: channels that name no joint of the body, those among them that a reader took for part of
            a pose by a word of the name while the stream holds no whole pose of that name.
        unknown_units: channels whose unit is unknown or not the joint's.
    """

    t: NDArray[np.int64]
    x: NDArray[np.float64]
    joint: NDArray[np.intp]
    names: tuple[str, ...]
    part: NDArray[np.str_]
    side: NDArray[np.str_]
    unit: NDArray[np.str_]
    stream: str
    rate: float | None
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    unresolved: tuple[str, ...]
    unknown_units: tuple[str, ...]


@feature(reads=STATES)
def joint_groups(ep: Episode) -> tuple[Joints, ...]:
    """All measured joints, one `Joints` for each clock, in stored order; empty without a body or stream.

    Split streams (``observation.state.left_arm``...) are joined where their stamps are equal. Channels of
    another kind (a base pose in the same vector) are left out; columns whose unit is unknown are listed and
    left out. Units: SI.
    """
    if ep.embodiment is None:
        return ()
    shared: list[list[Stream]] = []
    for stream in ep.by_role(*STATES):
        for group in shared:
            if group[0].t is stream.t or np.array_equal(group[0].t, stream.t):
                group.append(stream)
                break
        else:
            shared.append([stream])
    limits = ep.embodiment.limit_set(ep.limit_set or None)
    return tuple(_joined(group, ep.embodiment, limits) for group in shared)


@feature(reads=())
def joints(ep: Episode, joint_groups: tuple[Joints, ...]) -> Joints | None:
    """The clock with the most joints, or None where there is no body or no joint. See `Joints`."""
    return max((g for g in joint_groups if len(g.joint)), key=lambda g: len(g.joint), default=None)


def _joined(streams: list[Stream], body: Embodiment, limits: LimitSet) -> Joints:
    parts = [_resolved(s, body, f"{s.name}/" if len(streams) > 1 else "") for s in streams]
    joint = np.concatenate([p[1] for p in parts])
    mine = [body.joints[i] for i in joint]
    first = streams[0]
    x = parts[0][0] if len(parts) == 1 else np.concatenate([p[0] for p in parts], axis=1)
    return Joints(
        first.t,
        x,
        joint,
        tuple(name for p in parts for name in p[2]),
        np.array([j.part for j in mine], dtype=np.str_),
        np.array([j.side for j in mine], dtype=np.str_),
        np.array([j.unit for j in mine], dtype=np.str_),
        common_name([s.name for s in streams]),
        float(first.rate) if first.rate else None,
        limits.lower[joint],
        limits.upper[joint],
        tuple(name for p in parts for name in p[3]),
        tuple(name for p in parts for name in p[4]),
    )


Resolved = tuple[NDArray[np.float64], NDArray[np.intp], list[str], list[str], list[str]]


def _resolved(stream: Stream, body: Embodiment, prefix: str) -> Resolved:
    """Values, joints and names of the columns that can be used; unresolved names; unknown units."""
    index = body.resolve(stream.names)
    own = [i for i, c in enumerate(stream.channels) if c.role is None or c.role in STATES]
    odd = {*_no_pose(stream), *(i for i in own if index[i] < 0)}
    known = [i for i in own if index[i] >= 0]
    use = [i for i in known if _fits(stream.channels[i], body.joints[index[i]].unit)]
    factors = np.array([si_factor(stream.channels[i].unit) for i in use])
    whole = len(use) == stream.x.shape[1]
    x = np.asarray(stream.x if whole else stream.x[:, use], np.float64)
    return (
        x if (factors == 1.0).all() else x * factors,
        index[use],
        [prefix + stream.channels[i].name for i in use],
        [prefix + stream.channels[i].name for i in sorted(odd)],
        [prefix + stream.channels[i].name for i in known if i not in use],
    )


def _no_pose(stream: Stream) -> list[int]:
    """Columns of a joint vector that are called part of a pose, or a joint's pose, and cannot be one.

    A pose has three components or more, under one name: ``quat_x`` on its own, or ``left_elbow_pose``, is a
    joint whose name was spoilt.
    """
    if stream.role not in STATES:
        return []
    other = [i for i, c in enumerate(stream.channels) if c.role is Role.OTHER]
    steps = {i: re.findall(r"[a-z]+|[0-9]+", stream.channels[i].name.lower()) or [""] for i in other}
    mates = Counter(tuple(words[:-1]) for words in steps.values() if _component(words[-1]))
    return [
        i
        for i, words in steps.items()
        if (_component(words[-1]) or JOINTED.intersection(words))
        and not (_component(words[-1]) and mates[tuple(words[:-1])] >= 3)
    ]


def _component(word: str) -> bool:
    return word in COMPONENTS or word.isdigit()


def _fits(channel: Channel, unit: str) -> bool:
    return channel.unit != "unknown" and si_unit(channel.unit) == unit


def common_name(names: list[str]) -> str:
    """One name for several streams: their common beginning, else all of them joined by ``+``."""
    steps = [name.split(".") for name in names]
    shared = [parts[0] for parts in zip(*steps, strict=False) if len(set(parts)) == 1]
    return ".".join(shared) or "+".join(names)
