"""MCAP files: records, chunks and the summary at their end, read with bounds on every length.

Source: the MCAP specification (mcap.dev/spec). Read here and not through the `mcap` library because that
makes an object of every record, at 24 µs a message; chunks are walked with one `struct` call a message. The
library writes the files of our tests and is what this is held against.

A file without its footer was cut, or its recording never ended: it is not read (`mcap recover` writes what is
left to another file). Chunk checksums are checked where the file has them.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.recording.messages import Batch, Batcher, Topic, spanned

__all__ = ["MAGIC", "McapFile"]

MAGIC: Final = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 1, 2, 3, 4, 5, 6
ATTACHMENT, STATISTICS, METADATA, DATA_END = 9, 11, 12, 15
MOST_CHUNK: Final = 1 << 30
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 200
"""A chunk larger than ``LOOSE`` may not inflate more than this many times."""
MOST_SUMMARY: Final = 256 << 20
MOST_TOPICS: Final = 20_000
_RECORD: Final = struct.Struct("<BQ")
_MESSAGE: Final = struct.Struct("<HIQQ")
_CUT: Final = "deliver the whole file (`mcap recover` writes what is left of it to a new one)"


class _Fields:
    """Reads the fields of one record; running out of bytes is a broken record."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.at, self.where = data, 0, where

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise UnreadableError("a record is shorter than its fields", where=self.where)
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return int(value)

    def bytes(self) -> bytes:
        size = self.number("<I")
        if self.at + size > len(self.data):
            raise UnreadableError("a record is shorter than its fields", where=self.where)
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self) -> str:
        return self.bytes().decode("utf-8", "replace")

    def map(self) -> dict[str, str]:
        inner = _Fields(self.bytes(), self.where)
        found = {}
        while inner.at < len(inner.data):
            name = inner.text()
            found[name] = inner.text()
        return found


