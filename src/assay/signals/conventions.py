"""Rival readings of a floating body's motion, and what each would cost: which convention makes it a body's?

A clip is read under the declared conventions and under rivals (joints in another order, quaternions in
another order...). Under the right one a sole rests while it carries, the lowest sole keeps its height, joints
keep within their limits and the base stays upright; each is worth a logarithm, so that the costs of two
readings compare as odds. Method and choice of terms: REAL-CLIPS, "Conventions".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.kinematics import compiled, points
from assay.signals.own_side import astray, markers
from assay.signals.readings import Joints, Motion, Reading, Turn

__all__ = ["PAIRS", "costs", "legs_known", "without_stages"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Point = tuple[str, tuple[float, ...]]

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


def legs_known(body: Embodiment, joint: Index) -> bool:
    """Whether soles are known and every joint between them and the root is recorded."""
    return _legs_known(body, tuple(joint.tolist()))


@lru_cache(maxsize=32)
def _legs_known(body: Embodiment, joint: tuple[int, ...]) -> bool:
    tree = body.tree
    if tree is None or not body.soles:
        return False
    above = tree.ancestors(np.array([tree.index(sole.link) for sole in body.soles]))
    return set(tree.column[above].tolist()) - {-1} <= set(joint)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What some readings ask of a body of which c joints are recorded: the same for clip after clip.

    Many readings leave an arm or a leg as another one has it: each is placed and judged once.

    Attributes:
        lower, upper: (c,) rad, the widest limits and `NEAR` more.
        take, scale, shift: (u, c) the joints as `Joints` has them; reads: (r,) the u of each reading.
        forest: the limbs of all readings on one root, None without points; links, local: what points at k
            places are fixed to, (k, 3) m in the links.
        sides: part → (a, 4) its markers among the places, (r,) the a of each reading; apart: m of `Markers`.
        soles: (v, s) sole points among the places, none where legs are not whole; radius: (s,) m.
        base: (v,) how the base is read: order (b, 4), sign (b, 4), y_up (b,), size (b,) of `Turn`.
        stands: (r,) the v of each reading.
    """

    lower: Floats
    upper: Floats
    take: Index
    scale: Floats
    shift: Floats
    reads: Index
    forest: Tree | None
    links: tuple[str, ...]
    local: Floats
    sides: dict[str, tuple[Index, Index]]
    apart: float
    soles: Index
    radius: Floats
    base: Index
    order: Index
    sign: Floats
    y_up: NDArray[np.bool_]
    size: Floats
    stands: Index


@lru_cache(maxsize=64)
def _asked(body: Embodiment, joint: tuple[int, ...], tried: tuple[Reading, ...], *, grounded: bool) -> _Asked:
    mine = np.array(joint, np.intp)
    lower = np.min([s.lower for s in body.unclaimed], axis=0)[mine] - NEAR
    upper = np.max([s.upper for s in body.unclaimed], axis=0)[mine] + NEAR
    same = Joints(np.arange(len(mine)), np.ones(len(mine)), np.zeros(len(mine)))
    read = [same, *(r.joints for r in tried if r.joints is not None)]
    moves = np.array([r.joints is not None for r in tried])
    reads = np.cumsum(moves) * moves
    seen = markers(body, mine)
    feet = body.soles if grounded and _legs_known(body, joint) else ()
    wanted = [(link, (0.0, 0.0, 0.0)) for link in seen.links]
    wanted += [(s.link, tuple(p)) for s in feet for p in s.points.tolist()]
    forest, links, local, at = _forest(body.tree, joint, read, wanted)
    sides = {}
    for i, part in enumerate(seen.parts):
        index, which = np.unique(at[:, 4 * i : 4 * i + 4], axis=0, return_inverse=True)
        sides[part] = np.ascontiguousarray(index), which.reshape(-1)[reads]
    turns = list(dict.fromkeys(r.base or Turn() for r in tried))
    base = np.array([turns.index(r.base or Turn()) for r in tried])
    soles = at[reads, len(seen.links) :]
    both, stands = np.unique(np.concatenate([base[:, None], soles], axis=1), axis=0, return_inverse=True)
    return _Asked(
        lower, upper, np.stack([j.take for j in read]), np.stack([j.scale for j in read]),
        np.stack([j.shift for j in read]), reads, forest, links, local, sides, seen.apart,
        np.ascontiguousarray(both[:, 1:]), np.concatenate([np.zeros(0), *(s.radius for s in feet)]),
        np.ascontiguousarray(both[:, 0]),
        np.array([t.order for t in turns]), np.array([t.sign for t in turns]),
        np.array([t.y_up for t in turns]), np.array([t.scale for t in turns]), stands.reshape(-1),
    )  # fmt: skip


