"""The page: its numbers are the run's, hostile names stay text, and in a browser it is quick and usable."""

import json
import re
import time
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import plugs
from assay.errors import RunError
from assay.gate import REASONS
from assay.judge import MULTIPLES, Measure, verdict_of
from assay.report import sections, write_report
from assay.report.compact import embed, pack
from assay.report.page import render
from assay.report.payload import OWN_NAME
from assay.report.ranking import MOST_WATCHED, near_misses, systematic, watch_list
from assay.report.rungs import distributions, status_at_rungs
from assay.report.tables import STATUSES, Grid, natural_key
from assay.report.wording import hours, number, percent, shell, view_line, visible, with_unit
from assay.tables import SCHEMAS
from fake_run import SPECS, FakeRun, Spec, fake_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MEGABYTE = 1_000_000
NBSP = "\N{NO-BREAK SPACE}"
HOSTILE = (
    "</script><script>window.hit=1</script>",
    '"><img src=x onerror="window.hit=2">',
    "<!--<script>",
    "'; rm -rf ~ #",
    "javascript:window.hit=3",
    "{{ 7 * 7 }}{% raw %}",
    "a\u202egpj.exe\u2028b\x00c\x1b[31m",
    "ünïcödé 手 ] ]]> &amp; %3Cb%3E",
    "__proto__",
    "$(touch hit) `touch hit`",
)


class Reading(HTMLParser):
    """Values of ``<data>`` elements by id, all tags with their attributes, and the embedded payload."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.payload, self.text = "", ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "data":
            self.values[str(found["id"])] = str(found["value"])
        self._inside = tag == "script" and found.get("id") == "payload"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._inside:
            self.payload += data
            self._inside = False


@pytest.fixture(scope="module")
def small() -> FakeRun:
    return fake_run(40, absent=2)


@pytest.fixture(scope="module")
def page(small: FakeRun) -> Reading:
    return Reading(render(small, plugs.gates()))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 10,000 episodes and 25 gates."""
    return write_report(fake_run(1_000, absent=4, copies=10), tmp_path_factory.mktemp("big"))


# --------------------------------------------------------------------------------------------- its numbers


def test_counts_equal_the_summary(small: FakeRun, page: Reading) -> None:
    for name in ("declared", "present", "accepted", "rejected", "unmeasured", "frames", "findings"):
        assert page.values[f"n-{name}"] == str(small.summary[name])
    assert float(page.values["n-hours"]) == small.summary["hours"]
    assert float(page.values["n-unlock"]) == small.summary["unlock"]["hours"]
    for reason, n in small.summary["abstentions"].items():
        assert page.values[f"n-reason-{reason}"] == str(n)


def test_counts_of_gates_equal_the_summary_and_the_rows(small: FakeRun, page: Reading) -> None:
    rows = Counter(zip(small.verdicts["gate"].to_pylist(), small.verdicts["status"].to_pylist(), strict=True))
    for code, counts in small.summary["gates"].items():
        for status, n in counts.items():
            shown = page.values.get(f"g-{code}-{status.replace('/', '')}", "0")
            assert (int(shown), rows[code, status]) == (n, n)


def test_what_was_not_measured_is_told_gate_by_gate(small: FakeRun, page: Reading) -> None:
    """Gate, reason, episodes, the words that most of them have, and what would decide it."""
    left = [v for v in small.verdicts.to_pylist() if (v["status"], v["scope"]) == ("abstain", "episode")]
    counts = Counter((v["gate"], v["reason"]) for v in left)
    assert counts
    for (gate, reason), n in counts.items():
        assert page.values[f"n-open-{gate}-{reason}"] == str(n)
        assert REASONS[reason] in page.text
    for row in sections.open_rows(small, Grid.of(small)):
        mine = Counter(v["detail"] for v in left if (v["gate"], v["reason"]) == (row["gate"], row["reason"]))
        assert mine[row["words"]] == max(mine.values(), default=0)
        assert row["others"] == max(len(mine) - 1, 0)


