"""Inverse dynamics of a clip: torque at the joints, the wrench at the root, what contact supplies of it.

Newton and Euler on the poses of links: forces and moments of each link follow from how its centre of mass and
its angular momentum change; those of all links that a joint carries, about the joint, are its torque. No
library is needed for it, and only poses are differentiated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled, link_poses
from assay.embodiment.tree import FIXED, HINGE, Tree

__all__ = [
    "GRAVITY", "LEAST", "LEAST_RATE", "Dynamics", "Motion", "fall", "mass_known", "motion", "smooth",
    "supported", "torques",
]  # fmt: skip

Floats = NDArray[np.float64]

GRAVITY: Final = 9.81
LEAST_RATE: Final = 25.0
"""Hz from which on a low pass at 6 Hz and second differences can be told from what they blur."""
LEAST: Final = 16
"""Frames of the shortest clip that a low pass can be run over, both ways."""
CUT: Final = 6.0
"""Hz; what moves faster is noise of capture and impacts (METHODS 3)."""
EDGES: Final = 4
"""Edges of a friction cone made of planes."""


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """What a clip's motion asks for, without any contact.

    Attributes:
        p, quat: (T, L, 3) m and (T, L, 4) wxyz, links in the world.
        force: (T, L, 3) N, mass times acceleration less gravity of each link.
        moment: (T, L, 3) N*m, each link's change of angular momentum about its own centre of mass.
        com: (T, L, 3) m, centres of mass; mass: (L,) kg, 0 where a link has none.
    """

    p: Floats
    quat: Floats
    force: Floats
    moment: Floats
    com: Floats
    mass: Floats

    @property
    def centre(self) -> Floats:
        """(T, 3) m, the whole body's centre of mass."""
        return np.asarray(np.einsum("tli,l->ti", self.com, self.mass) / self.mass.sum())

    def wrench(self, about: Floats) -> Floats:
        """(T, 6) N and N*m about points (T, 3): what the world must give for the motion to happen."""
        arm = self.com - about[:, None]
        force = self.force.sum(axis=1)
        moment = (self.moment + np.cross(arm, self.force)).sum(axis=1)
        return np.concatenate([force, moment], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Dynamics:
    """What a clip asks of joints and of the world.

    Attributes:
        torque: (n, c) N*m or N, in the order of the tree's columns.
        force: (n,) share of the body's weight that no contact supplies; moment: (n,) the same of weight times
            height of the centre of mass.
        carried: (n,) number of feet near enough to the ground to carry; other: (n,) whether something else
            may carry.
        steady: (n,) away from take-off, landing and the ends of the clip, which the low pass blurs.
        rate: frames per second; u: standard deviation of ``force`` by the jitter of the base.
    """

    torque: Floats
    force: Floats
    moment: Floats
    carried: NDArray[np.intp]
    steady: NDArray[np.bool_]
    other: NDArray[np.bool_]
    rate: float
    u: float


def fall(jitter: float, rate: float, cut: float = CUT) -> float:
    """Standard deviation of acceleration over gravity that white jitter (m) leaves behind the low pass.

    The spectrum of jitter, 2 s^2 / rate up to half the rate, times (2 pi f)^4 up to the cut.
    """
    if not jitter >= 0:
        return 0.0
    top = min(cut, rate / 2)
    return float(jitter * np.sqrt((2 * np.pi) ** 4 * top**5 / 5 * 2 / rate) / GRAVITY)


def mass_known(tree: Tree) -> bool:
    """Whether every link that a joint moves, with what is fixed to it, has mass, centre and inertia."""
    known = (
        np.isfinite(tree.mass)
        & np.isfinite(tree.com).all(axis=1)
        & np.isfinite(tree.inertia).all(axis=(1, 2))
    )
    for i in range(len(known) - 1, 0, -1):
        if tree.kind[i] == FIXED:
            known[tree.parent[i]] |= known[i]
    moving = np.flatnonzero(tree.kind != FIXED)
    carries = np.bincount(tree.parent[moving[tree.parent[moving] >= 0]], minlength=len(known)) > 0
    # A link between two joints of one place (MJCF) may be without mass; an end of the body may not.
    return bool(known[[i for i in moving if not carries[i]]].all() and known.any())


def smooth(x: Floats, rate: float, cut: float = CUT) -> Floats:
    """Zero-phase low pass (Butterworth of order 2, both ways) along the first axis; x below 2.5 cut."""
    if rate < 2.5 * cut or len(x) < LEAST:
        return x
    from scipy.signal import butter, sosfiltfilt

    sections = butter(2, cut, fs=rate, output="sos")
    pad = min(len(x) - 1, round(rate / cut * 3))
    return np.asarray(sosfiltfilt(sections, x, axis=0, padlen=pad))


def motion(tree: Tree, q: Floats, place: Floats, rate: float, cut: float = CUT) -> Motion:
    """What a clip's motion asks for.

    Args:
        tree: L links with masses.
        q: (T, n) rad or m.
        place: (T, 7) m and wxyz, the root in a world whose z points up.
        rate: frames per second, even.
        cut: Hz of the low pass before differentiating.

    Returns:
        Forces of the first and last frame are those of their neighbours. NaN stays NaN.
    """
    turned = _continuous(place[:, 3:])
    smoothed = smooth(np.concatenate([q, place[:, :3], turned], axis=1), rate, cut)
    width = q.shape[1]
    p, quat = link_poses(tree, smoothed[:, :width], smoothed[:, width : width + 3], smoothed[:, width + 3 :])
    whole = np.isfinite(tree.mass) & np.isfinite(tree.com).all(axis=1)
    mass = np.where(whole, tree.mass, 0.0)
    inertia = np.ascontiguousarray(np.where(np.isfinite(tree.inertia), tree.inertia, 0.0))
    centre = np.ascontiguousarray(np.where(whole[:, None], tree.com, 0.0))
    com, force, moment = np.empty_like(p), np.zeros_like(p), np.zeros_like(p)
    compiled(_newton, _NEWTON)[0](p, quat, mass, centre, inertia, float(rate), com, force, moment)
    for x in (force, moment):
        x[:1], x[-1:] = x[1:2], x[-2:-1]
    return Motion(p, quat, force, moment, com, mass)


def torques(tree: Tree, m: Motion, pushes: dict[int, Floats] | None = None) -> Floats:
    """(T, n) N*m or N at the joints, in the order of ``tree.joints``.

    Args:
        tree: L links.
        m: its motion.
        pushes: link → (T, 6) N and N*m about the link's origin, what contact gives to it.
    """
    links = np.array(sorted(pushes or {}), np.int64)
    given = np.stack([(pushes or {})[i] for i in links], axis=1) if len(links) else np.zeros((len(m.p), 0, 6))
    whole = np.ascontiguousarray(np.stack([tree.parent, tree.kind, tree.column], axis=1))
    row = np.concatenate([tree.axis, tree.gain[:, None]], axis=1)
    out = np.zeros((len(m.p), len(tree.joints)))
    compiled(_carried, _CARRIED)[0](m.p, m.quat, m.com, m.force, m.moment, whole, row, links,
                                    np.ascontiguousarray(given), out)  # fmt: skip
    return out


def supported(wrench: Floats, arm: Floats, active: NDArray[np.bool_], scale: float, friction: float
              ) -> tuple[Floats, Floats]:  # fmt: skip
    """The forces at contact points that come nearest to a wrench: non-negative shares of friction cones.

    Args:
        wrench: (T, 6) N and N*m about a point.
        arm: (T, k, 3) m, contact points from that point.
        active: (T, k) whether a point is in contact.
        scale: m; a moment of F * scale counts as much as a force F.
        friction: ratio of tangential to normal force.

    Returns:
        push (T, k, 3) N, and the rest of the wrench that none of them supplies (T, 6). The smallest forces
        where several fit; NaN where the wrench is.
    """
    push, rest = np.zeros(arm.shape), np.array(wrench, np.float64)
    angle = np.arange(EDGES) * (2 * np.pi / EDGES) + np.pi / EDGES
    edges = np.stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(EDGES)], axis=1)
    compiled(_cones, _SIGNATURE)[0](rest, np.ascontiguousarray(arm), np.ascontiguousarray(active), edges,
                                    float(scale), push)  # fmt: skip
    return push, rest


