"""`assay view`: the decision, the verdicts with their spans, and one moment that is what the data hold."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.engine import run
from assay.engine.episode import _first
from assay.errors import UsageError
from assay.gate import Evidence
from assay.model import Episode
from assay.rejudge import rejudge_run
from assay.report import write_report
from assay.report.formats import verdict_lines
from assay.store import Run
from assay.synth import retime, teleop
from assay.view import Moment, View, text_of, view_of
from assay.view.choice import told_apart
from assay.view.moment import _covering, moment_of
from assay.view.seen import _named, _view
from tiny_corpus import tiny_corpus
from toy import toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")

RECORDED = Path(__file__).parent / "golden/recording/mcap_ros2/input"
HEIGHTS = np.array([0.5, 0.5, 0.6, 1.5, 2.5, 1.2, 0.4, 0.4, 3.0, 0.4])
TOY = {"gates": "INT950", "profile": Path(__file__).parent / "toy_site/toy.toml", "jobs": 1}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ten heights of which four are above the limit of 1 m, in two stretches; and a flight that is fine."""
    folder = tmp_path_factory.mktemp("view")
    toy_corpus(folder / "c", {"high": HEIGHTS, "fine": HEIGHTS / 4})
    return run(folder / "c", out=folder / "run", **TOY)


def moment(done: Run, subject: str, at: float | None = None) -> Moment:
    seen = view_of(done, subject, at)
    assert seen.missing == ""
    assert seen.moment is not None
    return seen.moment


def test_default_moment_is_the_worst_and_its_samples_are_those_of_the_data(done: Run) -> None:
    m = moment(done, "high")
    assert (m.gate, m.stream, m.channel, m.unit, m.limit) == ("INT950", "height", "z", "m", 1.0)
    assert (m.at, m.fails) == (0.8, True)
    assert m.seconds == pytest.approx([n / 10 for n in range(1, 10)])
    assert m.value == pytest.approx(HEIGHTS[1:])
    assert m.beyond == (HEIGHTS[1:] > 1.0).tolist()
    (column,) = m.columns
    assert (column.stream, column.channel) == ("height", "z")
    assert column.values == pytest.approx(HEIGHTS[1:])


@pytest.mark.parametrize(("at", "first"), [(0.0, 0), (0.35, 0), (0.55, 1), (0.9, 1), (1.0, 1), (-0.005, 0)])
def test_nine_samples_around_any_moment(done: Run, at: float, first: int) -> None:
    m = moment(done, "high", at)
    assert m.at == at
    assert m.value == pytest.approx(HEIGHTS[first : first + 9])


def test_verdicts_have_their_spans(done: Run) -> None:
    (row,) = view_of(done, "high").verdicts
    assert (row["gate"], row["status"]) == ("INT950", "fail")
    assert sorted((s["start_s"], s["end_s"]) for s in row["spans"]) == [(0.3, 0.6), (0.8, 0.9)]
    assert "height z 0.80-0.90 s; height z 0.30-0.60 s" in row["says"]


def test_an_episode_without_failures_shows_what_is_nearest_its_limit(done: Run) -> None:
    seen = view_of(done, "fine")
    assert (seen.decision, seen.verdicts) == ("accepted", [])
    m = moment(done, "fine")
    assert (m.fails, m.at, any(m.beyond)) == (False, 0.8, False)


