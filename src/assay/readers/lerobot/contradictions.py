"""What the metadata of a set says about the whole of it, beside what is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from assay.errors import UnreadableError
from assay.model import Claim, Ref
from assay.readers.lerobot.files import file_at, ranges
from assay.readers.lerobot.info import INFO, Feature, Info
from assay.readers.lerobot.parquet import opened
from assay.readers.lerobot.tables import Episodes

__all__ = ["corpus_claims"]

MOST_FOOTERS: Final = 1000
"""Data files whose footers are counted while listing; more would make listing slow."""


def corpus_claims(
    root: Path,
    info: Info,
    table: Episodes,
    tasks: Mapping[int, str],
    refs: Sequence[Ref],
    files: frozenset[str],
) -> list[Claim]:
    """All claims about a set as a whole, those that agree as well."""
    return [
        *_totals(info, table, tasks),
        *_ids(info, table),
        *_splits(info, table),
        *(claim for feature in info.features for claim in _features(info, feature)),
        *_missing(info, refs, files),
        *_unclaimed(root, info, refs, files),
    ]


def _count(about: str, declared: int | None, found: int | None, where: str = INFO) -> Claim:
    size = float("nan") if declared is None or found is None else float(abs(declared - found))
    said, seen = ("not stated" if n is None else str(n) for n in (declared, found))
    return Claim("declared", about, said, seen, size, where=where)


def _totals(info: Info, table: Episodes, tasks: Mapping[int, str]) -> Iterator[Claim]:
    total = info.totals.get
    lengths = [row.length for row in table.rows.values()]
    frames = sum(n for n in lengths if n is not None) if lengths and None not in lengths else None
    if total("total_episodes") is None:
        yield Claim("declared", "total_episodes", "not stated", str(len(table.rows)), 1.0, where=INFO)
    else:
        yield _count("total_episodes", total("total_episodes"), len(table.rows) if table.rows else None)
    yield _count("total_frames", total("total_frames"), frames)
    yield _count("total_tasks", total("total_tasks"), len(tasks) or None)
    if info.major == 2 and "total_videos" in info.totals:
        episodes = total("total_episodes")
        videos = None if episodes is None else episodes * len(info.cameras)
        yield _count("total_videos", total("total_videos"), videos)


def _ids(info: Info, table: Episodes) -> Iterator[Claim]:
    """Ids must be 0..N-1: loaders look episodes up by place."""
    if table.rows:
        n = len(table.rows)
        last = max(table.rows)
        absent = sorted(set(range(min(last + 1, n + 100_000))) - set(table.rows))
        found = f"0..{n - 1}" if not absent else f"{n} rows up to {last}, without {ranges(absent)}"
        yield Claim("declared", "episode_index", f"0..{n - 1}", found, float(last + 1 - n))


def _splits(info: Info, table: Episodes) -> Iterator[Claim]:
    total = info.totals.get("total_episodes")
    n = total if total is not None else len(table.rows)
    if not info.splits:
        return
    spans, odd = list[tuple[int, int]](), 0
    for text in info.splits.values():
        found = re.fullmatch(r"\s*(\d{1,15})\s*:\s*(\d{1,15})\s*", text)
        odd += found is None
        spans += [(int(found[1]), int(found[2]))] if found else []
    said = ", ".join(f"{name} {text}" for name, text in info.splits.items())[:120]
    if odd:
        yield Claim("declared", "splits", said, "not begin:end", float(odd), where=INFO)
        return
    beyond = max([stop - n for _, stop in spans] + [0])
    inside = _union([(min(a, n), min(b, n)) for a, b in spans])
    text = f"{n} episodes, {n - inside} of them in no split"
    yield Claim("declared", "splits", said, text, float(beyond + n - inside), where=INFO)
    shared = sum(max(0, b - a) for a, b in spans) - _union(spans)
    if len(spans) > 1:
        yield Claim("declared", "splits overlap", "none", f"{shared} episodes", float(shared), where=INFO)


def _union(spans: Sequence[tuple[int, int]]) -> int:
    total = at = 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, at))
        at = max(at, stop)
    return total


def _features(info: Info, feature: Feature) -> Iterator[Claim]:
    """Shape against names; what a camera's own table says against the rest."""
    if feature.kind == "numeric" and feature.named >= 0 and feature.width is not None:
        size = float(abs(feature.width - feature.named))
        found = f"{feature.named} names"
        yield Claim("declared", "names", f"{feature.width} columns", found, size, feature.name, INFO)
    facts = feature.video or {}
    for key in ("video.height", "video.width"):
        side = facts.get(key)
        if isinstance(side, int) and len(feature.shape) == 3:
            size = 0.0 if side in feature.shape else 1.0
            yield Claim("declared", key, str(list(feature.shape)), str(side), size, feature.name, INFO)
    rate = facts.get("video.fps")
    if isinstance(rate, int | float) and info.fps is not None:
        # LeRobot writes int(fps): 29 beside 29.97 is the same rate.
        agree = rate in (float(info.fps), int(info.fps)) or abs(rate - float(info.fps)) < 0.01
        size = 0.0 if agree else 1.0
        yield Claim("declared", "video.fps", str(float(info.fps)), str(rate), size, feature.name, INFO)


def _missing(info: Info, refs: Sequence[Ref], files: frozenset[str]) -> Iterator[Claim]:
    """Files that the metadata names and that are not there: data, and each camera."""
    for at, name in enumerate(["data", *(f.name for f in info.cameras)]):
        template = info.video if at else info.data
        paths = [ref.parts[at].path for ref in refs]
        absent = [i for i, path in enumerate(paths) if path not in files]
        ids = [int(refs[i].id.rpartition("_")[2]) for i in absent]
        found = "all" if not absent else f"{len(paths) - len(absent)}; absent for episodes {ranges(ids)}"
        if paths and len(absent) == len(paths):
            found = "in no episode"
        about = "video files" if at else "data files"
        stream = name if at else ""
        declared = f"for {len(paths)} episodes"
        yield Claim("file", about, declared, found, float(len(absent)), stream, template.text)


def _unclaimed(root: Path, info: Info, refs: Sequence[Ref], files: frozenset[str]) -> Iterator[Claim]:
    """Files that no episode names, and rows of shared data files that no episode claims."""
    named = {part.path for ref in refs for part in ref.parts}
    endings = tuple(e for e in (info.data.ending, info.video.ending) if e)
    spare = sorted(f for f in files - named if f.endswith(endings))
    found = f"{len(spare)}: {', '.join(spare[:3])}" if spare else "none"
    yield Claim("pointer", "unclaimed files", "none", found, float(len(spare)))
    if info.major == 3:
        yield from _rows(root, refs, files)


def _rows(root: Path, refs: Sequence[Ref], files: frozenset[str]) -> Iterator[Claim]:
    claimed = Counter[str]()
    unknown = set[str]()
    for ref in refs:
        path = ref.parts[0].path
        claimed[path] += ref.frames or 0
        if ref.frames is None:
            unknown.add(path)
    paths = sorted(set(claimed) & files)
    if len(paths) > MOST_FOOTERS:
        text = f"not counted in {len(paths)} files"
        yield Claim("declared", "rows of data files", "claimed by episodes", text, float("nan"))
        return
    for path in paths:
        try:
            rows = opened(file_at(root, path), path).metadata.num_rows
        except UnreadableError as error:
            found = error.found or error.what
            yield Claim("readable", "data file", "a parquet file", found, 1.0, where=path)
            continue
        size = float("nan") if path in unknown else float(abs(rows - claimed[path]))
        text = f"{claimed[path]} rows of episodes"
        yield Claim("declared", "rows of data files", text, f"{rows} rows", size, where=path)