def test_payload_holds_every_verdict(small: FakeRun, page: Reading) -> None:
    data = json.loads(page.payload)
    marks = {"pass": "p", "fail": "f", "abstain": "a", "n/a": "n", "error": "e"}
    place = {subject: i for i, subject in enumerate(data["episodes"]["id"])}
    status = {gate["code"]: gate["status"] for gate in data["gates"]}
    for row in small.verdicts.to_pylist():
        if row["scope"] == "episode":
            assert status[row["gate"]][place[row["subject"]]] == marks[row["status"]]
    counts = Counter(data["episodes"]["decision"])
    assert [counts[d] for d in "aru"] == [small.summary[n] for n in ("accepted", "rejected", "unmeasured")]
    assert data["findings"]["shown"] == small.findings.num_rows
    own = [id_.rpartition("/")[2] for id_ in data["episodes"]["id"]]
    files = unpacked(data["episodes"]["files"], len(own))
    files = [f.replace(OWN_NAME, n) for f, n in zip(files, own, strict=True)]
    assert files == small.episodes["files"].to_pylist()


def test_hours_at_the_limit_are_the_accepted_hours(small: FakeRun) -> None:
    grid = Grid.of(small)
    accepted = grid.seconds[grid.decision == "accepted"].sum() / 3600
    for d in distributions(small.measures, grid):
        now = d.hours[int(np.flatnonzero(MULTIPLES == 1.0)[0])]
        if grid.effect[d.gate] in ("require", "reject"):
            assert now == pytest.approx(accepted)
        else:
            assert now <= accepted + 1e-9
        steps = np.diff(d.hours) * (1 if d.sense == "above" else -1)
        assert np.all(steps >= -1e-12)


def test_distribution_counts_every_sample_once(small: FakeRun) -> None:
    measures = [m for m in small.measures.to_pylist() if m["scope"] == "episode" and not m["settled"]]
    for d in distributions(small.measures, Grid.of(small)):
        own = [m for m in measures if m["gate"] == d.gate]
        assert d.samples.sum() + d.unplaced == sum(m["n_in"] + m["n_unknown"] for m in own)


def test_a_gate_on_a_run_without_its_measures_is_shown_without_a_chart() -> None:
    everything_open = (
        Spec("SYN002", "reject", 100.0, "ppm", single=True, opens=1.0, reason="nominal-clock"),
    )
    text = render(fake_run(3, specs=everything_open), plugs.gates())
    assert "No sample was measured." in text
    assert "nominal-clock" in text


@given(
    n_in=st.integers(0, 9), n_unknown=st.integers(0, 4), n_out=st.integers(0, 2), sure=st.integers(0, 9),
    maybe=st.integers(0, 9), maybe_unknown=st.integers(0, 4), quota=st.sampled_from([0.0, 0.25, 0.5]),
)  # fmt: skip
def test_rungs_follow_the_judge(**m: Any) -> None:
    run = fake_run(1, specs=(SPECS[0],))
    row = next(r for r in run.records[0]["measures"])
    row |= {name: m[name] for name in ("n_in", "n_unknown", "n_out", "quota")} | {"settled": ""}
    row["n"] = m["n_in"] + m["n_unknown"] + m["n_out"]
    row |= {name: (m[name],) * len(MULTIPLES) for name in ("sure", "maybe", "maybe_unknown")}
    expected = verdict_of(Measure(**row), rung=5).status
    table = pa.Table.from_pylist([row], SCHEMAS["measures"])
    assert STATUSES[status_at_rungs(table)[0, 5]] == expected


# ------------------------------------------------------------------------------------ what it points out


def test_watch_list_is_short_and_varied(small: FakeRun) -> None:
    chosen = watch_list(small.findings, Grid.of(small), frozenset({"SYN006"}))
    assert 0 < len(chosen) <= MOST_WATCHED
    assert len({w.episode for w in chosen}) == len(chosen)
    assert sum("SYN006" in w.gates for w in chosen) <= 1
    assert all(small.episodes["present"][int(Grid.of(small).order[w.episode])].as_py() for w in chosen)


def test_watch_list_shows_each_failing_gate(small: FakeRun) -> None:
    grid = Grid.of(small)
    there = {s for s, p in zip(grid.subjects, grid.present, strict=True) if p}
    failing = {f["gate"] for f in small.findings.to_pylist() if f["subject"] in there}
    shown = {gate for w in watch_list(small.findings, grid, frozenset()) for gate in w.gates}
    assert shown == failing


def test_near_misses_are_passes_near_their_limit(small: FakeRun) -> None:
    grid = Grid.of(small)
    for miss in near_misses(small.verdicts, small.measures, grid):
        assert STATUSES[grid.status[miss.gate, miss.episode]] == "pass"
        assert miss.used >= 0.7


