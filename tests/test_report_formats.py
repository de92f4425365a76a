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
from fake_run import SPECS, FakeRun, fake_run
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
    assert list(found) == ["schema_version", "summary", "verdicts", "findings", "timing"]
    assert found["schema_version"] == run.summary["schema_version"]
    assert found["summary"] == json.loads(json.dumps(run.summary))
    agree(count(found["verdicts"], "gate", "status"), run)
    assert len(found["findings"]) == run.findings.num_rows
    assert set(found["verdicts"][0]) == set(run.verdicts.column_names)
    assert any(row["worst"] is None for row in found["verdicts"])


def test_csv_agrees_with_the_summary(run: FakeRun) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "csv"))))
    agree(count(rows, "gate", "status"), run)
    assert list(rows[0]) == [*run.verdicts.column_names, "spans"]
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
        for piece in row["spans"].split("; "):
            assert not piece.startswith(tuple("=+-@\t\r\n"))


def test_csv_has_the_spans_of_every_failure(run: FakeRun) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "csv"))))
    assert not [row for row in rows if row["spans"] and row["status"] != "fail"]
    joints = [row["spans"] for row in rows if row["gate"] == "RTG001" and row["status"] == "fail"]
    one = r"[a-z_]+ \d+\.\d\d-\d+\.\d\d s"
    assert joints
    assert all(re.fullmatch(rf"{one}(; {one}){{0,3}}(; and 1 more)?", spans) for spans in joints)


@pytest.mark.parametrize("form", ["junit", "sarif", "md"])
def test_messages_have_the_same_spans_as_csv(run: FakeRun, form: str) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "csv"))))
    decisive = [row for row in rows if row["status"] == "fail" and row["gate"] in ("RTG001", "RTG007")]
    assert decisive
    said = text(run, form)
    assert all(row["spans"] in said for row in decisive)


def test_json_findings_have_seconds_beside_nanoseconds(run: FakeRun) -> None:
    for row in json.loads(text(run, "json"))["findings"]:
        assert (row["start_s"], row["end_s"]) == (row["t0"] / 1e9, row["t1"] / 1e9)


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
    at = next(i for i, line in enumerate(lines) if line.startswith("gate "))
    names = lines[at].split()[1:]
    for line in lines[at + 1 :]:
        code, *numbers = line.split()
        counts = dict(zip(names, (int(n.replace(",", "")) for n in numbers), strict=True))
        assert counts == run.summary["gates"][code]
    open_ = lines[next(i for i, line in enumerate(lines) if "not measured" in line) + 1 : at - 1]
    counted = Counter[str]()
    for line in open_:
        if line[26:44].strip():
            reason = line[26:44].strip()
            many = int(line.split()[0].replace(",", "")) if " episodes " in line else 1
        counted[reason] += many * len(line[44:].split())
    assert counted == run.summary["abstentions"]


def failing(*episodes: tuple[str, list[tuple[Any, ...]]]) -> FakeRun:
    """A run in which RTG001 fails at given (stream, channel, t0, t1, worst, unit, note)."""
    specs = tuple(spec for spec in SPECS if spec.code == "RTG001")
    made = fake_run(len(episodes), specs=specs, names=tuple(name for name, _ in episodes))
    for record, (_, points) in zip(made.records, episodes, strict=True):
        row = record["verdicts"][0]
        row |= {"status": "fail", "reason": "", "detail": "", "findings": len(points)}
        record["findings"] = [
            {"gate": "RTG001", "subject": row["subject"], "samples": 1, "limit": 1.0}
            | dict(zip(("stream", "channel", "t0", "t1", "worst", "unit", "note"), point, strict=True))
            for point in points
        ]
    return made


ELBOW = ("observation.state", "elbow", 3_000_000_000, 3_266_666_651, 2.0, "rad", "")


def failures(run: FakeRun) -> list[str]:
    """The lines of the table about episodes that fail, after the two about the corpus."""
    lines = list(verdict_lines(run, "table"))
    return lines[5 : lines.index("", 3)]


