"""Feature: when each foot stands."""

from __future__ import annotations

import numpy as np

from assay.feature import feature
from assay.model import Clock, Episode, Role
from assay.signals.feet import stamps
from assay.signals.ground import Ground
from assay.signals.human_feet import human_feet
from assay.signals.placing import placed
from assay.signals.posture import Poses
from assay.signals.stance import Stance, human_stance, sole_stance

__all__ = ["source_stance", "stance"]


@feature(reads=(Role.HUMAN_BODY,))
def source_stance(ep: Episode, poses: Poses | None) -> Stance | None:
    """Stance of the human source on the clock of `poses`; None without a source whose feet are known.

    None too without known times. A source in another file is used if its offset is declared, or if both last
    equally long to a frame.
    """
    if poses is None or not poses.timed:
        return None
    for stream in ep.by_role(Role.HUMAN_BODY):
        feet = human_feet(stream)
        rate = float(stream.rate) if stream.rate else None
        t = stamps(stream.t, rate, nominal=stream.clock is Clock.NOMINAL)
        at = None if t is None or feet is None else placed(ep, stream, t, poses.t)
        if at is not None and feet is not None and len(at) > 2:
            return human_stance(at, feet, poses.t, stream.name)
    return None


@feature(reads=())
def stance(
    ep: Episode, poses: Poses | None, ground: Ground | None, source_stance: Stance | None
) -> Stance | None:
    """Stance on the clock of `poses`: of the human source where one has feet, else of the robot's soles.

    The latter is graded lower (see `Stance.grade`), and no gate on feet uses it. None without either.
    """
    del ep
    if source_stance is not None:
        return source_stance
    if poses is None or ground is None or set(poses.soles) != {"left", "right"}:
        return None
    level = ground.declared if ground.declared is not None else ground.estimate
    if not np.isfinite(level):
        return None
    lowest = {side: poses.lowest(side) for side in poses.soles}
    return sole_stance(poses.t, poses.soles, lowest, level, poses.stream)
