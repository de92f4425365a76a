"""What every gate says about the real clips that nobody touched, and what is known of each alarm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.power.clips import Base
from benchmarks.power.page import Untouched, _ranges
from benchmarks.power.trials import look

from assay import plugs
from assay.judge import Judgement

__all__ = ["KNOWN", "halves", "untouched"]

PICTURED: Final = {"SYN006": "pictures", "SYN008": "pictures", "INT008": "cut"}
"""Gates that look at pictures, and the channel that does."""

_REPEATS: Final = (
    "true: the head camera repeats every second picture under a declared 30 Hz. Seen by looking at "
    "differences of neighbouring pictures: 86 to 96 % of the gaps between new ones are two, also after four "
    "re-encodings"
)
KNOWN: Final[dict[tuple[str, str], str]] = {
    ("SYN006", "g1v"): _REPEATS,
    ("SYN006", "g1s"): _REPEATS,
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
    for base in (b for b in bases if b.set != "g1h"):
        judged = look(gate, base.ep, {"containers": base.containers, "pictures": base.pictures})
        v = judged.verdict
        statuses.setdefault(f"{v.status} {v.reason}".strip(), []).append(base.name)
        if v.status == "fail":
            alarms.setdefault((base.set, _said(judged)), []).append(base.name)
    unknown = {where: names for where, names in alarms.items() if (code, where[0]) not in KNOWN}
    if unknown:
        raise ValueError(f"{code}: alarms that nobody has looked into: {unknown}")
    told: dict[tuple[str, str], list[str]] = {}
    for (short, said), names in alarms.items():
        told.setdefault((said, KNOWN[code, short]), []).extend(names)
    return Untouched(statuses, {f"{_ranges(n)}, {said}": why for (said, why), n in told.items()})


def halves(code: str, bases: Sequence[Base]) -> str:
    """One line on the G1's clips with every second row and picture, declared at the 15 Hz that is true."""
    if code not in PICTURED:
        return ""
    found: dict[str, int] = {}
    mine = [b for b in bases if b.set == "g1h"]
    for base in mine:
        given = {"containers": base.containers, "pictures": base.pictures}
        v = look(plugs.gates()[code], base.ep, given, PICTURED[code]).verdict
        found[v.status] = found.get(v.status, 0) + 1
    said = ", ".join(f"{n} {status}" for status, n in found.items())
    head = f"The G1's {len(mine)} videos with every second row and picture, declared at their true 15 Hz"
    return f"{head}: {said}."


def _said(judged: Judgement) -> str:
    """Stream, channel and note of each finding; no note that names a file, as it differs for each clip."""
    said = (f"{f.stream} {f.channel} {'' if '/' in f.note else f.note}".strip() for f in judged.findings)
    return "; ".join(dict.fromkeys(said))
