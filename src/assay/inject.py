"""`assay inject`: a copy of a LeRobot corpus in which one episode has defects of known place and size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assay.corpus import Corpus, discover
from assay.errors import UnreadableError, UsageError
from assay.inside import open_inside, path_inside
from assay.model import Part, Ref
from assay.readers.lerobot.files import json_of, lines_of, mapping, present
from assay.synth.faults import FAULTS, Truth, fault
from assay.synth.lerobot import Dataset, Layout, write
from assay.synth.takes import Movie, Take, as_episode, with_faults

__all__ = ["TRUTH", "inject", "load", "parse_defect", "plant"]

TRUTH: Final = "assay-truth.json"
"""Where a copy says what was planted: beside its ``meta`` folder."""

_REWRITTEN: Final = (
    *("data/", "videos/", "meta/episodes/", "meta/info.json", "meta/episodes.jsonl", "meta/tasks.jsonl"),
    *("meta/episodes_stats.jsonl", "meta/stats.json", "meta/tasks.parquet", TRUTH),
)


def parse_defect(text: str) -> tuple[str, float]:
    """``nan=30`` → ("nan", 30.0); a fault without a size may stand alone.

    Raises:
        UsageError: if the name is unknown or the size is not a number.
    """
    name, _, size = text.partition("=")
    known = fault(name)
    if not size and not known.unit:
        return name, known.doses[0]
    try:
        return name, float(size)
    except ValueError:
        raise UsageError(
            f"the size of {name} is not a number", where="--defect", found=repr(size),
            expected=f"{name}=SIZE in {known.unit}, e.g. {name}={known.doses[-1]:g}",
        ) from None  # fmt: skip


def inject(
    corpus: Path,
    to: Path,
    defects: Sequence[tuple[str, float]],
    episode: str | None = None,
    seed: int = 0,
    *,
    layout: Layout | None = None,
) -> list[Truth]:
    """Copy a corpus with defects planted in one episode; statistics of that episode are made again.

    Args:
        corpus: a LeRobot folder; it is only read.
        to: the copy; must not exist nor lie in the corpus. ``assay-truth.json`` in it says what is where.
        defects: (name, size), applied in order; see `assay.synth.faults.FAULTS`.
        episode: its id, else one chosen by ``seed``.
        seed: chooses episode, place and channel.
        layout: version of the copy, else that of the corpus (v2.0 becomes v2.1).

    Raises:
        UsageError: if a defect, size or episode does not fit, or the folder may not be written.
        UnreadableError: if the corpus or the episode cannot be read.
    """
    for name, _ in defects:
        fault(name)
    if to.exists():
        raise UsageError("the folder for the copy exists", where=str(to), remedy="choose a new one with --to")
    if to.resolve().is_relative_to(corpus.resolve()):
        raise UsageError("the copy would lie in the corpus", where=str(to), remedy="choose another with --to")
    found = discover(corpus)
    data, ids = load(found)
    if not ids:
        raise UsageError("no episode of the corpus can be read", where=str(corpus), remedy="see assay inspect")
    if episode is not None and episode not in ids:
        raise UsageError("no such episode with readable rows", found=repr(episode),
                         expected=f"{ids[0]} to {ids[-1]}")  # fmt: skip
    number = ids.index(episode) if episode else int(np.random.default_rng(seed).integers(len(ids)))
    data, truths = plant(data, found, ids, number, defects, seed)
    write(to, data, layout or _layout(data.info))
    (to / TRUTH).write_text(json.dumps([asdict(t) for t in truths], indent=1), "utf-8")
    return truths


def plant(
    data: Dataset,
    corpus: Corpus,
    ids: Sequence[str],
    number: int,
    defects: Sequence[tuple[str, float]],
    seed: int,
    channel: str = "",
) -> tuple[Dataset, list[Truth]]:
    """Plant defects in take ``number``; rows of later ones are numbered anew where its length changes."""
    take = data.takes[number]
    before = as_episode(take, data.info["features"], data.fps, ids[number], corpus.sheet.body)
    after, truths = before, []
    for at, (name, size) in enumerate(defects):
        after, truth = FAULTS[name].apply(after, size, seed + at, channel)
        truths.append(truth)
    takes = list(data.takes)
    takes[number] = with_faults(take, before, after)
    if takes[number].rows.num_rows != take.rows.num_rows:
        takes[number + 1 :] = [_unnumbered(t) for t in takes[number + 1 :]]
    return replace(data, takes=tuple(takes)), truths


def _unnumbered(take: Take) -> Take:
    rows = take.rows.drop_columns([c for c in ("index",) if c in take.rows.column_names])
    kept = {k: v for k, v in take.statistics.items() if k != "index"}
    return replace(take, rows=rows, statistics=kept, file=None)


def load(corpus: Corpus) -> tuple[Dataset, tuple[str, ...]]:
    """The takes of a listed LeRobot corpus and their ids, without those that have no readable rows.

    Raises:
        UsageError: if it is not a LeRobot corpus.
        UnreadableError: if its metadata cannot be read.
    """
    listing, root = corpus.listing, corpus.listing.root
    if listing.reader != "lerobot":
        raise UsageError("defects are planted in LeRobot corpora only", where=str(root), found=listing.reader)
    info = json_of(root, "meta/info.json")
    stored = dict((*_lines_of_statistics(root), *_columns_of_statistics(root)))
    cameras = {k for k, f in info["features"].items() if f.get("dtype") == "video"}
    tables: dict[str, pa.Table] = {}
    takes, ids = [], []
    for ref in listing.refs:
        rows = _rows(root, ref, tables)
        if rows is None:
            continue
        movies = {p.name: _movie(root, p) for p in ref.parts[1:] if p.name in cameras}
        words = tuple(str(t) for t in ref.parts[0].key.get("tasks") or ())
        file = None if _layout(info) == "v3.0" else path_inside(root, ref.parts[0].path)
        held = stored.get(int(ref.parts[0].key["episode"]), {})
        takes.append(Take(rows, movies, words, held, file=file))
        ids.append(ref.id)
    others = {p: path_inside(root, p) for p in sorted(present(root, "")) if not p.startswith(_REWRITTEN)}
    return Dataset(info, _tasks(corpus, takes), tuple(takes), others), tuple(ids)


def _layout(info: Mapping[str, Any]) -> Layout:
    return "v3.0" if str(info.get("codebase_version", "")).startswith("v3") else "v2.1"


def _tasks(corpus: Corpus, takes: Sequence[Take]) -> tuple[str, ...]:
    known: Mapping[int, str] = corpus.listing.shared["set"].tasks
    named = [known.get(i, "") for i in range(max(known, default=-1) + 1)]
    return tuple(dict.fromkeys((*named, *(t for take in takes for t in take.tasks))))


def _rows(root: Path, ref: Ref, tables: dict[str, pa.Table]) -> pa.Table | None:
    part = ref.parts[0]
    if part.path not in tables:
        tables.clear()  # episodes that share a file are neighbours
        try:
            with open_inside(root, part.path) as file:
                tables[part.path] = pq.read_table(file)
        except (UnreadableError, pa.ArrowException, OSError):
            return None
    table = tables[part.path]
    if part.key.get("file_first") is not None and "episode_index" in table.column_names:
        table = table.filter(pc.equal(table.column("episode_index"), part.key["episode"]))
    return table if table.num_rows else None


def _movie(root: Path, part: Part) -> Movie | None:
    file = path_inside(root, part.path)
    if not part.path or not file.is_file():
        return None
    first, count = (part.key.get(k, np.nan) for k in ("first", "count"))
    alone = part.key.get("mates", 1) <= 1 and first == 0
    if alone or not np.isfinite([first, count]).all():
        return Movie(file)
    return Movie(file, int(first), int(count))


def _lines_of_statistics(root: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    name = "meta/episodes_stats.jsonl"
    if (root / name).is_file():
        for number, _, line in lines_of(root, name):
            row = mapping(line, f"{name}:{number}")
            yield int(row["episode_index"]), row["stats"]


def _columns_of_statistics(root: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for name in sorted(present(root, "meta/episodes") if (root / "meta/episodes").is_dir() else ()):
        with open_inside(root, name) as file:
            table = pq.ParquetFile(file)
            wanted = [c for c in table.schema_arrow.names if c.startswith("stats/") or c == "episode_index"]
            for row in table.read(columns=wanted).to_pylist():
                found: dict[str, dict[str, Any]] = {}
                for column in (c for c in wanted if c != "episode_index" and row[c] is not None):
                    _, feature, statistic = column.split("/", 2)
                    found.setdefault(feature, {})[statistic] = row[column]
                yield int(row["episode_index"]), found
