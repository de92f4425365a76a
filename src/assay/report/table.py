"""The verdicts of a run as plain text of at most 80 columns: what to drop first, with times and joints.

What many episodes share is one line that names two of them. What does not fit is wrapped, never cut; the id
of an episode has a line of its own before it is broken, so that it can be copied.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from assay.report.spans import MOST_SPANS, excess, findings_of, notes, place, when, worst_of
from assay.report.tables import RunTables, natural_key
from assay.report.wording import count, visible

__all__ = ["as_table"]

_WIDTH: Final = 80
_STATUSES: Final = ("fail", "error", "abstain", "pass", "n/a")
_WHAT: Final = {"require": "drop", "reject": "drop", "flag": "watch", "report": "note"}
_CROWD: Final = 5
"""More episodes than these, failing at the same place, are one line."""

_WHO, _WHEN = 14, 34
"""Columns where the episode and the time begin."""

Row = Mapping[str, Any]


def as_table(run: RunTables) -> Iterator[str]:
    """Failures by episode with span and channel, then abstentions by reason, then counts per gate."""
    s = run.summary
    counts = ", ".join(f"{count(s[name])} {name}" for name in ("accepted", "rejected", "unmeasured"))
    yield f"{counts} of {count(s['episodes'])} episodes"
    rows = sorted(run.verdicts.to_pylist(), key=lambda row: (natural_key(row["subject"]), row["gate"]))
    if wrong := [row for row in rows if row["status"] in ("fail", "error")]:
        yield ""
        yield f"{'':<6}{'gate':<8}{'episode':<20}{'seconds':<16}{'worst':<12}where"
        yield from _wrong(wrong, findings_of(run))
    if open_ := [row for row in rows if row["status"] == "abstain"]:
        yield ""
        yield f"{'':<6}{'not measured':<20}{'why':<18}gates (see assay view RUN EPISODE)"
        yield from _open(open_)
    yield ""
    yield f"{'gate':<8}" + "".join(f"{name:>10}" for name in _STATUSES)
    for code, own in s["gates"].items():
        yield f"{code:<8}" + "".join(f"{own.get(name, 0):>10,}" for name in _STATUSES)


def _wrong(rows: Sequence[Row], found: Mapping[tuple[str, str], list[dict[str, Any]]]) -> Iterator[str]:
    """Failures of the corpus, then places where many episodes fail, then episodes one by one."""
    own = [(row, list(_points(row, found))) for row in rows]
    at: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for row, points in own:
        for point in points if row["scope"] != "corpus" else ():
            at[_key(row, point)].setdefault(row["subject"], point)
    crowds = {key: who for key, who in at.items() if len(who) > _CROWD}
    for row, points in own:
        if row["scope"] == "corpus":
            yield from _failure(row, points, row["findings"], set())
    for key, who in sorted(crowds.items(), key=lambda item: (item[0][1], -len(item[1]))):
        yield from _crowd(key, who)
    seen: set[str] = set()
    for row, points in own:
        left = [point for point in points if _key(row, point) not in crowds]
        if left and row["scope"] != "corpus":
            yield from _failure(row, left, row["findings"] - len(points) + len(left), seen)


def _points(row: Row, found: Mapping[tuple[str, str], list[dict[str, Any]]]) -> Iterator[Row]:
    """What a line each would say; a verdict without findings (an error, or judged again) is its own."""
    if row["status"] == "error":
        yield {"stream": "", "channel": "", "t0": 0, "t1": 0, "unit": "s", "worst": None, "limit": None,
               "note": row["detail"]}  # fmt: skip
        return
    yield from found.get((row["gate"], row["subject"]), ()) or ({**row, "t0": 0, "t1": 0, "note": ""},)


def _key(row: Row, point: Row) -> tuple[str, ...]:
    what = "error" if row["status"] == "error" else _WHAT[row["effect"]]
    same = point["note"] if what == "error" else ""
    return what, row["gate"], point["stream"], point["channel"], same


def _failure(row: Row, points: Sequence[Row], total: int, seen: set[str]) -> Iterator[str]:
    what = "fix" if row["scope"] == "corpus" else _key(row, points[0])[0]
    for n, point in enumerate(points[:MOST_SPANS]):
        head = (what, row["gate"], visible(row["subject"])) if n == 0 else ("", "", "")
        yield from _line(head, when(point, " to "), _worst(point), place(point))
    for note in notes(points[:MOST_SPANS]):
        known = f"{row['gate']} {note}" in seen and all(map(_worst, points))
        yield from () if known else _wrapped(note, _WHO)
        seen.add(f"{row['gate']} {note}")
    if total > MOST_SPANS:
        yield f"{'':<{_WHEN}}and {total - MOST_SPANS:,} more"


def _crowd(key: tuple[str, ...], who: Mapping[str, Row]) -> Iterator[str]:
    points, names = list(who.values()), list(who)
    worst = max(points, key=excess)
    yield from _line((key[0], key[1], f"{len(who):,} episodes"), "", _worst(worst), place(worst))
    more = f"and {len(names) - 2:,} more (--format csv lists each)"
    yield from _named(f"{visible(names[0])} …", visible(names[-1]), more)
    for note in notes([worst]):
        alike = len(notes(points)) == 1
        yield from _wrapped(note if alike else f"e.g. {note}", _WHO)


def _line(about: tuple[str, str, str], time: str, worst: str, where: str) -> Iterator[str]:
    what, gate, who = about
    head = f"{what:<6}{gate:<8}"
    if len(who) > _WHEN - _WHO - 1:
        yield from ([head + who] if len(who) <= _WIDTH - _WHO else [head.rstrip(), *_wrapped(who, 6)])
        head, who = "", ""
    head = f"{f'{head:<{_WHO}}{who}':<{_WHEN}}"
    if len(time) > 15:  # of a clock that counts from 1970, as long as two columns
        yield head + time
        head, time = " " * _WHEN, ""
    head += f"{time:<16}{worst:<12}"
    if not worst and len(where) > _WIDTH - len(head):
        head = head[:-12]
    if len(where) > _WIDTH - len(head):
        yield from filter(None, (head.rstrip(),))
        yield from _wrapped(where, _WHEN)
    else:
        yield (head + where).rstrip()


def _open(rows: Iterable[Row]) -> Iterator[str]:
    """Gates that could not decide the same subjects for the same reason share a line."""
    who: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for row in rows:
        who[row["gate"], row["reason"], row["scope"] == "corpus"].append(row["subject"])
    alike: dict[tuple[str, bool, tuple[str, ...]], list[str]] = defaultdict(list)
    for (gate, reason, whole), subjects in who.items():
        alike[reason, whole, tuple(subjects)].append(gate)
    ranked = sorted(alike.items(), key=lambda item: (-len(item[0][2]), item[0][0], item[1]))
    for (reason, _, same), gates in ranked:
        name = visible(same[0]) if len(same) == 1 else f"{len(same):,} episodes"
        if len(name) > 19:
            yield from _wrapped(name, 6)
            name = ""
        first, *rest = textwrap.wrap(" ".join(sorted(gates)), _WIDTH - 44)
        yield f"{'':<6}{name:<20}{reason:<18}{first}"
        yield from (f"{'':<44}{more}" for more in rest)


def _named(first: str, last: str, more: str) -> Iterator[str]:
    """Two ids and what follows, on one line where they fit there, else each on its own."""
    whole = f"{first} {last} {more}"
    for text in (whole,) if len(whole) <= _WIDTH - _WHO else (first, last, more):
        yield from _wrapped(text, _WHO if len(text) <= _WIDTH - _WHO else 6)


def _worst(point: Row) -> str:
    return "" if point["worst"] is None else worst_of(point)


def _wrapped(text: str, indent: int) -> list[str]:
    lines = textwrap.wrap(text, _WIDTH - indent, break_on_hyphens=False)
    return [" " * indent + line for line in lines]
