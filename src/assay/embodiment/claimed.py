"""A body model that a corpus brings along is a claim: where a packaged card knows the body, both stand.

Its limits become one more set next to the card's, its soles and hands count where they lie as the card's do.
What only the corpus's own file allows is then open, and neither accepted nor failed (docs/adr/0012).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.body import Embodiment, LimitSet, Sole
from assay.embodiment.kinematics import link_poses, points
from assay.embodiment.rotation import rotate
from assay.embodiment.tree import Tree

__all__ = ["held_to"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Postures = tuple[Floats, Floats]

_APART: Final = 0.01
"""m by which a sole or a wrist may lie elsewhere; the maker's revisions differ by less than 1 mm."""
_ASIDE: Final = 0.03
"""m by which a sole may be longer or wider: boxes and balls of one foot differ so."""
_PLACE: Final = 0.005
"""m, and of a unit axis, by which a joint that is called otherwise may sit elsewhere in its parent."""
_POSTURES: Final = 16
_NUMBERS: Final = ("lower", "upper", "speed", "effort")


def held_to(card: Embodiment, model: Embodiment) -> Embodiment:
    """The model of a corpus's own file beside the card of the same body.

    Limit sets: the card's first, in the model's order and no wider than the file says, then the file's with
    ``claimed``; a number that only one of them knows is that one's. Where the file calls joints otherwise,
    those in the same order and place are the card's; of one that is still none of it while the card misses
    one, the card's sets allow nothing. Soles and hands: none, and ``apart`` says
    why, where one goes elsewhere than the card's by more than 1 cm in some posture; the card's soles where
    the file shows none. Shape: the card's, where its links are there.
    """
    at = _joints(card, model)
    (file,) = model.limits
    lost: NDArray[np.bool_] = (at < 0) & (len(set(at.tolist()) - {-1}) < len(card.joints))
    sets = (*(_beside(s, file, at, lost) for s in card.limits), _claim(card.limits[0], file, at))
    held = replace(model, limits=sets, card=card.name)
    if model.tree is None or card.tree is None:
        return held
    why = _moved(card, card.tree, model, model.tree, at)
    if why:
        return replace(held, soles=(), hands=(), apart=f"{model.name} of the corpus: {why}")
    links = set(model.tree.links)
    shaped = card.capsules is not None and links.issuperset(card.capsules.links)
    known = links.issuperset(s.link for s in card.soles)
    return replace(held, soles=model.soles or (card.soles if known else ()),
                   capsules=card.capsules if shaped else None)  # fmt: skip


def _joints(card: Embodiment, model: Embodiment) -> Index:
    """(n,) for each joint of the model the card's, -1 where the card knows none of this name and unit."""
    at = card.resolve([j.name for j in model.joints])
    if len(card.joints) == len(model.joints) and card.tree is not None and model.tree is not None:
        at = np.where(at >= 0, at, _by_place(card.tree, model.tree, at))
    same = [i >= 0 and card.joints[i].unit == j.unit for i, j in zip(at, model.joints, strict=True)]
    return np.where(same, at, -1)


def _by_place(true: Tree, tree: Tree, at: Index) -> Index:
    """(n,) for each joint the card's in the same order and place that no name has taken, else -1."""
    found = np.full(len(at), -1)
    where = [{int(c): np.hstack((t.p[i], t.axis[i])) for i, c in enumerate(t.column) if c >= 0}
             for t in (true, tree)]  # fmt: skip
    for column in where[0].keys() & where[1].keys() - set(at.tolist()):
        if np.abs(where[0][column] - where[1][column]).max() <= _PLACE:
            found[column] = column
    return found


def _beside(card: LimitSet, file: LimitSet, at: Index, lost: NDArray[np.bool_]) -> LimitSet:
    """A set of the card; what the file narrows is what its own maker says of it, and holds."""
    mine = _filled(card, file, at)
    lower, upper = np.maximum(mine.lower, file.lower), np.minimum(mine.upper, file.upper)
    none = lower >= upper  # a range that lies beside the card's narrows nothing: both stand as they are
    held = replace(
        mine,
        lower=np.where(none, mine.lower, lower),
        upper=np.where(none, mine.upper, upper),
        speed=np.minimum(mine.speed, file.speed),
        effort=np.minimum(mine.effort, file.effort),
    )
    if lost.any():
        nothing: dict[str, Any] = {key: np.where(lost, 0.0, getattr(held, key)) for key in _NUMBERS}
        held = replace(held, **nothing)
    narrowed = any((getattr(held, key) != getattr(mine, key)).any() for key in _NUMBERS)
    return replace(held, source=f"{card.source}, no wider than {file.source}") if narrowed else held


