"""What the limbs of the human say of a robot's rests: straight where hers is, or held while hers moves."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import link_poses
from assay.signals.followed import Followed
from assay.signals.rests import Limbs, Rests

__all__ = ["excused", "moves"]

Bools = NDArray[np.bool_]

BENDS: Final = {"knee": ("hip", "knee", "ankle"), "elbow": ("shoulder", "elbow", "wrist")}
"""A human's joints above, at and below each hinge of a limb."""
STRETCHED: Final = 0.99
"""Share of a limb's greatest length from which on it is straight: within 16 degrees, for equal halves."""


@lru_cache(maxsize=64)
def _straight_at(body: Embodiment, joint: int, value: float) -> bool:
    """Whether a limb is as good as straight with this joint at ``value`` rad and its others at zero."""
    tree, name = body.tree, body.joints[joint].name
    if tree is None or name not in tree.joints:
        return False
    column = tree.joints.index(name)
    link = int(np.flatnonzero(tree.column == column)[0])
    above = [int(i) for i in tree.ancestors(np.array([link])) if i != link]
    part, side = body.joints[joint].part, body.joints[joint].side
    mine = {j.name for j in body.joints if j.part == part and j.side == side}
    first = next(i for i in (*above, link) if tree.carrier[i] in mine)
    last = max(i for i, carrier in enumerate(tree.carrier) if carrier in mine)
    limits = body.limits[0]
    q = np.zeros((42, len(tree.joints)))
    q[:, column] = np.append(np.linspace(limits.lower[joint], limits.upper[joint], 41), value)
    p, _ = link_poses(tree, q, links=[tree.links[first], tree.links[last]])
    long = np.linalg.norm(p[:, 1] - p[:, 0], axis=1)
    return bool(long[-1] >= STRETCHED * long.max())


@lru_cache(maxsize=64)
def _bent_by(body: Embodiment, joint: int) -> tuple[str, ...]:
    """The human's joints about whose middle one a knee or elbow of the body bends; none for other joints."""
    one = body.joints[joint]
    bends = next((b for k, b in BENDS.items() if k in one.name), ())
    return tuple(f"{one.side}_{b}" for b in bends) if one.side else ()


def excused(
    human: Followed | None, body: Embodiment, joint: NDArray[np.intp], found: Rests, most: float
) -> dict[int, Bools]:
    """Column → (n,) frames in which the human's limb is straight, for stops that are the straight limb.

    Args:
        human: the source, if there is one.
        body: the robot.
        joint: (c,) which of its joints the columns of ``found`` are.
        found: rests on limits.
        most: rad by which a straight limb of hers may be bent; NaN excuses nothing.
    """
    free: dict[int, Bools] = {}
    for column in np.unique(found.column).tolist() if human is not None else ():
        stop, bends = float(found.value[found.column == column][0]), _bent_by(body, int(joint[column]))
        bend = (
            human.bend(*bends) if human and bends and _straight_at(body, int(joint[column]), stop) else None
        )
        if bend is not None:
            free[column] = bend <= most
    return free


def moves(human: Followed | None, found: Rests, limbs: Limbs) -> Bools:
    """(k,) whether the human's hand or foot moves against her pelvis in each rest; true if nothing tells."""
    keep = np.ones(len(found.first), bool)
    for i, (column, a, b) in enumerate(zip(found.column, found.first, found.end, strict=True)):
        end = {"arm": "wrist", "leg": "ankle"}.get(limbs.part[column])
        if human is not None and end is not None:
            keep[i] = human.moves(f"{limbs.side[column]}_{end}", int(a), int(b))
    return keep
