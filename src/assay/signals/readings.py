"""Rival readings of a floating body's motion: what is done to numbers before they mean what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.body import normalise
from assay.embodiment.kinematics import points

__all__ = ["DECLARED", "Joints", "Motion", "Reading", "Turn", "breadth_first", "pairs", "readings"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Kind = Literal["declared", "joint-order", "quaternion-order", "unit", "length-unit", "inverse-quaternion",
               "up-axis", "left-right", "sign", "joint-set", "two"]  # fmt: skip


TURN: Final = 4096
"""Ticks of a turn, as smart servos count them."""

# The 23 joints of two robots that share a name: Unitree's has wrists that roll, ASAP's a waist of three axes.
_LEGS: Final = tuple(
    f"{side}_{part}" for side in ("left", "right")
    for part in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
)  # fmt: skip
_ARM: Final = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
SETS: Final = {
    "ASAP's 23 joints": (
        *_LEGS, "waist_yaw", "waist_roll", "waist_pitch",
        *(f"{s}_{p}" for s in ("left", "right") for p in _ARM),
    ),
    "Unitree's 23 joints": (
        *_LEGS, "waist_yaw", *(f"{s}_{p}" for s in ("left", "right") for p in (*_ARM, "wrist_roll")),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A clip at moments in pairs: every even row is a moment, every odd one the moment a step later.

    Attributes:
        body: with tree, soles and limits; joint: (c,) the joints that are recorded.
        q: (2m, c) rad; p: (2m, 3) m; quat: (2m, 4) wxyz as declared; p and quat None without a base.
    """

    body: Embodiment
    joint: NDArray[np.intp]
    q: Floats
    p: Floats | None = None
    quat: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints read otherwise: q' = scale * q[take] + shift; (c,) each. What scales by 0 holds still."""

    take: Index
    scale: Floats
    shift: Floats

    def then(self, other: Joints) -> Joints:
        """The other reading of what this one makes."""
        return Joints(self.take[other.take], other.scale * self.scale[other.take],
                      other.scale * self.shift[other.take] + other.shift)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """A base read otherwise: quat' = sign * quat[order], p' = scale * p, then turned about x if y is up."""

    order: tuple[int, ...] = (0, 1, 2, 3)
    sign: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    y_up: bool = False
    scale: float = 1.0

    def then(self, other: Turn) -> Turn:
        """The other reading of what this one makes; nothing is reordered once y is up."""
        assert not self.y_up
        sign = tuple(s * self.sign[i] for s, i in zip(other.sign, other.order, strict=True))
        order = tuple(self.order[i] for i in other.order)
        return Turn(order, sign, other.y_up, self.scale * other.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One way to read the numbers: what is done to joints and to the base before they mean what is declared.

    Attributes:
        kind: what would be misdeclared; name: how the numbers should be read then, in words.
        joints, base: how they are read; None changes nothing.
    """

    kind: Kind
    name: str
    joints: Joints | None = None
    base: Turn | None = None


DECLARED: Final = Reading("declared", "as declared")


def breadth_first(tree: Tree) -> tuple[int, ...]:
    """Columns of q in the order in which a search by levels meets their joints (Isaac Lab's order)."""
    depth = np.zeros(len(tree.links), np.intp)
    for i in range(1, len(tree.links)):
        # Fixed links are merged away by simulators: only joints that move make a level.
        depth[i] = depth[tree.parent[i]] + (tree.column[i] >= 0)
    own = [
        i for i in range(len(tree.links)) if tree.column[i] >= 0 and tree.gain[i] == 1 and tree.offset[i] == 0
    ]
    seen = dict.fromkeys(int(tree.column[i]) for i in _by_levels(tree, own, depth))
    return tuple(seen)


def _by_levels(tree: Tree, own: Sequence[int], depth: NDArray[np.intp]) -> list[int]:
    """Moving links level by level; within one in the order of their parents, then of the model."""
    rank: dict[int, int] = {}
    ordered: list[int] = []
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = [i for i in own if depth[i] == level]
        here.sort(key=lambda i: (rank.get(_mover(tree, i), -1), i))
        for i in here:
            rank[i] = len(rank)
        ordered += here
    return ordered


def _mover(tree: Tree, link: int) -> int:
    """The nearest link above that moves by a joint, or -1."""
    up = int(tree.parent[link])
    while up >= 0 and tree.column[up] < 0:
        up = int(tree.parent[up])
    return up


def readings(motion: Motion) -> tuple[Reading, ...]:
    """The declared reading, and all rivals that the data could be told from.

    The same objects for clip after clip of one body, so that what they ask of it is worked out once.
    """
    # Read in too small a unit a body hardly moves, and a statue on its feet fits: sizes must call for it.
    largest = float(np.abs(motion.q).max(initial=0.0))
    sizes = (largest < np.radians(2 * np.pi) / 2, largest > 2 * np.pi, largest > TURN / 16, largest < 150)
    high = () if motion.p is None else _lengths(_height(motion.body), motion.p)
    return _rivals(motion.body, tuple(motion.joint.tolist()), sizes, motion.p is not None, high)


@lru_cache(maxsize=64)
def _rivals(
    body: Embodiment, joint: tuple[int, ...], sizes: tuple[bool, ...], based: bool, high: tuple[Reading, ...]
) -> tuple[Reading, ...]:
    bases = (*high, *_BASES) if based else ()
    return (DECLARED, *_orders(body, joint), *_units(body, joint, sizes), *_sides(body, joint), *bases)


def _lengths(height: float, p: Floats) -> tuple[Reading, ...]:
    """Units in which the base's height is between half and twice that of the body on straight legs.

    Only of a base that is higher than that in m, along either axis that may be up: a unit cannot be told
    from a step alone, and whoever sits still slides in none.
    """
    up = np.median(np.abs(p[:, 1:]), axis=0) if len(p) else np.zeros(2)
    return tuple(
        reading for reading, scale in _LENGTHS
        if any(u > 2 * height and height / 2 < scale * u < 2 * height for u in up.tolist())
    )  # fmt: skip


@lru_cache(maxsize=64)
def _height(body: Embodiment) -> float:
    """From the lowest sole to the root with all joints at zero, m; inf where no sole is known."""
    if body.tree is None or not body.soles:
        return np.inf
    links = tuple(sole.link for sole in body.soles for _ in sole.points)
    local = np.concatenate([sole.points for sole in body.soles])
    x = points(body.tree, np.zeros((1, len(body.tree.joints))), None, None, links, local)
    return float(-x[..., 2].min())


@lru_cache(maxsize=64)
def pairs(tried: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """Two of these at once, where they are of different kinds."""
    return tuple(
        Reading("two", f"{one.name}, and {other.name}",
                one.joints.then(other.joints) if one.joints and other.joints else one.joints or other.joints,
                one.base.then(other.base) if one.base and other.base else one.base or other.base)
        for i, one in enumerate(tried) for other in tried[i + 1 :]
        if not {one.kind, other.kind} & {"declared", "two"} and one.kind != other.kind
    )  # fmt: skip


def _units(body: Embodiment, joint: tuple[int, ...], sizes: tuple[bool, ...]) -> Iterator[Reading]:
    tiny, large, ticks, small = sizes
    if tiny:
        yield Reading("unit", "radians, not degrees", _scaled(joint, 180 / np.pi))
    if not large:
        return
    yield Reading("unit", "degrees, not radians", _scaled(joint, np.pi / 180))
    if ticks:
        tick = 2 * np.pi / TURN
        yield Reading("unit", "ticks of 4096 a turn", _scaled(joint, tick))
        yield Reading("unit", "ticks about 2048", _scaled(joint, tick, -tick * TURN / 2))
    limits, mine = body.limits[0], list(joint)
    lower, upper = limits.lower[mine], limits.upper[mine]
    if small and np.isfinite(lower).all() and np.isfinite(upper).all():
        yield Reading("unit", "percent of the range", _scaled(joint, (upper - lower) / 100, lower))
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        yield Reading("unit", "percent about the middle", _scaled(joint, half / 100, middle))


def _scaled(joint: Sequence[int], scale: Floats | float, shift: Floats | float = 0.0) -> Joints:
    one = np.ones(len(joint))
    return Joints(np.arange(len(joint)), scale * one, shift * one)


def _orders(body: Embodiment, joint: Sequence[int]) -> Iterator[Reading]:
    tree, mine = body.tree, list(joint)
    if tree is None:
        return
    there = set(mine)
    depth = [c for c in range(len(tree.joints)) if c in there]
    breadth = [c for c in breadth_first(tree) if c in there]
    if depth != breadth and len(depth) == len(breadth):
        yield Reading("joint-order", "breadth-first (Isaac Lab's order)", _moved(mine, depth, breadth))
        yield Reading("joint-order", "depth-first (the model's order)", _moved(mine, breadth, depth))
    names = [normalise(body.joints[j].name) for j in mine]
    for declared, order in SETS.items():
        if set(names) == set(order):
            for other, theirs in SETS.items():
                if other != declared:
                    yield Reading("joint-set", other, _renamed(names, order, theirs))


def _moved(mine: list[int], declared: list[int], truly: list[int]) -> Joints:
    """What was stored under the name ``declared[i]`` belongs to ``truly[i]``."""
    source = dict(zip(truly, declared, strict=True))
    at = {c: i for i, c in enumerate(mine)}
    take = [at[source[c]] if c in source else at[c] for c in mine]
    return _taken(take)


def _taken(columns: list[int]) -> Joints:
    return Joints(np.array(columns, np.intp), np.ones(len(columns)), np.zeros(len(columns)))


def _renamed(names: list[str], declared: Sequence[str], truly: Sequence[str]) -> Joints:
    """The same for another set of joints; what this body has and that one lacks holds still."""
    source = dict(zip(truly, declared, strict=True))
    take = [names.index(source[n]) if n in source else -1 for n in names]
    there = np.array(take) >= 0
    return Joints(np.where(there, take, 0), there.astype(np.float64), np.zeros(len(take)))


def _sides(body: Embodiment, joint: Sequence[int]) -> Iterator[Reading]:
    joints = [body.joints[j] for j in joint]
    names = [normalise(j.name) for j in joints]
    for parts, words in ((("arm", "leg"), "all"), (("leg",), "legs"), (("arm",), "arms")):
        take = [_mirrored(n, names, i) if j.part in parts else i
                for i, (n, j) in enumerate(zip(names, joints, strict=True))]  # fmt: skip
        if take != list(range(len(names))):
            yield Reading("left-right", f"left for right, {words}", _taken(take))
    bends = [j.part == "leg" and any(w in n for w in ("pitch", "knee"))
             for n, j in zip(names, joints, strict=True)]  # fmt: skip
    if any(bends):
        yield Reading(
            "sign", "pitch of the legs the other way round", _scaled(joint, np.where(bends, -1.0, 1.0))
        )


def _mirrored(name: str, names: list[str], own: int) -> int:
    words = name.split("_")
    other = {"left": "right", "right": "left", "l": "r", "r": "l"}
    twin = "_".join(other.get(w, w) for w in words)
    return names.index(twin) if twin in names else own


_LENGTHS: Final = tuple(
    (Reading("length-unit", f"base position in {unit} ({cure})", None, Turn(scale=scale)), scale)
    for unit, cure, scale in (
        ("centimetres", "divide it by 100", 0.01),
        ("millimetres", "divide it by 1000", 0.001),
        ("inches", "times 0.0254", 0.0254),
        ("feet", "times 0.3048", 0.3048),
    )
)
_BASES: Final = (
    Reading("quaternion-order", "xyzw, not wxyz", None, Turn((3, 0, 1, 2))),
    Reading("quaternion-order", "wxyz, not xyzw", None, Turn((1, 2, 3, 0))),
    Reading("inverse-quaternion", "of the world in the body", None, Turn(sign=(1.0, -1.0, -1.0, -1.0))),
    Reading("up-axis", "y up", None, Turn(y_up=True)),
    # Upright and heading astray: of all pairs the one that no single factor gives away.
    Reading("two", "xyzw, not wxyz, and y up", None, Turn((3, 0, 1, 2), y_up=True)),
)  # fmt: skip
