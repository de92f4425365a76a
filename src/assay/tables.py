"""The tables of a run, their columns, and writing them from records one episode at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["SCHEMAS", "write_tables"]

_BATCH: Final = 32
"""Episodes per row group: bounds memory whatever the corpus."""


def _schema(**columns: str) -> pa.Schema:
    kinds = {
        "s": pa.string(), "i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "l": pa.list_(pa.int64()),
    }  # fmt: skip
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "episodes": _schema(
        subject="s", decision="s", present="b", frames="i", seconds="f", task="s", reasons="s", files="s",
        wall_s="f", t0="i",
    ),
    "verdicts": _schema(
        scope="s", subject="s", gate="s", gate_version="i", status="s", simple="s", worst="f", limit="f",
        unit="s", lo="f", hi="f", quota="f", n_in="i", n_out="i", n_unknown="i", n_nan="i", worst10="f",
        reason="s", detail="s", stream="s", channel="s", findings="i", effect="s",
    ),
    "measures": _schema(
        gate="s", gate_version="i", scope="s", subject="s", stream="s", against="s", channel="s", unit="s",
        sense="s", limit="f", quota="f", min_run="f", limit_key="s", quota_key="s", reason="s", n="i",
        n_in="i", n_out="i", n_unknown="i", n_nan="i", n_finite="i", worst="f", median="f", u="f",
        seconds="f", sure="l",
        maybe="l", maybe_unknown="l", simple_beyond="i", worst10="f", settled="s",
        detail="s", by="s",
    ),
    "findings": _schema(
        gate="s", subject="s", stream="s", channel="s", t0="i", t1="i", samples="i", worst="f", limit="f",
        unit="s", note="s",
    ),
    "timing": _schema(
        subject="s", stream="s", against="s", settled="s", by="s", reference="s", seconds="f", u="f",
        ppm="f", ppm_u="f", rate="f", jitter="f", hand_speed="f", hand="f", detail="s", cure="s",
    ),
}  # fmt: skip


def write_tables(folder: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write every table of `SCHEMAS` as parquet, in the order of records."""
    drafts = {name: folder / f"{name}.parquet.part" for name in SCHEMAS}
    with contextlib.ExitStack() as stack:
        writers = {
            name: stack.enter_context(pq.ParquetWriter(drafts[name], SCHEMAS[name])) for name in SCHEMAS
        }
        for batch in _batches(records):
            for name, writer in writers.items():
                rows = [row for record in batch for row in _rows(record, name)]
                writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]))
    for name, draft in drafts.items():
        draft.replace(folder / f"{name}.parquet")


def _rows(record: Mapping[str, Any], table: str) -> Iterable[Mapping[str, Any]]:
    if table != "episodes":
        rows: list[Mapping[str, Any]] = record.get(table, [])  # a ledger of before timing lacks it
        return rows
    return [] if record["scope"] == "corpus" else [record]


def _batches(records: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    for record in records:
        batch.append(record)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch
