"""Writing LeRobot corpora, layouts v2.1 and v3.0, from takes: rows, video files, statistics, metadata.

Layouts as the lerobot library writes them: ``lerobot/common/datasets/utils.py`` (v2.1) and
``lerobot/datasets/utils.py`` with ``dataset_metadata.py`` (v3.0). Differences: statistics are float64 over
finite values, and the places of episodes in packed videos are exact multiples of 1 / fps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.synth.movies import Part, copy, join, look, make, pictures
from assay.synth.planting import column_statistics
from assay.synth.takes import Movie, Take, column

__all__ = ["Dataset", "Layout", "write"]

Layout = Literal["v2.1", "v3.0"]
Statistics = dict[str, dict[str, Any]]

_V21: Final = {
    "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
}
_V30: Final = {
    "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
    "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
}
_CHUNK: Final = 1000
_DATA_BYTES: Final = 100_000_000
_VIDEO_BYTES: Final = 200_000_000
_SAMPLED: Final = 100  # pictures looked at for the statistics of a camera, as lerobot does


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A LeRobot corpus.

    Attributes:
        info: as info.json; totals, splits, paths and version are set by the writer.
        tasks: instructions by task_index; takes: the episodes in order.
        others: files that are copied as they are, path in the corpus → file.
    """

    info: Mapping[str, Any]
    tasks: tuple[str, ...]
    takes: tuple[Take, ...]
    others: Mapping[str, Path] = field(default_factory=dict)

    @property
    def fps(self) -> Fraction:
        """The declared rate, exact."""
        return Fraction(str(self.info["fps"])).limit_denominator(1001)

    @property
    def cameras(self) -> tuple[str, ...]:
        """Features whose pictures are in video files."""
        return tuple(k for k, f in self.info["features"].items() if f.get("dtype") == "video")


def write(folder: Path, data: Dataset, layout: Layout, *, link: bool = False) -> None:
    """Write a corpus into ``folder``, which must not exist.

    Args:
        folder: of the corpus.
        data: what to write.
        layout: version of the format.
        link: share the bytes of unchanged videos with their source, where the file system can.

    Raises:
        FileExistsError: if the folder exists.
        UnreadableError: if a video that must be encoded anew cannot be decoded.
    """
    (folder / "meta").mkdir(parents=True)
    rows = _numbered(data)
    with TemporaryDirectory(dir=folder) as scratch:
        if layout == "v2.1":
            _write_v21(folder, data, rows, link=link)
        else:
            _write_v30(folder, data, rows, Path(scratch))
    for name, file in data.others.items():
        copy(file, folder / name)
    (folder / "meta/info.json").write_text(json.dumps(_info(data, layout), indent=4), "utf-8")


def _numbered(data: Dataset) -> list[pa.Table]:
    """The rows of each take with the numbering columns filled in where they are absent."""
    tables, start = [], 0
    for number, take in enumerate(data.takes):
        n, rows = take.rows.num_rows, take.rows
        task = data.tasks.index(take.tasks[0]) if take.tasks else 0
        numbering = {
            "timestamp": (np.arange(n) / float(data.fps)).astype(np.float32), "frame_index": np.arange(n),
            "episode_index": np.full(n, number), "index": start + np.arange(n),
            "task_index": np.full(n, task),
        }  # fmt: skip
        for name, values in numbering.items():
            if name not in rows.column_names:
                rows = rows.append_column(name, pa.array(values))
        order = [k for k in data.info["features"] if k in rows.column_names]
        tables.append(rows.select(order + [c for c in rows.column_names if c not in order]))
        start += n
    return tables


