"""The feet of a human source, by the names of its joints."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Stream

__all__ = ["human_feet"]

_TOE: Final = re.compile(r"(left|right|l|r)_?(foot|toe(?:_?base)?|toes?|big_?toe)$", re.IGNORECASE)
_HEEL: Final = re.compile(r"(left|right|l|r)_?(ankle|heel)$", re.IGNORECASE)


def human_feet(stream: Stream) -> NDArray[np.float64] | None:
    """(m, 2, p, 3) m, left and right, toe and heel as far as the source has them; None without feet."""
    if stream.frame.startswith(("unresolved", "local")) or any(c.unit != "m" for c in stream.channels):
        return None
    columns = _columns(stream.names)
    if columns is None:
        return None
    x = np.asarray(stream.x[:, columns.reshape(-1)], np.float64).reshape(len(stream.x), *columns.shape)
    if stream.valid is not None:
        x[~stream.valid] = np.nan
    return x


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> NDArray[np.intp] | None:
    """(2, p, 3) columns of left and right, toe and heel, and their x, y and z; None without feet."""
    at = {name: i for i, name in enumerate(names)}
    joints = {name.rpartition(".")[0] for name in at}
    found = []
    for pattern in (_TOE, _HEEL):
        named = {m[1][0].lower(): j for j in sorted(joints) if (m := pattern.search(j))}
        if {"l", "r"} <= named.keys():
            found.append([[at.get(f"{named[s]}.{e}", -1) for e in "xyz"] for s in ("l", "r")])
    if not found or any(i < 0 for point in found for side in point for i in side):
        return None
    return np.array(found).transpose(1, 0, 2)