def _forest(
    tree: Tree | None,
    joint: tuple[int, ...],
    read: Sequence[Joints],
    wanted: Sequence[Point],
) -> tuple[Tree | None, tuple[str, ...], Floats, Index]:
    """A tree whose columns are those recorded, with a limb for each way that readings move one.

    Also the links and (k, 3) m of places on it, and (u, w) which of these are the ``wanted`` points of each
    reading. A joint that nobody recorded is at zero.
    """
    if tree is None or not wanted:
        return None, (), np.zeros((0, 3)), np.zeros((len(read), len(wanted)), np.intp)
    recorded = {column: i for i, column in enumerate(joint)}
    grown: dict[tuple[int, int, int, float, float], int] = {(0, -1, -1, 1.0, 0.0): 0}
    places: dict[tuple[int, tuple[float, ...]], int] = {}

    def grow(link: int, by: Joints) -> int:
        if link == 0:
            return 0
        up, column = grow(int(tree.parent[link]), by), int(tree.column[link])
        gain, offset = float(tree.gain[link]), float(tree.offset[link])
        if column >= 0:
            i = recorded.get(column)
            scale, shift = (0.0, 0.0) if i is None else (float(by.scale[i]), float(by.shift[i]))
            column, gain, offset = 0 if i is None else int(by.take[i]), gain * scale, gain * shift + offset
        return grown.setdefault((link, up, column, gain, offset), len(grown))

    at = [
        [places.setdefault((grow(tree.index(link), by), p), len(places)) for link, p in wanted] for by in read
    ]
    own, parent, column, gain, offset = (np.array(a) for a in zip(*grown, strict=True))
    names = tuple(f"{tree.links[i]} {k}" for k, i in enumerate(own))
    parts = {n: getattr(tree, n)[own] for n in ("kind", "p", "quat", "axis", "mass", "com", "inertia")}
    forest = replace(
        tree, links=names, joints=tuple(str(i) for i in range(len(joint))), parent=parent, column=column,
        carrier=tuple(tree.carrier[i] for i in own), gain=gain, offset=offset, **parts,
    )  # fmt: skip
    return forest, tuple(names[link] for link, _ in places), np.array([p for _, p in places]), np.array(at)


def without_stages(motion: Motion, tried: tuple[Reading, ...], margin: float) -> tuple[Reading, ...]:
    """Readings without units of length that nothing but the height of the ground asks for.

    Somebody on a stage or an upper floor stands as high in m as another one does in feet. What tells them
    apart is the step of a resting sole: a unit must win by the margin (nats) without the height.
    """
    lengths = tuple(r for r in tried if r.kind == "length-unit")
    if not lengths:
        return tried
    cost = costs(motion, (tried[0], *lengths), height=False)
    kept = {r for r, c in zip(lengths, cost[1:], strict=True) if cost[0] - c > margin}
    return tuple(r for r in tried if r.kind != "length-unit" or r in kept)


def costs(motion: Motion, tried: tuple[Reading, ...], *, height: bool = True) -> Floats:
    """The cost of each reading, in nats; (r,). Terms that the clip cannot give are left out of all.

    ``height``: whether how far the soles rest from z = 0 counts.
    """
    asked = _asked(motion.body, tuple(motion.joint.tolist()), tried, grounded=motion.p is not None)
    total: Floats = np.log(_beyond(motion.q, asked) + FLOORS[2])[asked.reads]
    if asked.forest is None:
        return total
    x = points(asked.forest, motion.q, None, None, asked.links, asked.local)
    for part, (index, which) in asked.sides.items():
        share = astray(x, index, part, asked.apart)
        total += np.log(share + SIDES[part])[which]
    if len(asked.radius) and motion.p is not None and motion.quat is not None:
        terms = _grounded(x, asked, motion.p, motion.quat)
        total += terms[:, : 4 if height else 3].sum(axis=1)[asked.stands]
    return total


