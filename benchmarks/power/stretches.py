"""What SYN001 says by content of episodes of which a stretch alone is late, or shows another episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.trials import look
from numpy.typing import NDArray

from assay import plugs

__all__ = ["stretches"]

_LATE: Final = (2, 5, 10, 20)
"""Pictures by which the joints of a stretch are shifted, in either direction, every other episode in one."""

_RISE: Final = 10  # rows over which the shift rises and falls
_FADE: Final = 15  # pictures over which another episode fades in and out, beyond the stretch
_PLACES: Final = {
    "the first 1.5 s": (0, 45), "the last 1.5 s": (-45, 0), "0.5 s amid": 15, "1 s amid": 30,
    "1.5 s amid": 45, "2.5 s amid": 75, "3 s amid": 90, "5 s amid": 150,
}  # fmt: skip
_OTHER: Final = 7  # episodes on, whose pictures are shown
_HEAD: Final = """\
**Stretches**: joints shifted against the pictures in a part of the episode (rising and falling in 0.3 s), or
another episode's pictures (faded in and out in 0.5 s). Of {n} episodes: passed where windows are only summed
up → passed where each is held to what is usual (failed there); the rest is undecided.
"""


def stretches(bases: Sequence[Base], models: Mapping[str, Any], features: Callable[..., Any]) -> list[str]:
    """A head and a table, a line per place, a column per fault."""
    columns = [f"{late} pictures" for late in _LATE]
    lines = [
        _HEAD.format(n=len(bases)),
        f"| where | {' | '.join(columns)} | another episode |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for place, span in _PLACES.items():
        cells = []
        for late in (*_LATE, None):
            before, after = Counter[str](), Counter[str]()
            for i, base in enumerate(bases):
                first, end = _span(span, base.rows)
                if late is None:
                    changed = _foreign(base, bases[(i + _OTHER) % len(bases)], first, end)
                else:
                    changed = _shifted(base, (1 - 2 * (i % 2)) * late, first, end)
                one, two = _judged(changed, models[base.ep.id], features)
                before[one] += 1
                after[two] += 1
            cells.append(f"{before['pass']} → {after['pass']} ({after['fail']})")
        lines.append(f"| {place} | {' | '.join(cells)} |")
    return lines


def _span(span: int | tuple[int, int], rows: int) -> tuple[int, int]:
    if isinstance(span, int):
        return rows // 2 - span // 2, rows // 2 + (span + 1) // 2
    return (-rows, span[1]) if span[0] == 0 else (rows + span[0], 2 * rows)


def _shifted(base: Base, late: int, first: int, end: int) -> Base:
    """Rows ``first`` to ``end`` hold the joints of ``late`` rows before."""
    rows = np.arange(base.rows)
    share = np.clip(np.minimum((rows - first) / _RISE, (end - rows) / _RISE), 0.0, 1.0)
    then = np.clip(rows - late * share, 0, base.rows - 1)
    ep = base.ep
    for stream in (base.state, base.action):
        x = np.stack([np.interp(then, rows, c) for c in np.asarray(stream.x, np.float64).T], axis=1)
        ep = ep.with_stream(replace(stream, x=x.astype(np.asarray(stream.x).dtype)))
    return replace(base, ep=ep)


def _foreign(base: Base, other: Base, first: int, end: int) -> Base:
    """Pictures ``first`` to ``end`` are those of the same rows of another episode."""
    seen, theirs = base.pictures[base.camera], other.pictures[other.camera].thumbs
    n = len(seen.thumbs)
    rows = np.arange(n)
    share = np.clip(np.minimum((rows - first) / _FADE + 1, (end - rows) / _FADE + 1), 0.0, 1.0)
    shown = theirs[np.minimum(rows, len(theirs) - 1)]
    weight: NDArray[np.float64] = share[:, None, None]
    thumbs = np.rint(seen.thumbs * (1 - weight) + shown * weight).astype(np.uint16)
    return replace(base, pictures={**base.pictures, base.camera: replace(seen, thumbs=thumbs)})


def _judged(base: Base, model: Any, features: Callable[..., Any]) -> tuple[str, str]:
    """The verdict without and with the stretches that speak against the episode."""
    content = features(base, model).get("content")
    summed = {name: replace(c, doubts=()) for name, c in content.items()}
    gate, given = plugs.gates()["SYN001"], {"pictures": base.pictures, "containers": base.containers}
    one, two = (
        look(gate, base.ep, {**given, "content": c}, "deviation").verdict.status for c in (summed, content)
    )
    return one, two
