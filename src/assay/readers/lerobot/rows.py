"""The rows of one episode: a whole file (v2), or its stretch of a shared one (v3), found by its own label.

The rows of a shared file are the episode's if their ``episode_index`` says so, not because the table counts
them so: where both differ, the table is what is wrong in a claim, and the rows stay together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.readers.lerobot.files import file_at
from assay.readers.lerobot.parquet import BROKEN, column, opened, read, unreadable, values

__all__ = ["Data", "rows_of"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Data:
    """What was read.

    Attributes:
        table: the wanted columns; schema: of the whole file.
        labelled: whether rows were found by their label.
        runs: stretches of the file that carry the episode's label.
        total: rows of the file.
    """

    table: pa.Table
    schema: pa.Schema
    labelled: bool
    runs: int
    total: int


@dataclass(slots=True)
class _File:
    """A shared file held open, with the rows decoded last: a file may be one large row group."""

    key: tuple[Path, int, int]
    file: Any
    begins: Ints
    labels: NDArray[Any] | None
    groups: Ints
    decoded: tuple[tuple[int, int], list[str], pa.Table] | None = None


MOST_HELD: Final = 512 << 20
"""Decoded bytes that are kept for the next episode of the same file."""

_kept: list[_File] = []
"""The shared file used last in this process: neighbours in a listing lie in one file."""


def rows_of(
    root: Path,
    relative: str,
    names: Iterable[str],
    episode: int,
    stretch: tuple[int, int] | None,
    shared: bool,
) -> Data:
    """Read columns of an episode's rows.

    Args:
        root: the corpus folder.
        relative: the data file.
        names: columns wanted; those that are not there are left out.
        episode: its index.
        stretch: rows of the file that the table gives it, used only where rows carry no label.
        shared: whether the file may hold other episodes.

    Raises:
        UnreadableError: if the file is absent or broken.
    """
    path = file_at(root, relative)
    if not shared:
        file = opened(path, relative)
        schema = file.schema_arrow
        table = read(file, names, relative, schema=schema)
        return Data(table, schema, False, 1, table.num_rows)
    held = _held(path, relative)
    total = int(held.groups[-1])
    spans = _spans(held, episode, stretch, total)
    table = _slices(held, spans, names, relative)
    return Data(table, held.file.schema_arrow, held.labels is not None, len(spans), total)


def _held(path: Path, relative: str) -> _File:
    state = path.stat()
    key = (path, state.st_size, state.st_mtime_ns)
    if _kept and _kept[0].key == key:
        return _kept[0]
    _kept.clear()
    file = opened(path, relative)
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    groups = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
    label = column(read(file, ["episode_index"], relative), "episode_index")
    begins, labels = np.zeros(0, np.int64), None
    if label is not None and pa.types.is_integer(label.type):
        whole = values(label, 1)[0]
        labelled = whole.shape[1] and not (len(whole) and np.isnan(whole).all())
        if labelled:  # not null in every row
            x = whole[:, 0]
            begins = np.flatnonzero(np.concatenate([[len(x) > 0], x[1:] != x[:-1]])[: len(x)])
            labels = x[begins]
            begins = np.append(begins, len(x))
    _kept.append(_File(key, file, begins, labels, groups))
    return _kept[0]


def _spans(held: _File, episode: int, stretch: tuple[int, int] | None, total: int) -> list[tuple[int, int]]:
    if held.labels is not None:
        found = np.flatnonzero(held.labels == episode)
        return [(int(held.begins[i]), int(held.begins[i + 1])) for i in found]
    if stretch is None:
        return [(0, total)]
    start, stop = (min(max(0, s), total) for s in stretch)
    return [(start, max(start, stop))]


def _slices(held: _File, spans: list[tuple[int, int]], names: Iterable[str], relative: str) -> pa.Table:
    wanted = list(names)
    pieces = []
    for start, stop in spans or [(0, 0)]:
        first = int(np.searchsorted(held.groups, start, side="right")) - 1
        last = int(np.searchsorted(held.groups, max(stop, start + 1), side="left"))
        table = _decoded(held, wanted, relative, (first, min(last, len(held.groups) - 1)))
        pieces.append(table.slice(start - int(held.groups[first]), stop - start))
    if held.decoded and held.decoded[2].nbytes > MOST_HELD:
        held.decoded = None
    try:
        return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)
    except BROKEN as error:
        raise unreadable(relative, error) from error


def _decoded(held: _File, names: list[str], relative: str, groups: tuple[int, int]) -> pa.Table:
    if held.decoded is None or held.decoded[:2] != (groups, names):
        held.decoded = None  # before the next is read, so that only one is held
        held.decoded = (groups, names, read(held.file, names, relative, list(range(*groups))))
    return held.decoded[2]
