"""Stored statistics: of the whole set (``stats.json``), per episode in lines (v2.1) or table columns (v3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Claim
from assay.readers.lerobot.files import file_at, json_of, mapping
from assay.readers.lerobot.info import Info
from assay.readers.lerobot.parquet import column, innermost, is_numeric, opened, read, values
from assay.readers.lerobot.tables import STATS

__all__ = ["Statistics", "corpus_statistics", "line_statistics", "row_statistics"]

Statistics = dict[str, Mapping[str, NDArray[Any]]]

CORPUS: Final = "meta/stats.json"
KINDS: Final = ("min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99")


def corpus_statistics(root: Path, info: Info) -> tuple[Statistics, list[Claim]]:
    """``meta/stats.json``, where the version has one, and claims on the way."""
    if not (root / CORPUS).is_file():
        gone = Claim("file", "stats.json", CORPUS, "absent", 1.0, where=CORPUS)
        return {}, [] if info.version == "v2.1" else [gone]
    try:
        return _arrays(json_of(root, CORPUS)), []
    except UnreadableError as error:
        return {}, [Claim("readable", "stats.json", "JSON", error.found or error.what, 1.0, where=CORPUS)]


def line_statistics(root: Path, at: tuple[int, int, int]) -> Statistics:
    """One line of ``episodes_stats.jsonl``.

    Raises:
        UnreadableError: if the line is not what was listed.
    """
    number, offset, size = at
    with file_at(root, STATS).open("rb") as handle:
        handle.seek(offset)
        line = handle.read(size)
    return _arrays(mapping(line, f"{STATS}:{number}").get("stats"))


def _arrays(raw: Any) -> Statistics:
    found: Statistics = {}
    for feature, kinds in raw.items() if isinstance(raw, dict) else ():
        if isinstance(kinds, dict):
            found[feature] = {k: _array(kinds[k]) for k in KINDS if k in kinds}
    return found


def _array(value: Any) -> NDArray[np.float64]:
    """Numbers as (c,); what is no number is NaN, so that it cannot agree with anything."""
    try:
        return np.asarray(value, np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        return np.array([np.nan])


@lru_cache(maxsize=1)
def _table(path: Path, relative: str, stamp: tuple[int, int]) -> tuple[Any, list[str], NDArray[np.int64]]:
    """One table of episodes held open, its columns ``stats/<feature>/<kind>``, and where row groups begin."""
    del stamp  # part of the key: a changed file is read again
    file = opened(path, relative)
    names = [
        field.name
        for field in file.schema_arrow
        if field.name.startswith("stats/") and is_numeric(innermost(field.type))
    ]
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    return file, names, np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])


@lru_cache(maxsize=1)
def _group(
    path: Path, relative: str, stamp: tuple[int, int], group: int
) -> tuple[tuple[str, str, NDArray[Any]], ...]:
    """The statistics in one row group: (feature, kind, (rows, c)); neighbours in a listing share it."""
    file, names, _ = _table(path, relative, stamp)
    table = read(file, names, relative, [group])
    found = []
    for name in names:
        feature, _, kind = name[len("stats/") :].rpartition("/")
        data = column(table, name)
        if kind in KINDS and data is not None:
            found.append((feature, kind, values(data, None)[0].astype(np.float64)))
    return tuple(found)


def row_statistics(root: Path, home: tuple[str, int]) -> Statistics:
    """The statistics beside one row of a table of episodes (v3); empty where the table has none.

    Raises:
        UnreadableError: if the table cannot be read any more.
    """
    path = file_at(root, home[0])
    state = path.stat()
    stamp = (state.st_size, state.st_mtime_ns)
    _, names, begins = _table(path, home[0], stamp)
    if not names or home[1] >= begins[-1]:
        return {}
    group = int(np.searchsorted(begins, home[1], side="right")) - 1
    found: dict[str, dict[str, NDArray[Any]]] = {}
    for feature, kind, x in _group(path, home[0], stamp, group):
        found.setdefault(feature, {})[kind] = x[home[1] - int(begins[group])]
    return dict(found)
