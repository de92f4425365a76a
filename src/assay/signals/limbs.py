"""Where hands are, seen from the torso that carries them: a robot's by its tree, a human's by its joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import compiled, link_poses
from assay.embodiment.tree import FIXED, Tree
from assay.signals.loops import ready
from assay.signals.quantile import median

__all__ = ["Hands", "human_hands", "robot_limbs"]

Floats = NDArray[np.float64]

_ORIGIN: Final = ("pelvis", "hips", "root")


@dataclass(frozen=True, slots=True, eq=False)
class Hands:
    """Hands in the frame of the torso: x forward, y left, z up, m.

    Attributes:
        p: (m, k, 3) from the shoulder to the hand.
        reach: (k,) m, length of the stretched arm.
        fronted: whether forward is known; a lone arm on a table has no front.
        sides: k of left, right or neither.
    """

    p: Floats
    reach: Floats
    fronted: bool
    sides: tuple[str, ...]

    @property
    def front(self) -> Floats:
        """(m, k) how far forward of its shoulder each hand is, in lengths of its arm; inf without a front."""
        if not self.fronted:
            return np.where(np.isnan(self.p[:, :, 0]), np.nan, np.inf)
        made: Floats = self.p[:, :, 0] / self.reach
        return made


def robot_limbs(body: Embodiment, joint: NDArray[np.intp], q: Floats) -> tuple[Hands | None, Floats | None]:
    """Hands and feet of a robot whose joints ``joint`` (c,) have the values ``q`` (m, c) rad.

    The torso is the last link that carries both arms. A hand counts if every joint of its arm is there, a
    foot if every joint of its leg is. Hands are None without a tree or such a hand; feet (m, f, 3) m are seen
    from the root, None without a tree or a whole leg.
    """
    tree = body.tree
    if tree is None:
        return None, None
    here = _recorded(body, tuple(joint.tolist()))
    if not here.names:
        return None, None
    p, quat = link_poses(tree, _columns(tree, joint, q), links=here.names)
    k = len(here.sides)
    standing = p[:, 1 + 2 * k :] if len(here.names) > 1 + 2 * k else None
    if not k:
        return None, standing
    seen = np.empty((len(q), k, 3))
    compiled(_from_torso, "void(float64[:,:,::1], float64[:,:,::1], float64[:,:,::1])")[0](p, quat, seen)
    return Hands(seen, here.reach, here.fronted, here.sides), standing


# Of links in the order torso, shoulders, hands: from each shoulder to its hand as the torso sees it.
def _from_torso(p, quat, seen):  # type: ignore[no-untyped-def]
    hands = seen.shape[1]
    for i in range(len(p)):
        w, x, y, z = quat[i, 0, 0], -quat[i, 0, 1], -quat[i, 0, 2], -quat[i, 0, 3]
        for k in range(hands):
            shoulder, hand = p[i, 1 + k], p[i, 1 + hands + k]
            a, b, c = hand[0] - shoulder[0], hand[1] - shoulder[1], hand[2] - shoulder[2]
            d, e, f = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
            seen[i, k, 0] = a + w * d + (y * f - z * e)
            seen[i, k, 1] = b + w * e + (z * d - x * f)
            seen[i, k, 2] = c + w * f + (x * e - y * d)


@dataclass(frozen=True, slots=True, eq=False)
class _Here:
    """Of a robot of which some joints are recorded: torso, shoulders, hands and feet; k reaches and sides."""

    names: tuple[str, ...]
    reach: Floats
    sides: tuple[str, ...]
    fronted: bool


@lru_cache(maxsize=64)
def _recorded(body: Embodiment, joint: tuple[int, ...]) -> _Here:
    torso, known = _arms(body)
    arms = [arm for arm in known if arm.columns <= set(joint)]
    feet = [link for link, columns in _feet(body) if columns <= set(joint)]
    names = (torso, *(arm.shoulder for arm in arms), *(arm.end for arm in arms), *feet)
    reach = np.array([a.reach for a in arms])
    return _Here(names if arms or feet else (), reach, tuple(a.side for a in arms), len(known) > 1)


def human_hands(x: Floats, names: tuple[str, ...]) -> Hands | None:
    """Hands of a human whose joints ``names`` are at ``x`` (m, J, 3) m, in any frame; None if they lack."""
    found = _human(names)
    if found is None:
        return None
    at, sides = found
    seen, bones = np.empty((len(x), len(sides), 3)), np.empty((len(sides), len(x)))
    signature = "void(float64[:,:,::1], int64[::1], float64[:,:,::1], float64[:,::1])"
    compiled(_from_chest, signature)[0](ready(x), at, seen, bones)
    return Hands(seen, np.array([_usual(length) for length in bones]), True, sides)


@lru_cache(maxsize=64)
def _human(names: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Columns of origin, neck and both shoulders, then of shoulder, elbow and wrist of each arm; the arms."""
    at = {name: i for i, name in enumerate(names)}
    origin = next((n for n in _ORIGIN if n in at), None)
    if origin is None or not {"neck", "left_shoulder", "right_shoulder"} <= at.keys():
        return None
    sides = tuple(s for s in ("left", "right") if {f"{s}_elbow", f"{s}_wrist"} <= at.keys())
    chest = (origin, "neck", "left_shoulder", "right_shoulder")
    arms = [f"{side}_{part}" for side in sides for part in ("shoulder", "elbow", "wrist")]
    return (np.array([at[n] for n in (*chest, *arms)], np.int64), sides) if sides else None


