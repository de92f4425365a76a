"""Conventions of poses that files do not state: quaternion order, up axis, rate; decided from data or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ORDERS",
    "euler_to_wxyz",
    "order_by_rotvec",
    "order_by_tilt",
    "rate_by_velocity",
    "rotation",
    "to_wxyz",
    "up_axis",
    "y_up_to_z_up",
]

Floats = NDArray[np.float64]

ORDERS: Final = ("wxyz", "xyzw")
UPRIGHT: Final = 60.0
CLEAR: Final = 0.5
USUAL_RATES: Final = (
    10,
    12,
    15,
    20,
    24,
    25,
    30,
    50,
    60,
    90,
    100,
    120,
    150,
    200,
    240,
    250,
    300,
    400,
    500,
    1000,
)


def to_wxyz(q: Floats, order: str) -> Floats:
    """Quaternions (n, 4) with the scalar first; values untouched."""
    return q[:, [3, 0, 1, 2]] if order == "xyzw" else q


def tilt(q: Floats, order: str) -> Floats:
    """Angle in degrees between a body's own z axis and the world's; (n,)."""
    w, x, y, z = to_wxyz(q, order).T
    with np.errstate(all="ignore"):
        cosine = 1.0 - 2.0 * (x * x + y * y) / (w * w + x * x + y * y + z * z)
    angle: Floats = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return angle


def order_by_tilt(q: Floats) -> tuple[str | None, str]:
    """The order that leaves a pelvis upright where the other does not, and the evidence.

    Near zero yaw both may: then None. A share of frames within 60° of upright that is larger by half
    decides (METHODS 2, REAL-CLIPS: tilt decides quaternion order).
    """
    if not len(q):
        return None, "no frames"
    share = {order: float((tilt(q, order) < UPRIGHT).mean()) for order in ORDERS}
    told = ", ".join(f"{order} {value:.0%}" for order, value in share.items())
    text = f"frames with the base within {UPRIGHT:.0f}° of upright: {told}"
    best = max(ORDERS, key=lambda order: share[order])
    decided = share[best] - min(share.values()) >= CLEAR
    return (best, text) if decided else (None, f"{text}, which does not decide it")


def order_by_rotvec(q: Floats, rotvec: Floats) -> tuple[str | None, str]:
    """The order under which quaternions are the rotation vectors (n, 3) that the same file stores."""
    with np.errstate(all="ignore"):
        angle = np.linalg.norm(rotvec, axis=1, keepdims=True)
        half = np.sinc(angle / (2 * np.pi)) / 2  # sin(a/2)/a
        same = np.concatenate([np.cos(angle / 2), half * rotvec], axis=1)
        cosine = {order: np.abs((to_wxyz(q, order) * same).sum(axis=1)) for order in ORDERS}
    if not len(q):
        return None, "no frames"
    close = {order: float(np.median(c)) for order, c in cosine.items()}
    told = ", ".join(f"{order} {value:.4f}" for order, value in close.items())
    best = max(ORDERS, key=lambda order: close[order])
    text = f"|cosine| to the stored root rotation vector: {told}"
    decided = close[best] > 0.999 and min(close.values()) < 0.99
    return (best, text) if decided else (None, f"{text}, which does not decide it")


def rate_by_velocity(q: Floats, dq: Floats) -> tuple[float | None, str]:
    """The rate at which integrated velocities (n, c) give the positions (n, c), if they do."""
    n = min(len(q), len(dq))
    if n < 8 or q.shape[1:] != dq.shape[1:]:
        return None, "too few stored velocities"
    with np.errstate(all="ignore"):
        steps = (dq[1:n] + dq[: n - 1]) / 2
        summed = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(steps, axis=0)])
        a, b = q[:n] - q[:n].mean(axis=0), summed - summed.mean(axis=0)
        ab, aa, bb = float((a * b).sum()), float((a * a).sum()), float((b * b).sum())
    if not np.isfinite([ab, aa, bb]).all() or ab <= 0 or aa <= 0 or bb <= 0:
        return None, "the stored velocities do not belong to the positions"
    rate, alike = bb / ab, ab / np.sqrt(aa * bb)
    usual = min(USUAL_RATES, key=lambda r: abs(rate - r))
    told = f"stored velocities give {rate:.1f} Hz with correlation {alike:.4f}"
    if alike < 0.999:
        return None, f"{told}: they do not belong to the positions"
    if abs(rate - usual) > 0.01 * usual:
        return None, f"{told}, near no usual rate"
    return float(usual), f"{told}; the nearest usual rate"


_LOW: Final = ("foot", "toe", "ankle", "heel", "lhee", "rhee", "_fcc", "_fm1", "_fm5", "_tam")
_TALL: Final = 0.3
"""m between feet and head, below which no axis is up."""
_TALLEST: Final = 3.0
"""m between feet and head, beyond which the numbers are not in m."""
_HIGH: Final = ("head", "neck", "_saj", "cv7", "fhd", "bhd")
"""Words of joints, and of the usual marker sets (ISB, Plug-in Gait), at a body's two ends."""


def up_axis(x: Floats, names: Sequence[str]) -> tuple[str | None, str]:
    """Which axis of positions (n, J, 3) points from feet to head, e.g. ``+z``; None where none does."""
    low = [i for i, n in enumerate(names) if any(w in n.lower() for w in _LOW)]
    high = [i for i, n in enumerate(names) if any(w in n.lower() for w in _HIGH)]
    if not low or not high or not len(x):
        return None, "no feet and head are named"
    apart = x[:, high].mean(axis=1) - x[:, low].mean(axis=1)
    apart = apart[np.isfinite(apart).all(axis=1)]
    if not len(apart):
        return None, "feet and head are never seen together"
    along = np.median(apart, axis=0)
    axis = int(np.abs(along).argmax())
    told = "head above feet by " + ", ".join(f"{v:.2f} along {a}" for v, a in zip(along, "xyz", strict=True))
    rest = np.delete(np.abs(along), axis)
    if np.abs(along[axis]) < max(_TALL, 2 * rest.max()):
        return None, f"{told}: no axis is clearly up"
    if np.abs(along[axis]) > _TALLEST:
        return None, f"{told}: no body in m"
    return f"{'+' if along[axis] > 0 else '-'}{'xyz'[axis]}", told


def y_up_to_z_up(x: Floats) -> Floats:
    """Positions or vectors (..., 3) turned by +90° about x."""
    turned: Floats = np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1)
    return turned


def rotation(axis: str, angle: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) about a coordinate axis, angles (n,) rad."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    made = np.zeros((len(angle), 3, 3))
    made[:, i, i] = 1.0
    made[:, j, j] = made[:, k, k] = np.cos(angle)
    made[:, k, j] = np.sin(angle)
    made[:, j, k] = -made[:, k, j]
    return made


def euler_to_wxyz(axes: str, angles: Floats) -> Floats:
    """Quaternions (n, 4) of rotations about ``axes`` one after the other, each in the turned frame."""
    total = np.zeros((len(angles), 4))
    total[:, 0] = 1.0
    for i, axis in enumerate(axes):
        step = np.zeros_like(total)
        step[:, 0] = np.cos(angles[:, i] / 2)
        step[:, 1 + "xyz".index(axis)] = np.sin(angles[:, i] / 2)
        total = _product(total, step)
    return total


def _product(a: Floats, b: Floats) -> Floats:
    aw, ax, ay, az = a.T
    bw, bx, by, bz = b.T
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=1,
    )