def _beyond(q: Floats, asked: _Asked) -> Floats:
    """(u,) share of moments of q (n, c), read in each way, at which some joint is over its limit."""
    found = np.empty(len(asked.take))
    signature = (
        "void(float64[:,::1], int64[:,::1], float64[:,::1], float64[:,::1], float64[::1], float64[::1],"
        " float64[::1])"
    )
    compiled(_over, signature)[0](q, asked.take, asked.scale, asked.shift, asked.lower, asked.upper, found)
    return found


def _over(q, take, scale, shift, lower, upper, found):  # type: ignore[no-untyped-def]
    for r in range(len(take)):
        count = 0
        for t in range(len(q)):
            for c in range(take.shape[1]):
                value = scale[r, c] * q[t, take[r, c]] + shift[r, c]
                if value < lower[c] or value > upper[c]:
                    count += 1
                    break
        found[r] = count / len(q)


def _grounded(x: Floats, asked: _Asked, p: Floats, quat: Floats) -> Floats:
    """(v, 4) nats of the terms of soles among places x (n, k, 3) m, seen from the root, and base.

    The base is p (n, 3) m and quat (n, 4) wxyz as declared.
    """
    v, n = len(asked.soles), len(x)
    slowest, lowest, tilted = np.empty((v, n // 2)), np.empty((v, n)), np.empty(v)
    compiled(_standing, _STANDING)[0](
        x, asked.soles, asked.radius, p, quat, asked.base, asked.order, asked.sign, asked.y_up, asked.size,
        slowest, lowest, tilted,
    )  # fmt: skip
    slowest.sort(axis=1)
    lowest.sort(axis=1)
    tenth = n // 10
    scatter = lowest[:, -1 - tenth] - lowest[:, tenth]
    off = np.abs(lowest[:, n // 2])
    terms = np.stack([slowest[:, (n // 2) // 2], scatter, tilted, off], axis=1)
    return np.asarray(np.log(terms + _FLOORS))


_STANDING: Final = (
    "void(float64[:,:,::1], int64[:,::1], float64[::1], float64[:,::1], float64[:,::1], int64[::1],"
    " int64[:,::1], float64[:,::1], boolean[::1], float64[::1], float64[:,::1], float64[:,::1],"
    " float64[::1])"
)
_HALF_SQUARE: Final = math.sqrt(0.5)


# For each reading how far the slowest sole point gets in each pair, how high the lowest is at each moment,
# and the share of moments with the base tilted.
def _standing(x, feet, radius, p, quat, base, order, sign, y_up, size, slowest, lowest, tilted):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    soles = len(radius)
    before, after = np.empty((soles, 3)), np.empty((soles, 3))
    for r in range(len(base)):
        fallen, own = 0, base[r]
        for t in range(len(x)):
            w, i = sign[own, 0] * quat[t, order[own, 0]], sign[own, 1] * quat[t, order[own, 1]]
            j, k = sign[own, 2] * quat[t, order[own, 2]], sign[own, 3] * quat[t, order[own, 3]]
            ahead, aside, above = size[own] * p[t, 0], size[own] * p[t, 1], size[own] * p[t, 2]
            if y_up[own]:  # what was up becomes y, turned by a quarter about x
                w, i, j, k = w - i, w + i, j - k, j + k
                w, i, j, k = w * _HALF_SQUARE, i * _HALF_SQUARE, j * _HALF_SQUARE, k * _HALF_SQUARE
                aside, above = -above, aside
            a, b, c = 1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)
            d, e, f = 2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)
            g, h, up = 2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)
            fallen += up < UPRIGHT
            low = math.inf
            for s in range(soles):
                here = x[t, feet[r, s]]
                u, v, z = here[0], here[1], here[2]
                after[s, 0] = u * a + v * b + z * c + ahead
                after[s, 1] = u * d + v * e + z * f + aside
                after[s, 2] = u * g + v * h + z * up + above
                low = min(low, after[s, 2] - radius[s])
            lowest[r, t] = low
            if t % 2:
                least = math.inf
                for s in range(soles):
                    u = after[s, 0] - before[s, 0]
                    v = after[s, 1] - before[s, 1]
                    z = after[s, 2] - before[s, 2]
                    least = min(least, u * u + v * v + z * z)
                slowest[r, t // 2] = math.sqrt(least)
            before, after = after, before
        tilted[r] = fallen / len(x)
