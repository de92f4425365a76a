"""rosbag2's SQLite files: tables ``topics``, ``messages`` and, since Iron, ``message_definitions``.

A database is opened read-only and as it lies there: no journal is replayed, nothing is written, views and
triggers are not looked at. Order is that of writing (``id``), which is the order of the log.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from assay.errors import UnreadableError
from assay.inside import open_inside, path_inside
from assay.recording.messages import Batch, Batcher, Topic

__all__ = ["MAGIC", "DatabaseFile"]

MAGIC: Final = b"SQLite format 3\0"
MOST_TOPICS: Final = 20_000
MOST_MESSAGE: Final = 1 << 28
MOST_STEPS: Final = 2_000
"""Rounds of a million instructions of SQLite's machine that one query may take."""
_NEEDED: Final = {"topics": ("id", "name", "type", "serialization_format"),
                  "messages": ("id", "topic_id", "timestamp", "data")}  # fmt: skip


@dataclass(slots=True)
class DatabaseFile:
    """One SQLite file of a bag; a `Recording`."""

    root: Path
    path: str
    more: Mapping[str, Any] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    logged: tuple[int, int] | None = None

    @classmethod
    def opened(cls, root: Path, path: str) -> DatabaseFile:
        """Read the list of topics.

        Raises:
            UnreadableError: if the file is no such database, was cut, or is broken.
        """
        self = cls(root, path)
        _check_length(root, path)
        with self._connected() as base:
            self.topics = _topics(base, path)
        return self

    def batches(self, topics: frozenset[int]) -> Iterator[Batch]:
        """The messages of some topics, in the order in which they were written.

        Raises:
            UnreadableError: if the database is broken.
        """
        gathered = Batcher()
        first, last = math.inf, -math.inf
        with self._connected() as base:
            query = "select topic_id, timestamp, data from messages order by id"
            rows = iter(base.execute(query))
            while True:
                try:
                    row = next(rows, None)
                except sqlite3.Error as error:
                    raise _broken(self.path, error) from error
                if row is None:
                    break
                topic, stamp, data = row
                if isinstance(stamp, int):
                    first, last = (first if first < stamp else stamp), (last if last > stamp else stamp)
                if topic in topics:
                    _whole(row, self.path)
                    gathered.message(topic, stamp, stamp, data)
                if gathered.full:
                    yield from gathered.flush()
        if first <= last:
            self.logged = int(first), int(last)
        yield from gathered.flush()

    def _connected(self) -> Any:
        real = path_inside(self.root, self.path)
        try:
            base = sqlite3.connect(f"file:{quote(str(real))}?mode=ro&immutable=1", uri=True)
            base.execute("pragma trusted_schema=off")
            base.execute("pragma cell_size_check=on")
        except sqlite3.Error as error:
            raise _broken(self.path, error) from error
        left = [MOST_STEPS]
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_MESSAGE)
        base.set_progress_handler(lambda: _spent(left), 1_000_000)
        base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return closing(base)


def _spent(left: list[int]) -> int:
    left[0] -= 1
    return int(left[0] < 0)


def _whole(row: tuple[Any, ...], path: str) -> None:
    if not isinstance(row[1], int) or not isinstance(row[2], bytes):
        raise UnreadableError("a message's row holds other types", where=path,
                              found=", ".join(type(v).__name__ for v in row))  # fmt: skip


def _check_length(root: Path, path: str) -> None:
    """SQLite itself notices a missing end only where it looks."""
    with open_inside(root, path) as file:
        head, size = file.read(100), os.fstat(file.fileno()).st_size
    if len(head) < 100 or not head.startswith(MAGIC):
        raise UnreadableError("the file is no SQLite database", where=path,
                              found="an empty file" if not size else f"{size} bytes")  # fmt: skip
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else -(-size // page)
    for journal in ("-wal", "-journal"):
        beside = path_inside(root, path + journal)
        if beside.is_file() and beside.stat().st_size:
            raise UnreadableError(
                "the database was not closed: part of it lies in its journal", where=path, found=beside.name,
                remedy="merge it (open and close it with sqlite3)",
            )  # fmt: skip
    if page * pages != size:
        raise UnreadableError(
            "the database has another length than it says", where=path, found=f"{size} bytes",
            expected=str(page * pages), remedy="deliver the whole file",
        )  # fmt: skip


def _topics(base: sqlite3.Connection, path: str) -> tuple[Topic, ...]:
    try:
        tables = {str(n) for (n,) in base.execute("select name from sqlite_master where type = 'table'")}
        for table, columns in _NEEDED.items():
            there = {str(row[1]) for row in base.execute(f"pragma table_info({table})")}
            if table not in tables or not there.issuperset(columns):
                raise UnreadableError("the database is no bag", where=path, expected=f"a table {table}")
        definitions = {}
        if "message_definitions" in tables:
            query = "select topic_type, encoding, encoded_message_definition from message_definitions"
            definitions = {str(t): (str(e), str(d)) for t, e, d in base.execute(query).fetchmany(MOST_TOPICS)}
        query = "select id, name, type, serialization_format from topics order by id"
        rows = base.execute(query).fetchmany(MOST_TOPICS)
    except sqlite3.Error as error:
        raise _broken(path, error) from error
    found = []
    for id_, name, type_, encoding in rows:
        language, text = definitions.get(str(type_), ("", ""))
        if not isinstance(id_, int):
            raise UnreadableError("a topic's number is none", where=path, found=repr(id_)[:40])
        found.append(Topic(id_, str(name), str(encoding), str(type_), language, text.encode()))
    return tuple(found)


def _broken(path: str, error: Exception) -> UnreadableError:
    return UnreadableError("the database is broken", where=path, found=str(error)[:80])
