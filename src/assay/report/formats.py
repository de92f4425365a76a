"""The verdicts of a run for machines and for pasting: table, json, csv, junit, sarif, md.

Each is a function of a run that yields lines without their break; nothing is printed here. All counts
equal summary.json. Names come from strangers' files: each format escapes what its readers would obey.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from assay.report.spans import findings_of, sentence, spans
from assay.report.table import as_table
from assay.report.tables import RunTables, natural_key
from assay.report.wording import count, hours, visible

__all__ = ["FORMATS", "verdict_lines"]

_WIDTH: Final = 80
_STATUSES: Final = ("fail", "error", "abstain", "pass", "n/a")
_LEVELS: Final = {"require": "error", "reject": "error", "flag": "warning", "report": "note"}
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_ROWS: Final = 20


def verdict_lines(run: RunTables, form: str) -> Iterator[str]:
    """The verdicts of a run as text, line by line, without line breaks.

    Args:
        run: the finished run.
        form: a key of `FORMATS`.

    Raises:
        UsageError: if there is no such format.
    """
    from assay.errors import UsageError

    if form not in FORMATS:
        raise UsageError("unknown format of verdicts", where="--format", found=repr(form),
                         expected=", ".join(FORMATS))  # fmt: skip
    return FORMATS[form](run)


def as_json(run: RunTables) -> Iterator[str]:
    """One object: schema_version, summary, verdicts, findings, timing; what is not a number is null.

    Findings have their ends in nanoseconds (t0, t1) and in seconds (start_s, end_s).
    """
    import orjson

    head = {"schema_version": run.summary.get("schema_version"), "summary": dict(run.summary)}
    line = orjson.dumps(head).decode()[:-1]
    for name, table in (("verdicts", run.verdicts), ("findings", run.findings), ("timing", run.timing)):
        yield f'{line},"{name}":['
        line = "]"
        rows = (orjson.dumps(_timed(row)).decode() for row in _plain_rows(table))
        previous = next(rows, None)
        for row in rows:
            yield f"{previous},"
            previous = row
        if previous is not None:
            yield previous
    yield "]}"


def as_csv(run: RunTables) -> Iterator[str]:
    """Every verdict, one row each, and the spans of its findings as ``right_elbow 3.00-3.27 s; …``.

    Text that a spreadsheet would run as a formula starts with ``'``.
    """
    names, found = list(run.verdicts.column_names), findings_of(run)
    yield _csv_line([*names, "spans"])
    for row in _rows(run):
        # Piece by piece: a spreadsheet may split cells at the semicolon.
        where = "; ".join(map(_cell, spans(row, found[row["gate"], row["subject"]])))
        yield _csv_line([*(_cell(row[name]) for name in names), where])


def as_junit(run: RunTables) -> Iterator[str]:
    """One testsuite per gate, one testcase per subject; abstentions and n/a are skipped, with the reason."""
    gates, found = run.summary["gates"], findings_of(run)
    total = {name: sum(c.get(name, 0) for c in gates.values()) for name in _STATUSES}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="assay" {_junit_counts(total)}>'
    for code, rows in itertools.groupby(_rows(run), key=lambda row: str(row["gate"])):
        cases = list(rows)
        own = {name: sum(row["status"] == name for row in cases) for name in _STATUSES}
        yield f"  <testsuite name={_attribute(code)} {_junit_counts(own)}>"
        yield "    <properties>"
        for name in _STATUSES:
            yield f'      <property name={_attribute(name)} value="{own[name]}"/>'
        yield "    </properties>"
        for row in cases:
            yield _junit_case(row, sentence(row, found[row["gate"], row["subject"]]))
        yield "  </testsuite>"
    yield "</testsuites>"


def as_sarif(run: RunTables) -> Iterator[str]:
    """SARIF 2.1.0: a rule per gate, a result per failure; our own errors are notifications of the tool."""
    rows = [row for row in _rows(run) if row["status"] in ("fail", "error")]
    codes, files, found = sorted(run.summary["gates"]), _first_files(run), findings_of(run)
    failed = [
        _result(row, sentence(row, found[row["gate"], row["subject"]]), codes, files)
        for row in rows
        if row["status"] == "fail"
    ]
    errors = [
        {"level": "error", "descriptor": {"id": row["gate"]}, "message": {"text": sentence(row, ())}}
        for row in rows
        if row["status"] == "error"
    ]
    log = {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "Assay", "version": _version(run), "rules": _rules(codes)}},
            "invocations": [{"executionSuccessful": not errors, "toolExecutionNotifications": errors}],
            "columnKind": "unicodeCodePoints",
            "results": failed,
            "properties": {"assay": _finite(dict(run.summary))},
        }],
    }  # fmt: skip
    yield from json.dumps(log, indent=1, allow_nan=False).splitlines()


def as_markdown(run: RunTables) -> Iterator[str]:
    """A comment for a pull request: what was decided, by which gates, what was not measured."""
    s = run.summary
    yield f"### Assay: {count(s['accepted'])} of {count(s['episodes'])} episodes accepted"
    yield ""
    yield "| declared | present | accepted | rejected | unmeasured | hours |"
    yield "|--:|--:|--:|--:|--:|--:|"
    cells = [count(s.get(k)) for k in ("declared", "present", "accepted", "rejected", "unmeasured")]
    yield f"| {' | '.join(cells)} | {hours(s['hours'])} |"
    yield ""
    yield "| gate | fail | error | abstain | pass | n/a |"
    yield "|:--|--:|--:|--:|--:|--:|"
    for code, counts in s["gates"].items():
        if any(counts.get(name) for name in ("fail", "error", "abstain")):
            yield f"| {_code(code)} | " + " | ".join(count(counts.get(n, 0)) for n in _STATUSES) + " |"
    yield from _markdown_rejected(run)
    if s.get("abstentions"):
        yield ""
        yield "Not measured: " + ", ".join(
            f"{_code(why)} × {count(n)}" for why, n in s["abstentions"].items()
        )


FORMATS: Final[Mapping[str, Callable[[RunTables], Iterator[str]]]] = {
    "table": as_table, "json": as_json, "csv": as_csv, "junit": as_junit, "sarif": as_sarif,
    "md": as_markdown,
}  # fmt: skip


def _rows(run: RunTables) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run.verdicts.to_pylist()
    return sorted(rows, key=lambda row: (row["gate"], natural_key(row["subject"])))


def _plain_rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=4096):
        yield from batch.to_pylist()


def _csv_line(cells: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return "'" + value if value[:1] in tuple("=+-@\t\r\n") and value else value
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value


def _junit_counts(n: Mapping[str, int]) -> str:
    skipped = n["abstain"] + n["n/a"]
    return (f'tests="{sum(n.values())}" failures="{n["fail"]}" errors="{n["error"]}" '
            f'skipped="{skipped}"')  # fmt: skip


def _junit_case(row: Mapping[str, Any], message: str) -> str:
    head = f"    <testcase classname={_attribute(row['gate'])} name={_attribute(row['subject'])}"
    if row["status"] == "pass":
        return head + "/>"
    tag = {"fail": "failure", "error": "error"}.get(row["status"], "skipped")
    kind = f" type={_attribute(row['effect'])}" if tag != "skipped" else ""
    return f"{head}><{tag}{kind} message={_attribute(message)}/></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"start_s": row["t0"] / 1e9, "end_s": row["t1"] / 1e9} if "t0" in row else row


def _version(run: RunTables) -> str:
    return str((run.summary.get("versions") or {}).get("assay", "unknown"))


def _rules(codes: list[str]) -> list[dict[str, Any]]:
    from assay import plugs

    known, rules = plugs.gates(), []
    for code in codes:
        rule: dict[str, Any] = {"id": code}
        if gate := known.get(code):
            rule |= {
                "name": "".join(map(str.capitalize, gate.name.split("-"))),
                "shortDescription": {"text": gate.doc["Title"]},
                "fullDescription": {"text": gate.doc["What"]},
                "help": {"text": f"{gate.doc['Why']} Method: {gate.doc['Method']}"},
            }
        rules.append(rule)
    return rules


def _result(
    row: Mapping[str, Any], message: str, codes: list[str], files: Mapping[str, str]
) -> dict[str, Any]:
    place: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": row["subject"], "kind": row["scope"]}]
    }
    if uri := files.get(row["subject"]):
        place["physicalLocation"] = {"artifactLocation": {"uri": quote(uri)}}
    same = "\0".join((row["gate"], row["subject"], row["stream"], row["channel"]))
    return {
        "ruleId": row["gate"], "ruleIndex": codes.index(row["gate"]), "kind": "fail",
        "level": _LEVELS.get(row["effect"], "note"),
        "message": {"text": f"{visible(row['subject'])}: {message}"},
        "locations": [place], "partialFingerprints": {"assay/v1": hashlib.sha256(same.encode()).hexdigest()},
        "properties": _finite(dict(row)),
    }  # fmt: skip


def _first_files(run: RunTables) -> dict[str, str]:
    table = run.episodes.select(["subject", "files"]).to_pylist()
    return {row["subject"]: (row["files"] or "").split(",")[0].strip() for row in table}


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _markdown_rejected(run: RunTables) -> Iterator[str]:
    rows = [row for row in run.episodes.to_pylist() if row["decision"] == "rejected"]
    if not rows:
        return
    rows.sort(key=lambda row: natural_key(row["subject"]))
    failed = {(v["subject"], v["gate"]): v for v in run.verdicts.to_pylist() if v["status"] == "fail"}
    found = findings_of(run)
    yield from ("", f"<details><summary>{count(len(rows))} rejected episodes</summary>", "")
    for row in rows[:_MOST_ROWS]:
        codes = (row["reasons"] or "no gate named").split(",")
        by = (
            _blamed(code, failed.get((row["subject"], code)), found[code, row["subject"]]) for code in codes
        )
        yield f"* {_code(row['subject'])} by {', '.join(by)}"
    if len(rows) > _MOST_ROWS:
        yield f"* and {count(len(rows) - _MOST_ROWS)} more: `assay verdicts RUN --format csv`"
    yield from ("", "</details>")


def _blamed(code: str, verdict: Mapping[str, Any] | None, findings: Sequence[Mapping[str, Any]]) -> str:
    where = "; ".join(spans(verdict, findings)) if verdict else ""
    return f"{_code(code)} at {_code(where)}" if where else _code(code)


def _code(text: str) -> str:
    # Inside a code span nothing is a link, a mention or markup; only backticks and table bars need care.
    clean = visible(text)
    fence = "`" * (max((len(m) for m in re.findall("`+", clean)), default=0) + 1)
    pad = " " if "`" in clean else ""
    return fence + pad + clean.replace("|", "\\|") + pad + fence
