"""What the content estimator says of every rig, beside the truth: plain rows of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from benchmarks.rigs.clocks import Recorded, beginning, dropped, long_take, recorded, take
from benchmarks.rigs.motion import Motion, moving
from benchmarks.rigs.render import LENGTHS, motion_of
from benchmarks.rigs.scene import CLASSES, Rig, rig

from assay.signals.content_lag import Map, drift, estimate, learn, windows
from assay.signals.lost_frames import lag_steps

__all__ = ["DEVIATIONS", "MINUTES", "PPM", "tried"]

DEVIATIONS: Final = (0.0, 0.02, 0.05, 0.067, 0.1)
"""Seconds that are planted in a judged episode, in either direction."""
MINUTES: Final = (1.0, 5.0, 15.0, 40.0)
PPM: Final = (0.0, 50.0, 200.0, 1000.0)
_STRETCHES: Final = (28.0, 14.0, 8.0)  # s from the start of the judged episode, the last of each rig
Row = dict[str, Any]


def tried(one: Rig) -> list[Row]:
    """Rows of kinds ``lag``, ``drift``, ``lost`` and ``foreign`` for one rig."""
    episodes, bias = recorded(one)
    *others, judged = episodes
    known = learn([take(one, e, bias + e.deviation) for e in others])
    if known is None:
        raise ValueError(f"rig {one.number}: no map")
    rig_is = {"rig": one.number, "kind": one.kind, "camera": one.camera, "fps": one.fps, "task": one.task}
    rows: list[Row] = []
    for seconds in _STRETCHES:
        part = beginning(judged, seconds)
        span = part.flow.t[[0, -1]] * 1e-9
        about = {**rig_is, "length": seconds, "moving": moving(part.shot.motion, *span.tolist())}
        rows += [about | row for row in _lags(one, known, part, bias)]
        unrelated = replace(part, shot=replace(part.shot, motion=_foreign(one)))
        rows.append(
            about | {"what": "foreign", "spoke": not estimate(known, *take(one, unrelated, bias)).why}
        )
    about = {**rig_is, "length": _STRETCHES[0], "moving": rows[0]["moving"]}
    rows += [about | row for row in _drifts(one, known, judged, bias)]
    rows += [about | row for row in _losses(one, known, judged, bias, spoke=not rows[0]["why"])]
    return rows


def _foreign(one: Rig) -> Motion:
    """What another rig's arms did, which has nothing to do with these pictures."""
    return motion_of(rig((one.number + 1) % sum(CLASSES.values())), len(LENGTHS) - 1)


def _lags(one: Rig, known: Map, found: Recorded, bias: float) -> list[Row]:
    rng = np.random.default_rng([16, one.seed, len(found.t)])
    rows = []
    for size in DEVIATIONS:
        planted = float(rng.choice([-1, 1]) * size)
        e = estimate(known, *take(one, found, bias + planted))
        rows.append({"what": "lag", "planted": planted, "seconds": e.seconds, "u": e.u, "why": e.why,
                     "raw": e.lag - bias - planted})  # fmt: skip
    return rows


def _drifts(one: Rig, known: Map, found: Recorded, bias: float) -> list[Row]:
    minutes, rows = MINUTES[one.number // 4 % 4], []
    for ppm in PPM:
        d = drift(known, windows(known, *long_take(one, found, minutes, bias, ppm)))
        rows.append({"what": "drift", "minutes": minutes, "ppm": ppm, "found": d.ppm, "u": d.u, "why": d.why})
    return rows


def _losses(one: Rig, known: Map, found: Recorded, bias: float, *, spoke: bool) -> list[Row]:
    rng = np.random.default_rng([17, one.seed])
    rows = []
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
