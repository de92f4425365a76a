"""A few samples of one gate's evidence, measured again, with the data's channels beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.counts import count
from assay.gate import Evidence
from assay.model import Episode, Stream
from assay.report.wording import visible
from assay.view.choice import inside
from assay.view.signals import channels_of, moving

__all__ = ["Column", "Moment", "moment_of", "signals_at"]

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
        gate: its code, empty where no gate measured anything; stream, channel: what it measured.
        at: the moment; seconds: (n,) begin of each sample; both in seconds from the episode's first sample.
        unit, limit, sense: of value.
        value: (n,) what the gate measured; NaN where nothing was.
        beyond: (n,) whether the sample lies beyond the limit, as judged.
        columns: the named channels of the data at these times.
        fails: whether the gate fails here, or only comes nearest to its limit.
        lasting: seconds of the gate's sample, where one holds for all that is shown.
        note: the finding's, where the gate has several of this stream and channel that it tells apart.
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
    lasting: float | None = None
    note: str = ""


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
    picked = channels_of(ep, e.stream, channels) or ([] if at is None else moving(ep, moment))
    grid = _around(_times(e, picked, at), moment)
    sample = _covering(e, grid, target["channel"])
    beyond = count(e, target["gate"], 0, "episode", ep.id)[1]
    value = np.where(sample >= 0, np.asarray(e.value, np.float64)[sample], np.nan)
    one = len(grid) > 1 and sample[0] >= 0 and bool((sample == sample[0]).all())
    return Moment(
        gate=target["gate"], stream=e.stream, channel=channels[0], at=(moment - first) / 1e9, unit=e.unit,
        limit=float(e.limit), sense=e.sense, seconds=((grid - first) / 1e9).tolist(), value=value.tolist(),
        beyond=np.where(sample >= 0, beyond[sample], False).tolist(),
        columns=tuple(_column(s, c, grid) for s, c in picked), fails=target["fails"],
        lasting=int(e.t1[sample[0]] - e.t0[sample[0]]) / 1e9 if one else None,
    )  # fmt: skip


def signals_at(ep: Episode, at: int, first: int) -> Moment | None:
    """The channels that move most around ``at`` (ns), no gate beside them; None where nothing is timed."""
    picked = moving(ep, at)
    if not picked:
        return None
    grid = _around(np.sort(picked[0][0].t), at)
    return Moment(
        gate="", stream="", channel="", at=(at - first) / 1e9, unit="1", limit=float("nan"), sense="above",
        seconds=((grid - first) / 1e9).tolist(), value=[float("nan")] * len(grid),
        beyond=[False] * len(grid), columns=tuple(_column(s, c, grid) for s, c in picked), fails=False,
    )  # fmt: skip


def _times(e: Evidence, picked: Sequence[tuple[Stream, int]], at: int | None) -> NDArray[np.int64]:
    """Begins of the samples; the data's own where these are few, or none is at the moment asked for."""
    begins = np.unique(e.t0)
    away = at is not None and not bool(((e.t0 <= at) & (at <= e.t1)).any())
    return np.sort(picked[0][0].t) if picked and (len(begins) < _SAMPLES or away) else begins


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


def _covering(e: Evidence, grid: NDArray[np.int64], channel: str) -> NDArray[np.intp]:
    """(n,) which sample of the evidence holds at each time; -1 where none does.

    Of several that begin at once the named channel's, else the worst.
    """
    value = np.asarray(e.value, np.float64)
    bad = np.nan_to_num(value if e.sense == "above" else -value, nan=-np.inf)
    own = np.zeros(len(value), bool)
    if e.which is not None and channel in e.channels:
        own = np.asarray(e.which) == e.channels.index(channel)
    order = np.lexsort((bad, own, e.t0))
    at = np.searchsorted(e.t0[order], grid, "right") - 1
    sample = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (grid <= e.t1[sample]), sample, -1)


def _column(stream: Stream, channel: int, grid: NDArray[np.int64]) -> Column:
    order = np.argsort(stream.t, kind="stable")
    before = np.searchsorted(stream.t[order], grid, "right") - 1
    x = np.asarray(stream.x[:, channel], np.float64)[order[np.maximum(before, 0)]]
    own = stream.channels[channel]
    return Column(
        visible(stream.name), visible(own.name), own.unit, np.where(before >= 0, x, np.nan).tolist()
    )
