"""Rival readings of a floating body's motion: what is done to numbers before they mean what is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.body import normalise
from assay.embodiment.rotation import compose

__all__ = ["DECLARED", "Motion", "Reading", "breadth_first", "pairs", "readings"]

Floats = NDArray[np.float64]
Joints = Callable[[Floats], Floats]
Base = Callable[[Floats, Floats], tuple[Floats, Floats]]
Kind = Literal["declared", "joint-order", "quaternion-order", "unit", "inverse-quaternion", "up-axis",
               "left-right", "sign", "joint-set", "two"]  # fmt: skip


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
class Reading:
    """One way to read the numbers: what is done to joints and to the base before they mean what is declared.

    Attributes:
        kind: what would be misdeclared; name: how the numbers should be read then, in words.
        joints: q → q; base: (p, quat) → (p, quat); None changes nothing.
    """

    kind: Kind
    name: str
    joints: Joints | None = None
    base: Base | None = None


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


def readings(motion: Motion) -> Iterator[Reading]:
    """The declared reading, and all rivals that the data could be told from."""
    orders, sides = _fixed(motion.body, tuple(motion.joint.tolist()))
    yield DECLARED
    yield from orders
    yield from _units(motion)
    yield from sides
    if motion.p is not None:
        yield from _BASES


@lru_cache(maxsize=32)
def _fixed(body: Embodiment, joint: tuple[int, ...]) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """Orders and sides, which hang on the body and the names alone: the same for clip after clip."""
    return tuple(_orders(body, joint)), tuple(_sides(body, joint))


def pairs(tried: Sequence[Reading]) -> Iterator[Reading]:
    """Two of these at once, where they are of different kinds."""
    for i, one in enumerate(tried):
        for other in tried[i + 1 :]:
            if not {one.kind, other.kind} & {"declared", "two"} and one.kind != other.kind:
                yield Reading(
                    "two",
                    f"{one.name}, and {other.name}",
                    _then(one.joints, other.joints),
                    _turned(one.base, other.base),
                )


def _then(one: Joints | None, other: Joints | None) -> Joints | None:
    if one is None or other is None:
        return one or other
    return lambda q: other(one(q))


def _turned(one: Base | None, other: Base | None) -> Base | None:
    if one is None or other is None:
        return one or other
    return lambda p, quat: other(*one(p, quat))


def _units(motion: Motion) -> Iterator[Reading]:
    # Read in too small a unit a body hardly moves, and a statue on its feet fits: sizes must call for it.
    largest = float(np.abs(motion.q).max(initial=0.0))
    if largest < np.radians(2 * np.pi) / 2:
        yield Reading("unit", "radians, not degrees", np.degrees)
    if largest <= 2 * np.pi:
        return
    yield Reading("unit", "degrees, not radians", np.radians)
    if largest > TURN / 16:
        yield Reading("unit", "ticks of 4096 a turn", lambda q: q * (2 * np.pi / TURN))
        yield Reading("unit", "ticks about 2048", lambda q: (q - TURN / 2) * (2 * np.pi / TURN))
    limits = motion.body.limits[0]
    lower, upper = limits.lower[motion.joint], limits.upper[motion.joint]
    if largest < 150 and np.isfinite(lower).all() and np.isfinite(upper).all():
        yield Reading("unit", "percent of the range", lambda q: lower + q / 100 * (upper - lower))
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        yield Reading("unit", "percent about the middle", lambda q: middle + q / 100 * half)


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


def _moved(mine: list[int], declared: list[int], truly: list[int]) -> Callable[[Floats], Floats]:
    """What was stored under the name ``declared[i]`` belongs to ``truly[i]``."""
    source = dict(zip(truly, declared, strict=True))
    at = {c: i for i, c in enumerate(mine)}
    take = [at[source[c]] if c in source else at[c] for c in mine]
    return _taken(take)


def _taken(columns: list[int]) -> Callable[[Floats], Floats]:
    return lambda q: q[:, columns]


def _renamed(names: list[str], declared: Sequence[str], truly: Sequence[str]) -> Callable[[Floats], Floats]:
    """The same for another set of joints; what this body has and that one lacks holds still."""
    source = dict(zip(truly, declared, strict=True))
    take = [names.index(source[n]) if n in source else -1 for n in names]
    return lambda q: np.where(np.array(take) >= 0, q[:, take], 0.0)


def _sides(body: Embodiment, joint: Sequence[int]) -> Iterator[Reading]:
    joints = [body.joints[j] for j in joint]
    names = [normalise(j.name) for j in joints]
    for parts, words in ((("arm", "leg"), "all"), (("leg",), "legs"), (("arm",), "arms")):
        take = [_mirrored(n, names, i) if j.part in parts else i
                for i, (n, j) in enumerate(zip(names, joints, strict=True))]  # fmt: skip
        if take != list(range(len(names))):
            yield Reading("left-right", f"left for right, {words}", _taken(take))
    bends = np.array(
        [
            j.part == "leg" and any(w in n for w in ("pitch", "knee"))
            for n, j in zip(names, joints, strict=True)
        ]
    )
    if bends.any():
        yield Reading("sign", "pitch of the legs the other way round", lambda q: np.where(bends, -q, q))


def _mirrored(name: str, names: list[str], own: int) -> int:
    words = name.split("_")
    other = {"left": "right", "right": "left", "l": "r", "r": "l"}
    twin = "_".join(other.get(w, w) for w in words)
    return names.index(twin) if twin in names else own


def _y_up(p: Floats, quat: Floats) -> tuple[Floats, Floats]:
    half = np.sqrt(0.5)
    return np.stack([p[:, 0], -p[:, 2], p[:, 1]], axis=1), compose([half, half, 0.0, 0.0], quat)


_BASES: Final = (
    Reading("quaternion-order", "xyzw, not wxyz", None, lambda p, quat: (p, quat[:, [3, 0, 1, 2]])),
    Reading("quaternion-order", "wxyz, not xyzw", None, lambda p, quat: (p, quat[:, [1, 2, 3, 0]])),
    Reading("inverse-quaternion", "of the world in the body", None,
            lambda p, quat: (p, quat * [1.0, -1.0, -1.0, -1.0])),
    Reading("up-axis", "y up", None, _y_up),
    # Upright and heading astray: of all pairs the one that no single factor gives away.
    Reading("two", "xyzw, not wxyz, and y up", None, lambda p, quat: _y_up(p, quat[:, [3, 0, 1, 2]])),
)  # fmt: skip