def _continuous(quat: Floats) -> Floats:
    """Quaternions (T, 4) with one sign throughout."""
    flips = (quat[1:] * quat[:-1]).sum(axis=1) < 0
    sign = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])
    return np.asarray(quat * sign[:, None])


_NEWTON: Final = (
    "void(float64[:,:,::1], float64[:,:,::1], float64[::1], float64[:,::1], float64[:,:,::1], float64,"
    " float64[:,:,::1], float64[:,:,::1], float64[:,:,::1])"
)
_CARRIED: Final = (
    "void(float64[:,:,::1], float64[:,:,::1], float64[:,:,::1], float64[:,:,::1], float64[:,:,::1],"
    " int64[:,::1], float64[:,::1], int64[::1], float64[:,:,::1], float64[:,::1])"
)
_GRAVITY: Final = GRAVITY
_HINGE: Final = HINGE


# Compiled: forces from second differences of the centres of mass, moments from the change of the angular
# momentum between frames.
def _newton(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917  # long: one kernel without calls
    p, o, mass, centre, inertia, rate, com, force, moment
):
    links = p.shape[1]
    before = np.zeros((links, 3))
    body, now = np.empty(3), np.empty(3)
    for t in range(len(p)):
        for i in range(links):
            w, a, b, c = o[t, i, 0], o[t, i, 1], o[t, i, 2], o[t, i, 3]
            x, y, z = centre[i, 0], centre[i, 1], centre[i, 2]
            u, v, s = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
            com[t, i, 0] = p[t, i, 0] + x + w * u + b * s - c * v
            com[t, i, 1] = p[t, i, 1] + y + w * v + c * u - a * s
            com[t, i, 2] = p[t, i, 2] + z + w * s + a * v - b * u
            if mass[i] == 0.0 or t == 0:
                continue
            d, e, f, g = o[t - 1, i, 0], o[t - 1, i, 1], o[t - 1, i, 2], o[t - 1, i, 3]
            if w * d + a * e + b * f + c * g < 0.0:
                d, e, f, g = -d, -e, -f, -g
            # now after (before)^-1, in the world; the middle of both turns the inertia
            q0 = w * d + a * e + b * f + c * g
            x, y, z = (
                a * d - w * e - b * g + c * f,
                b * d - w * f - c * e + a * g,
                c * d - w * g - a * f + b * e,
            )
            size = math.sqrt(x * x + y * y + z * z)
            factor = rate * (2.0 * math.atan2(size, q0) / size if size > 1e-9 else 2.0)
            x, y, z = x * factor, y * factor, z * factor
            w, a, b, c = w + d, a + e, b + f, c + g
            size = 1.0 / math.sqrt(w * w + a * a + b * b + c * c)
            w, a, b, c = w * size, a * size, b * size, c * size
            u, v, s = 2 * (c * y - b * z), 2 * (a * z - c * x), 2 * (b * x - a * y)
            body[0] = x + w * u - b * s + c * v
            body[1] = y + w * v - c * u + a * s
            body[2] = z + w * s - a * v + b * u
            x = inertia[i, 0, 0] * body[0] + inertia[i, 0, 1] * body[1] + inertia[i, 0, 2] * body[2]
            y = inertia[i, 1, 0] * body[0] + inertia[i, 1, 1] * body[1] + inertia[i, 1, 2] * body[2]
            z = inertia[i, 2, 0] * body[0] + inertia[i, 2, 1] * body[1] + inertia[i, 2, 2] * body[2]
            u, v, s = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
            now[0], now[1] = x + w * u + b * s - c * v, y + w * v + c * u - a * s
            now[2] = z + w * s + a * v - b * u
            for k in range(3):
                if t > 1:
                    second = com[t, i, k] - 2 * com[t - 1, i, k] + com[t - 2, i, k]
                    force[t - 1, i, k] = mass[i] * second * rate * rate
                    moment[t - 1, i, k] = (now[k] - before[i, k]) * rate
                before[i, k] = now[k]
            force[t - 1, i, 2] += mass[i] * _GRAVITY if t > 1 else 0.0


