"""What every gate says about the real clips that nobody touched, and what is known of each alarm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.power.clips import Base
from benchmarks.power.page import Untouched, _ranges
from benchmarks.power.trials import look

from assay import plugs
from assay.judge import Judgement

__all__ = ["KNOWN", "untouched"]

KNOWN: Final[dict[tuple[str, str], str]] = {
    ("SYN006", "g1v"): "true: the head camera repeats every second picture under a declared 30 Hz. Seen by "
    "looking at differences of neighbouring pictures: 86 to 96 % of the gaps between new ones are two, also "
    "after four re-encodings",
    ("SYN006", "g1s"): "true: the same camera of the same rig",
    ("INT002", "g1s"): "true: the metadata declares a video for each episode and this copy of the set holds "
    "three",
    ("INT002", "gr1"): "true: a second camera, egoview, is declared and in none of the five episodes",
}  # fmt: skip
"""(gate, set) → whether its alarms there are true or false, and how that was seen."""


def untouched(code: str, bases: Sequence[Base]) -> Untouched:
    """Statuses on all clips, and one line for each kind of alarm with every clip that has it.

    Raises:
        ValueError: at an alarm that nobody has looked into yet.
    """
    gate = plugs.gates()[code]
    statuses: dict[str, list[str]] = {}
    alarms: dict[tuple[str, str], list[str]] = {}
    for base in bases:
        judged = look(gate, base.ep, {"containers": base.containers, "pictures": base.pictures})
        v = judged.verdict
        statuses.setdefault(f"{v.status} {v.reason}".strip(), []).append(base.name)
        if v.status == "fail":
            alarms.setdefault((base.set, _said(judged)), []).append(base.name)
    unknown = {where: names for where, names in alarms.items() if (code, where[0]) not in KNOWN}
    if unknown:
        raise ValueError(f"{code}: alarms that nobody has looked into: {unknown}")
    told = {f"{_ranges(n)}, {said}": KNOWN[code, short] for (short, said), n in alarms.items()}
    return Untouched(statuses, told)


def _said(judged: Judgement) -> str:
    return "; ".join(dict.fromkeys(f"{f.stream} {f.channel} {f.note}".strip() for f in judged.findings))
