"""Off the ground without a fall: how far above where its soles rest a body stays, jumps left out.

Source: METHODS 1 (contact is a sole within 2 cm of the ground) and 3 (in flight the centre of mass falls with
g). In 14 flights of real retargeted clips (kimodo, ASAP) the pelvis falls with 0.57 to 1.05 of it; in their
middle half, where feet that leave late and land early no longer count, with 0.74 to 1.04.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Tree
from assay.embodiment.kinematics import link_poses
from assay.signals.feet import runs_of
from assay.signals.intervals import period
from assay.signals.posture import Poses

__all__ = ["Aloft", "aloft", "others"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NEAR: Final = 0.02
"""m above where soles rest, up to which the lowest one is on the ground."""
FALL: Final = (0.5, 1.5)
"""Of g: between these a run off the ground is a jump."""
G: Final = 9.81
LONGEST: Final = 1.0
"""s; the highest standing jumps raise the body by 1.2 m and last no longer."""
ROUGH: Final = 0.03
"""Scatter about the parabola as a share of its sagitta: to 0.019 in true jumps, 0.037 and more at corners."""
SHAKES: Final = 0.002
"""m of scatter beside, the jitter of a base that other gates bear."""
LEAST: Final = 5
"""Samples that the middle half of a flight needs to be looked at by itself."""
OTHERS: Final = 0.08
"""m above the ground below which a link that is no foot may touch it: a knee, a hand."""


@dataclass(frozen=True, slots=True)
class Aloft:
    """How far off the ground a body stays.

    Attributes:
        height: m above where soles rest that the lowest sole keeps for longer than is allowed, at most; NaN
            where it is unknown for as long.
        first, seconds: s into the clip when the longest such stretch begins, and how long all of them last.
    """

    height: float
    first: float
    seconds: float


def aloft(poses: Poses, level: float, feet: tuple[str, ...], share: float, lasting: float) -> Aloft:
    """What the lowest sole does above ``level`` m, where the body neither falls nor lies on something else.

    Args:
        poses: with a base and real times.
        level: height in m at which soles rest.
        feet: links that carry the soles.
        share: of the frames that may be higher than what is returned.
        lasting: s; no stretch this long is higher than what is returned.
    """
    height = poses.low - level
    up = _hangs(poses, height, level, feet)
    height = np.where(up | ~(height > NEAR), height, -np.inf)  # what is unknown stays so
    n, step = len(height), period(poses.t) * 1e-9
    known = np.sort(height)  # NaN last, as if higher than all others
    most = float(known[n - 1 - min(int(share * n), n - 1)])
    frames = max(1, round(lasting / step)) if step > 0 else n + 1
    if frames <= n:
        kept = np.fmin.reduce(np.lib.stride_tricks.sliding_window_view(height, frames), axis=1)
        most = float(np.maximum(most, kept.max()))
    most = float(np.maximum(most, 0.0))
    first, last = runs_of(up)
    if not len(first):
        return Aloft(most, 0.0, 0.0)
    k = int((last - first).argmax())
    begin = float(poses.t[first[k]] - poses.t[0]) * 1e-9
    return Aloft(most, begin, float(np.count_nonzero(up)) * step)


def others(tree: Tree, height: Floats, feet: list[int]) -> Bools:
    """(n,) whether a link that belongs to no foot is so low that it may touch the ground.

    Args:
        tree: the body.
        height: (n, links) m of each link's origin above the ground.
        feet: indices of the links that carry the soles.
    """
    near = {*feet, *(int(tree.parent[i]) for i in feet)}
    rest = [i for i in range(len(tree.links)) if int(tree.parent[i]) not in feet and i not in near]
    return np.asarray((height[:, rest] < OTHERS).any(axis=1))


def _hangs(poses: Poses, height: Floats, level: float, feet: tuple[str, ...]) -> Bools:
    """(n,) where no sole is near the ground, nothing else may be, and the base does not fall."""
    up = np.asarray(height > NEAR)
    assert poses.place is not None
    for a, b in zip(*(ends.tolist() for ends in runs_of(up)), strict=True):
        if _falls(poses.t[max(a - 1, 0) : b + 2], poses.place[max(a - 1, 0) : b + 2, 2]):
            up[a : b + 1] = False
    if up.any():
        place = np.ascontiguousarray(poses.place[up])
        tree, q = poses.tree, np.ascontiguousarray(poses.q[up])
        p, _ = link_poses(tree, q, place[:, :3], place[:, 3:], tree.links)
        up[up] = ~others(tree, p[..., 2] - level, [tree.index(link) for link in feet])
    return up


def _falls(t: NDArray[np.int64], z: Floats) -> bool:
    """Whether heights z (n,) m at t (n,) ns are those of a jump: they bend as a falling body's do.

    So does their middle half, along a parabola: a body that is carried up and down again bends at corners.
    """
    if len(z) < 3 or not np.isfinite(z).all() or not 0 < t[-1] - t[0] <= LONGEST * 1e9:
        return False
    edge = len(z) // 4
    inner = slice(edge, len(z) - edge)
    whole = FALL[0] * G <= _bend(t, z)[0] <= FALL[1] * G
    if not whole or len(z) - 2 * edge < LEAST:
        return whole
    bend, rest = _bend(t[inner], z[inner])
    sagitta = bend / 8 * (float(t[inner][-1] - t[inner][0]) * 1e-9) ** 2
    return FALL[0] * G <= bend <= FALL[1] * G and rest <= ROUGH * sagitta + SHAKES


def _bend(t: NDArray[np.int64], z: Floats) -> tuple[float, float]:
    """Acceleration downwards (m/s^2) by the parabola that fits best, and the scatter about it (m)."""
    # Least squares on 1, x and a parabola that is orthogonal to both.
    x = (t - t[0]) * 1e-9
    x -= x.mean()
    line = float(x @ x)
    arc = x * x
    arc -= float(arc @ x) / line * x + line / len(x)
    bend = float(arc @ z) / float(arc @ arc)
    rest = z - float(x @ z) / line * x - bend * arc
    return -2.0 * bend, float(rest.std())