# Compiled: what each link's joint carries is its own and what its children's joints carry.
def _carried(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    p, o, com, force, moment, whole, row, pushed, pushes, out
):
    links = p.shape[1]
    f, m = np.empty((links, 3)), np.empty((links, 3))
    for t in range(len(p)):
        for i in range(links):
            x, y, z = com[t, i, 0] - p[t, i, 0], com[t, i, 1] - p[t, i, 1], com[t, i, 2] - p[t, i, 2]
            f[i, 0], f[i, 1], f[i, 2] = force[t, i, 0], force[t, i, 1], force[t, i, 2]
            m[i, 0] = moment[t, i, 0] + y * f[i, 2] - z * f[i, 1]
            m[i, 1] = moment[t, i, 1] + z * f[i, 0] - x * f[i, 2]
            m[i, 2] = moment[t, i, 2] + x * f[i, 1] - y * f[i, 0]
        for k in range(len(pushed)):
            for e in range(3):
                f[pushed[k], e] -= pushes[t, k, e]
                m[pushed[k], e] -= pushes[t, k, 3 + e]
        for i in range(links - 1, 0, -1):
            if whole[i, 2] >= 0:
                w, a, b, c = o[t, i, 0], o[t, i, 1], o[t, i, 2], o[t, i, 3]
                x, y, z = row[i, 0], row[i, 1], row[i, 2]
                u, v, s = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
                x, y, z = x + w * u + b * s - c * v, y + w * v + c * u - a * s, z + w * s + a * v - b * u
                along = m[i] if whole[i, 1] == _HINGE else f[i]
                out[t, whole[i, 2]] += row[i, 3] * (x * along[0] + y * along[1] + z * along[2])
            k = whole[i, 0]
            x, y, z = p[t, i, 0] - p[t, k, 0], p[t, i, 1] - p[t, k, 1], p[t, i, 2] - p[t, k, 2]
            m[k, 0] += m[i, 0] + y * f[i, 2] - z * f[i, 1]
            m[k, 1] += m[i, 1] + z * f[i, 0] - x * f[i, 2]
            m[k, 2] += m[i, 2] + x * f[i, 1] - y * f[i, 0]
            for e in range(3):
                f[k, e] += f[i, e]


