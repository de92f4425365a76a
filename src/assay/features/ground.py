"""Feature: the declared ground, and how the soles at rest lie about it."""

from __future__ import annotations

from math import sqrt
from typing import Final

import numpy as np

from assay.feature import feature
from assay.model import Episode
from assay.signals.ground import Ground, mode_height, rest_heights, stance_heights
from assay.signals.posture import Poses
from assay.signals.quantile import quantile
from assay.signals.stance import Stance

__all__ = ["ground"]

LEAST: Final = 1e-3
"""m; no contact point of a model is known better, however well the rests agree."""


@feature(reads=())
def ground(ep: Episode, poses: Poses | None, source_stance: Stance | None) -> Ground | None:
    """The ground of an episode, see `Ground`; None where no sole is known or times are not.

    Declared is what the sheet says under ``ground`` (m, or "z=0"). The rest is estimated and never taken
    for it: an estimate follows the soles (REAL-CLIPS: no estimated ground sees a constant offset).
    """
    if poses is None or not poses.soles or not poses.timed:
        return None
    said = ep.meta.get("ground")
    declared = None if said is None else 0.0 if said == "z=0" else float(said)
    known = source_stance.state if source_stance is not None else {}
    seen = [stance_heights(poses.t, poses.lowest(s), known[s]) for s in poses.soles if s in known]
    rest = np.concatenate(seen) if seen else rest_heights(poses.t, list(poses.soles.values()))
    if not len(rest):
        return Ground(declared, mode_height(poses.low), rest, np.nan, np.nan, np.nan)
    off = rest - rest.mean()
    u = max(LEAST, 1.2533 * sqrt(float((off * off).mean())) / sqrt(len(rest)))
    ordered = np.sort(rest)
    spread = quantile(ordered, 0.95) - quantile(ordered, 0.05)
    offset = quantile(ordered, 0.5) - (declared or 0.0)
    return Ground(declared, mode_height(poses.low), rest, offset, u, spread)
