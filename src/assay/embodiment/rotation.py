"""Quaternions (w, x, y, z) of any leading shape; rotations act on column vectors, p' = q p q*."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["about", "compose", "from_matrix", "from_rpy", "matrix", "rotate", "symmetric", "unit"]

Array = NDArray[np.float64]


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """The quaternion of ``a`` after ``b``; (..., 4)."""
    aw, ax, ay, az = _parts(a)
    bw, bx, by, bz = _parts(b)
    return _stacked(
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w, x, y, z = _parts(q)
    a, b, c = _parts(v)
    # Twice the cross product; written out, since short clips pay for every call.
    ta, tb, tc = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return _stacked(
        a + w * ta + (y * tc - z * tb), b + w * tb + (z * ta - x * tc), c + w * tc + (x * tb - y * ta)
    )


def _parts(x: ArrayLike) -> tuple[Array, ...]:
    """Views of the components along the last axis."""
    whole = np.asarray(x, np.float64)
    return tuple(whole[..., i] for i in range(whole.shape[-1]))


def _stacked(*parts: Array) -> Array:
    """Components of one shape as the last axis."""
    made = np.empty((*np.shape(parts[0]), len(parts)))
    for i, part in enumerate(parts):
        made[..., i] = part
    return made


def about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotation about a unit axis (..., 3) by an angle (...) in rad."""
    half = 0.5 * np.asarray(angle, np.float64)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * np.asarray(axis, np.float64)], axis=-1)


def from_rpy(rpy: ArrayLike) -> Array:
    """URDF's fixed-axis roll, pitch, yaw (3,) in rad: Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = about(np.eye(3), np.asarray(rpy, np.float64))
    return compose(yaw, compose(pitch, roll))


def from_matrix(R: ArrayLike) -> Array:
    """The quaternion of one rotation matrix (3, 3), w >= 0."""
    m = np.asarray(R, np.float64)
    # Bar-Itzhack: the eigenvector of the largest eigenvalue; well conditioned at half turns too.
    xx, xy, xz, yx, yy, yz, zx, zy, zz = m.ravel()
    K = np.array([
        [xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, yy - xx - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, zz - xx - yy],
    ])  # fmt: skip
    q: Array = np.linalg.eigh(K)[1][:, -1]
    return -q if q[0] < 0 else q


def matrix(q: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    quat = np.asarray(q, np.float64)
    columns = [rotate(quat, np.broadcast_to(e, (*quat.shape[:-1], 3))) for e in np.eye(3)]
    return np.stack(columns, axis=-1)


def symmetric(m: Array) -> Array:
    """A matrix that is symmetric but for rounding, made exactly so."""
    return 0.5 * (m + m.T)


def unit(v: ArrayLike) -> Array:
    """The vector of length 1 in the direction of one vector; NaN where it has none."""
    vector = np.asarray(v, np.float64)
    length = np.linalg.norm(vector)
    return vector / length if length > 1e-12 else np.full_like(vector, np.nan)
