"""One episode as files hold it, between `Episode` (where faults are planted) and a writer of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.model import Channel, Clip, Clock, Episode, Role, Stream, StreamDecl
from assay.synth.planting import Disk, disk

__all__ = ["Movie", "Take", "as_episode", "column", "names_of", "with_faults"]

_COUNTED: Final = ("frame_index", "index")
"""Columns that number the rows: dropped when rows are, and filled in by the writer."""


@dataclass(frozen=True, slots=True, eq=False)
class Movie:
    """The pictures of one camera: those of a file or of a part of it, in another order, or fewer bytes.

    Attributes:
        file: where they come from; first, count: the part (count None: the whole file).
        order: (m,) picture of the part shown at each place; None: all of them.
        encode: encode anew even where bytes could be copied.
        kept: share of the bytes kept.
    """

    file: Path
    first: int = 0
    count: int | None = None
    order: NDArray[np.int64] | None = None
    encode: bool = False
    kept: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """One episode.

    Attributes:
        rows: the table, in stored order; numbering columns that are absent are filled in by the writer.
        movies: camera → its pictures, None where the file is absent.
        tasks: the instructions.
        statistics: stored statistics, feature → min, max, mean, std, count; what is absent is computed.
        disk: what faults change beyond rows and pictures.
        file: a table file that holds exactly these rows, whose bytes may be copied.
    """

    rows: pa.Table
    movies: Mapping[str, Movie | None] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    statistics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    disk: Disk = field(default_factory=Disk)
    file: Path | None = None


def column(rows: pa.Table, name: str) -> NDArray[Any]:
    """The values of a column: (n,) or, for vectors of one length, (n, c)."""
    held = rows.column(name).combine_chunks()
    if not pa.types.is_list(held.type) and not pa.types.is_fixed_size_list(held.type):
        return np.asarray(held.to_numpy(zero_copy_only=False))
    return np.asarray(held.flatten().to_numpy(zero_copy_only=False)).reshape(len(held), -1)


def names_of(feature: Mapping[str, Any]) -> tuple[str, ...]:
    """Channel names of a feature: a list, a list in a list, a mapping of lists, or none."""
    names = feature.get("names")
    while isinstance(names, Mapping):
        names = next(iter(names.values()), None)
    if isinstance(names, list) and len(names) == 1 and isinstance(names[0], list):
        names = names[0]
    width = int(np.prod(feature.get("shape", [1])))
    if isinstance(names, list) and len(names) == width:
        return tuple(str(n) for n in names)
    return tuple(f"{i}" for i in range(width))


def as_episode(
    take: Take, features: Mapping[str, Any], fps: Fraction, name: str, body: Embodiment | None
) -> Episode:
    """The episode in which faults are planted: vectors as state or action, and the cameras.

    Args:
        take: whose rows hold ``timestamp`` in seconds.
        features: as info.json has them.
        fps: declared rate.
        name: id of the episode.
        body: whose limits clip-at-limit and over-limit drive joints to.
    """
    t = np.rint(np.asarray(column(take.rows, "timestamp"), np.float64) * 1e9).astype(np.int64)
    streams = []
    for key, feature in features.items():
        if feature.get("dtype") in ("video", "image"):
            movie = take.movies.get(key)
            clip = (
                None if movie is None else Clip(movie.file.parent, movie.file.name, movie.first, movie.count)
            )
            streams.append(Stream(key, Role.CAMERA, t, np.empty((len(t), 0)), rate=fps, clip=clip))
        elif key in take.rows.column_names and np.prod(feature.get("shape", [1])) > 1:
            x = np.asarray(column(take.rows, key), np.float64)
            streams.append(Stream(key, _role(key), t, x, _channels(names_of(feature), body), rate=fps))
    declared = tuple(StreamDecl(s.name, s.role, s.channels, fps, Clock.NOMINAL) for s in streams)
    return Episode(
        name, tuple(streams), body, task=next(iter(take.tasks), None), statistics=take.statistics,
        declared=declared,
    )  # fmt: skip


def _role(name: str) -> Role:
    if name.startswith("action"):
        return Role.REQUEST
    return Role.JOINT_POSITION if name.startswith("observation.state") else Role.OTHER


def _channels(names: tuple[str, ...], body: Embodiment | None) -> tuple[Channel, ...]:
    if body is None:
        return tuple(Channel(n) for n in names)
    joint = body.resolve(names)
    units = [body.joints[j].unit if j >= 0 else "unknown" for j in joint]
    return tuple(Channel(n, u) for n, u in zip(names, units, strict=True))


def with_faults(take: Take, before: Episode, after: Episode) -> Take:
    """The take that holds what ``after`` holds, where that differs from ``before``; all else is untouched."""
    change = disk(after)
    rows = take.rows if change.rows is None else take.rows.take(pa.array(change.rows))
    stale: set[str] = set()
    if change.rows is not None:
        rows = rows.drop_columns([c for c in _COUNTED if c in rows.column_names])
        stale = set(rows.column_names) | set(_COUNTED)
    for stream in after.streams:
        old = before.stream(stream.name)
        if old is None or stream.role is Role.CAMERA:
            continue
        if stream.x is not old.x:
            rows, stale = _set(rows, stream.name, np.asarray(stream.x)), stale | {stream.name}
        if stream.t is not old.t:
            rows, stale = _set(rows, "timestamp", stream.t * 1e-9), stale | {"timestamp"}
    movies = {name: _movie(name, movie, change) for name, movie in take.movies.items()}
    stale |= {n for n, m in movies.items() if m is not None and m.order is not None}
    given = {k: v for k, v in after.statistics.items() if v is not before.statistics.get(k)}
    kept = {k: v for k, v in take.statistics.items() if k not in stale}
    same = take.file if rows is take.rows else None
    return replace(take, rows=rows, movies=movies, statistics={**kept, **given}, disk=change, file=same)


def _set(rows: pa.Table, name: str, x: NDArray[Any]) -> pa.Table:
    at = rows.column_names.index(name)
    kind = rows.schema.field(name).type
    if x.ndim == 1:
        return rows.set_column(at, rows.schema.field(name), pa.array(x.astype(kind.to_pandas_dtype())))
    flat = pa.array(x.astype(kind.value_type.to_pandas_dtype()).ravel())
    vectors = pa.FixedSizeListArray.from_arrays(flat, x.shape[1])
    return rows.set_column(at, rows.schema.field(name), vectors.cast(kind))


def _movie(name: str, movie: Movie | None, change: Disk) -> Movie | None:
    if movie is None or name in change.missing:
        return None
    return replace(
        movie, order=change.pictures.get(name), encode=name in change.encode, kept=change.kept.get(name, 1.0)
    )
