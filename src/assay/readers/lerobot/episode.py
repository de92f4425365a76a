"""Open one episode: its rows as streams, its cameras as clips, and what does not agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Claim, Episode, Listing, Part, Ref, Role, Source
from assay.readers.lerobot import checks
from assay.readers.lerobot.cameras import absent_videos, camera
from assay.readers.lerobot.capture import is_stamp, restamped
from assay.readers.lerobot.discover import NAME, Shared
from assay.readers.lerobot.info import BOOKKEEPING, Feature, Info
from assay.readers.lerobot.parquet import column, is_numeric, values
from assay.readers.lerobot.rows import Data, rows_of
from assay.readers.lerobot.stored import Statistics, line_statistics, row_statistics
from assay.readers.lerobot.streams import Found, annotated, in_si, instruction, numbers
from assay.sheet import Sheet

__all__ = ["open_episode"]

MOST_ROWS: Final = 10_000_000
"""No episode is longer (four days at 30 Hz); times of a longer one that has no rows are not made up."""

MOST_SECONDS: Final = 9e9
"""int64 nanoseconds end a little later; a stamp beyond is no time."""


def open_episode(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open an episode of a set.

    Raises:
        UnreadableError: if its data file is broken, leads out of the set, or holds no usable time.
    """
    del sheet  # it gives meanings, which are laid over the opened episode
    shared: Shared = listing.shared["set"]
    info, data_part = shared.info, ref.parts[0]
    found = Found([], [], [], [], [], _plain_facts(info, data_part.key))
    data = _data(listing.root, info, data_part, want, found)
    book = _book(data) if data else {}
    rows = data.table.num_rows if data else None
    t = _times(book, rows, info, ref, found)
    stored = _statistics(listing.root, shared, data_part.key, found)
    if data is not None:
        numbers(info, data, t, want, found)
        annotated(info, data, t, shared.tasks, found)
        found.claims += _row_claims(info, data, book, data_part, stored)
    for feature in info.features:
        if feature.kind in ("video", "image") and (want is None or feature.role in want):
            camera(listing.root, info, feature, ref, data, t, found)
    if data is not None:
        restamped(info, data, found)
    if want is not None:
        absent_videos(listing.root, info, ref, want, found)
    task = instruction(book, data_part.key, shared.tasks, found)
    return Episode(
        ref.id, tuple(found.streams), task=task, outcome=found.meta.pop("outcome", None),
        spans=tuple(found.spans),
        source=Source(NAME, listing.root, tuple(found.files), tuple(found.conversions)),
        claims=tuple(found.claims), statistics=in_si(info, stored), declared=listing.streams,
        meta=found.meta | {"rows": rows},
    )  # fmt: skip


