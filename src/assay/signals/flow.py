"""How pictures move: velocity of each of 6 x 8 blocks between thumbnails, by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.pictures import GREY, Thumbs

__all__ = ["BLOCKS", "Flow", "block_flow", "steadied"]

BLOCKS: Final = (6, 8)
"""Rows and columns of blocks; each gives a horizontal and a vertical velocity."""

_STRIDE: Final = 2  # from the picture before to the one after: repeats that were coded again cancel
_STEADY: Final = 0.25  # grey^2 per cell and direction added to the normal equations: texture less than noise
_CHUNK: Final = 128

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Picture motion in time.

    Attributes:
        t: (n,) int64 ns, the middle of each interval, on the clock of the stamps given.
        x: (n, 96) float32 cells per second: 48 horizontal, then 48 vertical velocities, row by row.
    """

    t: NDArray[np.int64]
    x: Floats

    def __len__(self) -> int:
        return len(self.t)


def block_flow(thumbs: Thumbs, t: NDArray[np.int64]) -> Flow:
    """Velocity of the blocks at every picture but the first and the last.

    In each block, g . v dt + (T[i+1] - T[i-1]) = const is solved for v by least squares over its cells, with
    g the gradient of picture i (Lucas and Kanade 1981, with a change of brightness as a third unknown).

    Args:
        thumbs: (n, h, w) from `assay.signals.pictures.Thumbnails`.
        t: (n,) int64 ns, increasing.
    """
    n = len(thumbs) - _STRIDE
    rows, columns = BLOCKS
    if n < 1 or thumbs.shape[1] < 2 * rows or thumbs.shape[2] < 2 * columns:
        return Flow(np.empty(0, np.int64), np.empty((0, 2 * rows * columns), np.float32))
    moved = np.concatenate([_moved(thumbs[a : a + _CHUNK + _STRIDE]) for a in range(0, n, _CHUNK)])
    step = np.maximum(t[_STRIDE:] - t[:-_STRIDE], 1)
    return Flow(t[:-_STRIDE] + step // 2, moved / (step * 1e-9).astype(np.float32)[:, None])


def steadied(flow: Flow) -> Flow:
    """The flow less what moves the whole picture: an affine field that most blocks follow.

    Three rounds of least squares with weights 1 / (1 + (r / 1.5 median)^2) (Geman and McClure 1985).
    """
    rows, columns = BLOCKS
    y, x = np.mgrid[:rows, :columns].reshape(2, -1) / np.array([[rows / 2], [columns / 2]]) - 1.0
    field = np.stack((np.ones(rows * columns), x, y), axis=1)
    v = flow.x.astype(np.float64).reshape(len(flow), 2, rows * columns)
    weight, rest = np.ones((len(flow), rows * columns)), v
    for _ in range(3):
        normal = np.einsum("nb,bi,bj->nij", weight, field, field) + 1e-6 * np.eye(3)
        cross = np.einsum("nb,bi,ncb->nic", weight, field, v)
        rest = v - np.einsum("bi,nic->ncb", field, np.linalg.solve(normal, cross))
        size = np.hypot(rest[:, 0], rest[:, 1])
        usual = np.maximum(np.median(size, axis=1, keepdims=True), 1e-3)
        weight = 1 / (1 + (size / (1.5 * usual)) ** 2)
    return Flow(flow.t, rest.reshape(flow.x.shape).astype(np.float32))


def _moved(thumbs: Thumbs) -> Floats:
    """(n - 2, 96) cells from the picture before to the one after."""
    rows, columns = BLOCKS
    h, w = thumbs.shape[1] // rows * rows, thumbs.shape[2] // columns * columns
    grey = thumbs[:, :h, :w].astype(np.float32)
    grey *= np.float32(1 / GREY)
    change = grey[_STRIDE:] - grey[:-_STRIDE]
    middle = grey[1:-1]
    across, down = np.zeros_like(middle), np.zeros_like(middle)
    np.subtract(middle[:, :, 2:], middle[:, :, :-2], out=across[:, :, 1:-1])
    np.subtract(middle[:, 2:], middle[:, :-2], out=down[:, 1:-1])
    across *= np.float32(0.5)
    down *= np.float32(0.5)
    gx, gy, gd = _means(across), _means(down), _means(change)
    xx, yy = _means(across * across) - gx * gx + _STEADY, _means(down * down) - gy * gy + _STEADY
    xy = _means(across * down) - gx * gy
    xd, yd = _means(across * change) - gx * gd, _means(down * change) - gy * gd
    area = xx * yy - xy * xy
    v = np.stack((xy * yd - yy * xd, xy * xd - xx * yd), axis=1) / area[:, None]
    return np.asarray(v.reshape(len(v), 2 * rows * columns), np.float32)


def _means(x: Floats) -> Floats:
    """(n, 6, 8) mean of each block: columns by a product, which is several times quicker than a sum."""
    rows, columns = BLOCKS
    n, h, w = x.shape
    tall = x.reshape(n, rows, h // rows, w).sum(axis=2)
    sums = tall.reshape(n, rows, columns, w // columns) @ np.ones(w // columns, np.float32)
    return np.asarray(sums * np.float32(rows * columns / (h * w)), np.float32)
