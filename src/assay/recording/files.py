"""Opening one file of messages by its first bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.recording import database, mcap
from assay.recording.database import DatabaseFile
from assay.recording.mcap import McapFile
from assay.recording.messages import Batch, Batcher, Recording, Topic

__all__ = ["opened"]

MOST_MESSAGE = 1 << 28
"""Bytes that one compressed message may inflate to."""


def opened(root: Path, path: str, packed: bool = False) -> Recording:
    """An MCAP file or a database of rosbag2; ``packed`` where each message is compressed on its own.

    Raises:
        UnreadableError: if it is neither, was cut, or is broken.
    """
    with open_inside(root, path) as file:
        head = file.read(16)
    recording: Recording
    if head.startswith(mcap.MAGIC) or path.endswith(".mcap"):
        recording = McapFile.opened(root, path)
    elif head.startswith(database.MAGIC) or path.endswith(".db3"):
        recording = DatabaseFile.opened(root, path)
    else:
        raise UnreadableError("the file is no recording", where=path, found=head[:8].hex() or "an empty file",
                              expected="MCAP or a SQLite database")  # fmt: skip
    return _Packed(recording, path) if packed else recording


@dataclass(frozen=True, slots=True)
class _Packed:
    """A recording whose messages are compressed one by one (zstd)."""

    inner: Recording
    path: str

    @property
    def topics(self) -> tuple[Topic, ...]:
        return self.inner.topics

    @property
    def more(self) -> Mapping[str, Any]:
        return self.inner.more

    @property
    def logged(self) -> tuple[int, int] | None:
        return self.inner.logged

    def batches(self, topics: frozenset[int]) -> Iterator[Batch]:
        for batch in self.inner.batches(topics):
            gathered = Batcher()
            rows = zip(
                *(a.tolist() for a in (batch.topic, batch.log, batch.publish, batch.start, batch.size)),
                strict=True,
            )
            for topic, log, publish, at, n in rows:
                data = mcap.inflate(batch.data[at : at + n].tobytes(), "zstd", MOST_MESSAGE, self.path)
                if len(data) > MOST_MESSAGE:
                    raise UnreadableError("a message inflates beyond measure", where=self.path)
                gathered.message(topic, log, publish, data)
            yield from gathered.flush()
