"""From a model file's links, in any order, to an Embodiment: one root, no cycles, mimic joints followed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.body import Embodiment, Grade, Joint, LimitSet, Site
from assay.embodiment.ends import Shape, hands, soles
from assay.embodiment.model_xml import Place, shown
from assay.embodiment.naming import part, side
from assay.embodiment.rotation import unit
from assay.embodiment.tree import FIXED, FREE, HINGE, SLIDE, Tree

__all__ = ["Node", "Origin", "assemble"]

_MOST_LINKS: Final = 1_000
Floats = NDArray[np.float64]
Kind = Literal[0, 1, 2, 3]


@dataclass(slots=True)
class Node:
    """One link as read, with the joint above it; unknown limits are infinite, unknown masses NaN."""

    link: str
    parent: str | None = None
    joint: str = ""
    kind: Kind = FIXED
    p: Floats = field(default_factory=lambda: np.zeros(3))
    quat: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    axis: Floats = field(default_factory=lambda: np.zeros(3))
    mimic: tuple[str, float, float] | None = None
    offset: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    speed: float = math.inf
    effort: float = math.inf
    mass: float = math.nan
    com: Floats = field(default_factory=lambda: np.full(3, np.nan))
    inertia: Floats = field(default_factory=lambda: np.full((3, 3), np.nan))
    shapes: list[Shape] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model is from: the limit set's source, revision and grade, and the model's licence."""

    source: str
    revision: str = ""
    grade: Grade = "hard"
    licence: str = ""


def assemble(name: str, nodes: Sequence[Node], origin: Origin, place: Place) -> Embodiment:
    """The body that the links make.

    Args:
        name: the body's name.
        nodes: links in the file's order, which also orders the joints (the columns of q).
        origin: where they are from.
        place: the file, for messages.

    Raises:
        UnreadableError: if names repeat, a parent is missing, links form a cycle or several trees, a moving
            joint has no axis, or mimic joints follow each other or nothing.
    """
    ordered = _parents_first(nodes, place)
    movers = [n for n in nodes if n.kind in (HINGE, SLIDE) and n.mimic is None]
    tree = _tree(ordered, [n.joint for n in movers], place)
    joints = tuple(Joint(n.joint, part(n.joint), side(n.joint), "m" if n.kind == SLIDE else "rad")
                   for n in movers)  # fmt: skip
    lower, upper, speed, effort = (np.array([getattr(n, key) for n in movers], np.float64)
                                   for key in ("lower", "upper", "speed", "effort"))  # fmt: skip
    limits = LimitSet(origin.source, origin.revision, origin.grade, lower, upper, speed, effort)
    return Embodiment(
        name,
        joints,
        (limits,),
        origin.source,
        origin.licence,
        tree,
        soles(tree, [n.shapes for n in ordered]),
        hands(tree),
        tuple(site for n in ordered for site in n.sites),
    )


def _parents_first(nodes: Sequence[Node], place: Place) -> list[Node]:
    if not 1 <= len(nodes) <= _MOST_LINKS:
        raise place.error("the model has no plausible number of links", str(len(nodes)),
                          f"1 to {_MOST_LINKS}")  # fmt: skip
    _unique([n.link for n in nodes], "link", place)
    _unique([n.joint for n in nodes if n.joint], "joint", place)
    children: dict[str | None, list[Node]] = {}
    known = {n.link for n in nodes}
    for n in nodes:
        if n.parent is not None and n.parent not in known:
            raise place.error(f"joint {shown(n.joint)} hangs on a link that is not there", shown(n.parent))
        children.setdefault(n.parent, []).append(n)
    roots = children.get(None, [])
    if len(roots) > 1:
        raise place.error(
            "the links form several trees", ", ".join(shown(n.link) for n in roots[:3]), "one root"
        )
    ordered, stack = [], list(roots)
    while stack:
        ordered.append(stack.pop())
        stack.extend(reversed(children.get(ordered[-1].link, [])))
    if len(ordered) < len(nodes):  # what no root reaches hangs on itself
        reached = {n.link for n in ordered}
        raise place.error("links form a cycle", shown(next(n.link for n in nodes if n.link not in reached)))
    return ordered


def _unique(names: list[str], what: str, place: Place) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise place.error(f"two {what}s have one name", shown(name))
        seen.add(name)


def _tree(nodes: list[Node], joints: list[str], place: Place) -> Tree:
    at = {n.link: i for i, n in enumerate(nodes)}
    column = {joint: i for i, joint in enumerate(joints)}
    moving = {n.joint: n for n in nodes if n.kind in (HINGE, SLIDE)}
    drives = [_drive(n, moving, column, place) for n in nodes]
    return Tree(
        links=tuple(n.link for n in nodes),
        joints=tuple(joints),
        carrier=tuple(n.joint for n in nodes),
        parent=np.array([-1 if n.parent is None else at[n.parent] for n in nodes], np.int64),
        kind=np.array([n.kind for n in nodes], np.int64),
        p=np.stack([n.p for n in nodes]),
        quat=np.stack([_placed(n, place) for n in nodes]),
        axis=np.stack([_axis(n, place) for n in nodes]),
        column=np.array([d[0] for d in drives], np.int64),
        gain=np.array([d[1] for d in drives], np.float64),
        offset=np.array([d[2] for d in drives], np.float64),
        mass=np.array([n.mass for n in nodes], np.float64),
        com=np.stack([n.com for n in nodes]),
        inertia=np.stack([n.inertia for n in nodes]),
    )


def _placed(node: Node, place: Place) -> Floats:
    quat = unit(node.quat)
    if np.isnan(quat).any():
        raise place.error(f"the orientation of link {shown(node.link)} has length 0")
    return quat


def _axis(node: Node, place: Place) -> Floats:
    if node.kind in (FIXED, FREE):
        return np.zeros(3)
    axis = unit(node.axis)
    if np.isnan(axis).any():
        raise place.error(f"the axis of joint {shown(node.joint)} has length 0")
    return axis


def _drive(
    node: Node, moving: dict[str, Node], column: dict[str, int], place: Place
) -> tuple[int, float, float]:
    """(column, gain, offset) of the value that moves a link; chains of mimic joints are multiplied out."""
    if node.kind in (FIXED, FREE):
        return -1, 1.0, 0.0
    gain, offset, here = 1.0, node.offset, node
    for _ in moving:
        if here.mimic is None:
            return column[here.joint], gain, offset
        leader, factor, shift = here.mimic
        gain, offset = gain * factor, gain * shift + offset
        if leader not in moving:
            raise place.error(f"joint {shown(node.joint)} mimics a joint that is not there", shown(leader))
        here = moving[leader]
    raise place.error(f"joint {shown(node.joint)} mimics itself by way of others")
