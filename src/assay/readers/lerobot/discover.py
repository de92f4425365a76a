"""List the episodes of a set from its metadata and file names, and what of it does not agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import OutsideCorpusError, UnreadableError
from assay.model import Claim, Listing, Part, Ref
from assay.readers.lerobot.clips import Shares, share
from assay.readers.lerobot.contradictions import corpus_claims
from assay.readers.lerobot.files import present, whole
from assay.readers.lerobot.info import INFO, Info, read_info
from assay.readers.lerobot.pooled import pooled_claims
from assay.readers.lerobot.stored import corpus_statistics
from assay.readers.lerobot.tables import Episodes, Row, read_episodes, read_stats_index, read_tasks

__all__ = ["NAME", "Shared", "discover"]

NAME: Final = "lerobot"
MOST_EPISODES: Final = 2_000_000

_Place = tuple[int | None, int | None, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Shared:
    """What every `open` needs beside its ref: parsed metadata, in ``Listing.shared["set"]``.

    Attributes:
        stats: where each episode's line of stored statistics is (v2.1).
    """

    info: Info
    tasks: Mapping[int, str]
    stats: Mapping[int, tuple[int, int, int]]


def discover(root: Path) -> Listing:
    """List a set.

    Raises:
        UnreadableError: if ``info.json`` or the whole episode table cannot be read.
    """
    info = read_info(root)
    table = read_episodes(root, info.major, (f.name for f in info.cameras))
    tasks, claims = read_tasks(root)
    stats: dict[int, tuple[int, int, int]] = {}
    if info.version == "v2.1" and table.rows:
        stats, more = read_stats_index(root)
        claims += more
    statistics, more = corpus_statistics(root, info)
    files, outside = _files(root, info)
    refs = _refs(info, table, files)
    claims += [
        *info.claims,
        *table.claims,
        *more,
        *outside,
        *corpus_claims(root, info, table, tasks, refs, files),
        *pooled_claims(root, info, table, tasks, statistics),
    ]
    facts = {"format": f"LeRobot {info.version}", "robot_type": info.robot_type}
    return Listing(
        NAME, root, refs, info.totals.get("total_episodes"),
        facts={k: v for k, v in {**facts, "fps": _plain(info.fps)}.items() if v is not None},
        streams=info.declared(), claims=tuple(claims), shared={"set": Shared(info, tasks, stats)},
        statistics=statistics,
    )  # fmt: skip


def _plain(fps: Any) -> float | None:
    return None if fps is None else float(fps)


def _files(root: Path, info: Info) -> tuple[frozenset[str], list[Claim]]:
    """All data and video files by name; a template that leads out of the set finds none and is a claim."""
    found, claims = frozenset[str](), list[Claim]()
    folders = {"data_path": info.data.folder, "video_path": info.video.folder}
    for item, folder in folders.items():
        try:
            found |= present(root, folder)
        except OutsideCorpusError as error:
            text = error.where or folder
            claims.append(Claim("file", item, text, "leads outside the corpus", 1.0, where=INFO))
    return found, claims


def _refs(info: Info, table: Episodes, files: frozenset[str]) -> tuple[Ref, ...]:
    total = info.totals.get("total_episodes") or 0
    if total > MOST_EPISODES:
        raise UnreadableError(
            "more episodes than can be listed", where=f"{INFO} total_episodes", found=str(total),
            expected=f"at most {MOST_EPISODES}",
        )  # fmt: skip
    ids = set(range(max(0, total))) if not _renumbered(table, total) else set()
    ids |= set(table.rows) | set(_on_disk(info, files))
    at = {episode: i for i, episode in enumerate(table.rows)}
    length = np.array([np.nan if r.length is None else r.length for r in table.rows.values()], np.float64)
    clips = {c: _clips(p, share(p, length, info.fps)) for c, p in table.places.items()}
    firsts = _first_rows(table) if info.major == 3 else {}
    cameras = tuple(f.name for f in info.cameras)
    return tuple(
        _ref(info, episode, table, cameras, clips, at.get(episode, -1), firsts) for episode in sorted(ids)
    )


def _renumbered(table: Episodes, total: int) -> bool:
    """Whether the table is whole under other ids than 0..N-1, so that those are not absent episodes."""
    return len(table.rows) >= total > 0


def _on_disk(info: Info, files: frozenset[str]) -> Iterator[int]:
    """Ids of files that are there, whether anything declares them or not (one file per episode)."""
    if "episode_index" not in info.data.uses:
        return
    before, _, _ = next(p for p in info.data.parts if p[1] == "episode_index")
    start, end = before.rpartition("/")[2], info.data.parts[-1][0]
    for path in files:
        name = path.rpartition("/")[2]
        digits = name[len(start) : len(name) - len(end)]
        if name.startswith(start) and name.endswith(end) and digits.isascii() and digits.isdigit():
            episode = int(digits[:16])
            if info.data.fill(_fields(info, episode, None)) == path:
                yield episode


def _fields(info: Info, episode: int, row: Row | None) -> dict[str, int | str | None]:
    chunk = row.chunk if row and info.major == 3 else episode // info.chunks_size
    return {
        "episode_index": episode, "episode_chunk": episode // info.chunks_size,
        "chunk_index": chunk, "file_index": row.file if row else None,
    }  # fmt: skip


def _first_rows(table: Episodes) -> dict[tuple[int | None, int | None], int]:
    """First row, in the numbering of the set, of each shared data file."""
    firsts: dict[tuple[int | None, int | None], int] = {}
    for row in table.rows.values():
        if row.start is not None:
            key = (row.chunk, row.file)
            firsts[key] = min(firsts.get(key, row.start), row.start)
    return firsts


def _ref(
    info: Info,
    episode: int,
    table: Episodes,
    cameras: tuple[str, ...],
    clips: Mapping[str, list[_Place]],
    at: int,
    firsts: Mapping[tuple[int | None, int | None], int],
) -> Ref:
    row = table.rows.get(episode)
    fields = _fields(info, episode, row)
    length = row.length if row else None
    key: dict[str, Any] = {"episode": episode, "length": length, "listed": row is not None}
    if row:
        first = firsts.get((row.chunk, row.file)) if info.major == 3 else row.start
        key |= {
            "start": row.start,
            "stop": row.stop,
            "tasks": row.tasks,
            "home": row.home,
            "file_first": first,
        }
    parts = [Part("data", NAME, info.data.fill(fields) or "", key)]
    for camera in cameras:
        seen = {**fields, "video_key": camera, "image_key": camera}
        clip: Mapping[str, Any] = {}
        if info.major == 3:  # never the data file's numbers: each camera is split on its own
            known = clips[camera][at] if at >= 0 and camera in clips else (None, None, {})
            seen["chunk_index"], seen["file_index"], clip = known
        parts.append(Part(camera, NAME, info.video.fill(seen) or "", clip))
    return Ref(f"episode_{episode:06d}", tuple(parts), length)


def _clips(places: NDArray[np.float64], shares: Shares) -> list[_Place]:
    """Each row's file of one camera, by number, and its pictures in it as plain values."""
    names = ("first", "count", "last", "drift", "gap", "mates")
    columns = zip(*(getattr(shares, name).tolist() for name in names), strict=True)
    files = [[whole(v) for v in place] for place in places[:, :2].tolist()]
    return [
        (file[0], file[1], dict(zip(names, c, strict=True))) for file, c in zip(files, columns, strict=True)
    ]