def test_a_failure_under_a_stricter_limit_is_found_in_the_data(done: Run, tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text('extends = "teleoperation"\n[params.INT950]\nlimit = 0.5')
    strict = rejudge_run(done, tmp_path / "strict.toml", tmp_path / "strict")
    m = moment(strict, "fine")
    assert (m.fails, m.limit, m.at) == (True, 0.5, 0.8)
    assert m.beyond == (HEIGHTS[1:] / 4 > 0.5).tolist()


def test_text_marks_what_is_beyond_the_limit_and_fits(done: Run) -> None:
    lines = list(text_of(view_of(done, "high", 0.3)))
    assert max(map(len, lines)) <= 80
    assert lines[0] == "high: rejected"
    table = [line for line in lines if line.lstrip(">").strip()[:2] == "0."]
    marked = [line.lstrip(">").split()[0] for line in table if "*" in line]
    assert marked == ["0.300", "0.400", "0.500", "0.800"]
    assert [line.split()[0:2] for line in table if line.startswith(">")] == [[">", "0.300"]]
    assert lines[-1] == "Pictures beside it come with the [view] extra in version 0.5."


def test_state_and_request_of_the_same_joint_stand_beside_each_other(tmp_path: Path) -> None:
    root = tiny_corpus(tmp_path / "c", episodes=1)
    from assay.inject import inject, parse_defect

    (truth,) = inject(root, tmp_path / "bad", [parse_defect("clip-at-limit=0.2")], seed=3)
    bad = run(tmp_path / "bad", out=tmp_path / "run", gates="RTG008", jobs=1, decode="none")
    m = moment(bad, truth.episode)
    assert m.gate == truth.gate
    assert truth.t0 * 1e-9 <= m.at <= truth.t1 * 1e-9
    assert {column.stream for column in m.columns} == {"observation.state", "action"}
    assert {column.channel for column in m.columns if column.stream == "observation.state"} == {truth.channel}


def test_the_samples_are_those_of_the_evidence_that_is_worst(tmp_path: Path) -> None:
    """Two claims about the same pictures by the same stamps, of which the second is further off."""
    ran = run(RECORDED, out=tmp_path / "run", gates="SYN001", jobs=1, decode="none")
    (verdict,) = [row for row in ran.verdicts.to_pylist() if row["scope"] == "episode"]
    m = moment(ran, "run")
    assert (m.gate, verdict["worst"]) == ("SYN001", pytest.approx(0.05002))
    assert m.value == pytest.approx([verdict["worst"]] * len(m.value))
    assert all(m.beyond)


def test_two_claims_about_one_camera_are_told_apart() -> None:
    def claim(note: str, channel: str = "camera") -> dict[str, str]:
        return {"gate": "SYN001", "stream": "/camera/image", "channel": channel, "note": note}

    told = told_apart([claim("after their receipt"), claim("after the joints"), claim("alone", "other")])
    assert [f["channel"] for f in told] == [
        "camera (after their receipt)",
        "camera (after the joints)",
        "other",
    ]
    assert [f["note"] for f in told] == ["", "", "alone"]
    assert told_apart([claim("alone"), claim("alone")]) == [claim("alone"), claim("alone")]


def test_a_channel_with_one_claim_keeps_its_short_name(done: Run) -> None:
    seen = view_of(done, "high")
    assert seen.moment is not None
    assert seen.moment.note == ""
    assert " (" not in seen.verdicts[0]["says"]


def test_people_read_seconds_from_the_first_sample_and_machines_the_clock(tmp_path: Path) -> None:
    """Of a recording that counts from 1970: the table, a pull request's comment, the page and the view."""
    ran = run(RECORDED, out=tmp_path / "run", gates="SYN001,INT008", jobs=1, decode="none")
    assert ran.episodes["t0"].to_pylist() == [1_700_000_000 * 10**9]
    for form in ("table", "md", "junit", "sarif"):
        said = "\n".join(verdict_lines(ran, form))
        assert re.search(r"0\.05(-| to )0\.25", said), form
        assert "1700000000." not in said
    page = write_report(ran, tmp_path / "page.html").read_text()
    assert f"assay view {ran.path} run --at 0.05" in page
    assert "1700000000" not in page
    seen = view_of(ran, "run", 0.05)
    assert seen.t0 == 1_700_000_000 * 10**9
    assert seen.moment is not None
    assert seen.moment.at == 0.05
    assert all(0.0 <= s <= 0.25 for s in seen.moment.seconds)
    assert "17000" not in "\n".join(text_of(seen))
    assert next((s["start_s"], s["end_s"]) for v in seen.verdicts for s in v["spans"]) == (0.05, 0.25004)
    found = json.loads("\n".join(verdict_lines(ran, "json")))["findings"]
    assert {row["t0"] // 10**9 for row in found} == {1_700_000_000}


def test_the_first_sample_is_no_wrong_date_and_no_camera() -> None:
    epoch = 1_748_331_238 * 10**9
    ep = retime(teleop(), "observation.state", lambda t: t + epoch)
    ep = retime(ep, "action", lambda t: np.where(np.arange(len(t)) == 3, 5, t + epoch - 10**9))
    ep = retime(ep, "observation.images.cam_0", lambda t: t + epoch - 2 * 10**9)
    assert _first(ep) == epoch - 10**9
    assert _first(Episode("empty")) is None


def test_a_run_of_before_counts_as_it_did(tmp_path: Path) -> None:
    """Its table of episodes does not know the first sample."""
    ran = run(RECORDED, out=tmp_path / "run", gates="SYN001", jobs=1, decode="none")
    pq.write_table(ran.episodes.drop_columns("t0"), tmp_path / "run/episodes.parquet")
    old = Run(tmp_path / "run")
    assert "1700000000.05 to 1700000000.25" in "\n".join(verdict_lines(old, "table"))
    assert view_of(old, "run", 1_700_000_000.05).t0 == 0


def test_a_moment_shows_the_data_where_the_gate_has_one_sample_for_all() -> None:
    """State and request of the joints that move then, the rows around it, and the gate's one value."""
    ep, camera = teleop(), "observation.images.cam_0"
    state = ep.stream("observation.state")
    assert state is not None
    whole = np.array([state.t[0]]), np.array([state.t[-1]])
    e = Evidence(np.array([0.5]), *whole, "1", 0.9, stream=camera, channel="pictures", sense="below")
    target = {"gate": "SYN006", "channel": "pictures", "t0": int(whole[0][0]), "t1": int(whole[1][0]),
              "fails": True}  # fmt: skip
    for row in (60, 120):
        m = moment_of(ep, e, target, ["pictures"], at=int(state.t[row]), first=0)
        assert m.seconds == pytest.approx(state.t[row - 4 : row + 5] / 1e9)
        assert (m.value, m.beyond) == ([0.5] * 9, [True] * 9)
        assert m.lasting == pytest.approx((state.t[-1] - state.t[0]) / 1e9)
        near = np.abs(state.t - state.t[row]) <= 10**9
        moved = np.ptp(np.asarray(state.x, float)[near], axis=0)
        a, b, *_ = m.columns
        assert (a.stream, a.channel) == (state.name, state.names[int(moved.argmax())])
        assert (b.stream, b.channel) == ("action", a.channel)
        assert a.values == pytest.approx(state.x[row - 4 : row + 5, int(moved.argmax())])
        said = list(text_of(View("e", "rejected", [], m)))
        assert any(line.startswith("value: one sample of") for line in said)
        assert max(map(len, said)) <= 80
    assert moment_of(ep, e, target, ["pictures"], at=None, first=0).columns == ()


def test_a_moment_shows_the_data_where_nothing_was_measured(tmp_path: Path) -> None:
    ran = run(RECORDED, out=tmp_path / "run", gates="SYN002", jobs=1, decode="none")
    assert view_of(ran, "run").missing == "Nothing was measured in this episode."
    m = moment(ran, "run", 0.2)
    assert m.gate == ""
    assert m.columns
    said = list(text_of(view_of(ran, "run", 0.2)))
    assert "Nothing was measured in this episode; the data around 0.20 s" in said
    assert [line.split()[:2] for line in said if line.startswith(">")] == [[">", "0.200"]]


def test_of_channels_measured_as_a_whole_the_named_one_is_shown() -> None:
    """One sample each for the whole episode: not that of whichever channel comes last."""
    x, n = np.array([0.1, 5.0, 7.0, 0.2]), np.zeros(4, np.int64)
    e = Evidence(x, n, n + 10**9, "rad", 1.0, stream="s", which=np.arange(4), channels=tuple("abcd"))
    grid = np.array([0, 5 * 10**8, 2 * 10**9])
    assert _covering(e, grid, "b").tolist() == [1, 1, -1]
    assert _covering(e, grid, "").tolist() == [2, 2, -1]


def test_a_corpus_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"high": HEIGHTS})
    done = run(root, out=tmp_path / "run", **TOY)
    shutil.rmtree(root)
    seen = view_of(done, "high")
    assert seen.moment is None
    assert seen.missing == (
        f"The data cannot be measured again: {root}: there is no such corpus; "
        "name a folder or file that is there."
    )
    assert seen.verdicts
    assert "there is no such corpus" in " ".join(text_of(seen))