def _filled(card: LimitSet, file: LimitSet, at: Index) -> LimitSet:
    """The card's set in the order of the model's joints; what it does not know is the file's."""
    said = {}
    for key in _NUMBERS:
        theirs: Floats = getattr(file, key)
        mine = np.where(at >= 0, getattr(card, key)[at], np.inf)
        said[key] = np.where(np.isfinite(mine), mine, theirs)
    return replace(card, lower=said["lower"], upper=said["upper"], speed=said["speed"], effort=said["effort"])


def _claim(card: LimitSet, file: LimitSet, at: Index) -> LimitSet:
    """The file's set; what it does not know is the card's."""
    known = _filled(card, file, at)
    said = {k: np.where(np.isfinite(getattr(file, k)), getattr(file, k), getattr(known, k)) for k in _NUMBERS}
    return replace(file, claimed=True, lower=said["lower"], upper=said["upper"], speed=said["speed"],
                   effort=said["effort"])  # fmt: skip


def _moved(card: Embodiment, true: Tree, model: Embodiment, tree: Tree, at: Index) -> str:
    """Which sole or wrist goes elsewhere, seen from the root, in postures within the card's limits."""
    q, mine = _postures(card, true, tree, at)
    for sole in card.soles:
        theirs = next((s for s in model.soles if s.side == sole.side), None)
        if theirs is None and (model.soles or sole.link not in tree.links):
            return f"it shows no {sole.side} foot"
        if theirs is not None:
            here, there = _underside(true, sole), _underside(tree, theirs)
            off = max(float(np.abs(f(here, axis=0) - f(there, axis=0))[2]) for f in (np.min, np.max))
            aside = max(float(np.abs(f(here, axis=0) - f(there, axis=0))[:2].max()) for f in (np.min, np.max))
            if off > _APART or aside > _ASIDE:
                return (f"its {sole.side} sole is {max(off, aside) * 100:.1f} cm from where {card.name} has "
                        "it")  # fmt: skip
        both = ((true, q, sole.link), (tree, mine, theirs.link if theirs is not None else sole.link))
        a, b = (_carried(*one, _underside(true, sole)) for one in both)
        far = float(np.linalg.norm(a - b, axis=-1).max())
        if far > _APART:
            return f"its {sole.side} foot goes up to {far * 100:.1f} cm from where that of {card.name} goes"
    for hand in card.hands:
        if hand.link not in tree.links:
            return f"it has no link {hand.link}"
        a, b = (link_poses(t, x, None, None, [hand.link])[0] for t, x in ((true, q), (tree, mine)))
        far = float(np.linalg.norm(a - b, axis=-1).max())
        if far > _APART:
            return f"its {hand.link} goes up to {far * 100:.1f} cm from where that of {card.name} goes"
    return ""


def _postures(card: Embodiment, true: Tree, tree: Tree, at: Index) -> Postures:
    """The same postures for both trees, the first with all joints at zero; the same in every process."""
    n = len(true.joints)
    lower, upper = (np.nan_to_num(getattr(card.limits[0], k)[:n], posinf=1.0, neginf=-1.0)
                    for k in ("lower", "upper"))  # fmt: skip
    share = np.random.default_rng(0).random((_POSTURES, n))
    known = np.isin(np.arange(n), at)  # a joint that the model has fixed stays at zero
    q = np.where(known, lower + share * (upper - lower), 0.0)
    q[0] = 0.0
    here = at[: len(tree.joints)]
    return q, np.where((here >= 0) & (here < n), q[:, np.clip(here, 0, n - 1)], 0.0)


def _underside(tree: Tree, sole: Sole) -> Floats:
    """(k, 3) m from the root with all joints at zero, where down is the root's -z."""
    zero = np.zeros((1, len(tree.joints)))
    x: Floats = points(tree, zero, None, None, [sole.link] * len(sole.points), sole.points)[0]
    x[:, 2] -= sole.radius
    return x


def _carried(tree: Tree, q: Floats, link: str, x: Floats) -> Floats:
    """(T, k, 3) m: where points x (k, 3) m go that are fixed to a link with all joints at zero."""
    p, quat = link_poses(tree, np.zeros((1, q.shape[1])), None, None, [link])
    local: Floats = rotate(quat[0, 0] * [1, -1, -1, -1], x - p[0, 0])
    return points(tree, q, None, None, [link] * len(x), local)
