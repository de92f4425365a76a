"""Calibration: fitted once, in folds by a hash, never judging an episode by a fit that saw it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay import plugs
from assay.calibrate import FOLDS, MOST_MEMBERS, Calibration, fit, fold, members, rig_of, wanted
from assay.corpus import discover
from assay.engine import calibration_of, run
from assay.errors import RunError
from assay.feature import Statistic
from assay.plan import select
from assay.store import Run
from toy import digest, flights, toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")
IDS = tuple(f"episode_{i:06d}" for i in range(200))


def mean_of(ids: tuple[str, ...]) -> Calibration:
    """The toy statistic, fitted on made-up summaries."""
    statistic: Statistic = plugs.statistics()["toy_centre"]
    rows = {name: {"id": name, "mean": float(i)} for i, name in enumerate(ids)}
    return Calibration({"toy_centre": fit(statistic, rows)}, {"toy_centre": sorted(ids)})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight flights."""
    return toy_corpus(tmp_path_factory.mktemp("toys") / "corpus", flights(8))


@pytest.fixture(scope="module")
def calibrated(corpus: Path) -> Iterator[Run]:
    """A run that calibrated first."""
    return run(corpus, out=corpus.parent / "run", gates="INT95*", jobs=1)


def test_folds_depend_on_the_id_alone_and_are_even() -> None:
    assert [fold(name) for name in IDS[:3]] == [fold(name) for name in IDS[:3]]
    counts = np.bincount([fold(name) for name in IDS], minlength=FOLDS)
    assert len(counts) == FOLDS
    assert counts.min() > len(IDS) / FOLDS / 2
    assert fold("episode_000000") == 4  # a value that no machine or version may change


def test_members_do_not_depend_on_the_order() -> None:
    chosen = members(IDS)
    assert len(chosen) == MOST_MEMBERS
    assert members(IDS[::-1]) == chosen
    assert members(IDS[:5]) == tuple(sorted(IDS[:5], key=chosen_order(IDS[:5]).index))


def chosen_order(ids: tuple[str, ...]) -> tuple[str, ...]:
    """The order that members have among more episodes, which must be the same."""
    return tuple(name for name in members(IDS[:MOST_MEMBERS]) if name in ids)


def test_only_what_gates_ask_for_is_learnt() -> None:
    assert set(wanted(select("INT951"))) == {"toy_centre"}
    assert wanted(select("INT950")) == {}


def test_no_member_is_judged_by_a_fit_that_saw_it() -> None:
    learnt = mean_of(IDS[:40])
    for name in IDS[:40]:
        saw = learnt.for_episode(name)["toy_centre"]["saw"]
        assert name not in saw
        assert set(saw) == {other for other in IDS[:40] if fold(other) != fold(name)}


def test_the_order_in_which_members_came_changes_no_bit() -> None:
    rows = {name: {"x": 0.1 * 1.7**i} for i, name in enumerate(IDS[:40])}
    total = replace(plugs.statistics()["toy_centre"], fit=lambda seen: {"sum": sum(row["x"] for row in seen)})
    assert fit(total, rows) == fit(total, dict(reversed(rows.items())))


def test_any_other_episode_is_judged_by_the_full_fit() -> None:
    learnt = mean_of(IDS[:40])
    assert learnt.for_episode(IDS[50])["toy_centre"]["saw"] == sorted(IDS[:40])


def test_membership_survives_the_corpus_name_that_a_run_of_several_adds() -> None:
    alone, among = mean_of(IDS[:40]), mean_of(tuple(f"west/{name}" for name in IDS[:40]))
    for name in IDS[:40]:
        assert name not in alone.for_episode(f"west/{name}")["toy_centre"]["saw"]
        assert f"west/{name}" not in among.for_episode(name)["toy_centre"]["saw"]


def test_episodes_without_a_summary_teach_nothing() -> None:
    statistic = plugs.statistics()["toy_centre"]
    fits = fit(statistic, {"a": {"id": "a", "mean": 1.0}, "b": None})
    assert fits["full"]["saw"] == ["a"]
    assert fits[str(fold("a"))] is None  # without its only member there is nothing to learn from
    assert set(fit(statistic, {"a": None}).values()) == {None}


def test_a_calibration_reads_back_as_it_was_written(tmp_path: Path) -> None:
    learnt = mean_of(IDS[:10])
    (tmp_path / "c.json").write_text(learnt.to_json())
    again = Calibration.read(tmp_path / "c.json")
    assert again.digest == learnt.digest
    assert again.for_episode(IDS[3]) == learnt.for_episode(IDS[3])
    assert Calibration().digest == "none"
    assert mean_of(IDS[:11]).digest != learnt.digest


OTHERS = {
    "": "an empty file", "[]": "other contents", "{}": "no item 'models' in it", "3": "other contents",
    '{"models":\n {"a' : "no JSON from line 2 on",
    '{"models": {}, "took_part": {}}': "no item 'learnt_on' in it",
    '{"models": {"a": {}}, "took_part": {}}': "no item 'all fits of a' in it", "null": "other contents",
    "[" * 100_000: "lists within lists without end",
}  # fmt: skip


