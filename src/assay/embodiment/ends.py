"""Where a body ends: soles from the feet's collision shapes, hands from the arms' last joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.body import Hand, Sole
from assay.embodiment.naming import JointPart, Side, part, side
from assay.embodiment.rotation import compose, rotate
from assay.embodiment.tree import FIXED, Tree

__all__ = ["Shape", "hands", "soles"]

Floats = NDArray[np.float64]
Ball = tuple[Floats, float, bool]  # centre, radius, whether the model drew it as a sphere
SoleOrigin = Literal["spheres", "primitives"]

_LEVEL: Final = 0.008  # m; what ends higher than this above the lowest point does not touch flat ground
_SPREAD: Final = 0.02  # m; points closer together than this in both directions are no sole
_ROUND: Final = 8  # points around the lower rim of an upright cylinder


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A primitive collision shape in its link's frame.

    Attributes:
        kind: ``box`` with half sides, ``sphere`` with a radius, ``cylinder`` and ``capsule`` with radius and
            half length along z.
        size: up to three numbers, m; p: (3,) m; quat: (4,) wxyz.
    """

    kind: Literal["box", "sphere", "cylinder", "capsule"]
    size: Floats
    p: Floats
    quat: Floats


def soles(tree: Tree, shapes: Sequence[Sequence[Shape]]) -> tuple[Sole, ...]:
    """One sole per leg whose foot is drawn with primitive shapes; none unless all legs have one.

    The foot is the last link that a leg's joint moves, with all that is fixed to it; down is the root's -z
    with all joints at zero. Meshes are not looked at: a foot of meshes alone has no known sole.
    """
    p0, q0 = _at_zero(tree)
    feet = _lasts(tree, "leg")
    found = []
    for foot, which in feet:
        points, radius, origin = _balls(tree, shapes, foot, p0, q0)
        if origin is None:
            return ()
        found.append(Sole(which, tree.links[foot], points, radius, origin))
    return tuple(found)


def hands(tree: Tree) -> tuple[Hand, ...]:
    """One hand per arm: the last link that an arm's joint moves and what hangs on it."""
    parents = set(tree.parent.tolist())
    found = []
    for wrist, which in _lasts(tree, "arm"):
        below = [i for i in _below(tree, wrist, fixed_only=False) if i != wrist]
        ends = tuple(tree.links[i] for i in below if i not in parents)
        found.append(Hand(which, tree.links[wrist], tuple(tree.links[i] for i in below), ends))
    return tuple(found)


def _lasts(tree: Tree, limb: JointPart) -> list[tuple[int, Side]]:
    """Links moved by the last joint of each limb of a kind, with its side."""
    mine = [i for i, joint in enumerate(tree.carrier) if tree.kind[i] != FIXED and part(joint) == limb]
    inner = {int(a) for i in mine for a in tree.ancestors(tree.parent[i : i + 1])}
    return [(i, side(tree.carrier[i])) for i in mine if i not in inner]


def _below(tree: Tree, link: int, *, fixed_only: bool) -> list[int]:
    inside = {link}
    for i in range(link + 1, len(tree.links)):
        if int(tree.parent[i]) in inside and (tree.kind[i] == FIXED or not fixed_only):
            inside.add(i)
    return sorted(inside)


def _at_zero(tree: Tree) -> tuple[Floats, Floats]:
    """Poses of all links in the root's frame with every joint at zero: (L, 3) and (L, 4)."""
    p, quat = np.zeros_like(tree.p), np.tile([1.0, 0.0, 0.0, 0.0], (len(tree.links), 1))
    for i in range(1, len(tree.links)):
        up = tree.parent[i]
        p[i] = p[up] + rotate(quat[up], tree.p[i])
        quat[i] = compose(quat[up], tree.quat[i])
    return p, quat


def _balls(
    tree: Tree, shapes: Sequence[Sequence[Shape]], foot: int, p0: Floats, q0: Floats
) -> tuple[Floats, Floats, SoleOrigin | None]:
    """Sole points of one foot in its frame, radii and origin; the origin is None where there are none."""
    inverse = q0[foot] * [1, -1, -1, -1]
    down = rotate(inverse, [0.0, 0.0, -1.0])
    balls: list[Ball] = []
    for i in _below(tree, foot, fixed_only=True):
        for shape in shapes[i]:
            for centre, radius in _corners(shape, rotate(compose(q0[i] * [1, -1, -1, -1], q0[foot]), down)):
                here = rotate(inverse, p0[i] + rotate(q0[i], centre) - p0[foot])
                balls.append((here, radius, shape.kind == "sphere"))
    spheres = [ball for ball in balls if ball[2]]
    sources: tuple[tuple[list[Ball], SoleOrigin], ...] = ((spheres, "spheres"), (balls, "primitives"))
    for chosen, origin in sources:
        points = np.array([b[0] for b in chosen], np.float64).reshape(-1, 3)
        radii = np.array([b[1] for b in chosen], np.float64)
        depth = points @ down + radii
        low = depth > depth.max(initial=-np.inf) - _LEVEL
        if low.sum() >= 3 and _wide(points[low] - np.outer(points[low] @ down, down)):
            return points[low], radii[low], origin
    return np.zeros((0, 3)), np.zeros(0), None


def _wide(flat: Floats) -> bool:
    """Whether points span an area, not a line: their second principal extent is a foot's width."""
    across = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][1]
    return bool(np.ptp(flat @ across) >= _SPREAD)


def _corners(shape: Shape, down: Floats) -> list[tuple[Floats, float]]:
    """Centres (link frame) and radii of the points of a shape that can touch ground in direction ``down``."""
    if shape.kind == "sphere":
        return [(shape.p, float(shape.size[0]))]
    if shape.kind == "box":
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        corners = shape.p + rotate(shape.quat, signs * shape.size[:3])
        lowest = np.argsort(-(corners @ down), kind="stable")[:4]
        return [(corner, 0.0) for corner in corners[np.sort(lowest)]]
    radius, half = float(shape.size[0]), float(shape.size[1])
    along = rotate(shape.quat, [0.0, 0.0, 1.0])
    tilt = float(along @ down)
    ends = [shape.p - half * along, shape.p + half * along]
    if shape.kind == "capsule" or abs(tilt) < 0.1:  # a lying cylinder touches along its length
        return [(end, radius) for end in ends]
    angle = np.arange(_ROUND) * (2 * np.pi / _ROUND)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(_ROUND)], axis=-1) * radius
    return [(ends[int(tilt > 0)] + spoke, 0.0) for spoke in rotate(shape.quat, ring)]