@dataclass(slots=True)
class McapFile:
    """One MCAP file; a `Recording`.

    Attributes:
        summarised: whether the file's end lists its channels; else they are known after reading it.
    """

    root: Path
    path: str
    profile: str = ""
    library: str = ""
    summarised: bool = False
    logged: tuple[int, int] | None = None
    _schemas: dict[int, tuple[str, str, bytes]] = field(default_factory=dict)
    _channels: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)
    _metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    _attachments: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, root: Path, path: str) -> McapFile:
        """Read the header and the summary; where there is no summary, all records but messages.

        Raises:
            UnreadableError: if the file is no MCAP, was cut, or is broken.
        """
        self = cls(root, path)
        with open_inside(root, path) as file:
            start = self._ends(file)
            if start:
                self._records(file, start, self._size(file) - 37)
        if not self._channels:
            for _ in self.batches(frozenset()):
                pass
        self.summarised = bool(start)
        return self

    @property
    def topics(self) -> tuple[Topic, ...]:
        """Its topics, in the order of their ids."""
        found = []
        for id_, (schema, name, encoding) in sorted(self._channels.items()):
            type_, language, definition = self._schemas.get(schema, ("", "", b""))
            count = self._counts.get(id_, 0) if self._counts else None
            found.append(Topic(id_, name, encoding, type_, language, definition, count))
        return tuple(found)

    @property
    def more(self) -> Mapping[str, Any]:
        """Profile, library, metadata records and the names of attachments."""
        said = {"profile": self.profile, "library": self.library, "attachments": tuple(self._attachments)}
        return {
            **{k: v for k, v in said.items() if v},
            **{f"metadata/{k}": v for k, v in self._metadata.items()},
        }

    # ------------------------------------------------------------------------------------- the two ends

    def _size(self, file: BinaryIO) -> int:
        return os.fstat(file.fileno()).st_size

    def _ends(self, file: BinaryIO) -> int:
        """Check both ends; returns where the summary begins, 0 where there is none."""
        size = self._size(file)
        if file.read(8) != MAGIC:
            found = "an empty file" if not size else "other bytes"
            raise UnreadableError("the file is no MCAP", where=self.path, found=found)
        if size < 8 + 37:
            raise UnreadableError("the recording has no end", where=self.path, found=f"{size} bytes",
                                  expected="a footer", remedy=_CUT)  # fmt: skip
        file.seek(size - 37)
        tail = file.read(37)
        opcode, length = _RECORD.unpack_from(tail)
        if tail[29:] != MAGIC or opcode != FOOTER or length != 20:
            raise UnreadableError("the recording has no end", where=self.path,
                                  expected="a footer", remedy=_CUT)  # fmt: skip
        start = int.from_bytes(tail[9:17], "little")
        if start and not (8 <= start <= size - 37 and size - 37 - start <= MOST_SUMMARY):
            raise UnreadableError(
                "the footer leads nowhere", where=self.path, found=f"byte {start} of {size}"
            )
        return start

    def _records(self, file: BinaryIO, start: int, end: int) -> None:
        """The records of the summary."""
        file.seek(start)
        at = start
        while at < end:
            opcode, length = self._head(file, at, end)
            body = file.read(length)
            self._note(opcode, body)
            if opcode == STATISTICS:
                self._statistics(_Fields(body, self.path))
            if opcode == 13:  # metadata index: offset, length, name
                fields = _Fields(body, self.path)
                back, place, size = file.tell(), fields.number("<Q"), fields.number("<Q")
                if 9 < size <= MOST_SUMMARY and 8 <= place <= start - size:
                    file.seek(place + 9)
                    self._note(METADATA, file.read(size - 9))
                file.seek(back)
            at += 9 + length

    def _head(self, file: BinaryIO, at: int, end: int) -> tuple[int, int]:
        head = file.read(9)
        opcode, length = _RECORD.unpack(head) if len(head) == 9 else (0, 0)
        if not opcode or at + 9 + length > end:
            raise UnreadableError("a record reaches beyond its section", where=f"{self.path} byte {at}",
                                  found=f"{length} bytes", remedy=_CUT)  # fmt: skip
        return opcode, length

    def _statistics(self, fields: _Fields) -> None:
        for form in ("<Q", "<H", "<I", "<I", "<I", "<I", "<Q", "<Q"):
            fields.number(form)
        inner = _Fields(fields.bytes(), self.path)
        while inner.at < len(inner.data):
            channel = inner.number("<H")
            self._counts[channel] = inner.number("<Q")

    def _note(self, opcode: int, body: bytes) -> None:
        """Keep what a record says about the file."""
        fields = _Fields(body, self.path)
        if opcode == HEADER:
            self.profile, self.library = fields.text(), fields.text()
        elif opcode == SCHEMA:
            id_ = fields.number("<H")
            self._schemas[id_] = (fields.text(), fields.text(), fields.bytes())
        elif opcode == CHANNEL:
            id_, schema = fields.number("<H"), fields.number("<H")
            said = (schema, fields.text(), fields.text())
            if self._channels.setdefault(id_, said) != said:
                raise UnreadableError("a channel's number is given to two topics", where=self.path,
                                      found=f"{self._channels[id_][1]!a} and {said[1]!a}"[:90])  # fmt: skip
            if len(self._channels) > MOST_TOPICS:
                raise UnreadableError("too many topics", where=self.path, expected=f"at most {MOST_TOPICS}")
        elif opcode == METADATA:
            name = fields.text()
            self._metadata[name] = fields.map()
        elif opcode == 10:  # attachment index: offset, length, two times, size, name
            for _ in range(5):
                fields.number("<Q")
            self._attachments.append(fields.text())

    # -------------------------------------------------------------------------------------- the messages

    def batches(self, topics: frozenset[int]) -> Iterator[Batch]:
        """The messages of some topics, in the order in which they were written.

        Raises:
            UnreadableError: if a record, a chunk or its checksum is broken.
        """
        gathered = Batcher()
        with open_inside(self.root, self.path) as file:
            end = self._size(file) - 37
            file.seek(8)
            at = 8
            while at < end:
                opcode, length = self._head(file, at, end)
                if opcode == DATA_END:
                    break
                if opcode in (CHUNK, MESSAGE, HEADER, SCHEMA, CHANNEL, METADATA):
                    self._take(gathered, opcode, self._body(file, opcode, length, at), at, topics)
                else:
                    file.seek(length, os.SEEK_CUR)
                at += 9 + length
                if gathered.full:
                    yield from gathered.flush()
        yield from gathered.flush()

    def _body(self, file: BinaryIO, opcode: int, length: int, at: int) -> bytes:
        if length > MOST_CHUNK:
            raise UnreadableError("a record is too large", where=f"{self.path} byte {at}",
                                  found=f"{length} bytes", expected=f"at most {MOST_CHUNK}")  # fmt: skip
        body = file.read(length)
        if len(body) < length:
            raise UnreadableError("a record is cut off", where=f"{self.path} byte {at}", remedy=_CUT)
        return body

    def _take(self, gathered: Batcher, opcode: int, body: bytes, at: int, topics: frozenset[int]) -> None:
        where = f"{self.path} byte {at}"
        if opcode == CHUNK:
            data = _inflated(_Fields(body, where))
            self._walk(gathered, data, where, topics)
        elif opcode == MESSAGE:
            if len(body) < _MESSAGE.size:
                raise UnreadableError("a message is shorter than its header", where=where)
            channel, _, log, publish = _MESSAGE.unpack_from(body)
            self.logged = spanned(self.logged, (log, log))
            if channel in topics:
                gathered.message(channel, log, publish, body[_MESSAGE.size :])
        elif opcode in (HEADER, METADATA, CHANNEL) or not self.summarised:
            self._note(opcode, body)

    def _walk(self, gathered: Batcher, data: bytes, where: str, topics: frozenset[int]) -> None:
        """All records of a chunk. One pass, one `struct` call a record: this is the reader's inner loop."""
        at, end, base = 0, len(data), gathered.add(data) if topics else 0
        topic, log, publish = gathered.topic.append, gathered.log.append, gathered.publish.append
        start, size = gathered.start.append, gathered.size.append
        stamps: list[int] = []
        stamped = stamps.append
        record, message = _RECORD.unpack_from, _MESSAGE.unpack_from
        while at + 9 <= end:
            opcode, length = record(data, at)
            at += 9
            if at + length > end:
                raise UnreadableError("a record reaches beyond its chunk", where=where)
            if opcode == MESSAGE:
                if length < 22:
                    raise UnreadableError("a message is shorter than its header", where=where)
                channel, _, logged, published = message(data, at)
                stamped(logged)
                if channel in topics:
                    topic(channel)
                    log(logged)
                    publish(published)
                    start(base + at + 22)
                    size(length - 22)
            elif opcode == CHANNEL or (opcode == SCHEMA and not self.summarised):
                self._note(opcode, data[at : at + length])
            at += length
        if at != end:
            raise UnreadableError("a record reaches beyond its chunk", where=where)
        if stamps:
            self.logged = spanned(self.logged, (min(stamps), max(stamps)))


