"""Rival readings of a floating body's motion, and what each would cost: which convention makes it a body's?

A clip is read under the declared conventions and under rivals (joints in another order, quaternions in
another order...). Under the right one a sole rests while it carries, the lowest sole keeps its height, joints
keep within their limits and the base stays upright; each is worth a logarithm, so that the costs of two
readings compare as odds. Method and choice of terms: REAL-CLIPS, "Conventions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import points
from assay.signals.own_side import Markers, astray, markers
from assay.signals.readings import Motion, Reading

__all__ = ["PAIRS", "costs", "legs_known"]

Floats = NDArray[np.float64]

PAIRS: Final = 100
"""Moments looked at, evenly spaced; more change no decision on the real clips."""
NEAR: Final = 0.02  # rad; real clips stand this far over a limit without a wrong convention
FLOORS: Final = (1e-3, 5e-3, 0.02, 0.02)
"""Below these a term says no more: m per step of a resting sole, m of scatter of the lowest, two shares."""
UPRIGHT: Final = 0.5  # cosine of 60 degrees
FLOOR: Final = 0.2
"""m that soles may rest off z = 0 before it counts: ASAP's clips stand up to 0.14 off; y read as z, 0.75."""
SIDES: Final = {"arm": 0.1, "leg": 0.05}
"""Floors of the shares of moments with limbs on the wrong side: people do cross arms, and legs less."""


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
    seen = markers(motion.body, motion.joint)
    x, radius = _places(motion, q.reshape(-1, q.shape[2]), seen)
    x = x.reshape(*q.shape[:2], *x.shape[1:])
    for part, share in astray(seen, x[:, :, : len(seen.links)]).items():
        total += np.log(share + SIDES[part])[which]
    soles = x[:, :, len(seen.links) :]
    if not soles.shape[2] or motion.p is None or motion.quat is None:
        return total
    declared = motion.p, _turns(motion.quat)
    for i, reading in enumerate(tried):
        total[i] += _grounded(soles[which[i]], radius, *(_based(motion, reading) or declared))
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


def _places(motion: Motion, q: Floats, seen: Markers) -> tuple[Floats, Floats]:
    """(n, k + s, 3) m: markers, then sole points, seen from the root; (s,) radius of the latter.

    No sole points where soles, base or the joints down to them are unknown; nothing at all without a tree.
    """
    tree = motion.body.tree
    if tree is None:
        return np.zeros((len(q), 0, 3)), np.zeros(0)
    grounded = motion.p is not None and legs_known(motion.body, motion.joint)
    feet = motion.body.soles if grounded else ()
    on = [*seen.links, *(s.link for s in feet for _ in s.points)]
    if not on:
        return np.zeros((len(q), 0, 3)), np.zeros(0)
    local = np.concatenate([np.zeros((len(seen.links), 3)), *(s.points for s in feet)])
    columns = np.zeros((len(q), len(tree.joints)))
    mine = motion.joint < len(tree.joints)
    columns[:, motion.joint[mine]] = q[:, mine]
    radius = np.concatenate([np.zeros(0), *(s.radius for s in feet)])
    return points(tree, columns, None, None, on, local), radius


def _grounded(soles: Floats, radius: Floats, p: Floats, turns: Floats) -> float:
    world = soles @ turns + p[:, None]
    step = world[1::2] - world[::2]
    slowest = np.sqrt((step * step).sum(axis=2).min(axis=1))
    lowest = np.sort((world[:, :, 2] - radius).min(axis=1))
    tenth = len(lowest) // 10
    scatter = lowest[-1 - tenth] - lowest[tenth]
    tilted = np.count_nonzero(turns[:, 2, 2] < UPRIGHT) / len(turns)
    off = abs(lowest[len(lowest) // 2])
    terms = (np.sort(slowest)[len(slowest) // 2], scatter, tilted, off)
    return float(np.log(np.add(terms, (FLOORS[0], FLOORS[1], FLOORS[3], FLOOR))).sum())
