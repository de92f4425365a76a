"""From the files of one recording to an `Episode`, for every reader of recordings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final

from assay.errors import UnreadableError
from assay.model import Claim, Episode, Listing, Ref, Role, Source, Stream, StreamDecl
from assay.model import Topic as About
from assay.recording.assembly import Assembly, Files
from assay.recording.files import opened
from assay.recording.messages import FAR, Recording, Topic

__all__ = ["EXTRA", "Promised", "declared", "episode", "missing_extra"]

EXTRA: Final = "ros"
_NEEDED: Final = ("rosbags", "google.protobuf")
_TASK: Final = ("task", "instruction", "language_instruction", "task_description", "prompt")
_OUTCOME: Final = ("outcome", "success", "result")
MOST_PEEKS: Final = 16
"""Files of a corpus whose first messages are read for the list of its streams."""
_TEXTS: Final = 100


@dataclass(frozen=True, slots=True)
class Promised:
    """What metadata beside the files promise.

    Attributes:
        counts: topic → messages.
        start, duration: ns by the log's clock, from the first message to the last; None where not stated.
        where: the file that says so; empty where there is none, and nothing is promised.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    start: int | None = None
    duration: int | None = None
    where: str = ""


ROUNDED: Final = 1_000_000
"""ns; a stamp that was rounded to milliseconds is still the same one."""
Counts = Mapping[tuple[str, str], int]
"""(topic, type) → messages."""


def missing_extra() -> str:
    """A clause where a library of the extra is not installed, else empty."""
    for name in _NEEDED:
        try:
            there = find_spec(name) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            return f"recordings need {name.partition('.')[0]}, which is not installed"
    return ""


def declared(recordings: Iterable[Files]) -> tuple[StreamDecl, ...]:
    """The streams of a corpus, from the first messages of the first files that have each topic."""
    found: dict[str, StreamDecl] = {}
    seen, peeks = set[tuple[str, str]](), 0
    for files in recordings:
        try:
            recording = opened(files.root, files.names[0], files.packed)
            topics = {(t.name, t.type) for t in recording.topics}
            if topics <= seen:
                continue
            assembly = Assembly(files)
            assembly.read(recording, most=1)
        except (UnreadableError, IndexError):
            continue
        seen |= topics
        for s in assembly.streams():
            found.setdefault(s.name, StreamDecl(s.name, s.role, s.channels, s.rate, s.clock))
        peeks += 1
        if peeks == MOST_PEEKS:
            break
    return tuple(found.values())


def episode(
    reader: str, listing: Listing, ref: Ref, want: frozenset[Role] | None, files: Files, promised: Promised,
    silent: tuple[About, ...],
) -> Episode:  # fmt: skip
    """Open all files of one recording.

    Args:
        reader: the reader's name.
        listing: as `assay.reader.Reader.open` has it.
        ref: the same.
        want: the same.
        files: in order.
        promised: by metadata beside the files.
        silent: as `assay.model.Source` has it.

    Raises:
        UnreadableError: if one of the files is broken.
    """
    assembly = Assembly(files, want)
    topics: dict[str, Any] = {}
    more: dict[str, Any] = {}
    claims: list[Claim] = []
    for name in files.names:
        recording = opened(files.root, name, files.packed)
        before = dict(assembly.counts)
        assembly.read(recording)
        claims += _counted(recording, before, assembly.counts, name)
        more |= recording.more
        for t in recording.topics:
            topics[t.name] = {"type": t.type, "encoding": t.encoding, "messages": _messages(assembly, t)}
    claims += _promised(promised.counts, assembly.counts, files.names[0])
    if promised.where:
        claims += _bounds(promised, assembly.logged, sum(assembly.counts.values()))
    streams = assembly.streams()
    return Episode(
        ref.id, streams, task=_task(assembly, more), outcome=_said(more, _OUTCOME),
        source=Source(reader, files.root, files.names, tuple(sorted(assembly.conversions)), silent),
        claims=tuple(claims), declared=listing.streams,
        meta={"format": reader, "topics": topics, **more, **_meta(assembly), "rows": _rows(streams)},
    )  # fmt: skip


def _messages(assembly: Assembly, topic: Topic) -> int | None:
    return assembly.counts.get((topic.name, topic.type), topic.count)


def _rows(streams: Sequence[Stream]) -> int:
    return max((len(s) for s in streams if s.role is not Role.AUDIO), default=0)


def _meta(assembly: Assembly) -> dict[str, Any]:
    found = {
        "undecoded": assembly.undecoded,
        "calibration": assembly.calibration,
        "texts": {topic: tuple(texts)[:_TEXTS] for topic, texts in assembly.texts.items()},
    }
    return {k: v for k, v in found.items() if v}


def _counted(recording: Recording, before: Counts, now: Counts, where: str) -> Iterator[Claim]:
    """What the file's own end says of its messages, against those that were read."""
    said: dict[tuple[str, str], int] = {}
    for topic in recording.topics:
        key = (topic.name, topic.type)
        if topic.count is not None and (key in now or topic.count):
            said[key] = said.get(key, 0) + topic.count
    for key, count in said.items():
        if key in now:
            found = now[key] - before.get(key, 0)
            size = float(abs(count - found))
            yield Claim("declared", "messages", str(count), str(found), size, key[0], where)


def _promised(promised: Mapping[str, int], counts: Counts, where: str) -> Iterator[Claim]:
    """What metadata beside the files says of all messages, against those that were read."""
    found: dict[str, int] = {}
    for (topic, _), count in counts.items():
        found[topic] = found.get(topic, 0) + count
    for topic, count in promised.items():
        if topic in found:
            size = float(abs(count - found[topic]))
            yield Claim("declared", "messages of the bag", str(count), str(found[topic]), size, topic, where)


def _bounds(promised: Promised, logged: tuple[int, int] | None, messages: int) -> Iterator[Claim]:
    """Begin and length by metadata beside the files against the log times of all messages that were read.

    Sizes are messages at their mean distance, at least one; NaN where a side is not there to be compared.
    """
    first, last = logged or (0, 0)
    each = (last - first) / max(messages - 1, 1) or 1.0
    sides = (("starting_time", promised.start, first), ("duration", promised.duration, last - first))
    for about, said, found in sides:
        size = math.nan
        if logged is not None and said is not None:
            off = min(abs(said - found), FAR)
            size = float(max(1, round(off / each))) if off > ROUNDED else 0.0
        shown = "not stated" if said is None else f"{said} ns"[:40]
        yield Claim("boundary", about, shown, f"{found} ns" if logged else "no messages", size,
                    where=promised.where)  # fmt: skip


def _task(assembly: Assembly, more: Mapping[str, Any]) -> str | None:
    """The instruction in words: of a topic that is called so, else of a metadata record."""
    asked = [assembly.texts.get(t, {}) for t in assembly.instructions()]
    texts = [text for found in asked for text in found if text.strip()]
    return "; ".join(dict.fromkeys(texts[:3])) or _said(more, _TASK)


def _said(more: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """The first of some keys that a metadata record of the file has."""
    for name, record in more.items():
        if name.startswith("metadata/") and isinstance(record, Mapping):
            for key in keys:
                if str(record.get(key, "")).strip():
                    return str(record[key])
    return None
