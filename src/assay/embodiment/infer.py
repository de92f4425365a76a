"""Which packaged body a corpus is about, from the names of its joint channels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from assay.embodiment.body import Embodiment
from assay.embodiment.card import cards, load
from assay.embodiment.tree import Tree

__all__ = ["alike", "infer", "known_as"]

_NEAR: Final = 0.005
"""m, and of a unit axis, by which a joint may sit elsewhere in its parent and be the same."""
_PLACED: Final = 0.8
"""Of a card's joints: robots of one maker share fewer."""
_JOINTS = re.compile(
    r"joint|motor|shoulder|elbow|wrist|waist|torso|hip|knee|ankle|neck|head|hand|finger|thumb|index|middle|ring"
    r"|pinky|little|gripper|[a-z]*\d+$",
    re.IGNORECASE,
)


def infer(channel_names: Sequence[str], robot_type: str | None = None) -> tuple[str | None, str]:
    """The smallest combination of cards that names every joint-like channel, and on what evidence.

    A robot's name alone never decides, since it says nothing about the columns; it breaks ties and can
    contradict (``Unitree_H1`` beside names that fit the G1 too).

    Returns:
        (name for `load`, evidence), or (None, why not).
    """
    wanted = _wanted(channel_names)
    if not wanted:
        return None, "no channel is named like a joint"
    fitting = [body for body in _bodies() if (body.resolve(wanted) >= 0).all()]
    if not fitting:
        return None, f"no packaged body names all of {len(wanted)} channels, e.g. {_unknown(wanted)}"
    models = _models(robot_type or "")
    meant = [b for b in fitting if _agree(models, _models(b.name))]
    if not meant:
        return None, f"the names fit {fitting[0].name}, but the robot is called {robot_type!r}"
    fewest = min(len(body.joints) for body in meant)
    smallest = [body.name for body in meant if len(body.joints) == fewest]
    # Shoulders and elbows have the same names on many robots: a few columns do not say whose they are.
    makes = {_make(body.name) for body in meant}
    if len(smallest) > 1 or (fewest > len(wanted) and len(makes) > 1):
        alike = smallest if len(smallest) > 1 else sorted(makes)
        return None, f"the names fit {', '.join(alike)} alike"
    said = f", and the robot is called {robot_type!r}" if robot_type else ", by names alone"
    return smallest[0], f"all {len(wanted)} joint channels are named in the card{said}"


def alike(channel_names: Sequence[str], robot_type: str | None = None) -> tuple[str, ...]:
    """The smallest card of each model that names every joint-like channel: what `infer` chooses from."""
    wanted, models = _wanted(channel_names), _models(robot_type or "")
    if not wanted:
        return ()
    fitting = [b for b in _bodies() if (b.resolve(wanted) >= 0).all() and _agree(models, _models(b.name))]
    smallest: dict[str, Embodiment] = {}
    for body in sorted(fitting, key=lambda body: len(body.joints)):
        smallest.setdefault(_make(body.name), body)
    return tuple(body.name for body in smallest.values())


def known_as(model: Embodiment) -> Embodiment | None:
    """The card (or robot and hands) of the body that a model file shows; None where no card knows it.

    The names of its joints tell: all of them are the card's and of nobody else's, or all of the card's are
    among them. So do the places of its joints, whatever they are called: four fifths of the card's sit where
    its own do. Of several the one that shares the most joints, then the smallest.
    """
    names = [joint.name for joint in model.joints]
    found, _ = infer(names)
    fitting = {found: len(_shared(names, load(found)))} if found else {}
    for body in _robots():
        placed = 0 if body.tree is None or model.tree is None else _placed(body.tree, model.tree)
        shared = len(_shared(names, body))
        if shared == len(body.joints) or placed >= _PLACED * len(body.joints):
            fitting[body.name] = max(shared, placed)
    best = max(fitting, key=lambda name: (fitting[name], -len(load(name).joints)), default=None)
    return load(best) if best else None


def _placed(card: Tree, model: Tree) -> int:
    """How many of a card's moving joints the model has in the same place of a parent, about the same axis."""
    ours, theirs = (np.hstack((t.p, t.axis))[t.column >= 0] for t in (card, model))
    if not len(ours) or not len(theirs):
        return 0
    near = np.asarray((np.abs(ours[:, None] - theirs[None]) <= _NEAR).all(axis=2))
    return int(min(near.any(axis=1).sum(), near.any(axis=0).sum()))


def _shared(names: Sequence[str], body: Embodiment) -> set[int]:
    return set(body.resolve(names).tolist()) - {-1}


def _wanted(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if _JOINTS.search(name)))


def _bodies() -> list[Embodiment]:
    """Every card, and every robot with every hand."""
    return [load(name) for name in _hands()] + _robots()


def _robots() -> list[Embodiment]:
    """Every robot, alone and with every hand."""
    hands = _hands()
    robots = [name for name in cards() if name not in hands]
    return [load(name) for name in (*robots, *(f"{robot}+{hand}" for robot, hand in product(robots, hands)))]


def _hands() -> list[str]:
    """Cards of hands alone."""
    return [name for name in cards() if all(j.part in ("hand", "gripper") for j in load(name).joints)]


def _agree(said: set[str], card: set[str]) -> bool:
    """Whether a robot's name and a card's can mean one model: gr1 and gr1t2 can, g1 and h1 cannot."""
    return not said or not card or any(a.startswith(b) or b.startswith(a) for a in said for b in card)


def _make(card: str) -> str:
    """A card's maker and model without the number of joints: unitree_g1 of unitree_g1_29+inspire."""
    return "_".join(card.split("+", maxsplit=1)[0].split("_")[:2])


def _models(name: str) -> set[str]:
    """Words that look like a model's name: letters and a digit, as g1, h1, gr1, gr1t2."""
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name).lower())
    return {word for word in words if re.fullmatch(r"[a-z]{1,4}\d{1,3}([a-z]\d{1,2})?", word)}


def _unknown(names: Sequence[str]) -> str:
    best = max(_bodies(), key=lambda body: int((body.resolve(names) >= 0).sum()))
    return repr(names[int((best.resolve(names) < 0).argmax())])
