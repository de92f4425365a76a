"""Feature: measured joint positions, resolved to the joints of the body."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, LimitSet
from assay.feature import feature
from assay.model import Episode, Role, Stream
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
    parts = [_layout(s, body, f"{s.name}/" if len(streams) > 1 else "") for s in streams]
    x = [_values(s, layout) for s, layout in zip(streams, parts, strict=True)]
    joint = parts[0].joint if len(parts) == 1 else np.concatenate([p.joint for p in parts])
    first = streams[0]
    return Joints(
        first.t,
        x[0] if len(x) == 1 else np.concatenate(x, axis=1),
        joint,
        tuple(name for p in parts for name in p.names),
        *_of_body(body, tuple(joint.tolist())),
        common_name([s.name for s in streams]),
        float(first.rate) if first.rate else None,
        limits.lower[joint],
        limits.upper[joint],
        tuple(name for p in parts for name in p.unresolved),
        tuple(name for p in parts for name in p.unknown_units),
    )


@lru_cache(maxsize=64)
def _of_body(
    body: Embodiment, joint: tuple[int, ...]
) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.str_]]:
    """(j,) part, side and unit of some joints."""
    mine = [body.joints[i] for i in joint]
    part, side, unit = ([getattr(j, name) for j in mine] for name in ("part", "side", "unit"))
    return np.array(part, np.str_), np.array(side, np.str_), np.array(unit, np.str_)


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Columns ``use`` that can be used, all if ``whole``: joints, factors to SI, names; names of others."""

    use: list[int]
    whole: bool
    joint: NDArray[np.intp]
    factors: NDArray[np.float64] | None
    names: tuple[str, ...]
    unresolved: tuple[str, ...]
    unknown_units: tuple[str, ...]


def _layout(stream: Stream, body: Embodiment, prefix: str) -> _Layout:
    channels = stream.channels
    names, units = tuple([c.name for c in channels]), tuple([c.unit for c in channels])
    width = stream.x.shape[1]
    return _laid_out(body, names, units, tuple([c.role for c in channels]), stream.role, width, prefix)


@lru_cache(maxsize=64)
def _laid_out(  # all that hangs on the names, which clips of one corpus share
    body: Embodiment, names: tuple[str, ...], units: tuple[str, ...], roles: tuple[Role | None, ...],
    role: Role, width: int, prefix: str,
) -> _Layout:  # fmt: skip
    index = body.resolve(names)
    own = [i for i, r in enumerate(roles) if r is None or r in STATES]
    odd = {*_no_pose(names, roles, role), *(i for i in own if index[i] < 0)}
    known = [i for i in own if index[i] >= 0]
    use = [i for i in known if _fits(units[i], body.joints[index[i]].unit)]
    factors = np.array([si_factor(units[i]) for i in use])
    named = [prefix + name for name in names]
    return _Layout(
        use, len(use) == width, index[use], None if (factors == 1.0).all() else factors,
        tuple(named[i] for i in use), tuple(named[i] for i in sorted(odd)),
        tuple(named[i] for i in known if i not in use),
    )  # fmt: skip


def _values(stream: Stream, layout: _Layout) -> NDArray[np.float64]:
    x = np.asarray(stream.x if layout.whole else stream.x[:, layout.use], np.float64)
    return x if layout.factors is None else x * layout.factors


def _no_pose(names: tuple[str, ...], roles: tuple[Role | None, ...], role: Role) -> list[int]:
    """Columns of a joint vector that are called part of a pose, or a joint's pose, and cannot be one.

    A pose has three components or more, under one name: ``quat_x`` on its own, or ``left_elbow_pose``, is a
    joint whose name was spoilt.
    """
    if role not in STATES:
        return []
    other = [i for i, r in enumerate(roles) if r is Role.OTHER]
    steps = {i: re.findall(r"[a-z]+|[0-9]+", names[i].lower()) or [""] for i in other}
    mates = Counter(tuple(words[:-1]) for words in steps.values() if _component(words[-1]))
    return [
        i
        for i, words in steps.items()
        if (_component(words[-1]) or JOINTED.intersection(words))
        and not (_component(words[-1]) and mates[tuple(words[:-1])] >= 3)
    ]


def _component(word: str) -> bool:
    return word in COMPONENTS or word.isdigit()


def _fits(said: str, unit: str) -> bool:
    return said != "unknown" and si_unit(said) == unit


def common_name(names: list[str]) -> str:
    """One name for several streams: their common beginning, else all of them joined by ``+``."""
    steps = [name.split(".") for name in names]
    shared = [parts[0] for parts in zip(*steps, strict=False) if len(set(parts)) == 1]
    return ".".join(shared) or "+".join(names)
