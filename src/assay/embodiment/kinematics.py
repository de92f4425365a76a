"""Forward kinematics of whole clips in one compiled kernel, floating base included.

Positions of many frames go through the tree in blocks: each link's pose is its parent's, after the link's
placement, after its joint. Orientations are unit quaternions, since a hinge then costs 24 products
instead of a matrix product of 27 and a rotation formula. Only the links that the asked-for ones hang on are
visited. One block's poses live in a small scratch array, so memory is what is asked for and no more.

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
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.embodiment.rotation import compose, rotate
from assay.embodiment.tree import HINGE, SLIDE, Tree

__all__ = ["Kernel", "Warm", "compiled", "link_poses", "points", "warm"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kernel = Callable[..., Any]


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
    plan = _plan(tree, tree.links if links is None else tuple(links), ())
    p, quat, _ = _run(tree, q, base_p, base_q, plan, np.zeros((0, 3)))
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
    where = _writable(local)
    if where.shape != (len(links), 3):
        raise ValueError(f"local is {where.shape}, expected ({len(links)}, 3)")
    return _run(tree, q, base_p, base_q, _plan(tree, (), tuple(links)), where)[2]


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
    tree: Tree, q: ArrayLike, base_p: ArrayLike | None, base_q: ArrayLike | None, plan: _Plan, local: Floats,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    angles = _writable(q)
    if angles.ndim != 2 or angles.shape[1] != len(tree.joints):
        raise ValueError(f"q is {angles.shape}, expected (T, {len(tree.joints)})")
    frames = len(angles)
    where = _base(base_p, (0.0, 0.0, 0.0), frames)
    turn = _base(base_q, (1.0, 0.0, 0.0, 0.0), frames)
    p = np.empty((frames, len(plan.chosen), 3))
    quat = np.empty((frames, len(plan.chosen), 4))
    x = np.empty((frames, len(plan.on), 3))
    _kernel()[0](plan.whole, plan.row, angles, where, turn, plan.chosen, plan.on, local, p, quat, x)
    return p, quat, x


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What the kernel needs to know of a tree to place some of its links.

    Attributes:
        whole, row: (V, 3) whole numbers and (V, 16) others of each visited link.
        chosen, on: rows of the links whose pose is asked for, and of those that carry points.
    """

    whole: Ints
    row: Floats
    chosen: Ints
    on: Ints


@lru_cache(maxsize=128)
def _plan(tree: Tree, links: tuple[str, ...], carriers: tuple[str, ...]) -> _Plan:
    """The same links of the same tree are asked for clip after clip: a short one costs less than its plan."""
    chosen, on = (np.array([tree.index(n) for n in names], np.int64) for names in (links, carriers))
    visited = tree.ancestors(np.concatenate([chosen, on, np.zeros(1, np.int64)]))
    whole, row = _columns(tree, visited)
    return _Plan(whole, row, np.searchsorted(visited, chosen), np.searchsorted(visited, on))


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


# The compiled function. Globals are frozen in when it compiles.
_HINGE: Final = HINGE
_SLIDE: Final = SLIDE
_SIGNATURE: Final = (
    "void(int64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], int64[::1],"
    " int64[::1], float64[:,::1], float64[:,:,::1], float64[:,:,::1], float64[:,:,::1])"
)
_BLOCK: Final = 16
"""Frames that go through the tree abreast: loops of a fixed length become vector instructions."""
# Cosine and sine by the polynomials of fdlibm (k_cos.c, k_sin.c) once whole quarter turns are taken off: the
# same as two calls to 1.2e-16, at a quarter of their time, which was half of the kernel's.
_QUARTERS: Final = 0.6366197723675814  # in a radian
_QUARTER: Final = (1.5707963267341256, 6.077100506506192e-11)  # rad, in two pieces, the first of 33 bits
_FAR: Final = 1e5  # rad; beyond, and for NaN, the pieces say nothing
_COS: Final = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
_SIN: Final = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip


def _forward(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917  # long: one kernel without calls
    whole, row, q, base_p, base_q, chosen, on, local, p, o, x
):
    pose = np.zeros((len(whole), 7, _BLOCK))
    drive, also = np.zeros(_BLOCK), np.zeros(_BLOCK)  # half the angle or the shift, then cosine and sine
    for start in range(0, len(q), _BLOCK):
        count = min(_BLOCK, len(q) - start)
        for b in range(count):
            t, r = start + b if len(base_p) > 1 else 0, start + b if len(base_q) > 1 else 0
            w, i_, j_, k_ = base_q[r, 0], base_q[r, 1], base_q[r, 2], base_q[r, 3]
            scale = 1.0 / math.sqrt(w * w + i_ * i_ + j_ * j_ + k_ * k_)
            pose[0, 0, b], pose[0, 1, b], pose[0, 2, b] = base_p[t, 0], base_p[t, 1], base_p[t, 2]
            pose[0, 3, b], pose[0, 4, b], pose[0, 5, b] = w * scale, i_ * scale, j_ * scale
            pose[0, 6, b] = k_ * scale
        for i in range(1, len(whole)):
            up, own = pose[whole[i, 0]], pose[i]
            px, py, pz, qw, qx, qy, qz = (
                row[i, 0],
                row[i, 1],
                row[i, 2],
                row[i, 3],
                row[i, 4],
                row[i, 5],
                row[i, 6],
            )
            sw, sx, sy, sz, gx, gy, gz = (
                row[i, 7],
                row[i, 8],
                row[i, 9],
                row[i, 10],
                row[i, 11],
                row[i, 12],
                row[i, 13],
            )
            hinge, slide = whole[i, 1] == _HINGE, whole[i, 1] == _SLIDE
            far = False
            if hinge or slide:
                gain, offset = row[i, 14], row[i, 15]
                for b in range(count):
                    drive[b] = (0.5 if hinge else 1.0) * (gain * q[start + b, whole[i, 2]] + offset)
                    far |= not abs(drive[b]) < _FAR
            if hinge and far:
                for b in range(count):
                    drive[b], also[b] = math.cos(drive[b]), math.sin(drive[b])
            elif hinge:
                for b in range(_BLOCK):
                    n = math.floor(drive[b] * _QUARTERS + 0.5)
                    rest = (drive[b] - n * _QUARTER[0]) - n * _QUARTER[1]
                    z = rest * rest
                    c = z * (_COS[2] + z * (_COS[3] + z * (_COS[4] + z * _COS[5])))
                    c = 1.0 - 0.5 * z + z * z * (_COS[0] + z * (_COS[1] + c))
                    s = z * (_SIN[2] + z * (_SIN[3] + z * (_SIN[4] + z * _SIN[5])))
                    s = rest + rest * z * (_SIN[0] + z * (_SIN[1] + s))
                    odd = n - 2.0 * math.floor(0.5 * n) == 1.0
                    sign = -1.0 if n - 4.0 * math.floor(0.25 * n) >= 2.0 else 1.0
                    drive[b], also[b] = sign * (-s if odd else c), sign * (c if odd else s)
            for b in range(_BLOCK):
                vx, vy, vz = px, py, pz
                if slide:
                    vx, vy, vz = px + drive[b] * gx, py + drive[b] * gy, pz + drive[b] * gz
                c, s = drive[b], also[b]
                bw, bx = c * qw + s * sw if hinge else qw, c * qx + s * sx if hinge else qx
                by, bz = c * qy + s * sy if hinge else qy, c * qz + s * sz if hinge else qz
                aw, ax, ay, az = up[3, b], up[4, b], up[5, b], up[6, b]
                tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
                own[0, b] = up[0, b] + vx + aw * tx + ay * tz - az * ty
                own[1, b] = up[1, b] + vy + aw * ty + az * tx - ax * tz
                own[2, b] = up[2, b] + vz + aw * tz + ax * ty - ay * tx
                own[3, b] = aw * bw - ax * bx - ay * by - az * bz
                own[4, b] = aw * bx + ax * bw + ay * bz - az * by
                own[5, b] = aw * by - ax * bz + ay * bw + az * bx
                own[6, b] = aw * bz + ax * by - ay * bx + az * bw
        for k in range(len(chosen)):
            for b in range(count):
                for e in range(3):
                    p[start + b, k, e] = pose[chosen[k], e, b]
                for e in range(4):
                    o[start + b, k, e] = pose[chosen[k], 3 + e, b]
        for k in range(len(on)):
            up, vx, vy, vz = pose[on[k]], local[k, 0], local[k, 1], local[k, 2]
            for b in range(count):
                aw, ax, ay, az = up[3, b], up[4, b], up[5, b], up[6, b]
                tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
                x[start + b, k, 0] = up[0, b] + vx + aw * tx + ay * tz - az * ty
                x[start + b, k, 1] = up[1, b] + vy + aw * ty + az * tx - ax * tz
                x[start + b, k, 2] = up[2, b] + vz + aw * tz + ax * ty - ay * tx


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