_SIGNATURE: Final = (
    "void(float64[:,::1], float64[:,:,::1], boolean[:,::1], float64[:,::1], float64, float64[:,:,::1])"
)


# The compiled function: coordinate descent on the shares, begun from those of the frame before.
def _cones(rest, arm, active, edges, scale, push):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912
    points, faces = arm.shape[1], len(edges)
    share = np.zeros((points, faces))
    ways = np.empty((points, faces, 6))
    size = np.empty((points, faces))
    for t in range(len(rest)):
        r = rest[t]
        weight = 1e-6
        for i in range(3):
            r[3 + i] /= scale
            weight += abs(r[i])
        for k in range(points):
            for e in range(faces):
                x, y, z = edges[e, 0], edges[e, 1], edges[e, 2]
                a, b, c = arm[t, k, 0], arm[t, k, 1], arm[t, k, 2]
                w = ways[k, e]
                w[0], w[1], w[2] = x, y, z
                w[3], w[4], w[5] = (b * z - c * y) / scale, (c * x - a * z) / scale, (a * y - b * x) / scale
                size[k, e] = x * x + y * y + z * z + w[3] * w[3] + w[4] * w[4] + w[5] * w[5] + 1e-4
                share[k, e] = share[k, e] if active[t, k] and share[k, e] == share[k, e] else 0.0
                for i in range(6):
                    r[i] -= share[k, e] * w[i]
        for _ in range(200):
            most = 0.0
            for k in range(points):
                if not active[t, k]:
                    continue
                for e in range(faces):
                    w = ways[k, e]
                    dot = -1e-4 * share[k, e]  # the least forces where several fit
                    for i in range(6):
                        dot += r[i] * w[i]
                    new = max(share[k, e] + dot / size[k, e], 0.0)
                    step = new - share[k, e]
                    if step != 0.0:
                        share[k, e] = new
                        for i in range(6):
                            r[i] -= step * w[i]
                        most = max(most, abs(step))
            if not most > 1e-4 * weight:
                break
        for k in range(points):
            for i in range(3):
                total = 0.0
                for e in range(faces):
                    total += share[k, e] * edges[e, i]
                push[t, k, i] = total
        for i in range(3):
            r[3 + i] *= scale
