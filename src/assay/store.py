"""A run on disk: a ledger that survives kill -9, and the tables made from it.

    run/  plan.json calibration.json ledger.jsonl run.lock
          episodes.parquet verdicts.parquet measures.parquet findings.parquet timing.parquet
          summary.json report.html

While a run goes on, each finished episode is one appended line of the ledger. A torn last line (power cut,
kill -9) is ignored and that episode is measured again on ``--resume``.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

import orjson

from assay.amiss import amiss
from assay.errors import RunError, UsageError
from assay.tables import SCHEMAS, write_tables

if TYPE_CHECKING:
    import pyarrow as pa

    from assay.gate import Evidence
    from assay.model import Episode

__all__ = ["EpisodeOfRun", "Ledger", "Run"]

CORPUS: Final = "corpus"


class Ledger:
    """The journal of a run folder: one writer at a time, append only.

    Args:
        folder: the run folder; made if absent.
        resume: whether an existing ledger is continued; otherwise an existing folder is refused.

    Raises:
        RunError: if the folder exists and ``resume`` is false, if another run writes to it, or if it
            cannot be written.
    """

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        self.folder = folder
        try:
            _refuse_strange(folder, resume=resume)
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / "run.lock").open("w")
            _lock(self._lock, folder)
            self._file = (folder / "ledger.jsonl").open("ab+")
        except OSError as error:
            raise _unwritable(folder, error) from error
        self.places = self._scan()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # what a full disk did not take has been said
            self._file.close()
        self._lock.close()

    def append(self, subject: str, line: bytes) -> None:
        """Add the record of one episode (JSON without a line break).

        Raises:
            RunError: if the disk is full or the folder is gone.
        """
        try:
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(line + b"\n")
            self._file.flush()
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.places[subject] = place

    def write(self, name: str, text: str) -> None:
        """Write a small file of the run whole or not at all."""
        _write(self.folder / name, text)

    def read(self, subject: str) -> dict[str, Any]:
        """The record of a finished episode."""
        self._file.seek(self.places[subject])
        record: dict[str, Any] = orjson.loads(self._file.readline())
        return record

    def records(self, order: Sequence[str]) -> Iterator[dict[str, Any]]:
        """All finished records in the given order of subjects, one at a time."""
        for subject in order:
            if subject in self.places:
                yield self.read(subject)

    def finish(self, order: Sequence[str], summary: Mapping[str, Any]) -> None:
        """Turn the ledger into tables and the summary."""
        try:
            write_tables(self.folder, self.records(order))
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.write("summary.json", json.dumps(summary, indent=1))

    def _scan(self) -> dict[str, int]:
        """Place of each finished episode's last record; errors of ours are not finished and are retried."""
        places: dict[str, int] = {}
        self._file.seek(0)
        place = 0
        for line in self._file:
            subject = _subject_of(line)
            if subject is not None:
                places[subject] = place
            place += len(line)
        if place and not line.endswith(b"\n"):
            self._file.truncate(place - len(line))
        return places


def _refuse_strange(folder: Path, *, resume: bool) -> None:
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if there and not resume:
        raise RunError("the run folder exists already", where=str(folder),
                       remedy="continue it with --resume or choose another --out")  # fmt: skip
    if there - {"run.lock"} and "ledger.jsonl" not in there:
        raise RunError("there is no run to resume", where=str(folder), found="a folder without ledger.jsonl",
                       remedy="choose the --out of an interrupted run, or a new one")  # fmt: skip


