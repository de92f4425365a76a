"""How much of the motion that joints predict a corpus's episodes usually show, and by how much it scatters.

Windows of 1 and 3 s, each judged by a map that did not see its episode: the share of the predicted motion
that is shown, its noise (which falls with more motion), its scatter (which does not), and the deviation that
hardly any untouched episode reaches. Own method, measured: docs/power/SYN001.md, docs/power/rigs.md.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "deviations", "sums", "usual"]

Floats = NDArray[np.float64]

SIZES: Final = (2, 6)
"""Blocks of half a second in a window."""

_QUIET: Final = 0.02  # of the corpus's mean power of predicted flow; below it nothing is learnt
_LEAST: Final = 10  # windows; of fewer nothing is known
_SCATTER: Final = 0.1  # of the predicted motion, at least
_MEDIAN: Final = 0.455  # median of the square of a standard normal number
_BEYOND, _RARE = 3.0, 4.0  # least limit; robust sd of the episodes' largest deviations above their median


def sums(x: Floats, size: int) -> Floats:
    """(w, ...) sums of every run of ``size`` blocks (b, ...)."""
    total = np.concatenate((np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)))
    return np.asarray(total[size:] - total[:-size])


def usual(shown: list[Floats], power: float) -> Floats:
    """(len(SIZES), 4) share, noise, scatter and limit of each size of window; NaN of one that is not known.

    A size of which the corpus has fewer than ten windows amid motion is not known: nothing can be held to it.

    Args:
        shown: per episode (b, 2), for each block measured times predicted and predicted squared, both at the
            episode's own lag and by a map that did not see it.
        power: mean of predicted squared in a block.
    """
    return np.stack([_of_one([sums(x, size) for x in shown], power * size) for size in SIZES])


def deviations(inner: Floats, ours: Floats, known: Floats) -> Floats:
    """(w,) by how many errors windows show less of the predicted motion than usual; ``known`` is (4,)."""
    share, noise, scatter, _ = known
    ours = np.maximum(ours, 1e-12)
    return np.asarray((share - inner / ours) / np.sqrt(noise / ours + scatter**2))


def _of_one(shown: list[Floats], power: float) -> Floats:
    lively = [x[x[:, 1] > _QUIET * power] for x in shown]
    inner, ours = np.concatenate(lively).T if lively else np.zeros((2, 0))
    if len(ours) < _LEAST:
        return np.full(4, np.nan)
    much = ours >= np.median(ours)
    share = float(np.median((inner / ours)[much]))
    square = (inner / ours - share) ** 2
    little = ~much if (~much).any() else much
    noise = float(np.median((square * ours)[little])) / _MEDIAN
    scatter = np.sqrt(max(float(np.median((square - noise / ours)[much])) / _MEDIAN, _SCATTER**2))
    known = np.array([share, noise, scatter, 0.0])
    most = np.array([deviations(x[:, 0], x[:, 1], known).max() for x in lively if len(x)])
    spread = 1.4826 * float(np.median(np.abs(most - np.median(most))))
    known[3] = max(_BEYOND, float(np.median(most)) + _RARE * spread)
    return known