def test_a_pass_on_the_safe_side_of_zero_is_no_near_miss(small: FakeRun) -> None:
    """RTG012 measures odds: -10 against a limit of 0.69 is far, not 1450 % of what is allowed."""
    grid = Grid.of(small)
    worst = pa.array([None if w is None else -abs(w) for w in small.verdicts["worst"].to_pylist()])
    at = small.verdicts.schema.get_field_index("worst")
    away = small.verdicts.set_column(at, "worst", worst)
    assert near_misses(small.verdicts, small.measures, grid)
    assert all(miss.of_quota for miss in near_misses(away, small.measures, grid))


def test_without_a_rate_no_hours_are_claimed(small: FakeRun) -> None:
    head = {**small.head, "corpora": [{**small.head["corpora"][0], "declared": None}]}
    records = [r | {"seconds": 0.0} for r in small.records]
    text = render(replace(small, head=head, records=records), plugs.gates())
    assert "No rate is stated" in text
    assert "<dd>as listed</dd>" in text
    assert "decides 0" not in text
    assert "No rate is stated" not in render(small, plugs.gates())


def test_an_ignored_sheet_and_a_foreign_profile_stand_first(small: FakeRun) -> None:
    corpus = {**small.head["corpora"][0], "refused": "assay.toml: unknown item <b>embodimen</b>"}
    head = {**small.head, "corpora": [corpus], "foreign_profile": "profile simulation is of another kind"}
    text = render(replace(small, head=head), plugs.gates())
    assert "ignored as a whole:</b> assay.toml: unknown item &lt;b&gt;embodimen" in text
    assert text.index("ignored as a whole:") < text.index("episodes accepted")
    assert "profile simulation is of another kind" in text
    assert "mend assay.toml, ignored as a whole" in text
    assert "mend assay.toml" not in render(small, plugs.gates())


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"fail": 7, "pass": 3}, True),
        ({"fail": 6, "pass": 4}, False),
        ({"fail": 7, "pass": 0, "n/a": 90, "abstain": 5}, False),
        ({"fail": 0}, False),
    ],
)
def test_a_gate_that_fails_nearly_everything_is_called_so(counts: dict[str, int], says: bool) -> None:
    assert systematic(counts) is says


def test_systematic_gate_is_named_on_the_page(small: FakeRun) -> None:
    assert render(small, {}).count("systematic or uninformative: look") == 2  # in the table and on its card


# ------------------------------------------------------------------------------------------ hostile names


def test_hostile_names_stay_text() -> None:
    text = render(fake_run(12, names=HOSTILE, absent=1), plugs.gates())
    reading = Reading(text)
    assert [tag for tag, _ in reading.tags].count("script") == 2
    assert not [tag for tag, a in reading.tags if any(name.startswith("on") for name in a)]
    assert not [a for _, a in reading.tags if (a.get("href") or "").lower().startswith("javascript")]
    assert {a["src"] for _, a in reading.tags if "src" in a} == set()
    assert json.loads(reading.payload)["episodes"]["id"] == sorted(
        [*HOSTILE, "episode_000010", "episode_000011"], key=natural_key
    )
    assert "49" not in Reading(text).values.values()


def test_page_asks_for_nothing(page: Reading) -> None:
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "img", "base")
        for name in ("src", "href", "action"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:,")) or not value
    policy = next(a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@given(st.dictionaries(st.text(), st.lists(st.text() | st.floats() | st.integers(-(2**53), 2**53))))
def test_embedded_json_cannot_end_its_element(value: Any) -> None:
    text = str(embed({"x": value}))
    assert not set(text) & set("<>&\u2028\u2029")
    json.loads(text)


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ("$(x)", "'$(x)'"),
        ("a\nb'", "$'a\\u000ab\\''"),
        ("ok-1", "ok-1"),
    ],
)
def test_words_of_a_command_line_are_quoted(word: str, line: str) -> None:
    assert shell(word) == line


def test_view_line_names_the_moment() -> None:
    assert view_line("runs/a b", "episode_3", 2_250_000_000) == "assay view 'runs/a b' episode_3 --at 2.25"
    assert view_line("r", "e", 0).endswith("--at 0.00")


# ------------------------------------------------------------------------------------------------ wording


def unpacked(packed: dict[str, Any], n: int) -> list[Any]:
    """What the page's script does."""
    if "a" in packed:
        return list(packed["a"])
    if "u" in packed:
        return [packed["u"][i] for i in packed["x"]]
    out = [packed.get("d", packed.get("c"))] * n
    at = 0
    for gap, value in zip(packed.get("i", ()), packed.get("v", ()), strict=True):
        at += gap
        out[at] = value
    return out


