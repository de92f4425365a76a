"""A few samples of one gate's evidence, measured again, with the data's channels beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.counts import count
from assay.gate import Evidence
from assay.model import Episode, Role, Stream
from assay.report.wording import visible
from assay.view.choice import inside

__all__ = ["CHANNELS", "Column", "Moment", "moment_of"]

CHANNELS: Final = 2
"""Channels shown at most, each as state and as request: what 80 columns hold."""

_SAMPLES: Final = 9

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A channel of the data at the samples shown: its last value at or before each; NaN where none is."""

    stream: str
    channel: str
    unit: str
    values: list[float]


@dataclass(frozen=True, slots=True)
class Moment:
    """A few samples of one gate's evidence, measured again.

    Attributes:
        gate: its code; stream, channel: what it measured.
        at: the moment; seconds: (n,) begin of each sample; both in seconds from the episode's first sample.
        unit, limit, sense: of value.
        value: (n,) what the gate measured; NaN where nothing was.
        beyond: (n,) whether the sample lies beyond the limit, as judged.
        columns: the named channels of the data at these times.
        fails: whether the gate fails here, or only comes nearest to its limit.
    """

    gate: str
    stream: str
    channel: str
    at: float
    unit: str
    limit: float
    sense: str
    seconds: list[float]
    value: list[float]
    beyond: list[bool]
    columns: tuple[Column, ...]
    fails: bool


def moment_of(
    ep: Episode, e: Evidence, target: Row, channels: Sequence[str], *, at: int | None, first: int
) -> Moment:
    """The samples of ``e`` around ``at`` (ns; None: the worst of the target) beside the named channels.

    ``first``: the episode's first sample, ns.
    """
    worst = _worst_sample(e, target)
    moment = int(e.t0[worst]) if at is None else at
    if not any(channels) and e.which is not None:
        channels = [e.channels[int(e.which[worst])]]
    picked = [(s, c) for name in channels for s in _streams(ep, e) if (c := _channel(ep, s, name)) >= 0]
    grid = _around(np.sort(picked[0][0].t if picked and len(e.value) < _SAMPLES else e.t0), moment)
    sample = _covering(e, grid)
    beyond = count(e, target["gate"], 0, "episode", ep.id)[1]
    value = np.where(sample >= 0, np.asarray(e.value, np.float64)[sample], np.nan)
    return Moment(
        gate=target["gate"], stream=e.stream, channel=channels[0], at=(moment - first) / 1e9, unit=e.unit,
        limit=float(e.limit), sense=e.sense, seconds=((grid - first) / 1e9).tolist(), value=value.tolist(),
        beyond=np.where(sample >= 0, beyond[sample], False).tolist(),
        columns=tuple(_column(s, c, grid) for s, c in picked), fails=target["fails"],
    )  # fmt: skip


def _worst_sample(e: Evidence, target: Row) -> int:
    """The worst sample (of the target's stretch, if it has one); the first if none is finite."""
    value = np.asarray(e.value, np.float64)
    looked = np.isfinite(value)
    if target["t0"] is not None and (looked & inside(e, target)).any():
        looked &= inside(e, target)
    if not looked.any():
        return 0
    masked = np.where(looked, value, -np.inf if e.sense == "above" else np.inf)
    return int(masked.argmax() if e.sense == "above" else masked.argmin())


def _around(grid: NDArray[np.int64], moment: int) -> NDArray[np.int64]:
    at = int(np.searchsorted(grid, moment, "right")) - 1
    first = min(max(at - _SAMPLES // 2, 0), max(len(grid) - _SAMPLES, 0))
    return grid[first : first + _SAMPLES]


def _covering(e: Evidence, grid: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) which sample of the evidence holds at each time; -1 where none does."""
    order = np.argsort(e.t0, kind="stable")
    at = np.searchsorted(e.t0[order], grid, "right") - 1
    sample = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (grid <= e.t1[sample]), sample, -1)


def _streams(ep: Episode, e: Evidence) -> list[Stream]:
    own = ep.stream(e.stream)
    every = [*([own] if own else []), *ep.by_role(Role.JOINT_POSITION), *ep.by_role(Role.REQUEST)]
    return list({s.name: s for s in every if len(s)}.values())


def _channel(ep: Episode, stream: Stream, name: str) -> int:
    """Index of the channel of that name, or of the same joint under another; -1 if it has none."""
    if name in stream.names:
        return stream.names.index(name)
    if ep.embodiment is None or (joint := ep.embodiment.resolve((name,))[0]) < 0:
        return -1
    same = np.flatnonzero(ep.embodiment.resolve(stream.names) == joint)
    return int(same[0]) if len(same) else -1


def _column(stream: Stream, channel: int, grid: NDArray[np.int64]) -> Column:
    order = np.argsort(stream.t, kind="stable")
    before = np.searchsorted(stream.t[order], grid, "right") - 1
    x = np.asarray(stream.x[:, channel], np.float64)[order[np.maximum(before, 0)]]
    own = stream.channels[channel]
    return Column(
        visible(stream.name), visible(own.name), own.unit, np.where(before >= 0, x, np.nan).tolist()
    )
