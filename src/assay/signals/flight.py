"""The rate of a clip from its jumps: whoever is in the air falls by g, so a parabola in frames tells seconds.

Source: METHODS 3 (in flight the acceleration of the centre of mass is -g); REAL-CLIPS: coarse on retargeted
motion (50 Hz reads 54, 60 reads 67), since feet leave late and retargeting bends parabolas.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Tree
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import rotate
from assay.signals.feet import runs_of
from assay.signals.quantile import median, quantile

__all__ = ["fall"]

Floats = NDArray[np.float64]

AIR: Final = 0.05
"""m that both soles are above where the clip's soles rest."""
LEAST: Final = 5
"""Frames in the air that a parabola takes."""
EDGE: Final = 1
"""Frames dropped at both ends: toes leave and land a little later and earlier than the soles say."""
BENT: Final = 0.035
"""m of sagitta below which a parabola is none: true jumps of real clips have 0.039 and more, others 0.025."""
HIGH: Final = 0.10
"""m that a jump clears: 0.115 and more in true ones."""
ROUGH: Final = 0.15
"""Scatter about the parabola, as a share of its sagitta, beyond which it is none."""


def fall(tree: Tree, q: Floats, place: Floats, low: Floats) -> tuple[float, int]:
    """Acceleration in the air in m per frame squared, the median of the flights, and how many there are.

    Args:
        tree: the body.
        q: (n, c) rad.
        place: (n, 7) m and wxyz of the root.
        low: (n,) m, height of the lowest sole point.

    Returns:
        NaN and 0 where nothing flies. The centre of mass is used where all masses are known, else the root.
    """
    known = np.sort(low)  # NaN last
    known = known[: len(known) - np.count_nonzero(np.isnan(known))]
    if not len(known):
        return float("nan"), 0
    rest = quantile(known, 0.1) + AIR
    first, last = runs_of(np.asarray(low > rest))
    found = []
    for a, b in zip((first + EDGE).tolist(), (last - EDGE + 1).tolist(), strict=True):
        if b - a >= LEAST and low[a:b].max() > rest - AIR + HIGH:
            height, lowest = _heights(tree, q[a:b], place[a:b])
            c = _bend(height)
            # Feet up and a hand, a knee or a hip on the ground is no flight.
            if np.isfinite(c) and lowest > rest:
                found.append(c)
    return (median(np.array(found)), len(found)) if found else (float("nan"), 0)


def _bend(z: Floats) -> float:
    """Twice the square term of the parabola that fits heights z (n,) m best; NaN where none does."""
    n = len(z)
    k = np.arange(n) - (n - 1) / 2
    mean = z.mean()
    z, square = z - mean, k * k
    # About the middle odd powers sum up to nothing, which leaves the normal equations two by two.
    s2, s4 = float(square.sum()), float((square * square).sum())
    bent = (n * float((square * z).sum()) - s2 * float(z.sum())) / (n * s4 - s2 * s2)
    rest = z - bent * (square - s2 / n) - float((k * z).sum()) / s2 * k
    sagitta = -bent * k[-1] ** 2
    if sagitta < BENT or float(np.std(rest)) > ROUGH * sagitta:
        return float("nan")
    return float(2 * bent)


def _heights(tree: Tree, q: Floats, place: Floats) -> tuple[Floats, float]:
    """Height of the centre of mass (n,) m (or the root, masses unknown), and of the lowest link."""
    p, quat = link_poses(tree, q, place[:, :3], place[:, 3:], tree.links)
    lowest = float(p[..., 2].min())
    if not np.isfinite(tree.mass).all() or not tree.mass.sum():
        return np.asarray(place[:, 2]), lowest
    at = p + rotate(quat, np.broadcast_to(tree.com, p.shape))
    return np.asarray((at[..., 2] * tree.mass).sum(axis=1) / tree.mass.sum()), lowest
