"""Packaged cards: a body's numbers as JSON, derived from public models by ``tools/derive_cards.py``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.body import Embodiment, Joint, LimitSet, Sole
from assay.embodiment.capsules import Capsules
from assay.embodiment.card_tree import tree_of
from assay.embodiment.ends import hands
from assay.errors import UsageError
from assay.misspelt import meant

__all__ = ["cards", "load"]


def cards() -> tuple[str, ...]:
    """Names of all packaged cards."""
    folder = files("assay.embodiment").joinpath("cards")
    return tuple(sorted(p.name.removesuffix(".json") for p in folder.iterdir() if p.name.endswith(".json")))


@cache
def load(name: str) -> Embodiment:
    """The body of a card, or of several joined by ``+`` (a robot and the hands it wears).

    Raises:
        UsageError: if there is no such card; the message lists them.
    """
    bodies = [_card(part) for part in name.split("+")]
    return bodies[0] if len(bodies) == 1 else _joined(name, bodies)


def _card(name: str) -> Embodiment:
    if name not in cards():
        more = "several are joined by +, as in unitree_g1_29+inspire"
        raise UsageError("unknown body", found=repr(name), expected="one of " + ", ".join(cards()),
                         remedy=meant(name, cards(), more))  # fmt: skip
    data = json.loads(files("assay.embodiment").joinpath(f"cards/{name}.json").read_text("utf-8"))
    joints = tuple(
        Joint(j["name"], j["part"], j["side"], j["unit"], tuple(j.get("aliases", ()))) for j in data["joints"]
    )
    limits = tuple(
        LimitSet(s["source"], s["revision"], s["grade"], _bound(s["lower"], -1), _bound(s["upper"], 1),
                 _bound(s["speed"], 1), _bound(s["effort"], 1))
        for s in data["limits"]
    )  # fmt: skip
    tree = tree_of(data["tree"], [j.name for j in joints]) if "tree" in data else None
    soles = tuple(
        Sole(s["side"], s["link"], np.array(s["points"]), np.array(s["radius"]), s["origin"])
        for s in data.get("soles", ())
    )
    ends = hands(tree) if tree is not None else ()
    return Embodiment(data["name"], joints, limits, data["source"], data["licence"], tree, soles, ends,
                      capsules=_capsules(data))  # fmt: skip


def _capsules(data: dict[str, Any]) -> Capsules | None:
    if "shell" not in data:
        return None
    shell, rows = data["shell"], data["capsules"]
    a, b, radius = (np.array([row[key] for row in rows], np.float64) for key in ("a", "b", "radius"))
    return Capsules(
        tuple(row["link"] for row in rows),
        a, b, radius,
        frozenset(frozenset(pair) for pair in shell["touching"]),
        shell["bias"], shell["u"], shell["source"], shell["licence"],
    )  # fmt: skip


def _bound(values: list[float | None], sign: int) -> NDArray[np.float64]:
    return np.array([sign * np.inf if v is None else v for v in values], np.float64)


def _joined(name: str, bodies: list[Embodiment]) -> Embodiment:
    # Every set of the first body (the robot) is kept; what it wears adds its default set to each.
    worn = [b.limits[0] for b in bodies[1:]]
    return Embodiment(
        name,
        tuple(j for b in bodies for j in b.joints),
        tuple(_side_by_side([s, *worn]) for s in bodies[0].limits),
        " + ".join(b.source for b in bodies),
        ", ".join(sorted({b.licence for b in bodies})),
        # Where worn hands are mounted is in no card, so that their own links are not part of the tree.
        bodies[0].tree,
        bodies[0].soles,
        bodies[0].hands,
        bodies[0].sites,
        _bare(bodies[0]),
    )


def _bare(body: Embodiment) -> Capsules | None:
    """The robot's shape without the hands that others replace, whose shape is in no card."""
    ends = {link for hand in body.hands for link in (hand.link, *hand.links)}
    return body.capsules.without(ends) if body.capsules is not None else None


def _side_by_side(sets: list[LimitSet]) -> LimitSet:
    both: dict[str, Any] = {
        part: np.concatenate([getattr(s, part) for s in sets])
        for part in ("lower", "upper", "speed", "effort")
    }
    return LimitSet(
        " + ".join(s.source for s in sets), " + ".join(s.revision for s in sets), sets[0].grade, **both
    )
