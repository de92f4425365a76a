"""``stats.json`` beside what the episodes' own statistics and the table of episodes add up to.

Training normalises by ``stats.json``. After a merge it may still be that of one part, while every episode's
own statistics are right (huggingface/lerobot#3788): each is held to its rows when it is opened, and all of
them together to this file here, without reading a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Claim
from assay.readers.lerobot.files import file_at
from assay.readers.lerobot.info import Info
from assay.readers.lerobot.parquet import column, opened, read, values
from assay.readers.lerobot.stored import Statistics
from assay.readers.lerobot.tables import Episodes

__all__ = ["pooled_claims"]

Floats = NDArray[np.float64]
Kinds = dict[str, Floats]

STATS: Final = "meta/stats.json"
KINDS: Final = ("min", "max", "mean", "std", "count")
EXACT: Final = 1e-6  # of a minimum or maximum: copied, at most through float32
OF_STD, OF_MEAN = 1e-3, 1e-5  # writers add up in float32, as in INT007


def pooled_claims(
    root: Path, info: Info, table: Episodes, tasks: Mapping[int, str], stored: Statistics
) -> Iterator[Claim]:
    """One claim per numeric feature whose statistics of the whole set can be told from its episodes."""
    names = [f.name for f in info.features if f.kind in ("numeric", "bookkeeping") and f.name in stored]
    summed = _summed(root, table, names) if info.major == 3 and names else {}
    counted = _counted(table, tasks)
    for name in names:
        found = counted.get(name, {}) | summed.get(name, {})
        both = [k for k in KINDS if k in found and k in stored[name]]
        if both:
            yield _compared(name, {k: stored[name][k] for k in both}, {k: found[k] for k in both})


def _counted(table: Episodes, tasks: Mapping[int, str]) -> dict[str, Kinds]:
    """What the table of episodes says of the columns that number rows."""
    lengths = [row.length for row in table.rows.values()]
    known = [n for n in lengths if n]
    if not known or len(known) < len(lengths):
        return {}
    total = sum(known)
    ranges = {
        "episode_index": (min(table.rows), max(table.rows)), "frame_index": (0, max(known) - 1),
        "index": (0, total - 1),
    }  # fmt: skip
    places = {text: i for i, text in tasks.items()}
    used = {places.get(row.tasks[0]) if len(row.tasks) == 1 else None for row in table.rows.values()}
    numbers = [i for i in used if i is not None]
    if len(numbers) == len(used) and len(places) == len(tasks):
        ranges["task_index"] = (min(numbers), max(numbers))
    return {
        name: {"min": _one(low), "max": _one(high), "count": _one(total)}
        for name, (low, high) in ranges.items()
    }


def _one(value: float) -> Floats:
    return np.array([value], np.float64)


def _summed(root: Path, table: Episodes, names: list[str]) -> dict[str, Kinds]:
    """The episodes' own statistics, pooled; features without all five kinds are left out."""
    parts: dict[str, dict[str, list[Floats]]] = {}
    for path in sorted({row.home[0] for row in table.rows.values()}):
        try:
            file = opened(file_at(root, path), path)
            rows = read(file, [f"stats/{n}/{k}" for n in names for k in KINDS], path)
        except UnreadableError:
            return {}  # the listing says that it cannot be read
        for name in names:
            said = {k: column(rows, f"stats/{name}/{k}") for k in KINDS}
            for kind, data in said.items():
                if data is not None:
                    x = np.asarray(values(data, None)[0], np.float64)
                    parts.setdefault(name, {}).setdefault(kind, []).append(x)
    found = {name: _pooled(kinds) for name, kinds in parts.items() if len(kinds) == len(KINDS)}
    return {name: kinds for name, kinds in found.items() if kinds}


def _pooled(parts: Mapping[str, list[Floats]]) -> Kinds:
    if any(len({x.shape[1] for x in pieces}) > 1 for pieces in parts.values()):
        return {}
    low, high, means, std, count = (np.concatenate(parts[k]) for k in KINDS)
    if count.shape[1] != 1 or not len(count) or not count.sum() > 0:
        return {}
    weight = count / count.sum()
    mean = (weight * means).sum(axis=0)
    spread = np.sqrt((weight * (std**2 + (means - mean) ** 2)).sum(axis=0))
    return {
        "min": low.min(axis=0), "max": high.max(axis=0), "mean": mean, "std": spread,
        "count": count.sum(axis=0),
    }  # fmt: skip


def _compared(name: str, said: Kinds, found: Kinds) -> Claim:
    """How many of the stored numbers are not those of the episodes."""
    wrong, blind, worst = 0, 0, ""
    for kind in said:
        a, b = said[kind], found[kind]
        if a.shape != b.shape:
            wrong, worst = wrong + abs(len(a) - len(b)), worst or f"{kind} of {len(b)} columns"
            continue
        known = np.isfinite(b)
        blind += int((~known).sum())
        off = np.flatnonzero(~(np.abs(a - b) <= _tolerance(kind, found)) & known)
        if len(off):
            at = int(off[np.argmax(np.nan_to_num(np.abs(a - b)[off], nan=np.inf))])
            wrong, worst = wrong + len(off), worst or f"{kind} {b[at]:.6g} where {a[at]:.6g} is stored"
    size = float("nan") if blind and not wrong else float(wrong)
    text = f"{wrong} differ: {worst}" if wrong else "the same" if not blind else f"{blind} are no numbers"
    return Claim("statistics", name, "those of all episodes", text, size, name, STATS)


def _tolerance(kind: str, found: Kinds) -> Floats | float:
    if kind == "count":
        return 0.5
    if kind in ("min", "max"):
        return np.asarray(EXACT * np.maximum(1.0, np.abs(found[kind])))
    if "std" not in found:
        return np.inf
    return np.asarray(OF_STD * found["std"] + OF_MEAN * np.maximum(1.0, np.abs(found["mean"])))
