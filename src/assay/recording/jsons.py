"""JSON messages: values by path, messages of one structure together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.recording.layout import MOST_VALUES, Piece, Text

__all__ = ["json_pieces"]

MOST_DEPTH: Final = 12
MOST_PATHS: Final = 20_000
MOST_TEXT: Final = 4096
"""Characters of a text that is kept; a longer one is data in disguise (base64)."""

Ints = NDArray[np.int64]
_Flat = tuple[dict[str, float | list[float]], dict[str, Text]]


def json_pieces(data: NDArray[np.uint8], start: Ints, size: Ints) -> Iterator[Piece]:
    """Decode messages of one topic; see `assay.recording.layout.pieces`.

    Raises:
        UnreadableError: if one is not JSON.
    """
    groups: dict[Any, tuple[list[int], list[dict[str, Any]], dict[str, Text]]] = {}
    view, known = data.tobytes(), set[str]()
    for row, (at, n) in enumerate(zip(start.tolist(), size.tolist(), strict=True)):
        try:
            value = orjson.loads(view[at : at + n])
        except orjson.JSONDecodeError as error:
            raise UnreadableError(
                "a message is not JSON", where=f"message {row}", found=str(error)[:80]
            ) from error
        flat: _Flat = ({}, {})
        _flatten(value, "", flat, 0)
        numbers, texts = flat
        known.update(numbers)
        if len(known) > MOST_PATHS:  # each message alone is small, and no two hold the same
            raise UnreadableError("the messages are spread beyond measure", where=f"message {row}",
                                  found=f"{len(known)} fields", expected=f"at most {MOST_PATHS}")  # fmt: skip
        shape = tuple((p, len(v) if isinstance(v, list) else -1) for p, v in numbers.items())
        rows, values, _ = groups.setdefault((shape, tuple(texts.items())), ([], [], texts))
        rows.append(row)
        values.append(numbers)
    for rows, values, texts in groups.values():
        columns = {p: np.array([v[p] for v in values], np.float64) for p in values[0] if not _whole(p)}
        columns |= {p: np.array([_int(v[p]) for v in values], np.int64) for p in values[0] if _whole(p)}
        yield Piece(np.array(rows, np.int64), columns, texts, {})


_WHOLE: Final = ("sec", "secs", "seconds", "nsec", "nsecs", "nanosec", "nanos", "timestamp_ns", "stamp_ns")


def _whole(path: str) -> bool:
    """Stamps stay integers: an epoch in nanoseconds has more digits than a float."""
    return path.rpartition(".")[2] in _WHOLE


def _int(value: Any) -> int:
    number = value[0] if isinstance(value, list) and value else value
    try:
        return max(-(1 << 62), min(1 << 62, int(number)))
    except (TypeError, ValueError, OverflowError):
        return 0


_NUMBERS: Final = frozenset({bool, int, float})
_TEXT: Final = frozenset({str})


def _flatten(value: Any, path: str, into: _Flat, depth: int) -> None:
    """Kinds are compared, not asked for: this is the inner loop, and orjson makes no subclasses."""
    numbers, texts = into
    kind = type(value)
    if kind in _NUMBERS:
        numbers[path] = value
    elif kind is str:
        texts[path] = value if len(value) <= MOST_TEXT else f"{len(value)} characters"
    elif kind is dict:
        if depth > MOST_DEPTH or len(numbers) + len(texts) + len(value) > MOST_PATHS:
            raise UnreadableError("the message is nested or spread beyond measure", where=path[:80])
        for name, inner in value.items():
            _flatten(inner, f"{path}.{name}" if path else name, into, depth + 1)
    elif kind is list and len(value) <= MOST_VALUES:
        _list(value, path, into, depth)


def _list(value: list[Any], path: str, into: _Flat, depth: int) -> None:
    numbers, texts = into
    kinds = set(map(type, value))
    if kinds <= _NUMBERS:
        numbers[path] = value
    elif kinds == _TEXT:
        texts[path] = tuple(value) if len(max(value, key=len)) <= MOST_TEXT else ()
    elif depth > MOST_DEPTH or len(numbers) + len(texts) > MOST_PATHS:
        raise UnreadableError("the message is nested or spread beyond measure", where=path[:80])
    else:
        for i, inner in enumerate(value):
            _flatten(inner, f"{path}[{i}]", into, depth + 1)
