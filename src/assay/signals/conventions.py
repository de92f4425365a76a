"""Rival readings of a floating body's motion, and what each would cost: which convention makes it a body's?

A clip is read under the declared conventions and under rivals (joints in another order, quaternions in
another order...). Under the right one a sole rests while it carries, the lowest sole keeps its height, joints
keep within their limits and the base stays upright; each is worth a logarithm, so that the costs of two
readings compare as odds. Method and choice of terms: REAL-CLIPS, "Conventions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.body import normalise
from assay.embodiment.kinematics import points
from assay.embodiment.rotation import compose

__all__ = ["DECLARED", "Motion", "Reading", "breadth_first", "costs", "legs_known", "readings"]

Floats = NDArray[np.float64]
Kind = Literal["declared", "joint-order", "quaternion-order", "unit", "inverse-quaternion", "up-axis",
               "left-right", "sign", "joint-set"]  # fmt: skip

PAIRS: Final = 100
"""Moments looked at, evenly spaced; more change no decision on the real clips."""
NEAR: Final = 0.02  # rad; real clips stand this far over a limit without a wrong convention
FLOORS: Final = (1e-3, 5e-3, 0.02, 0.02)
"""Below these a term says no more: m per step of a resting sole, m of scatter of the lowest, two shares."""
UPRIGHT: Final = 0.5  # cosine of 60 degrees

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
    joints: Callable[[Floats], Floats] | None = None
    base: Callable[[Floats, Floats], tuple[Floats, Floats]] | None = None


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
    yield DECLARED
    yield from _orders(motion)
    # Read in too small a unit a body hardly moves, and a statue on its feet fits: sizes must call for it.
    largest = float(np.abs(motion.q).max(initial=0.0))
    if largest > 2 * np.pi:
        yield Reading("unit", "degrees, not radians", np.radians)
    if largest < np.radians(2 * np.pi) / 2:
        yield Reading("unit", "radians, not degrees", np.degrees)
    yield from _sides(motion)
    if motion.p is not None:
        yield from _BASES


def _orders(motion: Motion) -> Iterator[Reading]:
    tree, mine = motion.body.tree, motion.joint.tolist()
    if tree is None:
        return
    there = set(mine)
    depth = [c for c in range(len(tree.joints)) if c in there]
    breadth = [c for c in breadth_first(tree) if c in there]
    if depth != breadth and len(depth) == len(breadth):
        yield Reading("joint-order", "breadth-first (Isaac Lab's order)", _moved(mine, depth, breadth))
        yield Reading("joint-order", "depth-first (the model's order)", _moved(mine, breadth, depth))
    names = [normalise(motion.body.joints[j].name) for j in mine]
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


def _sides(motion: Motion) -> Iterator[Reading]:
    joints = [motion.body.joints[j] for j in motion.joint.tolist()]
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
)  # fmt: skip


def legs_known(body: Embodiment, joint: NDArray[np.intp]) -> bool:
    """Whether soles are known and every joint between them and the root is recorded."""
    tree = body.tree
    if tree is None or not body.soles:
        return False
    above = tree.ancestors(np.array([tree.index(sole.link) for sole in body.soles]))
    return set(tree.column[above].tolist()) - {-1} <= set(joint.tolist())


def costs(motion: Motion, tried: Sequence[Reading]) -> Floats:
    """The cost of each reading, in nats; (r,). Terms that the clip cannot give are left out of all."""
    lower = np.min([s.lower for s in motion.body.limits], axis=0)[motion.joint] - NEAR
    upper = np.max([s.upper for s in motion.body.limits], axis=0)[motion.joint] + NEAR
    # Readings of the base share the declared joints; all joints go through the kinematics at once.
    moved = [r.joints(motion.q) for r in tried if r.joints is not None]
    which = np.cumsum([r.joints is not None for r in tried]) * [r.joints is not None for r in tried]
    q = np.stack([motion.q, *moved])
    beyond = ((q < lower) | (q > upper)).any(axis=2).mean(axis=1)
    total: Floats = np.log(beyond + FLOORS[2])[which]
    soles = _soles(motion, q.reshape(-1, q.shape[2]))
    if soles is None or motion.p is None or motion.quat is None:
        return total
    soles = soles.reshape(len(q), -1, *soles.shape[1:])
    declared = motion.p, _turns(motion.quat)
    for i, reading in enumerate(tried):
        total[i] += _grounded(soles[which[i]], *(_based(motion, reading) or declared))
    return total


def _based(motion: Motion, reading: Reading) -> tuple[Floats, Floats] | None:
    if reading.base is None or motion.p is None or motion.quat is None:
        return None
    p, quat = reading.base(motion.p, motion.quat)
    return p, _turns(quat)


def _turns(quat: Floats) -> Floats:
    """Rotation matrices (n, 3, 3), transposed: rows of points times one are the points turned."""
    w, x, y, z = quat.T
    flat = np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y),
    ], axis=1)  # fmt: skip
    return flat.reshape(-1, 3, 3)


def _soles(motion: Motion, q: Floats) -> Floats | None:
    """(2m, k, 4): sole points seen from the root, and how far each sole lies below its point."""
    tree = motion.body.tree
    if tree is None or motion.p is None or not legs_known(motion.body, motion.joint):
        return None
    columns = np.zeros((len(q), len(tree.joints)))
    mine = motion.joint < len(tree.joints)
    columns[:, motion.joint[mine]] = q[:, mine]
    on = [s.link for s in motion.body.soles for _ in s.points]
    local = np.concatenate([s.points for s in motion.body.soles])
    radius = np.concatenate([s.radius for s in motion.body.soles])
    x = points(tree, columns, None, None, on, local)
    return np.concatenate([x, np.broadcast_to(radius[:, None], (*x.shape[:2], 1))], axis=2)


def _grounded(soles: Floats, p: Floats, turns: Floats) -> float:
    world = soles[:, :, :3] @ turns + p[:, None]
    step = world[1::2] - world[::2]
    slowest = np.sqrt((step * step).sum(axis=2).min(axis=1))
    lowest = np.sort((world[:, :, 2] - soles[:, :, 3]).min(axis=1))
    tenth = len(lowest) // 10
    scatter = lowest[-1 - tenth] - lowest[tenth]
    tilted = np.count_nonzero(turns[:, 2, 2] < UPRIGHT) / len(turns)
    terms = (np.sort(slowest)[len(slowest) // 2], scatter, tilted)
    return float(np.log(np.add(terms, (FLOORS[0], FLOORS[1], FLOORS[3]))).sum())
