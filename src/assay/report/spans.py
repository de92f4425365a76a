"""Where and when a verdict fails, as short text: ``right_elbow 3.00-3.27 s``."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.report.tables import RunTables, begins
from assay.report.wording import number, percent, seconds, visible, with_unit

__all__ = [
    "MOST_SPANS", "both_of", "end_of", "excess", "findings_of", "from_first", "notes", "place", "sentence",
    "spans", "when", "worst_first", "worst_of",
]  # fmt: skip

MOST_SPANS: Final = 4
"""Spans that a line of text names; the rest is counted."""

_ENDS: Final = {"RTG002": "hand"} | dict.fromkeys(("RTG003", "RTG004", "RTG005", "RTG006"), "foot")
"""Gates whose channels are sides of the body."""

_PURE: Final = ("1", "", "mixed")

Row = Mapping[str, Any]


def findings_of(run: RunTables) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The findings of a run by (gate, subject), the furthest beyond its limit first.

    Times count from the episode's first sample (`from_first`).
    """
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    first = begins(run)
    for finding in run.findings.to_pylist():
        subject = finding["subject"]
        found[finding["gate"], subject].append(from_first(finding, first.get(subject, 0)))
    return defaultdict(list, {key: worst_first(rows) for key, rows in found.items()})


def from_first(finding: dict[str, Any], first: int) -> dict[str, Any]:
    """The finding with its times since the episode's first sample; one without a time stays so."""
    if finding["t0"] == finding["t1"] == 0:
        return finding
    return finding | {"t0": finding["t0"] - first, "t1": finding["t1"] - first}


def worst_first(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The furthest beyond its limit first: stored are those of one stream after those of another."""
    return sorted(findings, key=excess, reverse=True)


def excess(row: Row) -> tuple[float, float]:
    """How far a worst value lies beyond its limit, on either side: as a ratio, then as a difference."""
    worst, limit = row["worst"], row["limit"]
    if worst is None or not math.isfinite(worst):
        return 0.0, 0.0
    if not limit:
        return abs(worst), abs(worst)
    ratio = max(worst / limit, limit / worst) if worst * limit > 0 else math.inf
    return ratio, abs(worst - limit)


def end_of(gate: str, channel: str) -> str:
    """The channel, with the limb's end that a mere side is of: ``left foot``."""
    return f"{channel} {_ENDS[gate]}" if gate in _ENDS and channel in ("left", "right") else channel


def both_of(gate: str) -> str:
    """``both feet``; empty for a gate whose channels are no sides."""
    return {"foot": "both feet", "hand": "both hands"}.get(_ENDS.get(gate, ""), "")


def place(row: Row) -> str:
    """Stream and channel of a verdict or finding in as few words as name it.

    A channel of ``observation.state`` stands alone; any other needs its stream, for ``action`` has columns
    of the same names, and "pictures" could be those of any camera.
    """
    stream = "" if row["stream"] == "observation.state" else row["stream"]
    short = stream.removeprefix("observation.images.") if row["channel"] else row["stream"]
    return visible(" ".join(filter(None, (short, end_of(row.get("gate", ""), row["channel"])))))


def when(finding: Row, to: str = "-") -> str:
    """``3.00-3.27``; one number for an instant, nothing where nothing is there that could have a time."""
    if finding["t0"] == finding["t1"]:
        return seconds(finding["t0"]) if finding["t0"] else ""
    return f"{seconds(finding['t0'])}{to}{seconds(finding['t1'])}"


def spans(row: Row, findings: Sequence[Row]) -> list[str]:
    """Place and time of the first findings of a failed verdict, and how many more there are.

    A verdict judged again under a stricter limit has no findings: its place alone is given.
    """
    if row["status"] != "fail":
        return []
    if not findings:
        return [place(row)] if place(row) else []
    said = []
    for finding in findings[:MOST_SPANS]:
        time = when(finding)
        said.append(" ".join(filter(None, (place(finding), f"{time} s" if time else ""))))
    more = row["findings"] - len(said)
    return [*filter(None, said), *([f"and {more:,} more"] if more > 0 else [])]


def worst_of(finding: Row) -> str:
    """The worst value with its unit; empty for a pure number, which `notes` puts into words."""
    return "" if finding["unit"] in _PURE else with_unit(finding["worst"], finding["unit"])


def notes(findings: Sequence[Row]) -> list[str]:
    """What the findings say in words, each once: their notes, or a pure number beside its limit."""
    said = []
    for f in findings:
        bare = "" if worst_of(f) else f"{number(f['worst'])}, limit {number(f['limit'])}"
        said.append(visible(f["note"] or bare))
    return list(dict.fromkeys(filter(None, said)))


def sentence(row: Row, findings: Sequence[Row]) -> str:
    """A verdict in a sentence: where and when, how far beyond which limit, or why there is none."""
    if row["status"] != "fail":
        place = " ".join(filter(None, (row["stream"], row["channel"])))
        why = ": ".join(filter(None, (row["reason"], row["detail"])))
        return visible(f"{row['status']}: {why or 'no reason given'}" + (f" ({place})" if place else ""))
    worst, limit = (with_unit(row[name], row["unit"]) for name in ("worst", "limit"))
    text = f"worst {worst}, limit {limit}"
    if row["quota"] or row["lo"]:
        text += f"; {percent(row['lo'])} of samples beyond it, {percent(row['quota'])} allowed"
    text = "; ".join((text, *notes(findings[:MOST_SPANS])))
    where = "; ".join(spans(row, findings))
    return visible((f"{where}: " if where else "") + text)