def _lock(file: TextIO, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise RunError("another run is writing to this folder", where=str(folder),
                       remedy="wait for it or choose another --out") from None  # fmt: skip


def _subject_of(line: bytes) -> str | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = orjson.loads(line)
        return None if record["error"] else str(record["subject"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None  # damaged: measured again


class Run:
    """A finished run, read from its folder.

    Attributes:
        path: the run folder.
        summary: the counts of ``summary.json``; plan: what was done.
        verdicts, measures, findings, episodes, timing: pyarrow tables, see docs/schema.md.

    Raises:
        RunError: if the folder holds no finished run.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (self.path / "summary.json").is_file():
            started = (self.path / "ledger.jsonl").is_file()
            cure = "finish it with assay run ... --resume" if started else "name the folder of a run"
            raise RunError("the run is not finished" if started else "not a run folder",
                           where=str(self.path), remedy=cure)  # fmt: skip
        self.summary: dict[str, Any] = self._json("summary.json")
        self.plan: dict[str, Any] = self._json("plan.json")

    @cached_property
    def verdicts(self) -> pa.Table:
        """One row per subject and gate."""
        return self._table("verdicts")

    @cached_property
    def measures(self) -> pa.Table:
        """One row per piece of evidence: its counts at 24 multiples of the limit."""
        return self._table("measures")

    @cached_property
    def findings(self) -> pa.Table:
        """One row per stretch of a channel beyond its limit."""
        return self._table("findings")

    @cached_property
    def timing(self) -> pa.Table:
        """One row per episode and pair of streams: whether their time is measured, bounded or assumed."""
        if not (self.path / "timing.parquet").is_file():  # a run of an earlier version
            return SCHEMAS["timing"].empty_table()
        return self._table("timing")

    @cached_property
    def episodes(self) -> pa.Table:
        """One row per episode with its decision."""
        return self._table("episodes")

    def episode(self, subject: str) -> EpisodeOfRun:
        """One episode of the run.

        Raises:
            UsageError: if the run has no such episode.
        """
        if subject not in self.episodes["subject"].to_pylist():
            raise UsageError("the run has no such episode", where=str(self.path), found=subject,
                             remedy="assay verdicts lists the episodes of a run")  # fmt: skip
        return EpisodeOfRun(self, subject)

    def _table(self, name: str) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_table(self.path / f"{name}.parquet", schema=SCHEMAS[name])
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(f"{name}.parquet", error) from error

    def _json(self, name: str) -> dict[str, Any]:
        try:
            value = json.loads((self.path / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise self._damaged(name, error) from error
        if not isinstance(value, dict):
            raise self._damaged(name, TypeError("not a table"))
        return value

    def _damaged(self, name: str, error: Exception) -> RunError:
        return RunError("a file of the run cannot be read", where=str(self.path / name),
                        found=amiss(error), remedy="make the tables again with --resume")  # fmt: skip


class EpisodeOfRun:
    """One episode of a run: its rows, and its evidence measured again from the data."""

    def __init__(self, run: Run, subject: str) -> None:
        self.run = run
        self.subject = subject

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """This episode's verdict rows."""
        return self._rows(self.run.verdicts)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """This episode's findings."""
        return self._rows(self.run.findings)

    @property
    def measures(self) -> list[dict[str, Any]]:
        """This episode's measures."""
        return self._rows(self.run.measures)

    @property
    def timing(self) -> list[dict[str, Any]]:
        """What is known of the time of this episode's streams."""
        return self._rows(self.run.timing)

    @property
    def decision(self) -> str:
        """accepted, rejected or unmeasured."""
        return str(self._rows(self.run.episodes)[0]["decision"])

    def evidence(self, gate: str) -> tuple[Evidence, ...]:
        """The evidence of one gate, sample by sample, measured again from the corpus (it must be there)."""
        return self.again(gate)[1]

    def again(self, gate: str) -> tuple[Episode, tuple[Evidence, ...]]:
        """The episode opened again, and the evidence of one gate on it.

        Raises:
            UsageError: if the corpus is gone or has no such episode, or the run did not use this gate.
            UnreadableError: if a file of the episode cannot be read.
        """
        from assay.calibrate import Calibration
        from assay.engine.again import measured_again

        learnt = Calibration.read(self.run.path / "calibration.json")
        return measured_again(self.run.plan, learnt, self.subject, gate)

    def _rows(self, table: pa.Table) -> list[dict[str, Any]]:
        import pyarrow.compute as pc

        rows: list[dict[str, Any]] = table.filter(pc.equal(table["subject"], self.subject)).to_pylist()
        return rows


def _write(path: Path, text: str) -> None:
    draft = path.with_suffix(path.suffix + ".part")
    try:
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError as error:
        raise _unwritable(path.parent, error) from error


def _unwritable(folder: Path, error: OSError) -> RunError:
    return RunError("the run folder cannot be written", where=str(folder), found=error.strerror or str(error),
                    remedy="free space or choose another --out, then continue with --resume")  # fmt: skip