def test_table_names_the_span_of_each_failure() -> None:
    few = failing(*((f"e{i}", [ELBOW]) for i in range(5)))
    lines = [" ".join(line.split()) for line in failures(few)]
    assert lines == [f"drop RTG001 e{i} 3.00 to 3.27 2 rad elbow" for i in range(5)]


def test_the_worst_comes_first_whichever_stream_it_is_of() -> None:
    """Stored are those of one stream after those of another; of limits from below the least is worst."""
    first = [("action", f"wrist_{i}", i, i + 1, 2.0 - 0.1 * i, "s", "") for i in range(5)]
    ran = failing(("e0", [*first, ("observation.state", "right_wrist_yaw", 0, 1, 4.44, "s", "")]))
    lines = [" ".join(line.split()) for line in failures(ran)]
    assert lines[0] == "drop RTG001 e0 0.00 to 0.00 4.44 s right_wrist_yaw"
    assert lines[1].endswith("2 s action wrist_0")
    assert lines[-1] == "and 2 more"
    for form in ("csv", "junit"):
        assert re.search(r"right_wrist_yaw 0.00-0.00 s; action wrist_0", text(ran, form))
    below = [("camera", f"c{i}", 0, 1, worst, "Hz", "") for i, worst in enumerate((0.9, 0.5, -0.1, 0.7))]
    said = [line.split()[-1] for line in failures(failing(("e0", below)))]
    assert said == ["c2", "c1", "c3", "c0"]


def test_table_has_one_line_for_what_more_than_five_episodes_share() -> None:
    own = ("action", "elbow", 0, 10_000_000, 5.0, "rad", "")
    shared = [(f"e{i}", [ELBOW, own] if i == 3 else [ELBOW]) for i in range(86)]
    lines = [" ".join(line.split()) for line in failures(failing(*shared))]
    assert lines == [
        "drop RTG001 86 episodes 2 rad elbow", "e0 … e85 and 84 more (--format csv lists each)",
        "drop RTG001 e3 0.00 to 0.01 5 rad action elbow",
    ]  # fmt: skip


def test_table_says_in_words_what_a_pure_number_means_and_gives_no_time_to_what_is_absent() -> None:
    gone = ("", "data", 0, 0, 1.0, "1", "declared a.parquet, found absent")
    rate = ("camera", "pictures", 0, 5_000_000_000, 0.5, "1", "15.0 Hz, declared 30")
    bare = ("camera", "stamps", 0, 5_000_000_000, 1.5, "1", "")
    said = "\n".join(failures(failing(("e0", [gone, gone]), ("e1", [rate]), ("e2", [bare]))))
    assert "0.00 to 0.00" not in said
    assert said.count("declared a.parquet, found absent") == 1
    assert "15.0 Hz, declared 30" in said
    assert "1.5, limit 1" in said
    assert " 0.5 " not in said


@pytest.mark.parametrize("length", [30, 66, 70, 74])
def test_the_id_of_an_episode_is_not_broken_where_a_line_can_hold_it(length: int) -> None:
    names = [f"{i}-{'x' * (length - 2)}" for i in range(8)]
    for ran in (failing((names[0], [ELBOW])), failing(*((name, [ELBOW]) for name in names))):
        lines = failures(ran)
        assert max(map(len, lines)) <= 80
        assert any(names[0] in line for line in lines)
    assert any(names[-1] in line for line in lines)
    assert "and 6 more (--format csv lists each)" in "\n".join(lines)


def test_table_wraps_long_names_and_loses_no_letter() -> None:
    name, note = "x" * 120 + "_left", " ".join(f"word{i}" for i in range(40))
    point = (f"observation.{'s' * 90}", f"{'j' * 100}_left", 0, 10, 2.0, "rad", note)
    lines = failures(failing((name, [point])))
    assert max(map(len, lines)) <= 80
    whole = "".join("".join(lines).split())
    for part in (name, point[0], point[1], note):
        assert part.replace(" ", "") in whole


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
