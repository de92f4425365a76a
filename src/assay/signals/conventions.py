"""Rival readings of a floating body's motion, and what each would cost: which convention makes it a body's?

A clip is read under the declared conventions and under rivals (joints in another order, quaternions in
another order...). Under the right one a sole rests while it carries, the lowest sole keeps its height, joints
keep within their limits and the base stays upright; each is worth a logarithm, so that the costs of two
readings compare as odds. Method and choice of terms: REAL-CLIPS, "Conventions".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import compiled, points
from assay.signals.own_side import Markers, astray, markers
from assay.signals.readings import Motion, Reading

__all__ = ["PAIRS", "costs", "legs_known"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

PAIRS: Final = 100
"""Moments looked at, evenly spaced; more change no decision on the real clips."""
NEAR: Final = 0.02  # rad; real clips stand this far over a limit without a wrong convention
FLOORS: Final = (1e-3, 5e-3, 0.02, 0.02)
"""Below these a term says no more: m per step of a resting sole, m of scatter of the lowest, two shares."""
UPRIGHT: Final = 0.5  # cosine of 60 degrees
FLOOR: Final = 0.2
"""m that soles may rest off z = 0 before it counts: ASAP's clips stand up to 0.14 off; y read as z, 0.75."""
_FLOORS: Final = np.array([FLOORS[0], FLOORS[1], FLOORS[3], FLOOR])
SIDES: Final = {"arm": 0.1, "leg": 0.05}
"""Floors of the shares of moments with limbs on the wrong side: people do cross arms, and legs less."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What is asked of a body of which some joints are recorded.

    Attributes:
        lower, upper: (c,) rad, the widest limits and `NEAR` more.
        seen: the markers of sides; links: those of the markers, then one for each sole point.
        local: (k, 3) m in the links; radius: (s,) m of the sole points. None where legs are not whole.
    """

    lower: Floats
    upper: Floats
    seen: Markers
    links: tuple[str, ...]
    local: Floats
    radius: Floats


def legs_known(body: Embodiment, joint: NDArray[np.intp]) -> bool:
    """Whether soles are known and every joint between them and the root is recorded."""
    return _legs_known(body, tuple(joint.tolist()))


@lru_cache(maxsize=32)
def _legs_known(body: Embodiment, joint: tuple[int, ...]) -> bool:
    tree = body.tree
    if tree is None or not body.soles:
        return False
    above = tree.ancestors(np.array([tree.index(sole.link) for sole in body.soles]))
    return set(tree.column[above].tolist()) - {-1} <= set(joint)


@lru_cache(maxsize=32)
def _asked(body: Embodiment, joint: tuple[int, ...], *, grounded: bool) -> _Asked:
    mine = np.array(joint, np.intp)
    lower = np.min([s.lower for s in body.limits], axis=0)[mine] - NEAR
    upper = np.max([s.upper for s in body.limits], axis=0)[mine] + NEAR
    seen = markers(body, mine)
    feet = body.soles if grounded and _legs_known(body, joint) else ()
    links = (*seen.links, *(s.link for s in feet for _ in s.points))
    local = np.concatenate([np.zeros((len(seen.links), 3)), *(s.points for s in feet)])
    return _Asked(lower, upper, seen, links, local, np.concatenate([np.zeros(0), *(s.radius for s in feet)]))


def costs(motion: Motion, tried: Sequence[Reading]) -> Floats:
    """The cost of each reading, in nats; (r,). Terms that the clip cannot give are left out of all."""
    asked = _asked(motion.body, tuple(motion.joint.tolist()), grounded=motion.p is not None)
    # Readings of the base share the declared joints; all joints go through the kinematics at once.
    moves = np.array([r.joints is not None for r in tried])
    which = np.cumsum(moves) * moves
    q = np.stack([motion.q, *(r.joints(motion.q) for r in tried if r.joints is not None)])
    total: Floats = np.log(_beyond(q, asked) + FLOORS[2])[which]
    x = _places(motion, q, asked)
    for part, share in astray(asked.seen, x).items():
        total += np.log(share + SIDES[part])[which]
    if not len(asked.radius) or motion.p is None or motion.quat is None:
        return total
    turned = np.array([r.base is not None for r in tried])
    based = [(motion.p, motion.quat), *(r.base(motion.p, motion.quat) for r in tried if r.base is not None)]
    return total + _grounded(x, asked, which, based, np.cumsum(turned) * turned)