@given(st.lists(st.sampled_from(["", "a", "b", "\u2028", "0"]) | st.text(max_size=3)))
def test_text_columns_survive_packing(values: list[str]) -> None:
    kept = [v.rstrip("\0") for v in values]  # numpy text cannot end in NUL
    assert unpacked(pack(np.array(kept, object)), len(kept)) == kept


@given(st.lists(st.sampled_from([0.0, 1.0, 0.5]) | st.floats(-1e12, 1e12) | st.just(float("nan"))))
def test_number_columns_survive_packing_to_four_digits(values: list[float]) -> None:
    got = np.array(
        [np.nan if v is None else v for v in unpacked(pack(np.array(values, float)), len(values))], float
    )
    np.testing.assert_allclose(got, values, rtol=6e-4, atol=1e-300)


def test_episodes_sort_by_number() -> None:
    names = ["e10", "e2", "e1", "b", "10", "9", ""]
    assert sorted(names, key=natural_key) == ["", "9", "10", "b", "e1", "e2", "e10"]


def test_numbers_read_well() -> None:
    assert [number(x) for x in (0.0, 0.00037184, 141.83, 12345.6, 1e-7, float("nan"), None)] == [
        *("0", "0.0003718", "141.8", "12,350", "1.000e-07", "–", "–"),
    ]  # fmt: skip
    assert [percent(x).replace(NBSP, " ") for x in (0.0, 1e-6, 0.005, 0.3333, 0.9999, 1.0)] == [
        *("0 %", "< 0.01 %", "0.5 %", "33.3 %", "> 99.9 %", "100 %"),
    ]  # fmt: skip
    assert [hours(x).replace(NBSP, " ") for x in (0, 0.001, 0.25, 4000.04)] == [
        "0 h",
        "3.6 s",
        "15.0 min",
        "4,000.0 h",
    ]
    assert [
        with_unit(*x).replace(NBSP, " ") for x in ((1, "frame"), (45.0, "frame"), (0.2, "rad"), (3, "1"))
    ] == [
        *("1 frame", "45 frames", "0.2 rad", "3"),
    ]
    assert visible("a\u202eb\n") == "a\\u202eb\\u000a"


