"""Verdicts for machines: each format parses, agrees with summary.json, and obeys nothing a name says."""

import csv
import io
import json
import re
from collections import Counter
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring

from assay.errors import UsageError
from assay.report.formats import FORMATS, verdict_lines
from fake_run import FakeRun, fake_run
from test_report import HOSTILE

STATUSES = ("pass", "fail", "abstain", "n/a", "error")
FORMULAE = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "plain")


@pytest.fixture(scope="module")
def run() -> FakeRun:
    return fake_run(40, absent=2)


@pytest.fixture(scope="module")
def hostile() -> FakeRun:
    return fake_run(24, names=(*HOSTILE, *FORMULAE, "|`@someone` <b> *x*", "a,b\r\nc"))


def text(run: FakeRun, form: str) -> str:
    return "\n".join(verdict_lines(run, form))


def count(rows: list[Any], gate: str, status: str) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row[gate], Counter())[row[status]] += 1
    return found


def agree(found: dict[str, Counter[str]], run: FakeRun) -> None:
    assert {g: {s: c[s] for s in STATUSES} for g, c in found.items()} == run.summary["gates"]


def test_unknown_format_is_refused(run: FakeRun) -> None:
    with pytest.raises(UsageError, match="table, json, csv, junit, sarif, md"):
        verdict_lines(run, "xlsx")


@pytest.mark.parametrize("form", FORMATS)
def test_lines_have_no_line_breaks_and_are_the_same_again(run: FakeRun, form: str) -> None:
    lines = list(verdict_lines(run, form))
    assert not [line for line in lines if "\n" in line]
    assert lines == list(verdict_lines(run, form))


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_run_has_every_format(form: str) -> None:
    assert text(fake_run(0), form)


@pytest.mark.parametrize("form", ["table", "junit", "md"])
def test_no_control_character_gets_through(hostile: FakeRun, form: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", text(hostile, form))


def test_json_agrees_with_the_summary(run: FakeRun) -> None:
    found = json.loads(text(run, "json"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert list(found) == ["schema_version", "summary", "verdicts", "findings"]
    assert found["schema_version"] == run.summary["schema_version"]
    assert found["summary"] == json.loads(json.dumps(run.summary))
    agree(count(found["verdicts"], "gate", "status"), run)
    assert len(found["findings"]) == run.findings.num_rows
    assert set(found["verdicts"][0]) == set(run.verdicts.column_names)
    assert any(row["worst"] is None for row in found["verdicts"])


def test_csv_agrees_with_the_summary(run: FakeRun) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "csv"))))
    agree(count(rows, "gate", "status"), run)
    assert list(rows[0]) == run.verdicts.column_names
    assert not [row for row in rows if "nan" in row["worst"].lower()]
    worst = [float(row["worst"]) for row in rows if row["worst"]]
    assert sorted(worst) == sorted(w for w in run.verdicts["worst"].to_pylist() if w is not None)


def test_csv_gives_a_spreadsheet_nothing_to_run(hostile: FakeRun) -> None:
    rows = list(csv.DictReader(io.StringIO(text(hostile, "csv"), newline="")))
    subjects = {row["subject"] for row in rows}
    assert {"'=1+1", "'-2+3", "'@SUM(A1)", "'\t=1", "plain", "a,b\r\nc"} <= subjects
    assert len(rows) == hostile.verdicts.num_rows
    for row in rows:
        for name in ("subject", "stream", "channel", "detail"):
            assert not row[name].startswith(tuple("=+-@\t\r"))


def test_junit_agrees_with_the_summary(run: FakeRun) -> None:
    root = fromstring(text(run, "junit"))
    found: dict[str, Counter[str]] = {}
    for suite in root:
        cases = suite.findall("testcase")
        counts = found.setdefault(suite.get("name"), Counter())
        for case in cases:
            child = next(iter(case), None)
            if child is None:
                counts["pass"] += 1
            elif child.tag == "skipped":
                counts[child.get("message").split(":")[0]] += 1
            else:
                counts[{"failure": "fail", "error": "error"}[child.tag]] += 1
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == counts["fail"]
        assert int(suite.get("skipped")) == counts["abstain"] + counts["n/a"]
    agree(found, run)
    assert int(root.get("tests")) == run.verdicts.num_rows
    assert int(root.get("failures")) == sum(c["fail"] for c in run.summary["gates"].values())


def test_junit_of_hostile_names_is_xml(hostile: FakeRun) -> None:
    root = fromstring(text(hostile, "junit"))
    assert {case.get("name") for case in root.iter("testcase")} >= {"=1+1", HOSTILE[0], "a,b\\u000d\\u000ac"}


def test_sarif_agrees_with_the_summary(run: FakeRun, hostile: FakeRun) -> None:
    for each in (run, hostile):
        log = json.loads(text(each, "sarif"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert log["version"] == "2.1.0"
        (done,) = log["runs"]
        rules = [rule["id"] for rule in done["tool"]["driver"]["rules"]]
        assert rules == sorted(each.summary["gates"])
        fails = Counter(result["ruleId"] for result in done["results"])
        assert {code: fails[code] for code in rules} == {
            c: n["fail"] for c, n in each.summary["gates"].items()
        }
        for result in done["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note")
            assert result["message"]["text"]
            (place,) = result["locations"]
            uri = place.get("physicalLocation", {}).get("artifactLocation", {}).get("uri", "")
            assert re.fullmatch(r"[A-Za-z0-9_.~/%-]*", uri)
        prints = [r["partialFingerprints"]["assay/v1"] for r in done["results"]]
        assert len(set(prints)) == len(prints)


def test_table_fits_a_terminal_and_agrees(run: FakeRun) -> None:
    lines = list(verdict_lines(run, "table"))
    assert max(map(len, lines)) <= 80
    head = lines[2].split()
    for line in lines[3 : 3 + len(run.summary["gates"])]:
        code, *numbers = line.split()
        counts = dict(zip(head[1:], (int(n.replace(",", "")) for n in numbers), strict=True))
        assert counts == run.summary["gates"][code]
    listed = Counter(line.split()[0] for line in lines[5 + len(run.summary["gates"]) :])
    assert listed["fail"] == sum(c["fail"] for c in run.summary["gates"].values())
    open_ = [line.split() for line in lines if line.startswith("abstain")]
    counts = Counter[str]()
    for words in open_:
        counts[words[-1]] += int(words[2].replace(",", "")) if words[3] == "subjects" else 1
    assert counts == run.summary["abstentions"]


def test_markdown_agrees_and_keeps_names_in_code(run: FakeRun, hostile: FakeRun) -> None:
    found = text(run, "md")
    counts = "| 40 | 38 | {accepted} | {rejected} | {unmeasured} |".format(**run.summary)
    assert counts in found
    for code, own in run.summary["gates"].items():
        if own["fail"]:
            assert (
                f"| `{code}` | {own['fail']} | {own['error']} | {own['abstain']} | {own['pass']} |" in found
            )
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text(hostile, "md"))
    assert "<script" not in outside
    assert "@" not in outside
