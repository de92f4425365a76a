"""Loaded objects as plain data."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from assay.unpickle.values import Kind, Name, Pending, RefusedError, key_of

MOST_DEPTH: Final = 64


def plain(value: Any) -> Any:
    """Loaded objects as dicts, lists, tuples, numbers, text and arrays.

    Raises:
        RefusedError: if something else is left, or it is nested too deep or in itself.
    """
    return _plain(value, {}, 0)


_OPEN: Final = object()


def _plain(value: Any, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise RefusedError(f"it is nested deeper than {MOST_DEPTH}")
    if isinstance(value, bool | int | float | complex | str | bytes | type(None) | np.generic | np.ndarray):
        return value
    known = done.get(id(value))
    if known is not None:
        if known[1] is _OPEN:
            raise RefusedError("it contains itself")
        return known[1]
    done[id(value)] = (value, _OPEN)  # holds the value, so that its id stays its own
    made = _converted(value, done, depth + 1)
    done[id(value)] = (value, made)
    return made


def _converted(value: Any, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    if isinstance(value, Pending):
        if value.value is None or isinstance(value, Kind):
            raise RefusedError("an object without its content")
        return _plain(value.value, done, depth)
    if isinstance(value, dict):
        return {key_of(k): _plain(v, done, depth) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(v, done, depth) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, bytearray):
        return bytes(value)
    raise RefusedError(f"a bare {value.path!r}" if isinstance(value, Name) else f"a {type(value).__name__}")
