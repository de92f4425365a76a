"""A gate's power as one page of Markdown: the same counts, the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.power.trials import Count, Ladder, interval

__all__ = ["Untouched", "claims_page", "page", "smallest"]

_HEAD: Final = "<!-- written by `make study` (benchmarks/power); not by hand -->\n"
_LEGEND: Final = """\
Each dose is planted {times} times in real clips, with fixed seeds over clip, place and channel; intervals are
Clopper-Pearson at 95 %. *Placed*: of the failed ones, those with a finding that overlaps the planted span
and names its channel. {sets}
"""
_TELEOPERATED: Final = "g1v, g1s: 24 and 14 teleoperated clips of a Unitree G1; gr1: five of a simulated GR1."
_RETARGETED: Final = """\
kimodo, moves, asap, holo: 3, 7, 11 and 2
retargeted clips of a Unitree G1, the last two with their human source; those that the gate passes untouched,
end to end where the dose is a share. The dose is what results: the clip's own motion is counted in."""


@dataclass(frozen=True, slots=True)
class Untouched:
    """What a gate says about clips that nobody touched: status → clips; alarm → what is known of it."""

    statuses: Mapping[str, Sequence[str]]
    alarms: Mapping[str, str]


def page(
    results: Sequence[tuple[Ladder, Sequence[Count]]], untouched: Untouched, notes: Sequence[str]
) -> str:
    """Table of all ladders of one gate, then what it amounts to in plain words."""
    times = max(ladder.times for ladder, _ in results)
    moving = {ladder.sets[0] not in ("g1v", "g1s", "gr1", "g1h") for ladder, _ in results}
    sets = [text for kind, text in ((False, _TELEOPERATED), (True, _RETARGETED)) if kind in moving]
    lines = [_HEAD, _LEGEND.format(times=times, sets=" ".join(sets))]
    lines += [
        "| dose | is | failed | abstained | passed | failed, 95 % | placed |",
        "|---|---|---|---|---|---|---|",
    ]
    for ladder, counts in results:
        lines.append(f"| **{ladder.axis}**{_limit(ladder)} | | | | | | |")
        lines += [_row(ladder, count) for count in counts]
    lines += ["", *_words(results), *_clean(untouched), "", *notes]
    return "\n".join(lines).rstrip() + "\n"


def claims_page(lines: Sequence[str], untouched: Untouched) -> str:
    """Table of planted lies, and what the gate says of real sets."""
    return "\n".join([_HEAD, *lines, *_clean(untouched)]).rstrip() + "\n"


def _limit(ladder: Ladder) -> str:
    few = f"; {ladder.times} each" if ladder.times < 300 else ""
    if ladder.limit is None:
        return few
    side = "a fault below" if ladder.below else "a fault from" if ladder.on_limit else "a fault above"
    return f"; {side} {ladder.limit:g} {ladder.unit}{few}"


def _row(ladder: Ladder, c: Count) -> str:
    low, high = interval(c.found, c.n)
    kind = "fault" if ladder.is_fault(c.dose) else "sound"
    placed = f"{c.localised} of {c.found}" if c.found else ""
    return (f"| {c.dose:.4g} {ladder.unit} | {kind} | {c.found} | {c.abstained} | {c.missed} | "
            f"{100 * low:.1f} to {100 * high:.1f} % | {placed} |")  # fmt: skip


def smallest(ladder: Ladder, counts: Sequence[Count]) -> float | None:
    """The dose nearest to the limit from which on at least 99 % are found; None if there is none."""
    faults = [c for c in counts if ladder.is_fault(c.dose)]
    faults.sort(key=lambda c: c.dose if ladder.below else -c.dose)  # the gravest first
    best = None
    for c in faults:
        if ladder.hits(c) < 0.99 * c.n:
            break
        best = c.dose
    return best


def _words(results: Sequence[tuple[Ladder, Sequence[Count]]]) -> Iterable[str]:
    yield "**Smallest fault found** (at least 99 % of the injections, and of all graver ones):"
    for ladder, counts in results:
        best = smallest(ladder, counts)
        up_to = "found up to " if ladder.below and ladder.limit is None else ""
        said = f"{up_to}{best:.4g} {ladder.unit}" if best is not None else _most(ladder, counts)
        yield f"- {ladder.axis}: {said}{', left open and never failed' if ladder.open else ''}"
    sound = [c for ladder, counts in results for c in counts if not ladder.is_fault(c.dose)]
    if sound:
        alarms, n = sum(c.found for c in sound), sum(c.n for c in sound)
        unsure = sum(c.abstained for c in sound)
        yield f"\n**Within the limit**: {alarms} alarms and {unsure} abstentions in {n} injections."


def _most(ladder: Ladder, counts: Sequence[Count]) -> str:
    shares = [ladder.hits(c) / c.n for c in counts if ladder.is_fault(c.dose)]
    return f"none of these doses: {100 * min(shares):.3g} to {100 * max(shares):.3g} % are found"


def _clean(untouched: Untouched) -> Iterable[str]:
    parts = [f"{len(names)} {status} ({_ranges(names)})" for status, names in untouched.statuses.items()]
    n = sum(len(names) for names in untouched.statuses.values())
    yield f"\n**Untouched clips**: of {n}: {'; '.join(parts)}."
    if not untouched.alarms:
        yield "False alarms: none."
    for alarm, why in untouched.alarms.items():
        yield f"- {alarm}: {why}"


def _ranges(names: Sequence[str]) -> str:
    """``g1v/0-23, gr1/0`` from single names."""
    found: list[list[str]] = []
    for name in names:
        short, number = re.fullmatch(r"(\w+)/(\d+)", name).groups()  # type: ignore[union-attr]
        if found and found[-1][0] == short and int(found[-1][2]) + 1 == int(number):
            found[-1][2] = number
        else:
            found.append([short, number, number])
    return ", ".join(f"{s}/{a}" if a == b else f"{s}/{a}-{b}" for s, a, b in found)