def _inflated(fields: _Fields) -> bytes:
    """The records of a chunk, decompressed within bounds and checked."""
    fields.number("<Q"), fields.number("<Q")
    size, crc, compression = fields.number("<Q"), fields.number("<I"), fields.text()
    length = fields.number("<Q")
    if fields.at + length != len(fields.data):
        raise UnreadableError("a chunk's length does not fit its record", where=fields.where)
    packed = fields.data[fields.at :]
    if size > MOST_CHUNK or size > max(LOOSE, MOST_RATIO * length):
        raise UnreadableError("a chunk inflates beyond measure", where=fields.where,
                              found=f"{size} bytes from {length}")  # fmt: skip
    data = packed if compression == "" else inflate(packed, compression, size, fields.where)
    if len(data) != size:
        raise UnreadableError("a chunk has another size than it says", where=fields.where,
                              found=f"{len(data)} bytes", expected=str(size))  # fmt: skip
    if crc and zlib.crc32(data) != crc:
        raise UnreadableError("a chunk does not fit its checksum", where=fields.where, remedy=_CUT)
    return data


def inflate(packed: bytes, compression: str, size: int, where: str) -> bytes:
    """Bytes of a ``zstd`` or ``lz4`` frame, at most one more than ``size`` of them.

    Raises:
        UnreadableError: if they are no such frame, or of another kind.
    """
    import pyarrow as pa

    if compression not in ("zstd", "lz4"):
        raise UnreadableError("the compression is not known", where=where, found=compression[:20],
                              expected="zstd, lz4 or none")  # fmt: skip
    try:
        with pa.CompressedInputStream(pa.BufferReader(packed), compression) as stream:
            data: bytes = stream.read(size + 1)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UnreadableError("compressed data are broken", where=where, found=str(error)[:80]) from error
    return data
