"""What a report reads of a run, and its verdicts pivoted to one row per gate and one column per episode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["MARKS", "NO_VERDICT", "STATUSES", "Grid", "RunTables", "begins", "column", "natural_key"]

STATUSES: Final = ("n/a", "pass", "abstain", "error", "fail")
"""From the lightest to the gravest: the index is what `Grid.status` holds."""

MARKS: Final = "npaef"
"""One character per status, in the order of `STATUSES`; ``-`` is no verdict."""

NO_VERDICT: Final = -1

_STRENGTH: Final = {"report": 0, "flag": 1, "reject": 2, "require": 3}


class RunTables(Protocol):
    """A finished run: the summary and its tables (pyarrow), as `assay.store.Run` gives them."""

    @property
    def path(self) -> Path:
        """The run's folder."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """What summary.json holds."""

    @property
    def plan(self) -> Mapping[str, Any]:
        """What plan.json holds."""

    @property
    def verdicts(self) -> Any:
        """Table of the fields of `assay.judge.Verdict` and ``effect``."""

    @property
    def measures(self) -> Any:
        """Table of the fields of `assay.judge.Measure`."""

    @property
    def findings(self) -> Any:
        """Table of the fields of `assay.judge.Finding`."""

    @property
    def timing(self) -> Any:
        """Table of episode, stream, against, settled, by, seconds, u and what else `Timing` holds."""

    @property
    def episodes(self) -> Any:
        """Table of episodes: subject, decision, present, frames, seconds, task, reasons, files, wall_s, t0.

        ``t0`` is the first sample, int64 ns; null in runs of before.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Verdicts by gate and episode.

    Attributes:
        codes: g gates; subjects: e episodes in natural order of their names.
        order: (e,) row of each episode in the table of episodes.
        row: (g, e) row in the table of verdicts, -1 where there is none.
        status: (g, e) index into `STATUSES`, -1 where there is none.
        effect: the strongest effect of each gate.
        blocks: (g, e) whether this verdict alone keeps the episode from being accepted.
        decision: (e,) accepted, rejected or unmeasured; seconds: (e,); present: (e,).
    """

    codes: tuple[str, ...]
    subjects: tuple[str, ...]
    order: NDArray[np.intp]
    row: NDArray[np.intp]
    status: NDArray[np.int8]
    effect: Mapping[str, str]
    blocks: NDArray[np.bool_]
    decision: NDArray[np.str_]
    seconds: NDArray[np.float64]
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, run: RunTables) -> Grid:
        """Pivot the verdicts of a run; verdicts about anything but an episode are left out."""
        names = column(run.episodes, "subject").tolist()
        order = np.array(sorted(range(len(names)), key=lambda i: natural_key(names[i])), np.intp)
        subjects = tuple(names[i] for i in order)
        codes = tuple(sorted(set(column(run.verdicts, "gate").tolist())))
        row = _rows(run.verdicts, codes, subjects)
        there = row >= 0
        state = _coded(column(run.verdicts, "status"), STATUSES).astype(np.int8)
        effect = column(run.verdicts, "effect")
        status = np.where(there, _take(state, row), NO_VERDICT).astype(np.int8)
        force = _coded(effect, tuple(_STRENGTH))
        at = np.where(there, _take(force, row), 0)
        grave = status >= STATUSES.index("abstain")
        blocks = ((at >= 2) & (status == STATUSES.index("fail"))) | ((at == 3) & grave)
        strongest = {code: tuple(_STRENGTH)[int(at[i].max(initial=0))] for i, code in enumerate(codes)}
        return cls(codes, subjects, order, row, status, strongest, blocks,
                   column(run.episodes, "decision")[order].astype(str),
                   np.nan_to_num(column(run.episodes, "seconds")[order].astype(np.float64)),
                   column(run.episodes, "present")[order].astype(bool))  # fmt: skip

    @property
    def unexplained(self) -> NDArray[np.bool_]:
        """(e,) not accepted though no verdict here keeps it from that."""
        return np.asarray((self.decision != "accepted") & ~self.blocks.any(axis=0))

    def of_gate(self, values: NDArray[Any], gate: int) -> NDArray[Any]:
        """(e,) of a column of all verdicts: those of one gate; meaningless where there is no verdict."""
        return _take(values, self.row[gate])

    def index_of(self, subjects: NDArray[Any]) -> NDArray[np.intp]:
        """Position of each subject among the episodes, -1 for anything else."""
        return _coded(subjects, self.subjects)


def column(table: Any, name: str) -> NDArray[Any]:
    """One column of a pyarrow table as numpy; strings as objects, missing text as ``""``."""
    import pyarrow as pa

    data = table.column(name)
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    values = data.to_numpy()
    if values.dtype == object and data.null_count:
        values = np.array(["" if v is None else v for v in values], object)
    return np.asarray(values)


def begins(run: RunTables) -> dict[str, int]:
    """First sample of each episode, int64 ns: what people's seconds count from; 0 where it is not known."""
    names, first = run.episodes["subject"].to_pylist(), run.episodes["t0"].to_pylist()
    return {name: at or 0 for name, at in zip(names, first, strict=True)}


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key under which ``episode_2`` comes before ``episode_10``."""
    parts = re.split(r"([0-9]{1,18})", text)
    return tuple((0, int(p), "") if i % 2 else (1, 0, p) for i, p in enumerate(parts))


def _rows(verdicts: Any, codes: tuple[str, ...], subjects: tuple[str, ...]) -> NDArray[np.intp]:
    gate, who = _coded(column(verdicts, "gate"), codes), _coded(column(verdicts, "subject"), subjects)
    known = (gate >= 0) & (who >= 0) & (column(verdicts, "scope") != "corpus")
    row = np.full((len(codes), len(subjects)), -1, np.intp)
    row[gate[known], who[known]] = np.flatnonzero(known)
    return row


def _coded(values: NDArray[Any], names: tuple[str, ...]) -> NDArray[np.intp]:
    place = {name: i for i, name in enumerate(names)}
    return np.fromiter((place.get(v, -1) for v in values.tolist()), np.intp, len(values))


def _take(values: NDArray[Any], row: NDArray[np.intp]) -> NDArray[Any]:
    if not len(values):
        return np.zeros(row.shape, values.dtype)
    return np.asarray(values[np.maximum(row, 0)])
