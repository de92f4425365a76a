"""The failing clips of a finished run, attributed, and what is kept of it in the run's folder."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.amiss import amiss
from assay.attribution import GATES, attribute
from assay.attribution.doubt import DOUBTFUL
from assay.attribution.rule import Attribution
from assay.calibrate import Calibration
from assay.engine.again import corpora_again, open_again
from assay.errors import RunError, UsageError
from assay.signals.reference import require
from assay.store import Run

__all__ = ["FILE", "SAYS", "attributed", "keep", "kept", "lines"]

FILE: Final = "attribution.json"
SAYS: Final = {
    "solver": "this solver did not",
    "body": "the body cannot do this",
    "undecided": "undecided",
}


def attributed(run: Run, subject: str | None = None) -> Iterator[Attribution]:
    """Whose fault the findings are, clip by clip: of one episode, or of all that fail.

    Raises:
        UsageError: if the run has no such episode, or its corpus is gone.
        MissingExtraError: if what the reference needs is not installed, and something fails.
        UnreadableError: if a file of an episode cannot be read.
    """
    if subject is not None and not any(row["subject"] == subject for row in _failing(run)):
        run.episode(subject)  # which says so where there is none
        raise UsageError("nothing to attribute", where=subject, found="neither hands nor feet fail",
                         expected=f"a failure of {', '.join(GATES)}")  # fmt: skip
    if not _failing(run):
        return
    require()
    learnt = Calibration.read(run.path / "calibration.json")
    corpora, others = corpora_again(run.plan), _others(run)
    for row in _failing(run):
        if subject in (None, row["subject"]):
            code = row["gate"]
            _, features, p = open_again(run.plan, learnt, row["subject"], code, corpora)
            yield from attribute(features, row["subject"], {code: p}, (code,), others.get(row["subject"], ""))


def keep(run: Run, made: Sequence[Attribution]) -> None:
    """Put attributions beside the run's tables, in place of earlier ones of the same episodes.

    Raises:
        RunError: if the folder cannot be written.
    """
    again = {a.subject for a in made}
    rows = [row for row in kept(run.path) if row["subject"] not in again] + [_row(a) for a in made]
    draft = run.path / f"{FILE}.part"
    try:
        draft.write_text(json.dumps(rows, indent=1), "utf-8")
        draft.replace(run.path / FILE)
    except OSError as error:
        raise RunError("the run folder cannot be written", where=str(run.path),
                       found=error.strerror or str(error)) from error  # fmt: skip


def kept(path: Path) -> list[dict[str, Any]]:
    """The attributions in a run's folder; none where nobody asked for them.

    Raises:
        RunError: if the file is not what `keep` writes.
    """
    if not (path / FILE).is_file():
        return []
    try:
        rows = json.loads((path / FILE).read_text("utf-8"))
        if not all(row["says"] in SAYS and isinstance(row["subject"], str) for row in rows):
            raise ValueError("rows that no attribution wrote")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunError("a file of the run cannot be read", where=str(path / FILE), found=amiss(error),
                       remedy="delete it and run assay attribute again") from error  # fmt: skip
    return list(rows)


def lines(made: Iterable[Mapping[str, Any] | Attribution], first: Mapping[str, int]) -> Iterator[str]:
    """What a person reads, at most 80 columns, in seconds since an episode's first sample.

    Args:
        made: attributions, or their rows.
        first: ns of the first sample by episode; the clock's own zero where it is not known.
    """
    for one in made:
        row = _row(one) if isinstance(one, Attribution) else one
        reference = "not solved" if row["reference"] is None else f"{row['reference'] * 100:.1f} cm"
        at = (row["t0"] - first.get(row["subject"], 0)) * 1e-9
        where = f"{row['subject']} {row['gate']} {row['channel']} at {at:.2f} s"
        yield from textwrap.wrap(f"{where}: {SAYS[row['says']]}", 80)
        said = f"clip {row['clip'] * 100:.1f} cm, reference {reference}, limit {row['limit'] * 100:g} cm"
        yield from textwrap.wrap(f"{said}; {row['why']}", 80, initial_indent="  ", subsequent_indent="  ")


def _others(run: Run) -> dict[str, str]:
    """Episodes whose human moves like another clip's robot, by the finding of RTG002 over the corpus."""
    whole = {r["subject"] for r in run.verdicts.to_pylist() if r["scope"] == "corpus"}
    rows = [r for r in run.findings.to_pylist() if r["gate"] == "RTG002" and r["subject"] in whole]
    return {r["channel"]: f"{DOUBTFUL}: it fits another clip better (RTG002 over the corpus)" for r in rows}


def _failing(run: Run) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run.verdicts.to_pylist()
    return [r for r in rows if r["status"] == "fail" and r["gate"] in GATES and r["scope"] == "episode"]


def _row(a: Attribution) -> dict[str, Any]:
    """As JSON, which has no NaN."""
    return {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in asdict(a).items()}
