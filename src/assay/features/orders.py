"""Statistic: in which orders the clips of a corpus are read where neither file nor sheet says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.feature import statistic
from assay.model import Episode, Role

__all__ = ["corpus_of", "inferred", "orders"]

_JOINTS: Final = re.compile(r"joints of \S+ in (.+? order)\b")
_TILT: Final = ("frames with the base", "|cosine|")
"""How the evidence of a reader begins that took the quaternion's order from the data alone."""


def inferred(ep: Episode) -> dict[str, str]:
    """The orders that the reader took from this clip's own data: ``joints`` and ``quaternion``.

    Columns that the sheet named afterwards are declared, whatever the reader made of them.
    """
    decided, found = ep.meta.get("decided", {}), {}
    names, why = decided.get("joint order", ("native", ""))
    streams = ep.by_role(Role.JOINT_POSITION)
    kept = not streams or any(" ".join(s.names) == names for s in streams)
    if kept and (said := _JOINTS.match(why)):
        found["joints"] = said[1].replace(", order", " order")
    order, why = decided.get("quaternion", ("", ""))
    if why.startswith(_TILT):
        found["quaternion"] = str(order)
    return found


def corpus_of(ep: Episode) -> str:
    """What clips share that must be read alike: reader, folder, body."""
    body = ep.embodiment.name if ep.embodiment else ""
    return f"{ep.source.reader} {ep.source.root.name} {body}" if ep.source else body


def _counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    seen: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        for item, order in row["orders"].items():
            seen.setdefault(row["corpus"], {}).setdefault(item, Counter())[order] += 1
    return {corpus: {i: dict(sorted(n.items())) for i, n in sorted(mine.items())}
            for corpus, mine in sorted(seen.items())}  # fmt: skip


@statistic(_counted)
def orders(ep: Episode) -> Mapping[str, Any] | None:
    """In how many clips of a corpus each order was taken from the data: corpus → item → order → clips.

    Method: what the reader decided and on what evidence. Source: clips of one corpus have one writer.
    """
    mine = inferred(ep)
    return {"corpus": corpus_of(ep), "orders": mine} if mine else None