def test_a_file_that_broke_since_is_one_sentence(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"high": HEIGHTS})
    done = run(root, out=tmp_path / "run", **TOY)
    (root / "high.npz").write_bytes(b"no zip")
    assert "not a toy episode" in view_of(done, "high").missing


@pytest.mark.parametrize("at", [77.0, -5.0, 1.02])
def test_a_moment_outside_the_episode_is_wrong_use_and_says_how_long_it_is(done: Run, at: float) -> None:
    expected = f"not a moment of the episode (found {at:g} s, expected 0 to 0.90 s"
    with pytest.raises(UsageError, match=re.escape(expected)):
        view_of(done, "high", at)


@pytest.mark.parametrize("at", [float("nan"), float("inf"), 1e300])
def test_no_moment_is_wrong_use(done: Run, at: float) -> None:
    with pytest.raises(UsageError, match="not a moment"):
        view_of(done, "high", at)


def test_no_such_episode_is_wrong_use(done: Run) -> None:
    with pytest.raises(UsageError, match="no such episode"):
        view_of(done, "none")


def test_the_end_of_a_path_names_an_episode_and_a_slip_gets_the_nearest(done: Run) -> None:
    several = Run(done.path)
    several.__dict__["episodes"] = pa.table({"subject": ["a/high", "b/high", "b/low"]})
    assert _named(several, "low") == "b/low"
    assert _named(several, "a/high") == "a/high"
    with pytest.raises(UsageError, match=r"called so \(found high, expected a/high or b/high"):
        _named(several, "high")
    with pytest.raises(UsageError, match=r"no such episode \(found b/lo, expected b/low"):
        _named(several, "b/lo")


