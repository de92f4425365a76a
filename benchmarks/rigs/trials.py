"""What the content estimator says of every rig, beside the truth: plain rows of numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from benchmarks.rigs.clocks import Recorded, dropped, long_take, recorded, take
from benchmarks.rigs.motion import Motion, moving
from benchmarks.rigs.render import motion_of
from benchmarks.rigs.scene import CLASSES, Rig, rig

from assay.signals.content_lag import Map, drift, estimate, learn, windows
from assay.signals.lost_frames import lag_steps

__all__ = ["DEVIATIONS", "MINUTES", "PPM", "tried"]

DEVIATIONS: Final = (0.0, 0.02, 0.05, 0.067, 0.1)
"""Seconds that are planted in a judged episode, in either direction."""
MINUTES: Final = (1.0, 5.0, 15.0, 40.0)
PPM: Final = (0.0, 50.0, 200.0, 1000.0)
_JUDGED: Final = (8, 0, 3)  # the long episode, and two short ones
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _About:
    rig: int
    kind: str
    camera: str
    fps: int
    episode: int
    moving: float
    task: bool


def tried(one: Rig) -> list[Row]:
    """Rows of kinds ``lag``, ``drift``, ``lost`` and ``foreign`` for one rig."""
    episodes, bias = recorded(one)
    takes = [take(one, e, bias + e.deviation) for e in episodes]
    rows: list[Row] = []
    for judged in _JUDGED:
        known = learn([t for e, t in enumerate(takes) if e != judged])
        found = episodes[judged]
        span = found.flow.t[[0, -1]] * 1e-9
        about = asdict(_About(one.number, one.kind, one.camera, one.fps, judged,
                              moving(found.shot.motion, *span.tolist()), one.task))  # fmt: skip
        if known is None:
            continue
        rows += [about | row for row in _lags(one, known, found, bias, judged)]
        shifted = take(one, replace(found, shot=replace(found.shot, motion=_foreign(one, judged))), bias)
        rows.append(about | {"what": "foreign", "spoke": not estimate(known, *shifted).why})
        if judged == _JUDGED[0]:
            rows += [
                about | row for row in (*_drifts(one, known, found, bias), *_losses(one, known, found, bias))
            ]
    return rows


def _foreign(one: Rig, judged: int) -> Motion:
    """What another rig's arms did, which has nothing to do with these pictures."""
    return motion_of(rig((one.number + 1) % sum(CLASSES.values())), judged)


def _lags(one: Rig, known: Map, found: Recorded, bias: float, judged: int) -> list[Row]:
    rng = np.random.default_rng([16, one.seed, judged])
    rows = []
    for size in DEVIATIONS:
        planted = float(rng.choice([-1, 1]) * size)
        e = estimate(known, *take(one, found, bias + planted))
        # The rig's own median is known to the estimator only through the other episodes.
        rows.append({"what": "lag", "planted": planted, "seconds": e.seconds, "u": e.u, "why": e.why,
                     "raw": e.lag - bias - planted})  # fmt: skip
    return rows


def _drifts(one: Rig, known: Map, found: Recorded, bias: float) -> list[Row]:
    minutes, rows = MINUTES[one.number // 4 % 4], []
    for ppm in PPM:
        d = drift(known, windows(known, *long_take(one, found, minutes, bias, ppm)))
        rows.append({"what": "drift", "minutes": minutes, "ppm": ppm, "found": d.ppm, "u": d.u, "why": d.why})
    return rows


def _losses(one: Rig, known: Map, found: Recorded, bias: float) -> list[Row]:
    rng = np.random.default_rng([17, one.seed])
    rows, spoke = [], not estimate(known, *take(one, found, bias)).why
    for count in range(6):
        at = int(rng.integers(90, len(found.t) - 90))
        steps = lag_steps(known, *dropped(one, found, bias, count, at))
        best = steps[0] if steps else None
        rows.append({
            "what": "lost", "count": count, "at": at / 30, "spoke": spoke,
            "step": best.seconds if best else np.nan, "u": best.u if best else np.nan,
            "place": (best.t - found.flow.t[0]) * 1e-9 if best else np.nan,
        })  # fmt: skip
    return rows