def _beyond(q: Floats, asked: _Asked) -> Floats:
    """(r,) share of moments of (r, n, c) at which some joint is over its limit."""
    found = np.empty(len(q))
    signature = "void(float64[:,:,::1], float64[::1], float64[::1], float64[::1])"
    compiled(_over, signature)[0](q, asked.lower, asked.upper, found)
    return found


def _over(q, lower, upper, found):  # type: ignore[no-untyped-def]
    for r in range(len(q)):
        count = 0
        for t in range(q.shape[1]):
            for c in range(q.shape[2]):
                if q[r, t, c] < lower[c] or q[r, t, c] > upper[c]:
                    count += 1
                    break
        found[r] = count / q.shape[1]


def _places(motion: Motion, q: Floats, asked: _Asked) -> Floats:
    """(r, n, k + s, 3) m: markers, then sole points, seen from the root, for joints q (r, n, c).

    No sole points where soles, base or the joints down to them are unknown; nothing at all without a tree.
    """
    tree = motion.body.tree
    if tree is None or not asked.links:
        return np.zeros((*q.shape[:2], 0, 3))
    columns = q.reshape(-1, q.shape[2])
    if not np.array_equal(motion.joint, np.arange(len(tree.joints))):
        mine = motion.joint < len(tree.joints)
        columns = np.zeros((len(columns), len(tree.joints)))
        columns[:, motion.joint[mine]] = q.reshape(-1, q.shape[2])[:, mine]
    x = points(tree, columns, None, None, asked.links, asked.local)
    return x.reshape(*q.shape[:2], *x.shape[1:])


def _grounded(
    x: Floats, asked: _Asked, which: Index, based: Sequence[tuple[Floats, Floats]], base: Index
) -> Floats:
    """(r,) nats of the terms of soles x (j, n, k + s, 3) m, j = ``which`` (r,), and base.

    ``based`` is (n, 3) m and (n, 4) wxyz of the base as declared, then as else read; ``base`` (r,) chooses.
    """
    r, n = len(which), x.shape[1]
    p, quat = (np.stack([b[i] for b in based]) for i in (0, 1))
    slowest, lowest, tilted = np.empty((r, n // 2)), np.empty((r, n)), np.empty(r)
    compiled(_standing, _STANDING)[0](
        x, len(asked.seen.links), asked.radius, which, p, quat, base, slowest, lowest, tilted
    )
    slowest.sort(axis=1)
    lowest.sort(axis=1)
    tenth = n // 10
    scatter = lowest[:, -1 - tenth] - lowest[:, tenth]
    off = np.abs(lowest[:, n // 2])
    terms = np.stack([slowest[:, (n // 2) // 2], scatter, tilted, off], axis=1)
    return np.asarray(np.log(terms + _FLOORS).sum(axis=1))


_STANDING: Final = (
    "void(float64[:,:,:,::1], int64, float64[::1], int64[::1], float64[:,:,::1], float64[:,:,::1],"
    " int64[::1], float64[:,::1], float64[:,::1], float64[::1])"
)


# For each reading how far the slowest sole point gets in each pair, how high the lowest is at each moment,
# and the share of moments with the base tilted.
def _standing(x, first, radius, which, p, quat, base, slowest, lowest, tilted):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    soles = len(radius)
    before, after = np.empty((soles, 3)), np.empty((soles, 3))
    for r in range(len(which)):
        fallen = 0
        for t in range(x.shape[1]):
            turn, here = quat[base[r], t], x[which[r], t]
            w, i, j, k = turn[0], turn[1], turn[2], turn[3]
            a, b, c = 1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)
            d, e, f = 2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)
            g, h, up = 2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)
            fallen += up < UPRIGHT
            low = math.inf
            for s in range(soles):
                u, v, z = here[first + s, 0], here[first + s, 1], here[first + s, 2]
                after[s, 0] = u * a + v * b + z * c + p[base[r], t, 0]
                after[s, 1] = u * d + v * e + z * f + p[base[r], t, 1]
                after[s, 2] = u * g + v * h + z * up + p[base[r], t, 2]
                low = min(low, after[s, 2] - radius[s])
            lowest[r, t] = low
            if t % 2:
                least = math.inf
                for s in range(soles):
                    u, v, z = (
                        after[s, 0] - before[s, 0],
                        after[s, 1] - before[s, 1],
                        after[s, 2] - before[s, 2],
                    )
                    least = min(least, u * u + v * v + z * z)
                slowest[r, t // 2] = math.sqrt(least)
            before, after = after, before
        tilted[r] = fallen / x.shape[1]
