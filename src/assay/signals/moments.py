"""Moments of a clip that stand for all of it: pairs a thirtieth of a second apart, evenly spaced."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled

__all__ = ["pairs_of", "whole"]

Floats = NDArray[np.float64]


@lru_cache(maxsize=64)
def pairs_of(n: int, step: int, most: int) -> NDArray[np.intp]:
    """Rows of at most ``most`` pairs among n rows, (m, 2): a moment and the one ``step`` rows later."""
    first = np.linspace(0, max(n - 1 - step, 0), most).astype(np.intp)
    first = first[np.concatenate(([n > step], first[1:] > first[:-1]))]
    return np.stack([first, first + step], axis=1)


def whole(q: Floats, pose: Floats | None) -> tuple[Floats, Floats | None, Floats | None]:
    """Joints, base position and orientation of length 1 at the pairs in which all of them are known.

    Args:
        q: (2m, c), changed in place.
        pose: (2m, 7 or more) m and wxyz of any length first, or None where no base is known.

    Returns:
        (2w, c), (2w, 3) and (2w, 4); None for a base that is not known.
    """
    base = np.ones((len(q), 7)) if pose is None else pose
    p, quat, count = np.empty((len(q), 3)), np.empty((len(q), 4)), np.zeros(1, np.int64)
    signature = "void(float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], int64[::1])"
    compiled(_whole, signature)[0](q, base, p, quat, count)
    w = int(count[0])
    return (q[:w], None, None) if pose is None else (q[:w], p[:w], quat[:w])


def _whole(q, base, p, quat, count):  # type: ignore[no-untyped-def]
    k = 0
    for i in range(len(q) // 2):
        known = True
        for t in range(2 * i, 2 * i + 2):
            for c in range(q.shape[1]):
                known &= math.isfinite(q[t, c])
            size = 0.0
            for c in range(base.shape[1]):
                known &= math.isfinite(base[t, c])
                size += base[t, c] * base[t, c] if 2 < c < 7 else 0.0
            known &= math.sqrt(size) > 1e-6
        if not known:
            continue
        for t in range(2 * i, 2 * i + 2):
            size = 0.0
            for c in range(3, 7):
                size += base[t, c] * base[t, c]
            for c in range(q.shape[1]):
                q[k, c] = q[t, c]
            for c in range(3):
                p[k, c] = base[t, c]
            for c in range(4):
                quat[k, c] = base[t, 3 + c] / math.sqrt(size)
            k += 1
    count[0] = k
