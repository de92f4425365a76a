"""Capsules whose union keeps a shape's distances: a regression, started from clusters of its surface."""

from __future__ import annotations

import numpy as np
from link_shapes import Shape
from numba import njit
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.optimize import minimize

Floats = NDArray[np.float64]

TOO_SMALL = 6.0
"""How much worse it is to stay inside the mesh (a contact is missed) than to stand out of it."""
COUNTS = (1, 2, 4, 6, 9, 14)
"""Capsules of one link that are tried."""
GOOD = 0.006
"""m; enough capsules when 90 % of the distances near the surface are met as well as this."""


def fitted(shape: Shape, mirrored: Floats | None = None, seeds: int = 2) -> Floats:
    """(k, 7) m: both ends and the radius of each capsule of a link, as few as keep its distances.

    ``mirrored``: capsules of the other side's link, to begin from.
    """
    if mirrored is not None:
        return _improved(shape, mirrored * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0]))[1]
    best = np.zeros((0, 7))
    for k in COUNTS:
        tries = [_improved(shape, _start(shape, k, seed)) for seed in range(seeds)]
        best = min(tries, key=lambda t: t[0])[1]
        near = shape.distance < 0.01
        if np.quantile(np.abs(signed(best, shape.outside)[near] - shape.distance[near]), 0.9) < GOOD:
            break
    return best


def signed(capsules: Floats, x: Floats) -> Floats:
    """Distance of points (n, 3) m to the union of capsules (k, 7), negative inside; (n,) m."""
    out = np.empty(len(x))
    _loss(capsules, x, np.zeros(len(x)), np.zeros(len(x)), np.zeros_like(capsules), out)
    return out


def _improved(shape: Shape, start: Floats) -> tuple[float, Floats]:
    x, g = shape.outside, shape.distance
    weight = 1.0 / (1.0 + g / 0.01)
    weight /= weight.sum()
    out = np.empty(len(x))

    def loss(flat: Floats) -> tuple[float, Floats]:
        slope = np.zeros((len(start), 7))
        return float(_loss(flat.reshape(-1, 7), x, g, weight, slope, out)), slope.ravel()

    bounds = [(None, None)] * 6 + [(0.004, 0.3)]
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds * len(start),
                     options={"maxiter": 150})  # fmt: skip
    return float(found.fun), np.asarray(found.x).reshape(-1, 7)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _loss(c, x, g, weight, slope, out):  # type: ignore[no-untyped-def]
    """Weighted squared error in mm^2 of the union's distance; fills slope (k, 7) and out (n,)."""
    total = 0.0
    for i in range(len(x)):
        best, which, share = 1e9, 0, 0.0
        for k in range(len(c)):
            ux, uy, uz = c[k, 3] - c[k, 0], c[k, 4] - c[k, 1], c[k, 5] - c[k, 2]
            vx, vy, vz = x[i, 0] - c[k, 0], x[i, 1] - c[k, 1], x[i, 2] - c[k, 2]
            h = (vx * ux + vy * uy + vz * uz) / max(ux * ux + uy * uy + uz * uz, 1e-12)
            h = min(max(h, 0.0), 1.0)
            d = np.sqrt((vx - h * ux) ** 2 + (vy - h * uy) ** 2 + (vz - h * uz) ** 2) - c[k, 6]
            if d < best:
                best, which, share = d, k, h
        out[i] = best
        e = (best - g[i]) * 1e3
        side = (TOO_SMALL if e > 0 else 1.0) * weight[i]
        total += side * e * e
        away = max(best + c[which, 6], 1e-9)
        for j in range(3):
            n = (x[i, j] - c[which, j] - share * (c[which, 3 + j] - c[which, j])) / away
            slope[which, j] -= 2e3 * side * e * (1 - share) * n
            slope[which, 3 + j] -= 2e3 * side * e * share * n
        slope[which, 6] -= 2e3 * side * e
    return total


def _start(shape: Shape, k: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    points = shape.surface[rng.permutation(len(shape.surface))[:3000]]
    _, which = kmeans2(points, k, minit="++", seed=rng)
    made = []
    for i in range(k):
        mine = points[which == i]
        mine = mine if len(mine) > 3 else points[:10]
        centre = mine.mean(axis=0)
        axis = np.linalg.svd(mine - centre, full_matrices=False)[2][0]
        along = (mine - centre) @ axis
        r = max(0.006, float(np.median(np.linalg.norm(mine - centre - np.outer(along, axis), axis=1))))
        half = max(1e-3, float(np.ptp(along)) / 2 - r)
        made.append([*(centre - half * axis), *(centre + half * axis), r])
    return np.array(made)
