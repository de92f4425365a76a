"""Feature: where each camera's pictures are new, how often, and where they stand still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature
from assay.model import Episode, Role, Stream
from assay.signals.cadence import Cadence, Fresh, cadence, fresh_share
from assay.signals.frozen import quiet_change, still_runs
from assay.signals.intervals import period
from assay.signals.pictures import Pictures
from assay.signals.travel import Travel, arm_travel

__all__ = ["Freshness", "freshness"]

_LAGS: Final = 6  # pictures by which a camera may be late: 0 to 5
_DECIDED: Final = 30  # transitions amid motion that a picture period is measured from
_STRETCH: Final = 2  # real picture periods; shorter stretches are not looked for


@dataclass(frozen=True, slots=True, eq=False)
class Freshness:
    """One camera's pictures in time.

    Attributes:
        t: (n,) int64 ns of the pictures on the episode's clock.
        fresh: how much new each transition shows.
        told: its summary; usual: real picture period in transitions, 2 where it could not be measured.
        step: ns from picture to picture.
        first, last: (k,) pictures between which nothing changes, for two real periods or more.
        speed: (k,) rad/s of the arms during each of these, at their slowest over lags of 0 to 5 pictures;
            NaN where no joints tell. most: at their fastest.
        moving: (n - 1,) rad/s of the arms during each transition, likewise.
    """

    t: NDArray[np.int64]
    fresh: Fresh
    told: Cadence
    usual: float
    step: int
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    speed: NDArray[np.float64]
    most: NDArray[np.float64]
    moving: NDArray[np.float64]


@feature(reads=[Role.CAMERA, Role.JOINT_POSITION])
def freshness(ep: Episode, pictures: dict[str, Pictures] | None) -> dict[str, Freshness]:
    """Camera → its `Freshness`; empty where pictures were not decoded.

    Source: own measurement on real files, see gates SYN006 and SYN008.
    """
    paths = [path for s in ep.by_role(Role.JOINT_POSITION) if (path := arm_travel(s)) is not None]
    cameras = {s.name: s for s in ep.by_role(Role.CAMERA)}
    known = {name: seen for name, seen in (pictures or {}).items() if name in cameras}
    return {name: _of(cameras[name], seen, paths) for name, seen in known.items()}


def _of(camera: Stream, seen: Pictures, paths: list[Travel]) -> Freshness:
    fresh = fresh_share(seen.thumbs, seen.key)
    told = cadence(fresh)
    usual = max(told.gap, 1.0) if told.decided >= _DECIDED and np.isfinite(told.gap) else 2.0
    first, last = still_runs(seen.thumbs, quiet_change(seen.thumbs, fresh), int(np.ceil(_STRETCH * usual)))
    t = seen.t + (int(camera.t[0]) if len(camera) else 0)
    step = round(period(t, float(camera.rate) if camera.rate else None))
    lags = -np.arange(_LAGS) * step
    least, most = _speed(paths, t[first], t[last], lags)
    moving, _ = _speed(paths, t[:-1], t[1:], lags)
    return Freshness(t, fresh, told, usual, step, first, last, least, most, moving)


def _speed(
    paths: list[Travel], t0: NDArray[np.int64], t1: NDArray[np.int64], lags: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(k,), (k,) least and most speed of the fastest of several joint streams."""
    least = most = np.full(len(t0), np.nan)
    for path in paths:
        slow, quick = path.speed_range(t0, t1, lags)
        least, most = np.fmax(least, slow), np.fmax(most, quick)
    return least, most
