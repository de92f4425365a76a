"""Whether the human source is one that a solver can be held to: nobody follows a wrong human rightly."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.features.hands import group_of
from assay.signals.likeness import exchanged, shape_of
from assay.signals.reach import Sources, size

__all__ = ["DOUBTFUL", "doubt"]

DOUBTFUL: Final = "the human source is doubtful"
LARGER: Final = 1.15
"""Trunks of one subject differ by 2 % over eleven real clips, those of most adults by less than 15 %."""
TURNED: Final = 0.2
"""Gain in correlation: thirteen real sources lose 0.34 or more when left and right are exchanged."""
SIDES: Final = "left-right"
HANDS: Final = "RTG002"


def doubt(features: Features, code: str = HANDS, params: Any = None) -> str:
    """Why the human source of an episode is doubtful, in a few words; empty where nothing says so.

    Left and right of the human are exchanged if her hands, exchanged, follow the robot's better; she is of
    another size than the ones that taught the map if her trunk is; and where RTG012 finds left and right of
    the robot's own clip exchanged, its hands are held to the wrong ones of hers. Of feet RTG012 is not asked:
    a pelvis that leaves a standing foot behind may look like exchanged legs itself.

    Args:
        features: the episode's, with the fitted models that may judge it.
        code: the gate whose finding is in question.
        params: of RTG012; the published ones where there are none.
    """
    source, grips, poses = (features.get(name) for name in ("source_hands", "grips", "poses"))
    if source is not None and grips is not None and poses is not None:
        if exchanged(shape_of(poses.t, grips, source)) > TURNED:
            return f"{DOUBTFUL}: its hands follow the robot better with left and right exchanged"
        larger = _larger(features, source)
        if max(larger, 1.0 / larger) > LARGER:
            return f"{DOUBTFUL}: its trunk is {larger:.2f} times as large as those that taught the map"
    if code != HANDS:
        return ""
    gate = plugs.gates()["RTG012"]
    found = examine(gate, features, params or gate.params(), "").findings
    if any(f.channel == SIDES for f in found):
        return f"{DOUBTFUL}: by RTG012 left and right are exchanged in the clip that is held to it"
    return ""


def _larger(features: Features, source: Sources) -> float:
    """How many times as large as the median of its group; 1 where nothing tells."""
    model = (features.get("hand_map") or {}).get(group_of(features.ep)) or {}
    usual = np.array(model.get("size") or (np.nan, np.nan))
    ratio = float(np.sqrt(np.prod(np.array(size(source)) / usual)))
    return ratio if np.isfinite(ratio) and ratio > 0 else 1.0