@pytest.mark.parametrize("text", OTHERS, ids=lambda t: t[:20])
def test_another_file_is_no_calibration(text: str, tmp_path: Path) -> None:
    """In plain words, without the names of Python's errors."""
    (tmp_path / "c.json").write_text(text)
    said = f"not a calibration (found {OTHERS[text]}); make one with assay calibrate."
    with pytest.raises(RunError, match=f"{re.escape(said)}$"):
        Calibration.read(tmp_path / "c.json")


def test_a_run_judges_each_member_out_of_fold(calibrated: Run) -> None:
    lines = (calibrated.path / "ledger.jsonl").read_text().splitlines()
    kept = {row["subject"]: row["facts"]["INT951"]["saw"] for row in map(json.loads, lines) if row["facts"]}
    assert set(kept) == set(flights(8))
    for name, saw in kept.items():
        assert saw == sorted(other for other in kept if fold(other) != fold(name))


def test_evidence_is_measured_again_with_the_fit_of_the_run(calibrated: Run) -> None:
    row = next(v for v in calibrated.episode("ep_005").verdicts if v["gate"] == "INT951")
    (evidence,) = calibrated.episode("ep_005").evidence("INT951")
    assert evidence.value[0] == row["worst"]


def test_a_resumed_run_reuses_its_calibration(calibrated: Run, corpus: Path) -> None:
    before = (calibrated.path / "calibration.json").read_text(), digest(calibrated)
    stages = []
    again = run(
        corpus,
        out=calibrated.path,
        resume=True,
        gates="INT95*",
        jobs=1,
        watch=lambda p: stages.append(p.stage),
    )
    assert ((again.path / "calibration.json").read_text(), digest(again)) == before
    assert stages == []


def test_a_calibration_made_before_gives_the_same_verdicts(calibrated: Run, corpus: Path) -> None:
    learnt = calibration_of(corpus, gates="INT95*", jobs=1)
    path = corpus.parent / "mine.json"
    path.write_text(learnt.to_json())
    assert learnt.to_json() == (calibrated.path / "calibration.json").read_text()
    done = run(corpus, out=corpus.parent / "given", gates="INT95*", jobs=1, calibration=path)
    assert digest(done) == digest(calibrated)
    # Whoever resumes with another calibration would mix two.
    other = corpus.parent / "other.json"
    other.write_text(mean_of(("ep_000", "ep_001")).to_json())
    with pytest.raises(RunError, match="began with another calibration"):
        run(corpus, out=done.path, resume=True, gates="INT95*", jobs=1, calibration=other)


def test_an_edited_calibration_is_refused(corpus: Path, tmp_path: Path) -> None:
    """One number of one model is another, or the members are."""
    text = calibration_of(corpus, gates="INT95*", jobs=1).to_json()
    for at, edit in {"models": lambda m: m["toy_centre"]["full"].update(mean=9.0),
                     "took_part": lambda m: m["toy_centre"].pop()}.items():  # fmt: skip
        said = json.loads(text)
        edit(said[at])
        (tmp_path / "c.json").write_text(json.dumps(said))
        with pytest.raises(
            RunError,
            match=r"c\.json: the calibration was changed after it was learnt \(found "
            r"digest \w+, expected \w+\); take the file as it was written, or learn it anew",
        ):
            Calibration.read(tmp_path / "c.json")


def test_another_rigs_calibration_judges_nothing(calibrated: Run, tmp_path: Path) -> None:
    """Its gates abstain and say whose it is; a corpus of the same rig is judged by the full fit."""
    learnt = calibrated.path / "calibration.json"
    same = toy_corpus(tmp_path / "same", {"new_000": 0.6, "new_001": 0.7})
    other = toy_corpus(tmp_path / "other", {"new_000": 0.6}, channels=("height",))
    for folder, expected in ((same, ""), (other, "the calibration is another rig's: ")):
        done = run(folder, out=tmp_path / f"{folder.name}-run", gates="INT951", jobs=1, calibration=learnt)
        told = [v for v in done.verdicts.to_pylist() if v["scope"] == "episode"]
        assert {v["reason"] for v in told} == ({"not-calibrated"} if expected else {""})
        assert all(v["detail"].startswith(expected) for v in told)


def test_rigs_differ_by_body_and_by_what_is_learnt_from(corpus: Path) -> None:
    here = discover(corpus)
    rig = rig_of(here.listing, here.sheet, here.digest)
    learnt = Calibration(mean_of(IDS[:9]).models, {"toy_centre": IDS[:9]}, (rig,))
    assert learnt.foreign({**rig, "corpus": "another day's"}) == ""
    assert "learnt on the body unknown, used on g1" in learnt.foreign({**rig, "body": "g1"})
    assert "another model" in learnt.foreign({**rig, "numbers": "1"})
    assert "none of which is here" in learnt.foreign({**rig, "streams": {"elsewhere": ["z"]}})
    assert mean_of(IDS[:9]).foreign(rig) == "the calibration does not say what it was learnt on"
    assert Calibration().foreign(rig) == ""


def test_without_a_statistic_the_gate_abstains(corpus: Path) -> None:
    empty = corpus.parent / "empty.json"
    empty.write_text(Calibration().to_json())
    done = run(corpus, out=corpus.parent / "bare", gates="INT951", jobs=1, calibration=empty)
    assert {(v["status"], v["reason"]) for v in done.verdicts.to_pylist()} == {("abstain", "not-calibrated")}
