"""The tables of episodes and tasks: ``episodes.jsonl`` (v2) or ``meta/episodes/**.parquet`` (v3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Claim
from assay.readers.lerobot.files import file_at, lines_of, mapping, present, whole
from assay.readers.lerobot.parquet import column, opened, read

__all__ = ["Episodes", "Row", "read_episodes", "read_stats_index", "read_tasks"]

EPISODES: Final = "meta/episodes.jsonl"
TASKS: Final = "meta/tasks"
STATS: Final = "meta/episodes_stats.jsonl"

_STANDARD: Final = re.compile(r"meta/episodes/chunk-\d+/file-\d+\.parquet")
_PLACES: Final = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the episode table.

    Attributes:
        start, stop: its rows in the numbering of the whole set, where the table (v3) or the lengths of all
            episodes before it (v2) say so.
        chunk, file: where its rows are (v3).
        home: table file and row in it (v3), for its stored statistics.
    """

    episode: int
    length: int | None
    tasks: tuple[str, ...]
    start: int | None = None
    stop: int | None = None
    chunk: int | None = None
    file: int | None = None
    home: tuple[str, int] = ("", 0)


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """All rows by id, each camera's places (rows × chunk, file, from, to; NaN unknown), claims on the way."""

    rows: Mapping[int, Row] = field(default_factory=dict)
    places: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    listed: int = 0
    claims: tuple[Claim, ...] = ()


def read_episodes(root: Path, major: int, cameras: Iterable[str]) -> Episodes:
    """The episode table of a set.

    Raises:
        UnreadableError: if none of the table's files can be read (v3).
    """
    return _from_lines(root) if major == 2 else _from_parquet(root, tuple(cameras))


def _absent(path: str) -> Claim:
    return Claim("file", path.rpartition("/")[2], path, "absent", 1.0, where=path)


def _broken(where: str, found: str, expected: str = "readable") -> Claim:
    return Claim("readable", where.rpartition("/")[2], expected, found, 1.0, where=where)


def _from_lines(root: Path) -> Episodes:
    rows, claims = list[Row](), list[Claim]()
    try:
        for number, _, line in lines_of(root, EPISODES):
            where = f"{EPISODES}:{number}"
            try:
                raw = mapping(line, where)
            except UnreadableError as error:
                claims.append(_broken(where, error.found or error.what, "a JSON object"))
                continue
            episode = whole(raw.get("episode_index"))
            if episode is None or episode < 0:
                claims.append(_broken(where, "no episode_index", "a JSON object with episode_index"))
                continue
            rows.append(Row(episode, _length(raw.get("length")), _texts(raw.get("tasks"))))
    except UnreadableError as error:
        claims.append(_absent(EPISODES) if error.found == "absent" else _broken(EPISODES, error.what))
    return _table(_numbered(rows), {}, claims)


def _length(value: Any) -> int | None:
    n = whole(value)
    return n if n is not None and n >= 0 else None


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple([str(v) for v in value if v is not None]) if isinstance(value, list) else ()


def _numbered(rows: list[Row]) -> list[Row]:
    """Rows with start and stop, added up from the lengths in order of the ids, while these are known."""
    out, at = list[Row](), 0
    known = True
    ordered = sorted(rows, key=lambda row: row.episode)
    for i, row in enumerate(ordered):
        known = known and row.length is not None and row.episode == i
        if known and row.length is not None:
            out.append(Row(row.episode, row.length, row.tasks, at, at + row.length))
            at += row.length
        else:  # beyond a hole in the ids nobody knows where rows begin
            out.append(row)
    return out


def _table(rows: list[Row], places: Mapping[str, NDArray[np.float64]], claims: list[Claim]) -> Episodes:
    table: dict[int, Row] = {}
    for row in rows:
        table.setdefault(row.episode, row)
    twice = len(rows) - len(table)
    if rows:
        claims.append(
            Claim("declared", "episode_index repeated", "each once", f"{twice} rows repeat one", float(twice))
        )
    return Episodes(table, places, len(rows), tuple(claims))


# ----------------------------------------------------------------------------------------------- v3 tables


def _from_parquet(root: Path, cameras: tuple[str, ...]) -> Episodes:
    files = sorted(p for p in present(root, "meta/episodes") if p.endswith(".parquet"))
    standard = [p for p in files if _STANDARD.fullmatch(p)]
    claims, tables = list[Claim](), dict[str, pa.Table]()
    for path in files:
        try:
            file = opened(file_at(root, path), path)
            claims.append(_doubled(path, file.schema_arrow.names))
            wanted = _wanted(file.schema_arrow.names, cameras)
            tables[path] = read(file, wanted, path)
        except UnreadableError as error:
            claims.append(_broken(path, error.found or error.what, "a parquet file"))
    used = [p for p in (standard or files) if p in tables]
    if not used:
        if files:
            raise UnreadableError(
                "no table of episodes can be read", where="meta/episodes", found=f"{len(files)} broken files"
            )
        claims.append(_absent("meta/episodes/chunk-000/file-000.parquet"))
        return Episodes(claims=tuple(claims))
    claims += _strays(tables, used)
    rows = [row for path in used for row in _rows(path, tables[path])]
    places = {c: np.concatenate([_places(tables[p], c) for p in used]) for c in cameras}
    return _table(*_listed(rows, places), claims)


def _listed(
    rows: list[Row | None], places: dict[str, NDArray[np.float64]]
) -> tuple[list[Row], dict[str, NDArray[np.float64]]]:
    """Rows that have an id, first of each, with the places in step."""
    seen, keep = set[int](), []
    for i, row in enumerate(rows):
        if row is not None and row.episode not in seen:
            seen.add(row.episode)
            keep.append(i)
    kept = {c: p[keep] for c, p in places.items()}
    return [row for row in rows if row is not None], kept