def _plain_facts(info: Info, key: Mapping[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "episode_index": key["episode"], "length": key["length"], "tasks": key.get("tasks", ()),
        "format": info.version, "robot_type": info.robot_type,
    }  # fmt: skip
    parts = {f.name: f.parts for f in info.features if f.parts}
    video = {f.name: {"shape": f.shape, **(f.video or {})} for f in info.features if f.video is not None}
    return meta | ({"modality": parts} if parts else {}) | ({"video": video} if video else {})


def _wanted(feature: Feature, want: frozenset[Role] | None) -> bool:
    always = feature.name == "next.success" or feature.name.rpartition(".")[2] in checks.FLAGS
    always = always or is_stamp(feature)
    if want is None or feature.kind in ("bookkeeping", "annotation") or always:
        return feature.kind not in ("video", "image", "other")
    if feature.kind != "numeric":
        return False
    return feature.role in want or any(c.role in want for c in feature.channels)


def _data(root: Path, info: Info, part: Part, want: frozenset[Role] | None, found: Found) -> Data | None:
    """The rows; None, with a claim, where there is no data file."""
    key, path = part.key, part.path
    if not key["listed"]:
        found.claims.append(
            Claim("declared", "episode table", "a row for every episode", "none", 1.0, where="meta")
        )
    if not path:
        found.claims.append(Claim("file", "data", "a place in the episode table", "none", 1.0))
        return None
    names = [f.name for f in info.features if _wanted(f, want)]
    names += [n for n in BOOKKEEPING if n not in names]
    first, start, stop = key.get("file_first"), key.get("start"), key.get("stop")
    stretch = None
    if first is not None and start is not None and stop is not None:
        stretch = (start - first, stop - first)
    try:
        data = rows_of(root, path, names, key["episode"], stretch, info.major == 3)
    except UnreadableError as error:
        if error.found != "absent":
            raise
        found.claims.append(Claim("file", "data", path, "absent", 1.0, where=path))
        return None
    found.claims.append(Claim("file", "data", path, "present", 0.0, where=path))
    found.files.append(path)
    if data.labelled and not data.table.num_rows:
        text = f"none of {data.total} rows"
        size = float(key["length"] or 1)
        found.claims.append(Claim("pointer", "data file", f"{key['length']} rows", text, size, where=path))
    return data


def _book(data: Data) -> dict[str, NDArray[Any]]:
    book = {}
    for name in BOOKKEEPING:
        said = column(data.table, name)
        if said is not None and is_numeric(said.type):
            x, odd = values(said, 1)
            if x.shape[1:] == (1,) and (odd < len(x) or not len(x)):
                book[name] = x[:, 0]
    return book


def _times(
    book: Mapping[str, NDArray[Any]], rows: int | None, info: Info, ref: Ref, found: Found
) -> NDArray[np.int64]:
    """Stamps of the rows in ns; counted from the declared rate where there are none."""
    stamps = book.get("timestamp")
    where = ref.parts[0].path
    if stamps is not None:
        seconds = stamps.astype(np.float64)
        bad = ~(np.abs(seconds) < MOST_SECONDS)
        if bad.any():
            at = int(bad.argmax())
            raise UnreadableError(
                "a timestamp is not a time", where=where, found=f"{seconds[at]} in row {at}",
                expected="seconds", remedy="deliver a finite timestamp for every row",
            )  # fmt: skip
        found.conversions.append("timestamp: s to ns, rounded")
        stamps_ns: NDArray[np.int64] = np.rint(seconds * 1e9).astype(np.int64)
        return stamps_ns
    if info.fps is None:
        raise UnreadableError("the episode has neither timestamps nor a declared rate", where=where or ref.id)
    found.conversions.append("times: counted from the declared fps, because no timestamps are there")
    n = rows if rows is not None else ref.frames or 0
    if rows is None and n > MOST_ROWS:
        said = f"at most {MOST_ROWS} rows"
        found.claims.append(Claim("declared", "length", said, str(n), float(n - MOST_ROWS), where=ref.id))
        n = 0
    counted: NDArray[np.int64] = np.rint(np.arange(n) * (1e9 / float(info.fps))).astype(np.int64)
    return counted


def _row_claims(
    info: Info, data: Data, book: Mapping[str, NDArray[Any]], part: Part, stored: Statistics
) -> list[Claim]:
    key, path, n = part.key, part.path, data.table.num_rows
    return [
        *checks.columns(info.features, data.schema, path),
        *checks.bookkeeping(info.features, data.schema, book, n, path),
        *checks.counters(book, key["episode"], data.labelled, data.runs, path),
        checks.boundary(key, n, book, path),
        *checks.template_statistics(book, stored),
    ]


def _statistics(root: Path, shared: Shared, key: Mapping[str, Any], found: Found) -> Statistics:
    """Stored statistics of this episode; a claim where the version promises some and there are none."""
    stored: Statistics = {}
    where, text = "meta/episodes_stats.jsonl", "absent"
    try:
        if shared.info.version == "v2.1":
            at = shared.stats.get(key["episode"])
            stored = line_statistics(root, at) if at else {}
        elif shared.info.major == 3 and key.get("home", ("",))[0]:
            where = key["home"][0]
            stored = row_statistics(root, key["home"])
    except UnreadableError as error:
        text = error.found or error.what
    if not stored and key["listed"] and shared.info.version == "v2.1":
        found.claims.append(
            Claim("statistics", "stored statistics", "of every episode", text, 1.0, where=where)
        )
    return stored
