"""Messages of one layout decoded together: one is walked, the others are shown to be laid out alike.

A walk over one message gives a `Layout`: where each value lies, and a mask of the bits that decide so
(lengths, tags, texts). Every message of the same size with the same bits under the mask has its values in the
same places, so they are taken from all of them at once. Names never vary within a `Piece`: they are under the
mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_VALUES", "Field", "Layout", "Piece", "Text", "pieces"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Text = str | tuple[str, ...]

MOST_VALUES: Final = 4096
"""Numbers of one array, or elements of one sequence, that are kept; longer ones are blobs or refused."""

MOST_LAYOUTS: Final = 32
"""Layouts of one size that are compared; beyond, each message is walked alone."""


@dataclass(frozen=True, slots=True)
class Field:
    """Numbers of a message.

    Attributes:
        path: e.g. ``header.stamp.sec`` or ``transforms[0].transform.rotation.w``.
        at: the first byte.
        dtype: of each number; ``varint`` and ``zigzag`` are Protocol Buffers' own.
        count: how many, None for one that is no array.
        width: bytes of a varint.
        value: what it is in every message, where the encoding leaves it out.
    """

    path: str
    at: int
    dtype: str
    count: int | None = None
    width: int = 0
    value: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the values of a message lie; see the module.

    Attributes:
        first: (size,) the message that was walked; mask: (size,) bits that a message must share with it.
        texts: path → text, or a tuple where it is an array.
        blobs: path → (first byte, bytes).
    """

    first: Bytes
    mask: Bytes
    fields: tuple[Field, ...]
    texts: Mapping[str, Text]
    blobs: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Messages that are laid out alike.

    Attributes:
        rows: (k,) which messages of the batch.
        numbers: path → (k,), or (k, m) for an array.
        texts: path → the same text in all of them.
        blobs: path → (k, 2) first byte within the batch's data, and bytes.
    """

    rows: Ints
    numbers: Mapping[str, NDArray[Any]]
    texts: Mapping[str, Text]
    blobs: Mapping[str, Ints]


def pieces(data: Bytes, start: Ints, size: Ints, walk: Callable[[bytes], Layout]) -> Iterator[Piece]:
    """Decode messages of one topic.

    Args:
        data: what they lie in.
        start: (n,) first byte of each.
        size: (n,) bytes of each.
        walk: one message → its layout; raises `UnreadableError` where it is malformed.
    """
    order = np.argsort(size, kind="stable")
    edges = np.flatnonzero(np.diff(size[order])) + 1
    for rows in np.split(order, edges):
        if len(rows):
            yield from _alike(data, rows, start[rows], int(size[rows[0]]), walk)


def _alike(
    data: Bytes, rows: Ints, start: Ints, size: int, walk: Callable[[bytes], Layout]
) -> Iterator[Piece]:
    """Pieces of messages of one size."""
    left = np.arange(len(rows))
    stacked = _stacked(data, start, size)
    layouts = 0
    while len(left):
        layout = walk(stacked[left[0]].tobytes())
        layouts += 1
        same = left[:1]
        if layouts <= MOST_LAYOUTS and len(left) > 1:
            fits = ~((stacked[left] ^ layout.first) & layout.mask).any(axis=1)
            same, left = left[fits], left[~fits]
        else:
            left = left[1:]
        taken = stacked if len(same) == len(stacked) else stacked[same]
        numbers = {f.path: _numbers(taken, f) for f in layout.fields}
        begin = start[same]
        blobs = {path: np.stack([begin + at, np.full(len(same), n)], axis=1)
                 for path, (at, n) in layout.blobs.items()}  # fmt: skip
        yield Piece(rows[same], numbers, layout.texts, blobs)


def _stacked(data: Bytes, start: Ints, size: int) -> Bytes:
    """(k, size) bytes of messages of one size."""
    if size == 0:
        return np.zeros((len(start), 0), np.uint8)
    if len(start) == 1:
        return data[start[0] : start[0] + size][None]
    return np.lib.stride_tricks.sliding_window_view(data, size)[start]


def _numbers(stacked: Bytes, field: Field) -> NDArray[Any]:
    k = len(stacked)
    if field.value is not None:
        return np.full(k, field.value)
    if field.width:
        return _varints(stacked[:, field.at : field.at + field.width], field.dtype)
    dtype = np.dtype(field.dtype)
    n = 1 if field.count is None else field.count
    if n == 0:
        return np.zeros((k, 0), dtype)
    flat = np.ascontiguousarray(stacked[:, field.at : field.at + n * dtype.itemsize]).view(dtype)
    values = flat.astype(dtype.newbyteorder("="), copy=False)
    return values[:, 0] if field.count is None else values


def _varints(raw: Bytes, kind: str) -> Ints:
    shifts = np.arange(raw.shape[1], dtype=np.uint64) * np.uint64(7)
    bits = np.bitwise_or.reduce((raw & 0x7F).astype(np.uint64) << shifts, axis=1)
    if kind == "zigzag":
        return np.asarray((bits >> np.uint64(1)).astype(np.int64) ^ -(bits & np.uint64(1)).astype(np.int64))
    return np.asarray(bits.astype(np.int64))
