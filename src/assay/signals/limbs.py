"""Where hands are, seen from the torso that carries them: a robot's by its tree, a human's by its joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import rotate
from assay.embodiment.tree import FIXED, Tree

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
    there = set(joint.tolist())
    torso, known = _arms(body)
    arms = [arm for arm in known if arm.columns <= there]
    feet = [link for link, columns in _feet(body) if columns <= there]
    if not arms and not feet:
        return None, None
    names = [torso, *(arm.shoulder for arm in arms), *(arm.end for arm in arms), *feet]
    p, quat = link_poses(tree, _columns(tree, joint, q), links=names)
    k = len(arms)
    standing = p[:, 1 + 2 * k :] if feet else None
    if not arms:
        return None, standing
    inverse = quat[:, :1] * [1.0, -1.0, -1.0, -1.0]
    seen = rotate(inverse, p[:, 1 + k : 1 + 2 * k] - p[:, 1 : 1 + k])
    reach = np.array([a.reach for a in arms])
    return Hands(seen, reach, len(known) > 1, tuple(a.side for a in arms)), standing


def human_hands(x: Floats, names: Sequence[str]) -> Hands | None:
    """Hands of a human whose joints ``names`` are at ``x`` (m, J, 3) m, in any frame; None if they lack."""
    at = {name: i for i, name in enumerate(names)}
    origin = next((n for n in _ORIGIN if n in at), None)
    if origin is None or not {"neck", "left_shoulder", "right_shoulder"} <= at.keys():
        return None
    sides = [s for s in ("left", "right") if {f"{s}_elbow", f"{s}_wrist"} <= at.keys()]
    if not sides:
        return None
    up = _unit(x[:, at["neck"]] - x[:, at[origin]])
    left = x[:, at["left_shoulder"]] - x[:, at["right_shoulder"]]
    forward = _unit(np.cross(left, up))
    frame = np.stack([forward, np.cross(up, forward), up], axis=1)
    seen, reach = [], []
    for side in sides:
        shoulder, elbow, wrist = (x[:, at[f"{side}_{part}"]] for part in ("shoulder", "elbow", "wrist"))
        seen.append(np.einsum("mij,mj->mi", frame, wrist - shoulder))
        bones = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        reach.append(float(np.nanmedian(bones)) if np.isfinite(bones).any() else np.nan)
    return Hands(np.stack(seen, axis=1), np.array(reach), True, tuple(sides))


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


def _unit(v: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Floats = v / np.linalg.norm(v, axis=1, keepdims=True)
    return made
