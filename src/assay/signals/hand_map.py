"""Fitting the map from a human's hands to a robot's, over the clips of one subject and one robot.

Least squares over clips, each of the same weight however long, in which a clip that the others do not explain
counts less and less (weights 1 / error) and is at last left out: a few bad retargets must not teach the map
what they are. Nothing is ever fitted on one clip alone for the sake of judging it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_fingers", "fit_hands", "fit_reach"]

Floats = NDArray[np.float64]

WORLD: Final = (0, 1, 2, 3, 4)
OWN: Final = (1, 2, 3, 4)
"""Which of the seven of `assay.signals.reach.gram` are fitted, in a shared world and seen from the pelvis."""
UNSHARED: Final = 1.25
"""A world that robot and human share explains the hands about as well as the pelvis, or better."""
ROUNDS: Final = 15
FLOOR: Final = 0.002
"""m; errors below this are alike."""
OUTLYING: Final = 2.0
"""A clip whose error is this many times the median of the others teaches nothing."""
TIE: Final = 1e-3
"""Weight that ties the scales of trunk and arm to the first: arms that never move tell nothing of them."""
SINGLE: Final = 0.004
"""m; how much the mean error of a clip hangs on the one clip that the map was learnt from. Measured on eleven
ASAP clips with maps from one to six others: 0.40, 0.23, 0.15, 0.10 and 0.09 cm from 1, 2, 3, 4 and 6."""
KEPT: Final = 0.35
"""m; the longest wrist-to-grip offset that is looked for."""
OFFSETS: Final = np.arange(-0.05, KEPT + 1e-9, 0.005)


def fit_hands(grams: Floats, means: Floats, clips: int) -> dict[str, Any]:
    """The map of `assay.signals.reach.HandMap` without fingers, as plain JSON.

    Args:
        grams: (k, 7, 7), one for each hand of each clip, see `assay.signals.reach.gram`.
        means: (k, 7, 3).
        clips: how many clips these are of.
    """
    fits = {shared: _robust(_relative(grams, shared), WORLD if shared else OWN) for shared in (True, False)}
    shared = fits[True][1] <= UNSHARED * max(fits[False][1], FLOOR)
    found, _, kept = fits[shared]
    seen = _relative_means(means[kept], shared)
    bias = seen[:, 6] - np.einsum("k,cki->ci", found, seen[:, WORLD if shared else OWN])
    root, *rest = found if shared else (1.0, *found)
    trunk, arm, grip, rise = (float(v) for v in rest)
    n = clips * float(kept.mean())
    scatter = float(np.sqrt((bias**2).sum(axis=1).mean() / 3.0))
    return {
        "shared": bool(shared), "root": float(root), "trunk": trunk, "arm": arm, "grip": grip, "rise": rise,
        "u": float(max(SINGLE, scatter) / np.sqrt(n)), "clips": round(n), "fingers": {},
    }  # fmt: skip


def fit_fingers(clips: Mapping[str, Sequence[Floats]]) -> dict[str, list[float]]:
    """Finger → scale, o and the tip's own offset, from (6, 6) products of each clip."""
    made = {}
    for name, grams in clips.items():
        found, _, _ = _robust(np.stack(grams), (0, 1, 2, 3, 4), tie=False)
        made[name] = found.tolist()
    return made


def fit_reach(clips: Sequence[Sequence[float]]) -> dict[str, Any] | None:
    """The wrist-to-grip offset that keeps hand and object as far apart as in the source.

    Each hand of a clip gives its mean error at each of `OFFSETS` (NaN without contact); the least median
    counts. Its uncertainty is as that of `fit_hands`; None without any contact.
    """
    table = np.array([c for c in clips if np.isfinite(c).all()], np.float64).reshape(-1, len(OFFSETS))
    if not len(table):
        return None
    best = int(np.median(table, axis=0).argmin())
    pairs = max(1.0, len(table) / 2.0)
    return {"grip": float(OFFSETS[best]), "u": SINGLE / float(np.sqrt(pairs)), "hands": len(table)}


def _relative(grams: Floats, shared: bool) -> Floats:
    """The products with the robot's hand seen from its pelvis, unless the world is shared."""
    if shared:
        return grams
    turn = np.eye(7)
    turn[6, 5] = -1.0
    made: Floats = turn @ grams @ turn.T
    return made


def _relative_means(means: Floats, shared: bool) -> Floats:
    if shared:
        return means
    made = means.copy()
    made[:, 6] -= means[:, 5]
    return made


def _robust(
    grams: Floats, use: Sequence[int], *, tie: bool = True
) -> tuple[Floats, float, NDArray[np.bool_]]:
    """Coefficients of the last row on ``use``, the median error of a clip (m), and which clips were kept."""
    weight = np.ones(len(grams))
    for _ in range(ROUNDS):
        found = _solve(grams, use, weight, tie)
        error = _errors(grams, use, found)
        weight = 1.0 / np.maximum(error, FLOOR)
    kept = error <= OUTLYING * max(float(np.median(error)), FLOOR)
    found = _solve(grams, use, kept.astype(np.float64), tie)
    return found, float(np.median(_errors(grams, use, found))), kept


def _solve(grams: Floats, use: Sequence[int], weight: Floats, tie: bool) -> Floats:
    total = np.einsum("c,ckl->kl", weight / weight.sum(), grams)
    normal, right = total[np.ix_(use, use)].copy(), total[list(use), -1].copy()
    if tie:
        scales = [i for i, u in enumerate(use) if u <= 2]
        for a in scales[1:]:
            pair = np.zeros(len(use))
            pair[a], pair[scales[0]] = 1.0, -1.0
            normal += TIE * 0.1 * np.outer(pair, pair)
    made: Floats = np.linalg.lstsq(normal, right, rcond=1e-9)[0]
    return made


def _errors(grams: Floats, use: Sequence[int], found: Floats) -> Floats:
    """(c,) m: root mean square of what each clip leaves unexplained."""
    full = np.zeros(grams.shape[1])
    full[list(use)], full[-1] = -found, 1.0
    made: Floats = np.sqrt(np.maximum(np.einsum("k,ckl,l->c", full, grams, full), 0.0))
    return made
