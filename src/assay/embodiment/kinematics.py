"""Forward kinematics of whole clips in one compiled kernel, floating base included.

Positions of many frames go through the tree frame by frame: each link's pose is its parent's, after the
link's placement, after its joint. Orientations are unit quaternions, since a hinge then costs 24 products
instead of a matrix product of 27 and a rotation formula. Only the links that the asked-for ones hang on are
visited. One frame's poses live in a small scratch array, so memory is what is asked for and no more.

The kernel is compiled by Numba on first use (some seconds) and kept in Numba's cache beside this file,
in the user's cache folder, or, where neither can be written, in a private folder for temporary files. Without
any of them every process compiles for itself. Nothing here imports Numba before the first call.
"""

from __future__ import annotations

import math
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.embodiment.rotation import compose, rotate
from assay.embodiment.tree import HINGE, SLIDE, Tree

__all__ = ["Kernel", "Warm", "compiled", "link_poses", "points", "warm"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kernel = Callable[..., None]


def link_poses(
    tree: Tree,
    q: ArrayLike,
    base_p: ArrayLike | None = None,
    base_q: ArrayLike | None = None,
    links: Sequence[str] | None = None,
) -> tuple[Floats, Floats]:
    """Poses of links in the frame that the base pose is given in.

    Args:
        tree: L links, n columns.
        q: (T, n) rad or m, in the order of ``tree.joints``.
        base_p: (T, 3) or (3,) m, position of the root; the origin where there is none.
        base_q: (T, 4) or (4,) wxyz, orientation of the root; any length but 0, none means no rotation.
        links: K names; all links where there are none, in the tree's order.

    Returns:
        p (T, K, 3) m and quat (T, K, 4) wxyz of length 1. A frame with NaN in what moves a link, or with a
        base quaternion of length 0, is NaN for that link.

    Raises:
        ValueError: if a shape does not fit the tree.
        KeyError: if a link is not in the tree.
    """
    names = tree.links if links is None else links
    chosen = np.array([tree.index(name) for name in names], np.int64)
    none = np.zeros(0, np.int64)
    p, quat, _ = _run(tree, q, base_p, base_q, chosen, none, np.zeros((0, 3)))
    return p, quat


def points(
    tree: Tree,
    q: ArrayLike,
    base_p: ArrayLike | None,
    base_q: ArrayLike | None,
    links: Sequence[str],
    local: ArrayLike,
) -> Floats:
    """Positions of points fixed to links, without the poses of all links.

    Args:
        tree: as for `link_poses`; so are q, base_p and base_q.
        q: (T, n) rad or m.
        base_p: (T, 3) or (3,) m.
        base_q: (T, 4) or (4,) wxyz.
        links: k names, one per point (a sole of 4 points names its foot 4 times).
        local: (k, 3) m in each link's frame.

    Returns:
        (T, k, 3) m.

    Raises:
        ValueError, KeyError: as for `link_poses`.
    """
    on = np.array([tree.index(name) for name in links], np.int64)
    where = np.ascontiguousarray(local, np.float64)
    if where.shape != (len(on), 3):
        raise ValueError(f"local is {where.shape}, expected ({len(on)}, 3)")
    return _run(tree, q, base_p, base_q, np.zeros(0, np.int64), on, where)[2]


@dataclass(frozen=True, slots=True)
class Warm:
    """How the kernel was made ready: seconds it took, whether it was compiled, and where it is kept."""

    seconds: float
    compiled: bool
    kept: str


def warm() -> Warm:
    """Compile the kernel or load it from the cache, so that later runs start at once."""
    start = time.perf_counter()
    kernel, kept = _kernel()
    hits = sum(getattr(getattr(kernel, "stats", None), "cache_hits", {}).values())
    return Warm(time.perf_counter() - start, hits == 0, kept)


def _run(
    tree: Tree, q: ArrayLike, base_p: ArrayLike | None, base_q: ArrayLike | None,
    chosen: Ints, on: Ints, local: Floats,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    angles = _writable(q)
    if angles.ndim != 2 or angles.shape[1] != len(tree.joints):
        raise ValueError(f"q is {angles.shape}, expected (T, {len(tree.joints)})")
    frames = len(angles)
    where = _base(base_p, (0.0, 0.0, 0.0), frames)
    turn = _base(base_q, (1.0, 0.0, 0.0, 0.0), frames)
    visited = tree.ancestors(np.concatenate([chosen, on, np.zeros(1, np.int64)]))
    p = np.empty((frames, len(chosen), 3))
    quat = np.empty((frames, len(chosen), 4))
    x = np.empty((frames, len(on), 3))
    at, under = np.searchsorted(visited, chosen), np.searchsorted(visited, on)
    _kernel()[0](*_columns(tree, visited), angles, where, turn, at, under, local, p, quat, x)
    return p, quat, x


def _writable(values: ArrayLike) -> Floats:
    """Contiguous float64; a read-only view is copied, since the kernel is compiled for writable arrays."""
    made = np.ascontiguousarray(values, np.float64)
    return made if made.flags.writeable else made.copy()


def _base(given: ArrayLike | None, default: tuple[float, ...], frames: int) -> Floats:
    """The base's position or orientation as (T, w), or (1, w) where it is the same in all frames."""
    base = _writable(default if given is None else given)
    base = base[None] if base.ndim == 1 else base
    if base.shape not in ((1, len(default)), (frames, len(default))):
        raise ValueError(f"the base pose is {base.shape}, expected ({frames}, {len(default)})")
    return base


def _columns(tree: Tree, visited: Ints) -> tuple[Ints, Floats]:
    """What the kernel needs of each visited link, a row each: (V, 3) whole numbers and (V, 16) others."""
    parent = np.searchsorted(visited, tree.parent[visited])
    axis, quat = tree.axis[visited], tree.quat[visited]
    # A hinge turns by c * quat + s * (quat after axis); a slide shifts along the axis as the parent sees it.
    swing = compose(quat, np.concatenate([np.zeros((len(axis), 1)), axis], axis=1))
    slide = rotate(quat, axis)
    drive = np.stack([tree.gain[visited], tree.offset[visited]], axis=1)
    whole = np.stack([parent, tree.kind[visited], tree.column[visited]], axis=1)
    return np.ascontiguousarray(whole), np.concatenate([tree.p[visited], quat, swing, slide, drive], axis=1)


# The compiled function: plain loops over frames and links. Globals are frozen in when it compiles.
_HINGE: Final = HINGE
_SLIDE: Final = SLIDE
_SIGNATURE: Final = (
    "void(int64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], int64[::1],"
    " int64[::1], float64[:,::1], float64[:,:,::1], float64[:,:,::1], float64[:,:,::1])"
)


def _forward(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917  # long: one kernel without calls
    whole, row, q, base_p, base_q, chosen, on, local, p, o, x
):
    links = len(whole)
    pose = np.empty((links, 7))
    for t in range(len(q)):
        b = t if len(base_p) > 1 else 0
        r = t if len(base_q) > 1 else 0
        w0, x0, y0, z0 = base_q[r, 0], base_q[r, 1], base_q[r, 2], base_q[r, 3]
        scale = 1.0 / math.sqrt(w0 * w0 + x0 * x0 + y0 * y0 + z0 * z0)
        pose[0, 0], pose[0, 1], pose[0, 2] = base_p[b, 0], base_p[b, 1], base_p[b, 2]
        pose[0, 3], pose[0, 4], pose[0, 5], pose[0, 6] = w0 * scale, x0 * scale, y0 * scale, z0 * scale
        for i in range(1, links):
            u, kind = whole[i, 0], whole[i, 1]
            aw, ax, ay, az = pose[u, 3], pose[u, 4], pose[u, 5], pose[u, 6]
            vx, vy, vz = row[i, 0], row[i, 1], row[i, 2]
            bw, bx, by, bz = row[i, 3], row[i, 4], row[i, 5], row[i, 6]
            if kind == _HINGE:
                half = 0.5 * (row[i, 14] * q[t, whole[i, 2]] + row[i, 15])
                c, s = math.cos(half), math.sin(half)
                bw, bx = c * bw + s * row[i, 7], c * bx + s * row[i, 8]
                by, bz = c * by + s * row[i, 9], c * bz + s * row[i, 10]
            elif kind == _SLIDE:
                shift = row[i, 14] * q[t, whole[i, 2]] + row[i, 15]
                vx, vy, vz = vx + shift * row[i, 11], vy + shift * row[i, 12], vz + shift * row[i, 13]
            tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
            pose[i, 0] = pose[u, 0] + vx + aw * tx + ay * tz - az * ty
            pose[i, 1] = pose[u, 1] + vy + aw * ty + az * tx - ax * tz
            pose[i, 2] = pose[u, 2] + vz + aw * tz + ax * ty - ay * tx
            pose[i, 3] = aw * bw - ax * bx - ay * by - az * bz
            pose[i, 4] = aw * bx + ax * bw + ay * bz - az * by
            pose[i, 5] = aw * by - ax * bz + ay * bw + az * bx
            pose[i, 6] = aw * bz + ax * by - ay * bx + az * bw
        for k in range(len(chosen)):
            i = chosen[k]
            p[t, k, 0], p[t, k, 1], p[t, k, 2] = pose[i, 0], pose[i, 1], pose[i, 2]
            o[t, k, 0], o[t, k, 1], o[t, k, 2], o[t, k, 3] = pose[i, 3], pose[i, 4], pose[i, 5], pose[i, 6]
        for k in range(len(on)):
            i = on[k]
            aw, ax, ay, az = pose[i, 3], pose[i, 4], pose[i, 5], pose[i, 6]
            vx, vy, vz = local[k, 0], local[k, 1], local[k, 2]
            tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
            x[t, k, 0] = pose[i, 0] + vx + aw * tx + ay * tz - az * ty
            x[t, k, 1] = pose[i, 1] + vy + aw * ty + az * tx - ax * tz
            x[t, k, 2] = pose[i, 2] + vz + aw * tz + ax * ty - ay * tx


def _kernel() -> tuple[Kernel, str]:
    """The compiled function and where it is kept."""
    return compiled(_forward, _SIGNATURE)


@cache
def compiled(function: Kernel, signature: str) -> tuple[Kernel, str]:
    """A function compiled for one signature, kept between processes where it can be, and where it is kept."""
    import numba

    def made(*, kept: bool) -> Kernel:
        kernel: Kernel = numba.njit(signature, cache=kept, nogil=True, error_model="numpy")(function)
        return kernel

    try:
        kernel = made(kept=True)
        return kernel, str(getattr(getattr(kernel, "stats", None), "cache_path", "") or "numba's cache")
    except (RuntimeError, OSError):  # no folder to write to, or it filled up while writing
        pass
    folder = _private_folder()
    if folder is not None:
        try:
            with _cache_in(numba, folder):
                return made(kept=True), str(folder)
        except (RuntimeError, OSError):
            pass
    return made(kept=False), "this process only"


@contextmanager
def _cache_in(numba: Any, folder: Path) -> Iterator[None]:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _private_folder() -> Path | None:
    """A folder for temporary files that only this user can write to.

    Numba's cache holds code: a folder that somebody else made there beforehand is not used.
    """
    if not hasattr(os, "getuid"):
        return None
    folder = Path(tempfile.gettempdir(), f"assay-numba-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077
    return folder if mine else None
