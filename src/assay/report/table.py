"""The verdicts of a run as plain text of at most 80 columns: what to drop first, with times and joints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.report.tables import RunTables, natural_key
from assay.report.wording import count, seconds, visible, with_unit

__all__ = ["as_table"]

_WIDTH: Final = 80
_STATUSES: Final = ("fail", "error", "abstain", "pass", "n/a")
_WHAT: Final = {"require": "drop", "reject": "drop", "flag": "watch", "report": "note"}
_MOST_SPANS: Final = 4


def as_table(run: RunTables) -> Iterator[str]:
    """Failures by episode with span and channel, then abstentions by reason, then counts per gate."""
    s = run.summary
    counts = ", ".join(f"{count(s[name])} {name}" for name in ("accepted", "rejected", "unmeasured"))
    yield f"{counts} of {count(s['episodes'])} episodes"
    rows = sorted(run.verdicts.to_pylist(), key=lambda row: (natural_key(row["subject"]), row["gate"]))
    wrong = [row for row in rows if row["status"] in ("fail", "error")]
    if wrong:
        yield ""
        yield f"{'':<6}{'gate':<8}{'episode':<20}{'seconds':<16}{'worst':<12}where"
        spans = _spans(run)
        for row in wrong:
            yield from _failure(row, spans[row["gate"], row["subject"]])
    open_: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row["status"] == "abstain":
            open_[row["gate"], row["reason"]].append(row["subject"])
    if open_:
        yield ""
        yield f"{'':<6}{'gate':<8}{'not measured':<20}why"
    for (gate, reason), who in sorted(open_.items()):
        yield f"{'':<6}{gate:<8}{_subject(who[0]) if len(who) == 1 else f'{len(who):,} episodes':<20}{reason}"
    yield ""
    yield f"{'gate':<8}" + "".join(f"{name:>10}" for name in _STATUSES)
    for code, own in s["gates"].items():
        yield f"{code:<8}" + "".join(f"{own.get(name, 0):>10,}" for name in _STATUSES)


def _spans(run: RunTables) -> dict[tuple[str, str], list[dict[str, Any]]]:
    spans: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for finding in run.findings.to_pylist():
        spans[finding["gate"], finding["subject"]].append(finding)
    return spans


def _failure(row: Mapping[str, Any], findings: list[dict[str, Any]]) -> Iterator[str]:
    what = "fix" if row["scope"] == "corpus" else _WHAT[row["effect"]]
    head = f"{what:<6}{row['gate']:<8}{_subject(row['subject']):<20}"
    if row["status"] == "error":
        yield _cut(f"{'error':<6}{head[6:]}{'':<28}{visible(row['detail'])}")
        return
    if not findings:  # judged again under a stricter limit: the spans need the data
        worst = with_unit(row["worst"], row["unit"])
        yield _cut(f"{head}{'':<16}{worst:<12}{visible(_where(row['channel'], row['stream']))}")
    for n, finding in enumerate(findings[:_MOST_SPANS]):
        start, end = seconds(finding["t0"]), seconds(finding["t1"])
        when = "" if row["scope"] == "corpus" else f"{start} to {end}"
        worst = with_unit(finding["worst"], finding["unit"])
        where = _where(finding["channel"], finding["stream"])
        yield _cut(f"{head if n == 0 else ' ' * len(head)}{when:<16}{worst:<12}{visible(where)}")
    if row["findings"] > _MOST_SPANS:
        yield f"{'':<34}and {row['findings'] - _MOST_SPANS:,} more"


def _where(channel: str, stream: str) -> str:
    # A joint's name says enough; "pictures" or "container" needs its camera.
    if stream.startswith("observation.images."):
        return f"{stream.removeprefix('observation.images.')} {channel}"
    return channel or stream


def _subject(subject: str) -> str:
    subject = visible(subject)
    return subject if len(subject) < 20 else subject[:6] + "…" + subject[-12:]


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
