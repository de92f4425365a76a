"""A body's shape as capsules fixed to its links, and how deep one link lies in another over a clip.

Capsules are fitted to public meshes when a card is built (``tools/fit_capsules.py``); here they are numbers.
Pairs of links are not looked at that fewer than three joints move against each other, or whose meshes always
touch.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.embodiment.kinematics import compiled, link_poses
from assay.embodiment.tree import FIXED, Tree

__all__ = ["Capsules", "deepest", "pairs", "rigid"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_APART: Final = 3
_CHUNK: Final = 8192  # frames whose link poses are held at once


@dataclass(frozen=True, slots=True, eq=False)
class Capsules:
    """The shape of a body.

    Attributes:
        links: k names, the link that each capsule is fixed to.
        a, b: (k, 3) m, ends of its axis in the link's frame; radius: (k,) m.
        touching: pairs of links that are not looked at, since their meshes touch at rest or most of the time.
        bias, u: m, median and standard deviation of the error of the depth near contact, against the meshes.
        source, licence: of the meshes that they were fitted to.
    """

    links: tuple[str, ...]
    a: Floats
    b: Floats
    radius: Floats
    touching: frozenset[frozenset[str]]
    bias: float
    u: float
    source: str
    licence: str

    def without(self, links: Collection[str]) -> Capsules:
        """The shape without some links (a hand that another maker's replaces)."""
        keep = np.array([link not in links for link in self.links], bool)
        return Capsules(
            tuple(link for link in self.links if link not in links), self.a[keep], self.b[keep],
            self.radius[keep], self.touching, self.bias, self.u, self.source, self.licence,
        )  # fmt: skip


def rigid(tree: Tree) -> Ints:
    """(L,) the link that moves each link: itself, or the one that it is fixed to."""
    part = np.arange(len(tree.links))
    for i in range(1, len(part)):
        if tree.kind[i] == FIXED:
            part[i] = part[tree.parent[i]]
    return part


def pairs(tree: Tree, capsules: Capsules) -> list[tuple[str, str]]:
    """Pairs of links with capsules that three or more joints move against each other, less ``touching``.

    Links nearer than that are built into each other with clearances of millimetres, which capsules cannot
    show, and the joints' limits keep them apart.
    """
    links = sorted(dict.fromkeys(capsules.links), key=tree.index)
    above = {i: set(tree.ancestors(np.array([tree.index(i)])).tolist()) for i in links}

    def looked_at(one: str, other: str) -> bool:
        between = tree.kind[list(above[one] ^ above[other])] != FIXED
        return int(between.sum()) >= _APART and frozenset((one, other)) not in capsules.touching

    return [pair for pair in combinations(links, 2) if looked_at(*pair)]


def deepest(
    tree: Tree, capsules: Capsules, q: ArrayLike, of: list[tuple[str, str]]
) -> tuple[Floats, NDArray[np.intp]]:
    """How deep links lie in each other: the worst pair of each frame.

    Args:
        tree: L links, n columns.
        capsules: their shape.
        q: (T, n) rad or m.
        of: pairs of links with capsules (see `pairs`).

    Returns:
        depth (T,) m, negative where all are apart (then the smallest distance), NaN where q is not finite;
        and the index of the pair, (T,).

    Raises:
        KeyError: if a link is not in the tree or has no capsules.
        ValueError: if q does not fit the tree.
    """
    angles = np.asarray(q, np.float64)
    links = sorted({link for pair in of for link in pair}, key=tree.index)
    at = {link: i for i, link in enumerate(links)}
    order = [i for link in links for i, name in enumerate(capsules.links) if name == link]
    count = [sum(name == link for name in capsules.links) for link in links]
    if 0 in count:
        raise KeyError(links[count.index(0)])
    first = np.cumsum([0, *count])
    rows = np.concatenate([capsules.a[order], capsules.b[order], capsules.radius[order, None]], axis=1)
    balls = np.array([_ball(rows[i:j]) for i, j in pairwise(first)]).reshape(-1, 4)
    couples = np.array([[at[a], at[b]] for a, b in of], np.int64).reshape(-1, 2)
    depth, which = np.full(len(angles), np.nan), np.zeros(len(angles), np.int64)
    kernel = compiled(_deepest, _SIGNATURE)[0]
    for start in range(0, len(angles) if of else 0, _CHUNK):
        part = slice(start, start + _CHUNK)
        p, quat = link_poses(tree, angles[part], links=links)
        kernel(p, quat, first, np.ascontiguousarray(rows), balls, couples, depth[part], which[part])
        depth[part][np.isnan(quat[..., 0]).any(axis=1)] = np.nan  # a link that is nowhere touches nothing
    return depth, which.astype(np.intp)


def _ball(rows: Floats) -> Floats:
    """Centre and radius of a ball around capsules (k, 7); (4,) m."""
    ends = np.concatenate([rows[:, :3], rows[:, 3:6]])
    reach = np.concatenate([rows[:, 6], rows[:, 6]])
    centre = ((ends - reach[:, None]).min(axis=0) + (ends + reach[:, None]).max(axis=0)) / 2
    return np.append(centre, (np.linalg.norm(ends - centre, axis=1) + reach).max())


_SIGNATURE: Final = (
    "void(float64[:,:,::1], float64[:,:,::1], int64[::1], float64[:,::1], float64[:,::1], int64[:,::1],"
    " float64[::1], int64[::1])"
)


# The compiled function: plain loops. The closest pair so far bounds what is still worth looking at, and the
# closest pair of the frame before is looked at first.
def _deepest(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915  # long: one kernel
    p, o, first, rows, balls, couples, depth, which
):
    links = len(balls)
    centre = np.empty((links, 3))
    ends = np.empty((len(rows), 10))  # both ends, middle, half length
    placed = np.empty(links, np.int64)
    last = 0
    for t in range(len(p)):
        best, found = math.inf, last
        for i in range(-links, len(couples)):
            if i < 0:  # first place every link's ball
                k = i + links
                placed[k] = 0
                x, y, z = balls[k, 0], balls[k, 1], balls[k, 2]
                w, a, b, c = o[t, k, 0], o[t, k, 1], o[t, k, 2], o[t, k, 3]
                u, v, s = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
                centre[k, 0] = p[t, k, 0] + x + w * u + b * s - c * v
                centre[k, 1] = p[t, k, 1] + y + w * v + c * u - a * s
                centre[k, 2] = p[t, k, 2] + z + w * s + a * v - b * u
                continue
            pair = last if i == 0 else (0 if i == last else i)
            m, n = couples[pair, 0], couples[pair, 1]
            dx, dy, dz = centre[n, 0] - centre[m, 0], centre[n, 1] - centre[m, 1], centre[n, 2] - centre[m, 2]
            far = max(best + balls[m, 3] + balls[n, 3], 0.0)
            if not dx * dx + dy * dy + dz * dz < far * far:
                continue
            for k in (m, n):
                if placed[k]:
                    continue
                placed[k] = 1
                w, a, b, c = o[t, k, 0], o[t, k, 1], o[t, k, 2], o[t, k, 3]
                for r in range(first[k], first[k + 1]):
                    for e in (0, 3):
                        x, y, z = rows[r, e], rows[r, e + 1], rows[r, e + 2]
                        u, v, s = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
                        ends[r, e] = p[t, k, 0] + x + w * u + b * s - c * v
                        ends[r, e + 1] = p[t, k, 1] + y + w * v + c * u - a * s
                        ends[r, e + 2] = p[t, k, 2] + z + w * s + a * v - b * u
                    x, y, z = ends[r, 3] - ends[r, 0], ends[r, 4] - ends[r, 1], ends[r, 5] - ends[r, 2]
                    ends[r, 6], ends[r, 7], ends[r, 8] = (
                        ends[r, 0] + x / 2,
                        ends[r, 1] + y / 2,
                        ends[r, 2] + z / 2,
                    )
                    ends[r, 9] = math.sqrt(x * x + y * y + z * z) / 2
            for r in range(first[m], first[m + 1]):
                dx, dy, dz = centre[n, 0] - ends[r, 6], centre[n, 1] - ends[r, 7], centre[n, 2] - ends[r, 8]
                far = max(best + ends[r, 9] + rows[r, 6] + balls[n, 3], 0.0)
                if not dx * dx + dy * dy + dz * dz < far * far:
                    continue
                ux, uy, uz = ends[r, 3] - ends[r, 0], ends[r, 4] - ends[r, 1], ends[r, 5] - ends[r, 2]
                uu = ux * ux + uy * uy + uz * uz
                for s2 in range(first[n], first[n + 1]):
                    dx, dy, dz = ends[s2, 6] - ends[r, 6], ends[s2, 7] - ends[r, 7], ends[s2, 8] - ends[r, 8]
                    far = max(best + ends[r, 9] + rows[r, 6] + ends[s2, 9] + rows[s2, 6], 0.0)
                    if not dx * dx + dy * dy + dz * dz < far * far:
                        continue
                    vx, vy, vz = (
                        ends[s2, 3] - ends[s2, 0],
                        ends[s2, 4] - ends[s2, 1],
                        ends[s2, 5] - ends[s2, 2],
                    )
                    wx, wy, wz = ends[r, 0] - ends[s2, 0], ends[r, 1] - ends[s2, 1], ends[r, 2] - ends[s2, 2]
                    vv, uv = vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
                    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
                    spread = uu * vv - uv * uv
                    if spread > 1e-12 * uu * vv:
                        h = min(max((uv * vw - uw * vv) / spread, 0.0), 1.0)
                    elif vv > 1e-14 or uu < 1e-14:
                        h = 0.0  # parallel: any point of the one will do
                    else:
                        h = min(max(-uw / uu, 0.0), 1.0)  # the other is a ball
                    g = (uv * h + vw) / max(vv, 1e-14)
                    if g < 0.0:
                        g = 0.0
                        h = min(max(-uw / max(uu, 1e-14), 0.0), 1.0)
                    elif g > 1.0:
                        g = 1.0
                        h = min(max((uv - uw) / max(uu, 1e-14), 0.0), 1.0)
                    x, y, z = wx + h * ux - g * vx, wy + h * uy - g * vy, wz + h * uz - g * vz
                    d = math.sqrt(x * x + y * y + z * z) - rows[r, 6] - rows[s2, 6]
                    if d < best:
                        best, found = d, pair
        depth[t] = -best if best < math.inf else math.nan
        which[t] = found
        last = found