# The torso's axes: up from origin to neck, forward across up and the way to the left shoulder.
def _from_chest(x, at, seen, bones):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        low, neck, left, right = x[i, at[0]], x[i, at[1]], x[i, at[2]], x[i, at[3]]
        a, b, c = neck[0] - low[0], neck[1] - low[1], neck[2] - low[2]
        size = math.sqrt(a * a + b * b + c * c)
        a, b, c = a / size, b / size, c / size
        d, e, f = left[0] - right[0], left[1] - right[1], left[2] - right[2]
        u, v, w = e * c - f * b, f * a - d * c, d * b - e * a
        size = math.sqrt(u * u + v * v + w * w)
        u, v, w = u / size, v / size, w / size
        for k in range(seen.shape[1]):
            shoulder, elbow, wrist = x[i, at[4 + 3 * k]], x[i, at[5 + 3 * k]], x[i, at[6 + 3 * k]]
            d, e, f = wrist[0] - shoulder[0], wrist[1] - shoulder[1], wrist[2] - shoulder[2]
            seen[i, k, 0] = u * d + v * e + w * f
            seen[i, k, 1] = (b * w - c * v) * d + (c * u - a * w) * e + (a * v - b * u) * f
            seen[i, k, 2] = a * d + b * e + c * f
            upper, lower = 0.0, 0.0
            for j in range(3):
                upper += (elbow[j] - shoulder[j]) * (elbow[j] - shoulder[j])
                lower += (wrist[j] - elbow[j]) * (wrist[j] - elbow[j])
            bones[k, i] = math.sqrt(upper) + math.sqrt(lower)


def _usual(length: Floats) -> float:
    """The median of lengths (m,) that are known; NaN where none is finite."""
    return median(length[~np.isnan(length)]) if np.isfinite(length).any() else float("nan")


@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm of a tree: its first and last link, its columns, its stretched length."""

    side: str
    shoulder: str
    end: str
    columns: frozenset[int]
    reach: float


@lru_cache(maxsize=16)
def _arms(body: Embodiment) -> tuple[str, tuple[_Arm, ...]]:
    """The last link that carries all arms, and the arms from there on."""
    tree = body.tree
    assert tree is not None
    chains = [_chain(tree, hand.link) for hand in body.hands]
    shared = set.intersection(*map(set, chains)) if len(chains) > 1 else {0}
    found = []
    for hand, chain in zip(body.hands, chains, strict=True):
        own = [i for i in chain if i not in shared]
        if own:
            end = _end(tree, hand.link, hand.ends)
            columns = frozenset({int(tree.column[i]) for i in own} - {-1})
            reach = _length(tree, own[0], end)
            found.append(_Arm(hand.side, tree.links[own[0]], tree.links[end], columns, reach))
    return tree.links[max(shared)], tuple(found)


@lru_cache(maxsize=16)
def _feet(body: Embodiment) -> tuple[tuple[str, frozenset[int]], ...]:
    """Each foot's link and the columns of its leg."""
    tree = body.tree
    assert tree is not None
    return tuple(
        (s.link, frozenset({int(tree.column[i]) for i in _chain(tree, s.link)} - {-1})) for s in body.soles
    )


def _columns(tree: Tree, joint: NDArray[np.intp], q: Floats) -> Floats:
    """All columns of the tree's q; what is not recorded is zero."""
    if np.array_equal(joint, np.arange(len(tree.joints))):
        return q
    made = np.zeros((len(q), len(tree.joints)))
    mine = joint < len(tree.joints)
    made[:, joint[mine]] = q[:, mine]
    return made


def _chain(tree: Tree, link: str) -> list[int]:
    return [int(i) for i in tree.ancestors(np.array([tree.index(link)]))]


def _end(tree: Tree, hand: str, ends: Sequence[str]) -> int:
    """The farthest link that sits rigidly on a hand's last moved link: its palm or tool, else itself."""
    wrist = tree.index(hand)
    best, far = wrist, 0.0
    for end in ends:
        chain = [i for i in _chain(tree, end) if i > wrist and wrist in _chain(tree, tree.links[i])]
        if all(tree.kind[i] == FIXED for i in chain):
            away = float(sum(np.linalg.norm(tree.p[i]) for i in chain))
            best, far = (tree.index(end), away) if away > far else (best, far)
    return best


def _length(tree: Tree, shoulder: int, end: int) -> float:
    chain = [i for i in _chain(tree, tree.links[end]) if i > shoulder]
    return float(sum(np.linalg.norm(tree.p[i]) for i in chain if shoulder in _chain(tree, tree.links[i])))
