"""The data that the page's script sorts, filters and opens: whole columns, packed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.gate import REASONS
from assay.report.compact import pack, significant
from assay.report.tables import MARKS, NO_VERDICT, Grid, RunTables, begins, column

__all__ = ["MOST_FINDINGS", "OWN_NAME", "payload"]

MOST_FINDINGS: Final = 20_000
"""Findings in one page; each gate and episode keeps its worst before any gets a second one."""

OWN_NAME: Final = "\x01"
"""Stands for the last part of the episode's name in a file's name."""

_FIELDS: Final = (
    "worst",
    "limit",
    "lo",
    "hi",
    "quota",
    "n_in",
    "n_out",
    "n_unknown",
    "n_nan",
    "worst10",
    "findings",
)
_WORDS: Final = ("unit", "reason", "detail", "stream", "channel")


def payload(run: RunTables, grid: Grid, titles: dict[str, str]) -> dict[str, Any]:
    """Everything of the table and the panels. ``docs/schema.md`` does not promise this layout."""
    columns = {name: column(run.verdicts, name) for name in (*_FIELDS, *_WORDS)}
    return {
        "run": str(run.path),
        "reasons": REASONS,
        "episodes": _episodes(run, grid),
        "gates": [_gate(columns, grid, at, titles) for at in range(len(grid.codes))],
        "findings": _findings(run, grid),
    }


def _episodes(run: RunTables, grid: Grid) -> dict[str, Any]:
    table = run.episodes

    def own(name: str) -> NDArray[Any]:
        return column(table, name)[grid.order]

    return {
        "id": list(grid.subjects),
        "decision": "".join(d[:1] for d in grid.decision.tolist()),
        "present": "".join("1" if p else "0" for p in own("present").tolist()),
        "seconds": pack(grid.seconds),
        "frames": pack(own("frames")),
        "wall": pack(own("wall_s").astype(np.float64)),
        "task": pack(own("task")),
        "reasons": pack(own("reasons")),
        "files": pack(_files(grid.subjects, own("files"))),
    }


def _files(subjects: tuple[str, ...], files: NDArray[Any]) -> NDArray[Any]:
    """File names with the episode's own name as a placeholder: most formats then have a handful."""
    names = [subject.rpartition("/")[2] for subject in subjects]
    return np.array([f.replace(n, OWN_NAME) if n else f for f, n in zip(files, names, strict=True)], object)


def _gate(columns: dict[str, NDArray[Any]], grid: Grid, at: int, titles: dict[str, str]) -> dict[str, Any]:
    there = grid.status[at] != NO_VERDICT
    code = grid.codes[at]
    found: dict[str, Any] = {
        "code": code,
        "title": titles.get(code, ""),
        "effect": grid.effect[code],
        "status": "".join(MARKS[s] if s >= 0 else "-" for s in grid.status[at].tolist()),
    }
    for name in _FIELDS:
        values = grid.of_gate(columns[name], at)
        found[name] = pack(np.where(there, values, 0 if values.dtype.kind in "iu" else np.nan))
    for name in _WORDS:
        found[name] = pack(np.where(there, grid.of_gate(columns[name], at), "").astype(object))
    return found


def _findings(run: RunTables, grid: Grid) -> dict[str, Any]:
    table, first = run.findings, begins(run)
    who = grid.index_of(column(table, "subject"))
    gates = {code: i for i, code in enumerate(grid.codes)}
    gate = np.array([gates.get(c, -1) for c in column(table, "gate").tolist()], int)
    rows = np.flatnonzero((who >= 0) & (gate >= 0))
    rows = rows[np.sort(_fairest(who[rows] * len(gates) + gate[rows], table, rows)[:MOST_FINDINGS])]
    rows = rows[np.lexsort((column(table, "t0")[rows], gate[rows], who[rows]))]
    t0, t1 = column(table, "t0")[rows], column(table, "t1")[rows]
    timed = (t0 != 0) | (t1 != 0)  # what has no time has none from the first sample on
    t0 = t0 - np.where(timed, np.array([first[name] for name in grid.subjects], np.int64)[who[rows]], 0)
    ms = np.rint((column(table, "t1")[rows] - column(table, "t0")[rows]) / 1e6)
    words = {name: pack(column(table, name)[rows]) for name in ("stream", "channel", "unit", "note")}
    return {
        "shown": len(rows),
        "episode": np.diff(who[rows], prepend=0).tolist(),
        "gate": gate[rows].tolist(),
        "t0": np.rint(t0 / 1e6).astype(np.int64).tolist(),
        "ms": ms.astype(np.int64).tolist(),
        "samples": column(table, "samples")[rows].tolist(),
        "worst": significant(column(table, "worst")[rows].astype(np.float64)).tolist(),
        "limit": pack(column(table, "limit")[rows].astype(np.float64)),
        **words,
    }


def _fairest(group: NDArray[np.intp], table: Any, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places in ``rows``: the worst of every group, then the second worst of every group, and so on."""
    worst, limit = (column(table, name)[rows].astype(np.float64) for name in ("worst", "limit"))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.nan_to_num(np.abs(np.log(np.abs(worst / limit))), nan=0.0, posinf=1e9)
    order = np.lexsort((-far, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    size = np.diff(first, append=len(order))
    rank = np.arange(len(order)) - np.repeat(first, size)
    return np.asarray(order[np.argsort(rank, kind="stable")])
