"""Parquet files of strangers: opened inside the corpus, columns taken by place, values as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assay.errors import UnreadableError

__all__ = ["BROKEN", "column", "dtype_name", "is_numeric", "opened", "read", "row_width", "values"]

BROKEN: Final = (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError)
"""What pyarrow raises upon broken bytes."""

MOST_ROWS: Final = 20_000_000
MOST_DECODED: Final = 2 << 30
"""Rows and bytes of one read; a few kilobytes of run lengths can promise far more than memory holds."""

_POINTER: Final = b"version https://git-lfs"


def opened(path: Path, relative: str) -> Any:
    """A `pyarrow.parquet.ParquetFile`.

    Raises:
        UnreadableError: if the footer is not there or not readable.
    """
    try:
        return pq.ParquetFile(pa.OSFile(str(path)))
    except BROKEN as error:
        raise unreadable(relative, error, path) from error


def unreadable(relative: str, error: BaseException, path: Path | None = None) -> UnreadableError:
    """The one error for bytes that pyarrow refuses, with the likely cause where it shows."""
    pointer = path is not None and _starts(path, _POINTER)
    return UnreadableError(
        "not a readable parquet file",
        where=relative,
        found="a Git LFS pointer" if pointer else str(error).splitlines()[0][:200] if str(error) else None,
        remedy="fetch the real file with git lfs pull" if pointer else "deliver the file again",
    )


def _starts(path: Path, head: bytes) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(head)) == head
    except OSError:
        return False


def read(
    file: Any, names: Iterable[str], relative: str, groups: list[int] | None = None, schema: Any = None
) -> pa.Table:
    """The named top-level columns, by place, so that doubled names and dots in names do no harm.

    Raises:
        UnreadableError: if the bytes are broken, or promise more than `MOST_ROWS` or `MOST_DECODED`.
    """
    try:
        wanted = set(names)
        paths, at = list[str](), 0
        parquet, arrow = file.schema, schema or file.schema_arrow
        _bounded(file, wanted, groups, arrow, relative)
        for field in arrow:
            leaves = _leaves(field.type)
            if field.name in wanted:
                paths += [parquet.column(i).path for i in range(at, at + leaves)]
            at += leaves
        if groups is None:
            return file.read(columns=paths, use_threads=False)
        return file.read_row_groups(groups, columns=paths, use_threads=False)
    except BROKEN as error:
        raise unreadable(relative, error) from error


def _bounded(file: Any, wanted: set[str], groups: list[int] | None, schema: Any, relative: str) -> None:
    """Refuse, by the footer alone, what would not fit into memory once it is decoded.

    Numbers of each chunk are not asked for: pyarrow ends the process where a broken footer lacks them.
    """
    footer = file.metadata
    chosen = [footer.row_group(i) for i in (range(footer.num_row_groups) if groups is None else groups)]
    rows = sum(max(0, group.num_rows) for group in chosen)
    # Encoded by dictionary or run lengths, a column is smaller than its decoded numbers.
    widths = [row_width(field.type) or 1 for field in schema if field.name in wanted]
    size = 4 * rows * sum(widths)
    if wanted.issuperset(schema.names):
        size = max(size, sum(max(0, group.total_byte_size) for group in chosen))
    if rows > MOST_ROWS or size > MOST_DECODED:
        raise UnreadableError(
            "the file promises more than is read at once", where=relative,
            found=f"{rows} rows, {size >> 20} MiB decoded",
            expected=f"at most {MOST_ROWS} rows and {MOST_DECODED >> 20} MiB",
        )  # fmt: skip


def _leaves(kind: pa.DataType) -> int:
    if kind.num_fields == 0:
        return 1
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields))


def column(table: pa.Table, name: str) -> pa.ChunkedArray | None:
    """The first column of this name, None where there is none."""
    found = table.schema.get_all_field_indices(name)
    return table.column(found[0]) if found else None


@cache
def innermost(kind: pa.DataType) -> pa.DataType:
    """The type of the numbers inside nested lists."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            kind = kind.value_type
        else:
            return kind


@cache
def is_numeric(kind: pa.DataType) -> bool:
    """Whether it is a number, a truth value, or lists of them."""
    inner = innermost(kind)
    return bool(pa.types.is_integer(inner) or pa.types.is_floating(inner) or pa.types.is_boolean(inner))


@cache
def dtype_name(kind: pa.DataType) -> str:
    """The type in the words of ``info.json``: ``float32``, ``int64``, ``string``."""
    inner = innermost(kind)
    return np.dtype(inner.to_pandas_dtype()).name if is_numeric(inner) else str(inner)


@cache
def row_width(kind: pa.DataType) -> int | None:
    """Numbers per row as the type fixes it; None where every row may differ."""
    if isinstance(kind, pa.BaseExtensionType):
        return row_width(kind.storage_type)
    if pa.types.is_fixed_size_list(kind):
        inner = row_width(kind.value_type)
        return None if inner is None else int(kind.list_size) * inner
    return None if pa.types.is_list(kind) or pa.types.is_large_list(kind) else 1


def values(data: pa.ChunkedArray, width: int | None) -> tuple[NDArray[Any], int]:
    """A column as (n, c) numbers, and how many rows were null or of another length.

    Nothing is copied where all rows are whole. A row that is null, or whose length is not ``width`` (where
    that is None: the commonest length), is NaN throughout.
    """
    array = data.chunk(0) if data.num_chunks == 1 else data.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], data.type.storage_type)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if len(array) == 0:
        return np.empty((0, width or row_width(array.type) or 0)), 0
    lengths = _lengths(array)
    c = int(lengths[0])
    if array.null_count == 0 and (lengths == c).all():
        flat = _flat(array)
        nulls = flat.null_count
        x = flat.to_numpy(zero_copy_only=False).reshape(len(array), c)
        return x, int(np.isnan(x).any(axis=1).sum()) if nulls else 0
    return _patched(array, lengths, width)


def _patched(array: pa.Array, lengths: NDArray[np.int64], width: int | None) -> tuple[NDArray[Any], int]:
    known = lengths[lengths >= 0]
    c = width if width is not None and (known == width).any() else _commonest(known)
    if len(array) * c > MOST_DECODED // 8:
        raise UnreadableError("rows too long to be held", found=f"{len(array)} rows of {c} numbers")
    x = np.full((len(array), c), np.nan)
    good = lengths == c
    rows = array.filter(pa.array(good))
    if len(rows):
        x[good] = _flat(rows).to_numpy(zero_copy_only=False).reshape(-1, c)
    return x, int((~good).sum())


def _commonest(lengths: NDArray[np.int64]) -> int:
    if not len(lengths):
        return 0
    found, counts = np.unique(lengths, return_counts=True)
    return int(found[counts.argmax()])


def _lengths(array: pa.Array) -> NDArray[np.int64]:
    """Numbers in each row, through nested lists; -1 for a null row."""
    if array.type.num_fields == 0:
        n = np.ones(len(array), np.int64)
    elif (fixed := row_width(array.type)) is not None:
        n = np.full(len(array), fixed, np.int64)
    else:
        outer = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        n = outer
        if array.type.value_type.num_fields:
            ends = np.concatenate([[0], np.cumsum(_lengths(array.flatten()))])
            last = np.cumsum(outer)
            n = ends[last] - ends[last - outer]
    if array.null_count:
        n[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return n


def _flat(array: pa.Array) -> pa.Array:
    """The numbers of all rows, one after another; truth values as 0 and 1."""
    while array.type.num_fields:
        array = array.flatten()
    return array.cast(pa.uint8()) if pa.types.is_boolean(array.type) else array
