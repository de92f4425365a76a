"""What the metadata says about one episode, beside its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.model import Claim, Topic
from assay.readers.lerobot.info import BOOKKEEPING, Feature
from assay.readers.lerobot.parquet import dtype_name, row_width

__all__ = [
    "FLAGS",
    "bookkeeping",
    "boundary",
    "columns",
    "counters",
    "last_flag",
    "pictures",
    "task_claims",
    "template_statistics",
]

Key = Mapping[str, Any]
Book = Mapping[str, NDArray[Any]]
"""Bookkeeping columns by name, each (n,)."""


def columns(features: tuple[Feature, ...], schema: pa.Schema, where: str) -> Iterator[Claim]:
    """Type and width of each declared column; columns that nothing declares; doubled names."""
    names = list(schema.names)
    declared = {f.name: f for f in features if f.kind != "video"}
    for name, feature in declared.items():
        if name not in names:
            yield Claim("declared", "column", "present", "absent", 1.0, name, where)
        elif feature.kind not in ("image", "other"):
            yield _column(feature, schema.field(schema.get_all_field_indices(name)[0]).type, where)
    spare = sorted(set(names) - set(declared))
    found = ", ".join(spare[:4]) or "none"
    yield Claim("declared", "undeclared columns", "none", found, float(len(spare)), where=where)
    twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    found = ", ".join(twice[:4]) or "each name once"
    yield Claim("duplicate-column", "columns", "each name once", found, float(len(twice)), where=where)


def _column(feature: Feature, kind: pa.DataType, where: str) -> Claim:
    found, width = dtype_name(kind), row_width(kind)
    declared = feature.width
    apart = 0.0 if width is None or declared is None else float(abs(width - declared))
    size = apart or float(bool(feature.dtype) and feature.dtype != found)
    seen = found if width is None else f"{found} x {width}"
    return Claim("declared", "column", f"{feature.dtype} x {declared}", seen, size, feature.name, where)


def bookkeeping(
    features: tuple[Feature, ...], schema: pa.Schema, book: Book, rows: int, where: str
) -> Iterator[Claim]:
    """Columns that the format requires and that are not there, or hold no number in any row.

    One that is declared and not there is reported by `columns`. GR00T's flavour of the format, which has a
    ``modality.json``, knows no ``frame_index``.
    """
    declared, there = {f.name for f in features}, set(schema.names)
    spared = {"frame_index"} if any(f.parts for f in features) else set[str]()
    for name in BOOKKEEPING:
        if name not in there | declared | spared:
            yield Claim("declared", name, "a column, as the format requires", "absent", 1.0, name, where)
        elif name in there and name not in book and rows:
            topic: Topic = "declared" if name == "timestamp" else "pointer"
            yield Claim(topic, name, "one number in each row", "none in any row", float(rows), name, where)


def counters(book: Book, episode: int, labelled: bool, runs: int, where: str) -> Iterator[Claim]:
    """``episode_index``, ``frame_index`` and ``index`` of the rows, each against what it must count."""
    labels = book.get("episode_index")
    if labelled and labels is not None:
        text = f"rows in {runs} stretches" if runs != 1 else "rows in one stretch"
        yield _pointer("episode_index", "one stretch of rows", text, float(max(0, runs - 1)), where)
    elif labels is not None:
        wrong = labels != episode
        yield _pointer("episode_index", str(episode), _rows(wrong, labels), float(wrong.sum()), where)
    frames = book.get("frame_index")
    if frames is not None:
        wrong = frames != np.arange(len(frames))
        yield _pointer("frame_index", "0, 1, 2, ...", _rows(wrong, frames), float(wrong.sum()), where)
    index = book.get("index")
    if index is not None and len(index):
        wrong = np.concatenate([[False], np.diff(index) != 1])
        yield _pointer("index", "each one more", _rows(wrong, index), float(wrong.sum()), where)


def _pointer(about: str, declared: str, found: str, size: float, where: str) -> Claim:
    return Claim("pointer", about, declared, found, size, where=where)


def _rows(wrong: NDArray[np.bool_], x: NDArray[Any]) -> str:
    if not wrong.any():
        return "all rows agree"
    first = int(wrong.argmax())
    return f"{int(wrong.sum())} rows differ, first row {first} with {x[first]}"


def boundary(key: Key, rows: int, book: Book, where: str) -> Claim:
    """Begin and end of the episode in the numbering of the whole set: one claim, however much is permuted."""
    length, start, stop = key.get("length"), key.get("start"), key.get("stop")
    apart = [] if length is None else [abs(length - rows)]
    said = "not listed" if length is None else f"{length} rows"
    found = f"{rows} rows"
    index = book.get("index")
    if start is not None and stop is not None:
        said += f", {start} to {stop}"
        apart.append(abs(stop - start - rows))
        if index is not None and len(index) and np.isfinite(index[[0, -1]]).all():
            begin, end = int(index[0]), int(index[-1]) + 1
            found += f", {begin} to {end}"
            apart += [abs(begin - start), abs(end - stop)]
    return Claim("boundary", "rows", said, found, float(max(apart)) if apart else float("nan"), where=where)


def pictures(camera: str, clip: Key, rows: int | None, span: tuple[float, float], where: str) -> Claim:
    """Stored start and length of an episode's pictures in a shared file against whole pictures (v3).

    ``span``: stored start and length in pictures.
    """
    drift, gap = clip.get("drift", np.nan), clip.get("gap", np.nan)
    longer = span[1] - rows if rows is not None else np.nan
    longer = 0.0 if abs(longer) <= 0.5 else longer
    size = (
        float(max(abs(drift), abs(gap), abs(longer))) if np.isfinite([drift, gap, longer]).all() else np.nan
    )
    said = f"from picture {span[0]:.2f}, {span[1]:.2f} pictures"
    found = f"from picture {clip.get('first', np.nan):.0f}, {rows} rows"
    if gap < 0:
        found += f", {-gap:.0f} pictures shared with another episode"
    elif gap > 0:
        found += f", then {gap:.0f} pictures of no episode"
    return Claim("boundary", "pictures", said, found, size, camera, where)


def task_claims(key: Key, indices: list[int], known: Mapping[int, str], task: str | None) -> Iterator[Claim]:
    """Task indices against the table; the instruction itself."""
    unknown = [i for i in indices if i not in known]
    if indices:
        found = f"{', '.join(map(str, unknown[:4]))} not in it" if unknown else "all in it"
        said = f"a table of {len(known)} tasks"
        yield Claim("declared", "task_index", said, found, float(len(unknown)), "task_index")
    listed = set(key.get("tasks") or ())
    texts = {known[i] for i in indices if i in known}
    if listed and texts:
        apart = texts - listed
        found = "; ".join(sorted(apart))[:120] if apart else "the same"
        yield Claim("declared", "tasks", "; ".join(sorted(listed))[:120], found, float(len(apart)))
    nothing = task is None and not indices and not listed
    size = float("nan") if nothing else float(not (task or "").strip())
    yield Claim("declared", "task", "an instruction", "words" if size == 0 else "none", size)


FLAGS: Final = {
    **dict.fromkeys(("done", "is_last"), True),
    **dict.fromkeys(("is_terminal", "terminated"), False),
}
"""Last step of the name of a flag column, and whether every episode must end with it (else it may)."""


def last_flag(name: str, x: NDArray[Any]) -> Claim:
    """``next.done`` and its like must be true in the last row and in no other."""
    flags = np.asarray(np.nan_to_num(x[:, :1].astype(np.float64)).sum(axis=1) > 0)
    must = FLAGS[name.rpartition(".")[2]]
    wrong = int(flags[:-1].sum()) + int(must and len(flags) > 0 and not flags[-1])
    found = f"true in {int(flags.sum())} rows, {'with' if len(flags) and flags[-1] else 'without'} the last"
    said = "true in the last row only" if must else "true in the last row or in none"
    return Claim("boundary", name, said, found, float(wrong), name)


def template_statistics(book: Book, stored: Mapping[str, Mapping[str, NDArray[Any]]]) -> Iterator[Claim]:
    """Stored min, max and count of the bookkeeping columns, which no stream carries, against the rows."""
    for name in BOOKKEEPING:
        x, said = book.get(name), stored.get(name)
        if x is None or not said or not len(x):
            continue
        measured = {"min": float(np.min(x)), "max": float(np.max(x)), "count": float(len(x))}
        near = 1e-4 if name == "timestamp" else 0.0
        pairs = {k: (float(said[k][0]), m) for k, m in measured.items() if k in said and len(said[k])}
        wrong = [k for k, (a, b) in pairs.items() if not abs(a - b) <= near * max(1.0, abs(b))]
        declared = ", ".join(f"{k} {a:.10g}" for k, (a, _) in pairs.items())
        found = ", ".join(f"{k} {b:.10g}" for k, (_, b) in pairs.items())
        yield Claim("statistics", name, declared, found, float(len(wrong)), name)