def test_an_unwritable_place_is_one_sentence(small: FakeRun, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the report cannot be written"):
        write_report(small, tmp_path / "absent" / "report.html")


def test_report_goes_into_a_folder_or_a_file(small: FakeRun, tmp_path: Path) -> None:
    assert write_report(small, tmp_path) == tmp_path / "report.html"
    assert write_report(small, tmp_path / "x.html").read_text("utf-8").startswith("<!doctype html>")
    assert {p.name for p in tmp_path.iterdir()} == {"report.html", "x.html"}


def test_same_run_same_page(small: FakeRun) -> None:
    assert render(small, plugs.gates()) == render(small, plugs.gates())


def test_empty_run_is_a_page() -> None:
    text = render(fake_run(0), plugs.gates())
    assert "No gate found a moment beyond its limit." in text


# ---------------------------------------------------------------------------------------------- in a browser


@pytest.fixture
def tab(browser: "Browser") -> "Page":
    """A page that fails the test on any script error or request beyond the file itself."""
    opened = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    opened.trouble = []  # type: ignore[attr-defined]
    opened.on("pageerror", lambda e: opened.trouble.append(str(e)))
    opened.on("console", lambda m: opened.trouble.append(m.text) if m.type in ("error", "warning") else None)
    opened.on(
        "request",
        lambda r: opened.trouble.append(r.url) if not r.url.startswith(("file:", "data:")) else None,
    )
    yield opened
    assert opened.trouble == []
    opened.context.close()


def visit(tab: "Page", path: Path, fragment: str = "") -> None:
    tab.goto(path.as_uri() + fragment)
    tab.wait_for_selector("#grid .row.at")


@pytest.fixture(scope="module")
def small_page(small: FakeRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(small, tmp_path_factory.mktemp("small"))


CLICK = """name => { const b = document.querySelector(`[data-sort="${name}"] button`), t = performance.now();
    b.click(); document.body.offsetHeight; return performance.now() - t; }"""
TYPE = """text => { const f = document.querySelector("#filter"), t = performance.now(); f.value = text;
    f.dispatchEvent(new Event("input", { bubbles: true })); document.body.offsetHeight;
    return performance.now() - t; }"""


def timed(tab: "Page", path: Path) -> dict[str, float]:
    """Milliseconds of the first paint, of becoming usable, and of each sort and filter up to its layout."""
    start = time.monotonic()
    visit(tab, path)
    found = {"usable": 1000 * (time.monotonic() - start)}
    found["paint"] = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    for name in ("id", "task", "worst", "fails", "g0", "g22"):
        found[f"sort {name}"] = tab.evaluate(CLICK, name)
    for text in ("e", "episode_00", "towel syn004", "nothing like this", ""):
        found[f"filter {text}"] = tab.evaluate(TYPE, text)
    return found


@pytest.mark.browser
def test_ten_thousand_episodes_are_quick(tab: "Page", big: Path) -> None:
    assert big.stat().st_size <= 8 * MEGABYTE
    rounds = [timed(tab, big) for _ in range(3)]  # the best of three: other work on the machine only adds
    best = {name: min(found[name] for found in rounds) for name in rounds[0]}
    print(f"{big.stat().st_size / MEGABYTE:.2f} MB, ms:", {name: round(ms) for name, ms in best.items()})
    assert best.pop("paint") <= 2000
    assert best.pop("usable") <= 2000
    assert max(best.values()) <= 200, best
    assert tab.locator("#grid .body .row").count() < 80


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(tab: "Page", small_page: Path, width: int, scheme: Any) -> None:
    tab.set_viewport_size({"width": width, "height": 850})
    tab.emulate_media(color_scheme=scheme)
    for fragment in ("", "#episode=episode_000002", "#gate=RTG001"):
        visit(tab, small_page, fragment)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("document.querySelector('#panel').scrollWidth") <= width
    ink, paper = (
        tab.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor")
    )
    light = {
        name: sum(map(int, re.findall(r"\d+", colour)[:3]))
        for name, colour in (("ink", ink), ("paper", paper))
    }
    assert (light["paper"] > light["ink"]) is (scheme == "light")


@pytest.mark.browser
def test_numbers_on_screen_equal_the_summary(tab: "Page", small: FakeRun, small_page: Path) -> None:
    visit(tab, small_page)
    for name in ("declared", "present", "accepted", "rejected", "unmeasured"):
        assert tab.locator(f"#n-{name}").inner_text() == f"{small.summary[name]:,}"
    for letter, name in (("a", "accepted"), ("r", "rejected"), ("u", "unmeasured")):
        tab.select_option("#by-decision", letter)
        assert tab.locator("#shown").inner_text().startswith(f"{small.summary[name]} of 40")
    tab.select_option("#by-decision", "")
    for gate in ("SYN006", "RTG001"):
        tab.select_option(
            "#by-gate", label=f"{gate} {plugs.gates()[gate].title}" if gate in plugs.gates() else f"{gate} "
        )
        fails = sum(v["gate"] == gate and v["status"] == "fail" for v in small.verdicts.to_pylist())
        assert tab.locator("#shown").inner_text().startswith(f"{fails} of 40")


@pytest.mark.browser
def test_deep_links_open_what_they_name(tab: "Page", small_page: Path) -> None:
    visit(tab, small_page, "#episode=episode_000011")
    assert tab.locator("#panel-title").inner_text() == "episode_000011"
    assert tab.locator("#panel .verdicts tr").count() == len(SPECS)
    tab.evaluate("location.hash = '#gate=INT004'")
    tab.wait_for_function("document.activeElement.id === 'gate=INT004'")
    assert tab.locator("#panel").is_hidden()
    assert tab.locator("[id='gate=INT004']").is_visible()
    tab.evaluate("location.hash = '#episode=nobody'")
    tab.wait_for_selector("#said.seen")
    assert "No episode of this name" in tab.locator("#said").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("section", ["coverage", "clocks", "limits"])
def test_a_section_shows_at_its_anchor(tab: "Page", small_page: Path, section: str) -> None:
    """``chromium --screenshot`` draws any page blank that is scrolled by its address, a plain one too."""
    visit(tab, small_page, f"#{section}")
    top = tab.evaluate(f"document.getElementById('{section}').getBoundingClientRect().top")
    assert -1 <= top < tab.evaluate("innerHeight")
    assert tab.locator(f"#h-{section}").is_visible()


@pytest.mark.browser
def test_everything_can_be_done_by_keys(tab: "Page", small_page: Path) -> None:
    visit(tab, small_page)
    tab.keyboard.press("/")
    tab.keyboard.type("towel")
    rows = int(tab.locator("#shown").inner_text().split()[0])
    assert 0 < rows < 40
    tab.keyboard.press("ArrowDown")
    for _ in range(3):
        tab.keyboard.press("ArrowDown")
    chosen = tab.locator("#grid .row.at .c-id").inner_text()
    assert tab.locator("#grid").get_attribute("aria-activedescendant") == "row-3"
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#panel:not([hidden])")
    assert tab.locator("#panel-title").inner_text() == chosen
    assert tab.url.endswith(f"#episode={chosen}")
    tab.keyboard.press("]")
    tab.wait_for_function("name => document.querySelector('#panel-title').textContent !== name", arg=chosen)
    tab.keyboard.press("Escape")
    assert tab.locator("#panel").is_hidden()
    assert tab.evaluate("document.activeElement.id") == "grid"
    tab.keyboard.press("End")
    assert tab.locator("#grid").get_attribute("aria-activedescendant") == f"row-{rows - 1}"
    tab.keyboard.press("?")
    assert tab.locator("#help").is_visible()
    tab.keyboard.press("Escape")
    assert tab.locator("#help").is_hidden()


@pytest.mark.browser
def test_columns_sort_both_ways_and_say_so(tab: "Page", small_page: Path) -> None:
    visit(tab, small_page)
    for expected in ("descending", "ascending"):
        tab.click("[data-sort=seconds] button")
        assert tab.locator("[data-sort=seconds]").get_attribute("aria-sort") == expected
        shown = tab.evaluate(
            """[...document.querySelectorAll("#grid .body .row:not([hidden])")]
            .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
            .map((row) => parseFloat(row.querySelector(".c-seconds").textContent) || 0)"""
        )
        assert shown == sorted(shown, reverse=expected == "descending")
    tab.click("[data-sort=g22] button")
    assert tab.locator("#grid .row.at .cell.c-gate").nth(22).inner_text() == "✕"


@pytest.mark.browser
def test_hostile_names_run_nothing_in_a_browser(tab: "Page", tmp_path: Path) -> None:
    path = write_report(fake_run(24, names=HOSTILE, seed=3), tmp_path)
    visit(tab, path)
    for name in HOSTILE:
        tab.evaluate("name => { location.hash = '#episode=' + encodeURIComponent(name); }", name)
        tab.wait_for_function(
            "name => document.querySelector('#panel-title')?.textContent === name", arg=visible(name)
        )
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("window.hit") is None
    assert tab.locator("img, iframe").count() == 0


@pytest.mark.browser
def test_theme_button_goes_round(tab: "Page", small_page: Path) -> None:
    visit(tab, small_page)
    seen = []
    for _ in range(3):
        tab.click("#theme")
        seen.append(
            (
                tab.locator("#theme").inner_text(),
                tab.evaluate("getComputedStyle(document.body).backgroundColor"),
            )
        )
    assert [text for text, _ in seen] == ["theme: light", "theme: dark", "theme: auto"]
    assert seen[0][1] != seen[1][1]


@pytest.mark.browser
def test_copied_line_is_the_command(tab: "Page", small_page: Path) -> None:
    visit(tab, small_page)
    line = tab.locator("#watch .command code").first.inner_text()
    assert re.fullmatch(r"assay view assay-runs/g1_tea-20250102-030405 episode_\d{6} --at \d+\.\d\d", line)
    tab.locator("#watch .command .copy").first.click()
    tab.wait_for_selector("#said.seen")


@pytest.mark.browser
def test_print_holds_the_table(tab: "Page", small_page: Path, big: Path) -> None:
    for path, rows in ((small_page, 40), (big, 500)):
        visit(tab, path)
        assert tab.pdf()[:5] == b"%PDF-"
        assert tab.locator("#print-table tbody tr").count() == rows
    tab.set_viewport_size({"width": 760, "height": 1000})  # A4 at 96 dots per inch, less its margins
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 760
    assert tab.locator("#grid").is_hidden()
    assert tab.locator("#print-table").is_visible()
    assert "The first 500 of 10,000 rows" in tab.locator("#print-table p").inner_text()


@pytest.mark.browser
def test_without_scripts_the_page_still_tells(browser: "Browser", small: FakeRun, small_page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(small_page.as_uri())
    assert opened.locator("#n-accepted").inner_text() == str(small.summary["accepted"])
    assert opened.locator("#watch li").count() > 0
    assert "The table needs scripts" in opened.locator("#episodes").inner_text()
    context.close()