def _wanted(names: list[str], cameras: tuple[str, ...]) -> set[str]:
    wanted = {"episode_index", "tasks", "length", "data/chunk_index", "data/file_index"}
    wanted |= {"dataset_from_index", "dataset_to_index"}
    return (wanted | {f"videos/{c}/{p}" for c in cameras for p in _PLACES}) & set(names)


def _doubled(path: str, names: list[str]) -> Claim:
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    found = f"{len(twice)} names twice or more: {', '.join(twice[:4])}" if twice else "each name once"
    return Claim("duplicate-column", "columns", "each name once", found, float(len(twice)), where=path)


def _strays(tables: Mapping[str, pa.Table], used: list[str]) -> list[Claim]:
    """Tables beside the standard ones: do they give the episodes the same files?"""
    claims = []
    for path in sorted(set(tables) - set(used)):
        other, mine = tables[path], tables[used[0]]
        shared = [n for n in other.column_names if n.endswith("_index") and n in mine.column_names]
        rows = min(other.num_rows, mine.num_rows)
        for name in sorted(set(shared)):
            a, b = (_numbers(t, name)[:rows] for t in (mine, other))
            wrong = int((a != b).sum())
            if wrong:
                text = f"{wrong} of {rows} rows differ"
                claims.append(Claim("pointer", name, used[0], text, float(wrong), where=path))
        if other.num_rows != mine.num_rows and len(used) == 1:
            size = float(abs(other.num_rows - mine.num_rows))
            claims.append(
                Claim("declared", "episodes", str(mine.num_rows), str(other.num_rows), size, where=path)
            )
    return claims


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    """A column of numbers as (rows,) float64, NaN where it is null, not a number, or not there."""
    data = column(table, name)
    if data is None or not (pa.types.is_integer(data.type) or pa.types.is_floating(data.type)):
        return np.full(table.num_rows, np.nan)
    return np.asarray(data.to_numpy(), np.float64)


def _places(table: pa.Table, camera: str) -> NDArray[np.float64]:
    return np.stack([_numbers(table, f"videos/{camera}/{place}") for place in _PLACES], axis=1)


def _rows(path: str, table: pa.Table) -> list[Row | None]:
    names = ("episode_index", "length", "dataset_from_index", "dataset_to_index", "data/chunk_index",
             "data/file_index")  # fmt: skip
    ids, *rest = ([whole(v) for v in _numbers(table, name).tolist()] for name in names)
    said = column(table, "tasks")
    tasks = [_texts(t) for t in said.to_pylist()] if said is not None else [()] * table.num_rows
    return [
        None if episode is None or episode < 0
        else Row(episode, _length(length), tasks[i], start, stop, chunk, file, (path, i))
        for i, (episode, length, start, stop, chunk, file) in enumerate(zip(ids, *rest, strict=True))
    ]  # fmt: skip


# -------------------------------------------------------------------------------- tasks, places of statistics


def read_tasks(root: Path) -> tuple[dict[int, str], list[Claim]]:
    """The task table, index → text, from ``tasks.parquet`` or ``tasks.jsonl``, and claims on the way."""
    if (root / f"{TASKS}.parquet").is_file():
        try:
            return _tasks_parquet(root, f"{TASKS}.parquet"), []
        except UnreadableError as error:
            return {}, [_broken(f"{TASKS}.parquet", error.found or error.what, "a parquet file")]
    found, claims = dict[int, str](), list[Claim]()
    path = f"{TASKS}.jsonl"
    try:
        for number, _, line in lines_of(root, path):
            try:
                raw = mapping(line, f"{path}:{number}")
                found[int(raw["task_index"])] = str(raw["task"] or "")
            except (UnreadableError, KeyError, TypeError, ValueError, OverflowError) as error:
                text = error.found if isinstance(error, UnreadableError) else "no task_index or task"
                claims.append(_broken(f"{path}:{number}", text or "not JSON", "task_index and task"))
    except UnreadableError as error:
        claims.append(_absent(path) if error.found == "absent" else _broken(path, error.what))
    return found, claims


def _tasks_parquet(root: Path, path: str) -> dict[int, str]:
    file = opened(file_at(root, path), path)
    names = file.schema_arrow.names
    table = read(file, names, path)
    texts = next((n for n in ("task", "__index_level_0__") if n in names), None)
    index = column(table, "task_index")
    said = column(table, texts) if texts else None
    if index is None or said is None:
        raise UnreadableError(
            "not a task table", where=path, found=", ".join(names[:8]), expected="task_index and task"
        )
    pairs = zip(index.to_pylist(), said.to_pylist(), strict=True)
    return {int(i): str(t or "") for i, t in pairs if isinstance(i, int)}


_ID: Final = re.compile(rb'"episode_index"\s*:\s*(\d{1,15})\b')


def read_stats_index(root: Path) -> tuple[dict[int, tuple[int, int, int]], list[Claim]]:
    """Where each episode's line of ``episodes_stats.jsonl`` is: id → (line number, offset, bytes).

    The lines are long (all statistics of an episode), so they are parsed when their episode is opened.
    """
    found, claims = dict[int, tuple[int, int, int]](), list[Claim]()
    if not (root / STATS).is_file():
        return {}, [_absent(STATS)]
    try:
        for number, offset, line in lines_of(root, STATS):
            head = _ID.search(line, 0, 200) or _ID.search(line)
            if head is None or not line.rstrip().endswith(b"}"):
                claims.append(_broken(f"{STATS}:{number}", "cut or without episode_index", "a JSON object"))
                continue
            found.setdefault(int(head[1]), (number, offset, len(line)))
    except UnreadableError as error:
        claims.append(_broken(STATS, error.what))
    return found, claims
