"""From the messages of a recording to streams: each topic's drafts joined, each stream on its best clock.

Clocks. A message has up to three stamps: of the sensor (inside it), of publishing (``receive``: when it was
sent or arrived) and of logging. All are kept. ``Stream.t`` is the sensor's where it is set and counts from
the same epoch as the log (within a day), else that of publishing, else the log's. A publishing stamp that is
the log's throughout is the log's.

Order is that of writing. Where a message names its joints in another order, values follow the names; a joint
that it leaves out is NaN there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Channel, Clip, Clock, Role, Stream
from assay.recording.decoding import decode, why_not
from assay.recording.meanings import CALIBRATION, PICTURES, POSE, SILENT, Draft, drafts, family, roles_of
from assay.recording.messages import Batch, Recording, Topic, spanned
from assay.recording.pictures import StoredPictures, codec_of, key_pictures
from assay.recording.words import side_of

__all__ = ["Assembly", "Files", "best_clock"]

DAY: Final = 86_400_000_000_000
MOST_BYTES: Final = 4 << 30
"""Decoded bytes of one episode."""
MOST_STREAMS: Final = 2000
MOST_TEXTS: Final = 10_000

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one recording, in order; ``packed`` where each message is compressed on its own."""

    root: Path
    names: tuple[str, ...]
    packed: bool = False


@dataclass(slots=True)
class _Part:
    """Samples of one stream from messages that are laid out alike, with the stamps of each."""

    draft: Draft
    order: Ints
    log: Ints
    publish: Ints
    key: NDArray[np.bool_] | None


@dataclass(slots=True)
class Assembly:
    """Streams in the making.

    Attributes:
        want: roles that are asked for, None for all; words are always read, for the task.
        counts: messages read of each topic and type.
        logged: first and last log time (ns) of all messages of what was read, wanted or not.
        undecoded: topic → why its values are not read; its stamps are.
        conversions: what was done to values.
    """

    files: Files
    want: frozenset[Role] | None = None
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    logged: tuple[int, int] | None = None
    undecoded: dict[str, str] = field(default_factory=dict)
    calibration: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, dict[str, int]] = field(default_factory=dict)
    conversions: set[str] = field(default_factory=set)
    _parts: dict[tuple[str, str, str], list[_Part]] = field(default_factory=dict)
    _seen: int = 0
    _bytes: int = 0

    def read(self, recording: Recording, most: int | None = None) -> None:
        """Add one file's messages, of its first ``most`` batches.

        Raises:
            UnreadableError: if the file is broken, or a message does not fit its definition.
        """
        topics = {t.id: t for t in recording.topics if self._wanted(t)}
        for number, batch in enumerate(recording.batches(frozenset(topics))):
            if number == most:
                return
            for id_ in np.unique(batch.topic).tolist():
                self._add(topics[id_], batch)
            self._seen += len(batch.topic)
        self.logged = spanned(self.logged, recording.logged)

    def _wanted(self, topic: Topic) -> bool:
        known = family(topic.type)
        if known in SILENT:
            return False
        roles = roles_of(topic.name, topic.type)
        if self.want is None or roles is None or known in CALIBRATION:
            return True
        return Role.INSTRUCTION in roles or bool(roles & self.want)

    def _add(self, topic: Topic, batch: Batch) -> None:
        mine = np.flatnonzero(batch.topic == topic.id)
        key = (topic.name, topic.type)
        self.counts[key] = self.counts.get(key, 0) + len(mine)
        why = self.undecoded.get(topic.name) or why_not(topic)
        if why:
            self.undecoded[topic.name] = why
            empty = Draft("", Role.OTHER, mine, np.empty((len(mine), 0)), (), None)
            self._keep(topic, empty, batch, None)
            return
        try:
            for piece in decode(topic, batch):
                if family(topic.type) in CALIBRATION:
                    self._calibrate(topic, piece.numbers, piece.texts)
                for draft in drafts(topic.name, topic.type, piece, batch.data):
                    blobs = piece.blobs.get("data")
                    starts = codec_of(draft.form) if draft.form and blobs is not None else ""
                    key_at = key_pictures(starts, batch.data, blobs) if starts and blobs is not None else None
                    self._keep(topic, draft, batch, key_at)
        except UnreadableError as error:
            raise UnreadableError(
                f"a message of topic {topic.name} is broken: {error.what}",
                where=self.files.names[0], found=error.found or error.where,
            ) from error  # fmt: skip

    def _calibrate(self, topic: Topic, numbers: Mapping[str, NDArray[Any]], texts: Mapping[str, Any]) -> None:
        if topic.name not in self.calibration:
            first = {k: v[0].tolist() for k, v in numbers.items() if not k.startswith("header")}
            self.calibration[topic.name] = {**first, **texts}

    def _keep(self, topic: Topic, draft: Draft, batch: Batch, key: NDArray[np.bool_] | None) -> None:
        if draft.text is not None:
            draft = self._coded(topic.name, draft)
        if not len(draft.rows):
            return
        log, publish = batch.log[draft.rows], batch.publish[draft.rows]
        if draft.after is not None:
            log, publish = log + draft.after, publish + draft.after
        parts = self._parts.setdefault((topic.name, draft.suffix, topic.type), [])
        parts.append(_Part(draft, draft.rows + self._seen, log, publish, key))
        self._bytes += draft.x.nbytes + 32 * len(log)
        if self._bytes > MOST_BYTES or len(self._parts) > MOST_STREAMS:
            raise UnreadableError("the recording holds more than one episode can", where=self.files.names[0],
                                  expected=f"{MOST_BYTES >> 30} GB and {MOST_STREAMS} streams")  # fmt: skip

    def _coded(self, topic: str, draft: Draft) -> Draft:
        """A text becomes its number in ``texts``; -1 beyond the most that are kept."""
        known, text = self.texts.setdefault(topic, {}), draft.text or ""
        code = known.setdefault(text, len(known)) if len(known) < MOST_TEXTS else known.get(text, -1)
        return Draft(**{**{f: getattr(draft, f) for f in Draft.__slots__}, "x": draft.x + code, "text": None})

    # -------------------------------------------------------------------------------------- the streams

    def streams(self) -> tuple[Stream, ...]:
        """The streams of what was read, those of wanted roles."""
        found, taken = [], set[str]()
        for (topic, suffix, type_), parts in self._parts.items():
            name = f"{topic}{suffix}"
            name = name if name not in taken else f"{name} ({type_})"
            role = min(parts, key=lambda part: int(part.order[0])).draft.role
            if self.want is None or role in self.want:
                taken.add(name)
                found.append(self._stream(name, topic, type_, parts))
        return tuple(found)

    def instructions(self) -> list[str]:
        """Topics that hold instructions in words, also where nobody wants their streams."""
        return [t for (t, _, _), parts in self._parts.items() if parts[0].draft.role is Role.INSTRUCTION]

    def _stream(self, name: str, topic: str, type_: str, parts: Sequence[_Part]) -> Stream:
        parts = sorted(parts, key=lambda part: int(part.order[0]))
        order = np.argsort(np.concatenate([p.order for p in parts]), kind="stable")
        stamps = _stamps(parts, order)
        clock = best_clock(stamps)
        first = parts[0].draft
        channels, x = _joined([p.draft for p in parts], order)
        if channels == POSE or (channels and first.role is Role.IMU and channels[0].name == "orientation.w"):
            self.conversions.add(f"{name}: quaternion from xyzw to wxyz")
        clip = None
        if family(type_) in PICTURES:
            clip = self._clip(topic, type_, codec_of(first.form), parts, order, stamps[clock])
        return Stream(
            name, first.role, stamps.pop(clock), x, channels, clock, side=side_of(name), frame=first.frame,
            clip=clip, stamps=stamps,
        )  # fmt: skip

    def _clip(
        self, topic: str, type_: str, codec: str, parts: Sequence[_Part], order: Ints, t: Ints
    ) -> Clip | None:
        """Pictures that can be decoded later; none where not every one of them is there in a known coding."""
        keys = [p.key for p in parts]
        forms = {codec_of(p.draft.form) for p in parts}
        if not codec or len(forms) > 1 or any(k is None for k in keys):
            self.undecoded[topic] = (
                f"pictures stored as {', '.join(sorted({p.draft.form for p in parts}))[:80]!r}"
            )
            return None
        key = np.concatenate([k for k in keys if k is not None])[order]
        files = self.files
        stored = StoredPictures(files.root, files.names, topic, type_, codec, t, key, files.packed)
        return Clip(files.root, files.names[0], packets=stored)


def _stamps(parts: Sequence[_Part], order: Ints) -> dict[Clock, Ints]:
    """All stamps that the messages have, (n,) each."""
    found = {Clock.LOG: np.concatenate([p.log for p in parts])[order]}
    publish = np.concatenate([p.publish for p in parts])[order]
    if not np.array_equal(publish, found[Clock.LOG]):
        found[Clock.RECEIVE] = publish
    sensors = [p.draft.sensor for p in parts]
    if all(s is not None for s in sensors):
        afters = [0 if p.draft.after is None else p.draft.after for p in parts]
        whole = [s + after for s, after in zip(sensors, afters, strict=True) if s is not None]
        found[Clock.SENSOR] = np.concatenate(whole)[order]
    return found


def best_clock(stamps: Mapping[Clock, Ints]) -> Clock:
    """The clock closest to the event that is set and shares the log's epoch."""
    log = stamps[Clock.LOG]
    for clock in (Clock.SENSOR, Clock.RECEIVE):
        t = stamps.get(clock)
        if t is not None and len(t) and t.any() and abs(float(np.median(t - log))) < DAY:
            return clock
    return Clock.LOG


def _joined(parts: Sequence[Draft], order: Ints) -> tuple[tuple[Channel, ...], NDArray[np.float64]]:
    """Channels of all parts in order of first appearance, and (n, c) values; NaN where a part lacks one."""
    first = parts[0].channels
    if all(p.channels == first for p in parts):
        x = parts[0].x if len(parts) == 1 else np.concatenate([p.x for p in parts])
        return first, x[order]
    names: dict[str, Channel] = {}
    for part in parts:
        for channel in part.channels:
            names.setdefault(channel.name, channel)
    places = {name: i for i, name in enumerate(names)}
    x = np.full((sum(len(p.x) for p in parts), len(names)), np.nan)
    at = 0
    for part in parts:
        columns = [places[c.name] for c in part.channels]
        x[at : at + len(part.x), columns] = part.x
        at += len(part.x)
    return tuple(names.values()), x[order]
