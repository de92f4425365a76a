"""Extra columns that hold real stamps: of one stream by its name, or of the row.

``observation.images.top.timestamp``, ``observation.timestamps.top`` or ``top_capture_time_ns`` stamp ``top``;
a bare ``capture_timestamp`` stamps every numeric stream of the row, and no camera: when a row was made says
nothing about when a picture was taken. Words tell who stamped (capture, sensor, device: the sensor; received,
arrival, and what says nothing: on receipt; log, record, written: the log), a suffix or the size of the
numbers the unit. A unit that the declared rate contradicts is not known.

Streams go over to these stamps only if every camera and every joint of the episode has some: measured times
of one beside counted times of another would compare nothing. Otherwise they are kept beside. Stamps that lie
on the grid of the rate were made from it and are not used, nor are 32-bit floats that count from an epoch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Claim, Clock, Role, Stream
from assay.readers.lerobot.info import Feature, Info
from assay.readers.lerobot.meaning import STAMPS, TIMES, WHO, stamp_name, words
from assay.readers.lerobot.parquet import column, is_numeric, values
from assay.readers.lerobot.rows import Data
from assay.readers.lerobot.streams import Found

__all__ = ["is_stamp", "restamped"]

Ints = NDArray[np.int64]

_UNITS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "sec": 1_000_000_000}
_ROW: Final = frozenset({"observation", "frame", "row", "data"})
_ANSWERS: Final = (Role.CAMERA, Role.DEPTH, Role.JOINT_POSITION, Role.REQUEST, Role.GRIPPER, Role.HAND_JOINTS)
_GRID: Final = 1e-3
_UNLIKE: Final = 30.0
"""Times by which steps and declared period differ where the unit is another: 1000, give or take a rate."""
_FIRST, _LAST = 1.42e9, 4.1e9  # s; 2015 and 2100
_EPOCH: Final = 1e8
"""s; what counts further than three years counts from an epoch."""


def is_stamp(feature: Feature) -> bool:
    """Whether a feature is a column of stamps by its name and shape."""
    return feature.kind == "numeric" and feature.width in (None, 1) and stamp_name(feature.name)


def restamped(info: Info, data: Data, found: Found) -> None:
    """Give the streams of an episode the stamps that its extra columns hold; see the module."""
    columns = [f for f in info.features if is_stamp(f)]
    if not columns:
        return
    own: dict[str, dict[Clock, Ints]] = {}
    for feature in columns:
        t = _stamps(feature, data, info, found)
        if t is not None:
            for name in _stamped_by(feature, info):
                own.setdefault(name, {}).setdefault(_who(feature.name), t)
    kinds = ("numeric", "video", "image")
    owing = [f.name for f in info.features if f.role in _ANSWERS and f.kind in kinds and not is_stamp(f)]
    whole = bool(own) and all(name in own for name in owing)
    start = min((int(t.min()) for stamps in own.values() for t in stamps.values() if len(t)), default=0)
    found.streams[:] = [_with(s, own.get(s.name, {}), whole, start) for s in found.streams]
    if own:
        found.meta["stamps/start"] = start  # ns; SYN005 judges dates
    if whole:
        date = f"{np.datetime64(start, 'ns').astype('datetime64[s]')} if they count from 1970"
        found.conversions.append(f"stamps of the capture columns: ns since the earliest of them, {date}")
    elif own:
        found.conversions.append("capture columns: kept beside, because not every camera and joint has one")


def _with(stream: Stream, stamps: dict[Clock, Ints], whole: bool, start: int) -> Stream:
    fitting = {clock: t - start for clock, t in stamps.items() if len(t) == len(stream)}
    if not fitting:
        return stream
    if not whole:
        return replace(stream, stamps=fitting)
    best = next(clock for clock in (Clock.SENSOR, Clock.RECEIVE, Clock.LOG) if clock in fitting)
    return replace(stream, t=fitting.pop(best), clock=best, stamps=fitting)


def _stamped_by(feature: Feature, info: Info) -> list[str]:
    """The features that a column stamps: the one it names, else all numeric ones."""
    drop = STAMPS | TIMES | frozenset(_UNITS) | frozenset().union(*WHO.values())
    stem = [w for w in words(feature.name) if w not in drop]
    others = [f for f in info.features if f.kind in ("numeric", "video", "image") and not is_stamp(f)]
    if not set(stem) - _ROW:
        return [f.name for f in others if f.kind == "numeric"]
    exact = [f.name for f in others if words(f.name) == stem]
    tail = [f.name for f in others if words(f.name)[-len(_core(stem)) :] == _core(stem)]
    return exact or (tail if len(tail) == 1 else [])


def _core(stem: list[str]) -> list[str]:
    return [w for w in stem if w not in ("observation", "observations", "images", "image", "obs")] or stem


def _who(name: str) -> Clock:
    found = set(words(name))
    return next((clock for clock, known in WHO.items() if known & found), Clock.RECEIVE)


def _stamps(feature: Feature, data: Data, info: Info, found: Found) -> Ints | None:
    """(n,) ns; None, and why, where they are no measured times."""
    said = column(data.table, feature.name)
    if said is None or not is_numeric(said.type):
        return None
    x, odd = values(said, 1)
    if x.shape[1:] != (1,) or len(x) < 3 or odd or not np.isfinite(x.astype(np.float64)).all():
        return None
    suffix = words(feature.name)[-1]
    t, why = _nanoseconds(x[:, 0], suffix)
    against = why if t is None else _scale(t, suffix, info)
    if against and suffix in _UNITS and "unit" in against:
        found.claims.append(Claim("declared", "unit of stamps", suffix, against, 1.0, feature.name))
    if against:
        t, why = None, against
    elif t is not None and info.fps and _made(t, 1e9 / float(info.fps)):
        t, why = None, "they lie on the grid of the rate"
    if t is None:
        found.conversions.append(f"{feature.name}: no measured times, {why}")
    return t


def _nanoseconds(x: NDArray[Any], suffix: str) -> tuple[Ints | None, str]:
    size = float(np.abs(x.astype(np.float64)).max())
    unit = _UNITS.get(suffix)
    if unit is None and x.dtype.kind == "f":
        unit = next((u for u in (1_000_000_000, 1_000_000, 1_000, 1) if size * u < 4e18), 1)
        unit = 1_000_000_000 if size < 1e10 else unit
    elif unit is None:
        # By what an epoch of today has: 1.7e9 s, e12 ms, e15 us, e18 ns; less than these could be anything.
        unit = next((u for u, least in ((1, 1e17), (1_000, 1e14), (1_000_000, 1e11), (1_000_000_000, 1e8))
                     if size > least), None)  # fmt: skip
    if unit is None or size * unit > 4e18:
        return None, "their unit is not known"
    if x.dtype == np.float32 and size * unit > _EPOCH * 1e9:
        return None, "32-bit floats keep no epoch"
    if x.dtype.kind in "iu":
        return x.astype(np.int64) * unit, ""
    value = x.astype(np.float64)
    whole = np.floor(value)
    return whole.astype(np.int64) * unit + np.rint((value - whole) * unit).astype(np.int64), ""


def _scale(t: Ints, suffix: str, info: Info) -> str:
    """What speaks against the unit by which stamps were read: steps of another size than the rate's.

    Both the usual and the mean step have to, as one alone may be a clock that was set. Without a rate, a
    suffix under which the stamps have no date while under another unit they have one.
    """
    step = np.abs(np.diff(t.astype(np.float64))) * 1e-9
    usual, mean = float(np.median(step[step > 0])) if step.any() else 0.0, float(np.ptp(t)) * 1e-9 / len(step)
    if not usual:
        return ""  # a clock that stands still lies on every grid
    if info.fps:
        ratios = [x * float(info.fps) for x in (usual, mean)]
        odd = min(ratios) > _UNLIKE or max(ratios) < 1 / _UNLIKE
        return f"steps of {usual:.3g} s at {float(info.fps):g} Hz: their unit is not known" if odd else ""
    seconds = float(np.median(t)) * 1e-9
    dated = [u for u in (1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9) if _FIRST < seconds * u < _LAST]
    other = suffix in _UNITS and dated and 1.0 not in dated
    return f"no date as {suffix}, but as another: their unit is not known" if other else ""


def _made(t: Ints, period: float) -> bool:
    """Whether every stamp lies a whole number of periods after the first."""
    index = (t - t[0]).astype(np.float64) / period
    return bool(np.abs(index - np.rint(index)).max() <= _GRID)
