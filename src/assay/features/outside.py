"""Feature: evidence of clocks from outside the streams' stamps: service logs, trigger counters, timecode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.feature import feature
from assay.inside import open_inside, path_inside
from assay.model import Clock, Episode, Role, Stream
from assay.signals.daemons import LONGEST, ServiceLog, read_chrony, read_ptp
from assay.signals.intervals import span
from assay.signals.offsets import Offset

__all__ = ["Outside", "outside"]

MOST: Final = 64 << 20
"""Bytes of a log: a week of ptp4l, one line a second, is 60 MB."""

_AROUND: Final = 90.0
"""Seconds around an episode for which a log still speaks: chrony writes a line a minute."""
_CALENDAR: Final = 1_000_000_000
_LEAST: Final = 8
_JOINTS: Final = (Role.JOINT_POSITION, Role.EXECUTION, Role.REQUEST)

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the sheet's ``[evidence.NAME]`` tables lead to.

    Attributes:
        offsets: of clocks by ``log``, of samples with the same count by ``trigger``.
        missing: one sentence for each item that leads to nothing, by its name.
    """

    offsets: tuple[Offset, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


@feature(reads=tuple(Role))
def outside(ep: Episode) -> Outside:
    """Offsets with their errors from what the sheet names, see `Outside`.

    A log's offsets are those of the clock, not of the way from an event to its stamp. Its lines count where
    they lie within 90 s of the episode; lines without a date count all, and the error then spans them all.
    Equal counts of two streams are the same instant, so that their stamps' difference is the offset; between
    counts it is interpolated.
    """
    offsets: list[Offset] = []
    missing: list[tuple[str, str]] = []
    for name, item in _items(ep.meta).items():
        try:
            offsets += _counted(ep, item) if item.get("counters") else _logged(ep, item)
        except UnreadableError as error:
            missing.append((name, str(error)))
    return Outside(tuple(offsets), tuple(missing))


def _items(meta: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key, value in meta.items():
        if key.startswith("evidence/"):
            name, _, field = key.removeprefix("evidence/").rpartition("/")
            found.setdefault(name, {})[field] = value
    return found


# ------------------------------------------------------------------------------------------- service logs


def _logged(ep: Episode, item: Item) -> Iterator[Offset]:
    streams, against = _streams(ep, item.get("streams") or ()), _master(ep, item)
    for stream in (*streams, against):
        if stream.clock not in (Clock.SENSOR, Clock.RECEIVE):
            raise UnreadableError("the log is of a clock that did not stamp this stream", where=stream.name,
                                  found=f"stamps by {stream.clock}", expected="capture stamps")  # fmt: skip
    path = str(item.get("path", "")).replace("{id}", ep.id).replace("{stem}", _stem(ep))
    log = _read(ep, path, str(item.get("kind")))
    for stream in streams:
        if stream.name != against.name:
            yield from _clock_offsets(stream, against, log, path)


def _stem(ep: Episode) -> str:
    files = ep.source.files if ep.source else ()
    return PurePosixPath(files[0]).stem if files else ep.id


def _read(ep: Episode, path: str, kind: str) -> ServiceLog:
    if ep.source is None or not path:
        raise UnreadableError("no log is named", expected="path = a file inside the corpus")
    try:
        state = path_inside(ep.source.root, path).stat()
    except OSError as error:
        raise UnreadableError("the log cannot be opened", where=path, found=error.strerror or "") from None
    return _parsed(ep.source.root, path, kind, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4)  # one log often speaks for a whole session
def _parsed(root: Path, path: str, kind: str, size: int, _time: int) -> ServiceLog:
    with open_inside(root, path) as file:
        if size > MOST:
            raise UnreadableError("the log is too long", where=path, expected=f"at most {MOST >> 20} MB")
        lines = (line[:LONGEST].decode("utf-8", "replace") for line in BytesIO(file.read(size)))
        log = read_chrony(lines) if kind == "chrony" else read_ptp(lines)
    if not len(log.offset):
        raise UnreadableError(f"no line of the log is one of {kind}'s", where=path)
    return log


def _clock_offsets(stream: Stream, against: Stream, log: ServiceLog, path: str) -> Iterator[Offset]:
    t0, t1 = span(stream.t)
    if log.dated and t0 > _CALENDAR * 10**9:
        log = log.within(t0 * 1e-9 - _AROUND, t1 * 1e-9 + _AROUND)
        if not len(log.offset):
            raise UnreadableError("the log does not cover the episode", where=path)
        u = float(np.sqrt(np.mean(log.offset**2) + np.median(log.error) ** 2))
    else:  # which of its lines are of the episode nobody knows
        u = float(np.hypot(np.abs(log.offset).max() / 2, log.error.max()))
    middle = (t0 + t1) // 2
    yield Offset(stream.name, against.name, t0, middle, 0.0, u, "log", end="start")
    yield Offset(stream.name, against.name, middle, t1, 0.0, u, "log", end="end")


# ----------------------------------------------------------------------------------------------- counters


def _counted(ep: Episode, item: Item) -> Iterator[Offset]:
    """Offsets of the first stream against each further one, at both ends of what they share."""
    names, counters = item.get("streams") or (), item["counters"]
    if len(names) != len(counters) or len(names) < 2:
        raise UnreadableError("counters need two streams or more, and one counter for each")
    channels = item.get("channels") or [""] * len(names)
    sides = [_count(ep, *each) for each in zip(names, counters, channels, strict=False)]
    (mine, counts), *others = sides
    for other, theirs in others:
        yield from _matched(mine, counts, other, theirs)


def _count(ep: Episode, name: str, counter: str, channel: str) -> tuple[Stream, NDArray[np.float64]]:
    (stream,), (holds,) = _streams(ep, [name]), _streams(ep, [counter])
    if stream.clock is Clock.NOMINAL:
        raise UnreadableError("its stamps are made from the rate: counts have nothing to date", where=name)
    if len(holds) != len(stream) or (channel and channel not in holds.names):
        raise UnreadableError("the counter does not count this stream's samples", where=counter,
                              found=f"{len(holds)} counts", expected=f"{len(stream)}")  # fmt: skip
    column = holds.names.index(channel) if channel else 0
    counts = np.asarray(holds.x[:, column], np.float64)
    if len(counts) < _LEAST or not (np.diff(counts) > 0).all():
        raise UnreadableError("the counter does not count upwards", where=counter)
    return stream, counts


def _matched(
    a: Stream, a_counts: NDArray[np.float64], b: Stream, b_counts: NDArray[np.float64]
) -> Iterator[Offset]:
    use = (a_counts >= b_counts[0]) & (a_counts <= b_counts[-1])
    t = a.t[use]
    if len(t) < _LEAST:
        raise UnreadableError("the counters share no counts", where=f"{a.name}, {b.name}")
    there = np.interp(a_counts[use], b_counts, (b.t - t[0]).astype(np.float64))
    d = ((t - t[0]) - there) * 1e-9
    n = max(len(t) // 4, _LEAST // 2)
    for part, end in ((slice(None, n), "start"), (slice(-n, None), "end")):
        spread = 1.4826 * float(np.median(np.abs(d[part] - np.median(d[part]))))
        u = max(1.2533 * spread / n**0.5, 1e-6)
        yield Offset(
            a.name, b.name, int(t[part][0]), int(t[part][-1]), float(np.median(d[part])), u, "trigger",
            end=end,  # type: ignore[arg-type]
        )  # fmt: skip


def _streams(ep: Episode, names: Sequence[str]) -> list[Stream]:
    found = [s for name in names if (s := ep.stream(name)) is not None and len(s)]
    if len(found) != len(names) or not found:
        raise UnreadableError("a stream is not there", found=", ".join(names) or "no stream is named")
    return found


def _master(ep: Episode, item: Item) -> Stream:
    """The stream that the master clock stamps: as the sheet says, else the first one of joints."""
    if item.get("against"):
        return _streams(ep, [item["against"]])[0]
    joints = [s for s in ep.by_role(*_JOINTS) if len(s)]
    if not joints:
        raise UnreadableError("no stream of joints to compare with", expected="against = a stream")
    return joints[0]