def _info(data: Dataset, layout: Layout) -> dict[str, Any]:
    info, takes = dict(data.info), data.takes
    paths = _V21 if layout == "v2.1" else _V30
    total = {
        "codebase_version": layout, "total_episodes": len(takes), "chunks_size": _CHUNK,
        "total_frames": sum(t.rows.num_rows for t in takes), "total_tasks": len(data.tasks),
        "splits": {"train": f"0:{len(takes)}"}, **paths,
    }  # fmt: skip
    info = {k: v for k, v in info.items() if k not in ("total_videos", "total_chunks")} | total
    if layout == "v2.1":
        info["total_videos"] = len(takes) * len(data.cameras)
        info["total_chunks"] = -(-len(takes) // _CHUNK)
    else:
        info |= {
            "data_files_size_in_mb": _DATA_BYTES // 10**6,
            "video_files_size_in_mb": _VIDEO_BYTES // 10**6,
        }
    for name, by in ((n, b) for t in takes for n, b in t.disk.totals.items()):
        if name == "splits":
            info["splits"] = {"train": f"0:{len(takes) + by}"}
        else:
            info[name] += by
    return info


def _statistics(data: Dataset, take: Take, rows: pa.Table, movies: Mapping[str, Movie | None]) -> Statistics:
    """Stored statistics where the take has them, else computed from rows and pictures."""
    found: Statistics = {}
    for name, feature in data.info["features"].items():
        movie = movies.get(name)
        if name in take.statistics:
            found[name] = _shaped(take.statistics[name], feature)
        elif movie is not None:
            found |= _seen(name, movie)
        elif name in rows.column_names and _is_number(rows.schema.field(name).type):
            found[name] = _shaped(column_statistics(column(rows, name)), feature)
    return found


def _is_number(kind: pa.DataType) -> bool:
    inner = kind.value_type if hasattr(kind, "value_type") else kind
    return bool(pa.types.is_integer(inner) or pa.types.is_floating(inner) or pa.types.is_boolean(inner))


def _shaped(stored: Mapping[str, Any], feature: Mapping[str, Any]) -> dict[str, Any]:
    whole = feature.get("dtype", "").startswith(("int", "uint"))
    as_whole = {"min", "max"} if whole else set()
    return {
        k: np.asarray(v).astype(np.int64 if k in as_whole | {"count"} else np.float64).tolist()
        for k, v in stored.items()
    }


def _seen(name: str, movie: Movie) -> Statistics:
    """Statistics (3, 1, 1) in shares of full scale over at most a hundred pictures."""
    track = look(movie.file)
    if track is None or movie.kept < 1.0:
        return {}
    count = track.count if movie.count is None else movie.count
    order = np.arange(count) if movie.order is None else movie.order
    order = order[np.unique(np.linspace(0, len(order) - 1, _SAMPLED).round().astype(np.int64))]
    try:
        frames = [_small(f) for f in pictures(Movie(movie.file, movie.first, movie.count, order))]
    except UnreadableError:
        return {}
    levels = np.stack([np.bincount(c, minlength=256) for c in np.concatenate(frames).T])
    share, grey = levels / levels.sum(axis=1, keepdims=True), np.arange(256) / 255.0
    mean = share @ grey
    found = {
        "min": grey[(levels > 0).argmax(axis=1)], "max": grey[255 - (levels[:, ::-1] > 0).argmax(axis=1)],
        "mean": mean, "std": np.sqrt(np.maximum(share @ grey**2 - mean**2, 0.0)),
    }  # fmt: skip
    return {name: {k: v.reshape(3, 1, 1).tolist() for k, v in found.items()} | {"count": [len(frames)]}}


def _small(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    step = max(1, min(picture.shape[:2]) // 150)
    return picture[::step, ::step].reshape(-1, 3)


def _lines(file: Path, values: Sequence[Mapping[str, Any]]) -> None:
    file.write_text("".join(json.dumps(v) + "\n" for v in values), "utf-8")


def _episode_row(take: Take, number: int) -> dict[str, Any]:
    length = take.rows.num_rows + take.disk.length
    return {"episode_index": number, "tasks": list(take.tasks), "length": length}


# --------------------------------------------------------------------------------------------- v2.1


def _write_v21(folder: Path, data: Dataset, rows: Sequence[pa.Table], *, link: bool) -> None:
    stats = []
    for number, take in enumerate(data.takes):
        place: dict[str, Any] = {"episode_chunk": number // _CHUNK, "episode_index": number}
        if "data" not in take.disk.missing:
            file = folder / _V21["data_path"].format(**place)
            table = _doubled(rows[(number + take.disk.pointer) % len(rows)], take.disk.duplicate)
            if (
                take.file is not None
                and table.column_names == take.rows.column_names
                and not take.disk.pointer
            ):
                copy(take.file, file, link=link)
            else:
                _table(table, file)
        for name, movie in take.movies.items():
            if movie is not None:
                make(movie, folder / _V21["video_path"].format(**place, video_key=name), data.fps, link=link)
        held = _statistics(data, take, rows[number], take.movies)
        stats.append({"episode_index": number, "stats": held})
    meta = folder / "meta"
    _lines(meta / "tasks.jsonl", [{"task_index": i, "task": t} for i, t in enumerate(data.tasks)])
    _lines(meta / "episodes.jsonl", [_episode_row(t, i) for i, t in enumerate(data.takes)])
    _lines(meta / "episodes_stats.jsonl", stats)


def _table(table: pa.Table, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file)


def _doubled(table: pa.Table, name: str) -> pa.Table:
    if not name:
        return table
    names = [*table.column_names, name]
    return pa.Table.from_arrays([*table.columns, table.column(name)], names=names)


# --------------------------------------------------------------------------------------------- v3.0


def _write_v30(folder: Path, data: Dataset, rows: Sequence[pa.Table], scratch: Path) -> None:
    episodes = [_episode_row(t, i) for i, t in enumerate(data.takes)]
    _pack_rows(folder, data, rows, episodes)
    for camera in data.cameras:
        _pack_movies(folder, data, camera, scratch, episodes)
    stats = [_statistics(data, t, rows[i], t.movies) for i, t in enumerate(data.takes)]
    for row, held in zip(episodes, stats, strict=True):
        row |= {f"stats/{name}/{k}": v for name, s in held.items() for k, v in s.items()}
        row |= {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
    table = pa.Table.from_pylist(episodes, schema=_schema(episodes))
    twice = next((t.disk.duplicate for t in data.takes if t.disk.duplicate), "")
    _table(_doubled(table, "length" if twice else ""), folder / "meta/episodes/chunk-000/file-000.parquet")
    tasks = {"task_index": np.arange(len(data.tasks)), "task": list(data.tasks)}
    _table(pa.table(tasks), folder / "meta/tasks.parquet")
    (folder / "meta/stats.json").write_text(json.dumps(_pooled(stats), indent=4), "utf-8")


def _schema(rows: Sequence[Mapping[str, Any]]) -> pa.Schema:
    """Columns of all rows: an episode whose video cannot be read has no statistics of it."""
    return pa.unify_schemas(
        [pa.Table.from_pylist([r]).schema for r in rows], promote_options="permissive"
    )  # fmt: skip


def _pack_rows(folder: Path, data: Dataset, rows: Sequence[pa.Table], episodes: list[dict[str, Any]]) -> None:
    """Rows in shared files; a wrong pointer names the file beside the one that a rollover began (D11)."""
    own = ["data" in t.disk.missing or t.disk.pointer != 0 for t in data.takes]
    sizes = [((alone, ""), r.nbytes) for alone, r in zip(own, rows, strict=True)]
    starts = np.concatenate(([0], np.cumsum([r.num_rows for r in rows]))).tolist()
    for number, group in enumerate(_packs(sizes, _DATA_BYTES)):
        for i in group:
            beside = 0 if not data.takes[i].disk.pointer else -1 if number else 1
            episodes[i] |= {f"data/{k}": v for k, v in _numbers(number + beside).items()}
            episodes[i] |= {"dataset_from_index": starts[i], "dataset_to_index": starts[i + 1]}
        if "data" in data.takes[group[0]].disk.missing:
            continue
        file = folder / _V30["data_path"].format(**_numbers(number))
        file.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(file, rows[group[0]].schema) as out:
            for i in group:
                out.write_table(rows[i].cast(rows[group[0]].schema))


def _numbers(number: int) -> dict[str, int]:
    return {"chunk_index": number // _CHUNK, "file_index": number % _CHUNK}


def _pack_movies(
    folder: Path, data: Dataset, camera: str, scratch: Path, episodes: list[dict[str, Any]]
) -> None:
    """Join each camera's videos; one that is cut, absent, of another codec or count has its own file."""
    ready = [_ready(t.movies.get(camera), scratch / f"{i}.mp4", data.fps) for i, t in enumerate(data.takes)]
    kinds = [_alone_or_kind(p, t) for p, t in zip(ready, data.takes, strict=True)]
    sizes = [(k, _bytes(p)) for k, p in zip(kinds, ready, strict=True)]
    for number, group in enumerate(_packs(sizes, _VIDEO_BYTES)):
        place = _numbers(number)
        file, parts = folder / _V30["video_path"].format(**place, video_key=camera), [ready[i] for i in group]
        known = [p for p in parts if p is not None and p.count]
        if len(known) == len(parts):
            join(file, known, data.fps)
        elif parts[0] is not None:
            copy(parts[0].file, file)
        shown = 0
        for i, part in zip(group, parts, strict=True):
            count = part.count if part is not None and part.count else data.takes[i].rows.num_rows
            cut = {
                "from_timestamp": float(shown / data.fps),
                "to_timestamp": float((shown + count) / data.fps),
            }
            episodes[i] |= {f"videos/{camera}/{k}": v for k, v in (place | cut).items()}
            shown += count
    for file in scratch.iterdir():
        file.unlink()


def _bytes(part: Part | None) -> int:
    return 0 if part is None else part.file.stat().st_size


def _ready(movie: Movie | None, file: Path, fps: Fraction) -> Part | None:
    """The movie as a run of packets, made first where it is not one; count 0: bytes nobody can read."""
    if movie is None:
        return None
    if movie.order is None and not movie.encode and movie.kept == 1.0:
        track = look(movie.file)
        count = 0 if track is None else track.count - movie.first
        count = count if movie.count is None else min(movie.count, count)
        whole = track is None or (movie.first == 0 and count == track.count)
        if whole or (track is not None and count > 0 and track.key[movie.first] and not track.delay):
            return Part(movie.file, movie.first, count)
    make(movie, file, fps)
    track = look(file)
    return Part(file, 0, 0 if track is None else track.count)


def _alone_or_kind(part: Part | None, take: Take) -> tuple[bool, Any]:
    """Whether it must have a file of its own; what it may share a file with otherwise."""
    if part is None or part.count != take.rows.num_rows:
        return True, None
    track = look(part.file)
    return track is None, None if track is None else track.kind


def _packs(sizes: Sequence[tuple[tuple[bool, Any], int]], most: int) -> Iterator[list[int]]:
    """Runs of neighbours that share a file: of one kind, none that must stand alone, up to ``most`` bytes."""
    group: list[int] = []
    held = 0
    for i, ((alone, kind), size) in enumerate(sizes):
        if group and (alone or sizes[group[-1]][0] != (False, kind) or held + size > most):
            yield group
            group, held = [], 0
        group.append(i)
        held += size
    if group:
        yield group


def _pooled(stats: Sequence[Statistics]) -> Statistics:
    """Statistics of the corpus from those of its episodes, weighted by count (as lerobot aggregates)."""
    pooled: Statistics = {}
    for name in dict.fromkeys(n for s in stats for n in s):
        parts = [s[name] for s in stats if name in s]
        n = np.array([p["count"][0] for p in parts], np.float64)
        low, high, means, std = (np.array([p[k] for p in parts]) for k in ("min", "max", "mean", "std"))
        w = n.reshape(-1, *[1] * (means.ndim - 1)) / n.sum()
        mean = (w * means).sum(axis=0)
        var = (w * (std**2 + (means - mean) ** 2)).sum(axis=0)
        pooled[name] = {
            "min": low.min(axis=0).tolist(), "max": high.max(axis=0).tolist(),
            "mean": mean.tolist(), "std": np.sqrt(var).tolist(), "count": [int(n.sum())],
        }  # fmt: skip
    return pooled
