"""Columns in few bytes, and JSON that may stand inside a page."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

__all__ = ["embed", "pack", "significant"]

_DIGITS: Final = 4
_MOSTLY: Final = 0.7
"""A value that fills this share of a column becomes its default; the others are listed by place."""

_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def pack(values: NDArray[Any]) -> dict[str, Any]:
    """A column in whichever form is shortest; the page's script undoes it.

    Constant ``c``; default ``d`` with gaps ``i`` and values ``v``; dictionary ``u`` with places ``x``; or
    plain ``a``.

    Args:
        values: (n,) numbers or text; floats are cut to four significant digits, NaN becomes null.
    """
    if values.dtype.kind == "f":
        values = significant(values)
    values = values.astype(str) if values.dtype == object else values
    names, place, count = np.unique(values, return_inverse=True, return_counts=True)
    if len(names) <= 1:
        return {"c": _plain(names)[0] if len(names) else None}
    most = int(np.argmax(count))
    if count[most] > _MOSTLY * len(values):
        other = np.flatnonzero(place != most)
        gaps = np.diff(other, prepend=0)
        rest = values[other]
        return {"d": _plain(names)[most], "i": gaps.tolist(), "v": _plain(rest)}
    if values.dtype.kind == "U" and len(names) < len(values) // 2:
        return {"u": _plain(names), "x": place.tolist()}
    return {"a": _plain(values)}


def significant(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Four significant digits: enough to read, a third of the bytes."""
    x = np.asarray(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        size = np.where((x != 0) & np.isfinite(x), np.floor(np.log10(np.abs(x))), 0)
        up, down = 10.0 ** np.maximum(_DIGITS - 1 - size, 0), 10.0 ** np.maximum(size - _DIGITS + 1, 0)
        cut = np.rint(x * up / down) * down / up
    return np.where(np.isfinite(cut), cut, x)


def embed(value: Any) -> Markup:
    """JSON for a ``<script type="application/json">``: nothing in it can end the element."""
    import orjson

    text = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS).decode()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return Markup(text)  # every character that markup knows is escaped above


def _plain(values: NDArray[Any]) -> list[Any]:
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.rint(values)) & (np.abs(values) < 2**53)
        return [int(v) if w else v for v, w in zip(values.tolist(), whole.tolist(), strict=True)]
    return list(values.tolist())
