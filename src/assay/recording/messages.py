"""What a recording is made of, whatever its file format: topics, and batches of encoded messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAR", "Batch", "Batcher", "Recording", "Topic", "spanned", "stamps_of"]

BATCH_BYTES: Final = 32 << 20
"""Bytes of messages decoded together: enough rows for whole-array arithmetic, little beside the rest."""

FAR: Final = 1 << 62
"""ns; hostile stamps saturate here instead of wrapping round."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One named sequence of messages of one type.

    Attributes:
        id: its number in this file.
        encoding: of the messages: ``cdr``, ``ros1``, ``json``, ``protobuf`` or what else the file says.
        type: the schema's name, e.g. ``sensor_msgs/msg/JointState``.
        language: of the definition: ``ros2msg``, ``ros2idl``, ``ros1msg``, ``protobuf``, ``jsonschema``, or
            empty where the file holds none.
        count: messages that the file promises, None where it does not say.
    """

    id: int
    name: str
    encoding: str
    type: str
    language: str = ""
    definition: bytes = b""
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Messages in the order in which they were written.

    Attributes:
        data: (bytes,) uint8 that all messages lie in.
        topic: (n,) ids; log, publish: (n,) int64 ns; start, size: (n,) where each message lies in ``data``.
    """

    data: NDArray[np.uint8]
    topic: NDArray[np.int64]
    log: NDArray[np.int64]
    publish: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]


class Recording(Protocol):
    """One file of messages."""

    @property
    def topics(self) -> tuple[Topic, ...]:
        """Its topics, in the order of their ids."""

    @property
    def more(self) -> Mapping[str, object]:
        """Whatever else it says of itself, as plain values."""

    @property
    def logged(self) -> tuple[int, int] | None:
        """First and last log time (ns) of all messages that `batches` has passed, asked for or not."""

    def batches(self, topics: frozenset[int]) -> Iterator[Batch]:
        """The messages of some topics. Raises `UnreadableError` where the file is broken."""


def stamps_of(values: list[int]) -> NDArray[np.int64]:
    """Stamps of 64 bits, signed or not, as int64 ns; those beyond 2^62 saturate."""
    try:
        return np.clip(np.array(values, np.int64), -FAR, FAR)
    except OverflowError:
        return np.array([min(value, FAR) for value in values], np.int64)


def spanned(a: tuple[int, int] | None, b: tuple[int, int] | None) -> tuple[int, int] | None:
    """First and last of two spans of time, either of which may hold nothing."""
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


@dataclass(slots=True)
class Batcher:
    """Gathers messages until there are enough for one batch."""

    pieces: list[bytes] = field(default_factory=list)
    topic: list[int] = field(default_factory=list)
    log: list[int] = field(default_factory=list)
    publish: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    held: int = 0

    def add(self, piece: bytes) -> int:
        """Keep bytes that messages lie in; returns where they will begin in the batch."""
        self.pieces.append(piece)
        self.held += len(piece)
        return self.held - len(piece)

    def message(self, topic: int, log: int, publish: int, data: bytes) -> None:
        """Keep one message that lies alone."""
        self.start.append(self.add(data))
        self.size.append(len(data))
        self.topic.append(topic)
        self.log.append(log)
        self.publish.append(publish)

    @property
    def full(self) -> bool:
        """Whether it is time to `flush`."""
        return self.held >= BATCH_BYTES

    def flush(self) -> Iterator[Batch]:
        """What was gathered, if anything; starts afresh."""
        if self.topic:
            data = np.frombuffer(self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces), np.uint8)
            yield Batch(
                data, np.array(self.topic, np.int64), stamps_of(self.log), stamps_of(self.publish),
                np.array(self.start, np.int64), np.array(self.size, np.int64),
            )  # fmt: skip
        for values in (self.pieces, self.topic, self.log, self.publish, self.start, self.size):
            values.clear()
        self.held = 0