def test_a_number_or_a_word_names_an_episode(done: Run) -> None:
    several = Run(done.path)
    ids = ["episode_000000", "episode_000003", "episode_000013", "x/Disco_dance_01", "x/walk_01", "x/walk_02"]
    several.__dict__["episodes"] = pa.table({"subject": ids})
    names = ("000003", "3", "13", "0", "disco", "walk_01", "2")
    found = [_named(several, name) for name in names]
    assert found == [ids[1], ids[1], ids[2], ids[0], ids[3], ids[4], ids[5]]
    for name in ("walk", "01", "1"):
        with pytest.raises(UsageError, match="several episodes are called so"):
            _named(several, name)
    assert _named(several, "isc") == "isc", "a part of a word is none, and the run refuses it"


def test_what_each_gate_is_missing_stands_beside_it() -> None:
    told = {"status": "abstain", "title": "", "effect": "reject", "says": "", "channel": ""}
    told |= {"remedy": "mend it"}
    rows = [
        told | {"gate": "RTG005", "reason": "no-reference", "detail": "no ground", "stream": ""},
        told | {"gate": "RTG006", "reason": "no-reference", "detail": "no human", "stream": ""},
        told | {"gate": "INT003", "reason": "absent-stream", "detail": "declared, not there", "stream": "s"},
        told | {"gate": "RTG013", "reason": "no-reference", "detail": "no ground", "stream": ""},
    ]
    lines = list(text_of(View("e", "unmeasured", rows, None)))
    at = lines.index("abstain  no-reference: mend it")
    assert lines[at + 1 : at + 3] == [f"{'':<11}RTG005 RTG013: no ground", f"{'':<11}RTG006: no human"]
    assert f"{'':<11}INT003: declared, not there (s)" in lines


@pytest.mark.parametrize("refused", ["", "assay.toml: unknown item grond."])
def test_what_an_ignored_sheet_may_say_is_not_asked_for_anew(refused: str) -> None:
    row = {"gate": "RTG001", "status": "abstain", "reason": "unknown-body", "detail": "", "effect": "require",
           "stream": "", "channel": ""}  # fmt: skip
    judged = SimpleNamespace(plan={"corpora": [{"refused": refused}]})
    episode: Any = SimpleNamespace(
        verdicts=[row], findings=[], measures=[], decision="unmeasured", run=judged
    )
    cure = _view(episode, "e", None, 0).verdicts[0]["remedy"]
    assert cure.startswith("mend assay.toml, ignored as a whole" if refused else "name the body")


def test_names_of_strangers_are_shown_not_obeyed(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"high": HEIGHTS}, channels=("\x1b[31mred\u202e",))
    said = "\n".join(text_of(view_of(run(root, out=tmp_path / "run", **TOY), "high")))
    assert "\\u001b[31mred\\u202e" in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_the_command_prints_it_and_json_holds_the_same(
    done: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay import cli

    def said(*words: str) -> Any:
        monkeypatch.setattr("sys.argv", ["assay", "view", str(done.path), *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        assert stop.value.code == 0
        return capsys.readouterr().out

    assert said("high", "--at", "0.3").splitlines() == list(text_of(view_of(done, "high", 0.3)))
    told = json.loads(said("high", "--json"))
    assert (told["subject"], told["decision"], told["moment"]["at"]) == ("high", "rejected", 0.8)
    assert told["moment"]["columns"][0]["channel"] == "z"
