"""Judging again from stored measures: as a new run would judge, without the data, or not at all."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from assay.engine import run
from assay.errors import RunError, UsageError
from assay.rejudge import rejudge_run
from assay.store import Run
from toy import toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")
GATES = "INT950"
MIXED = np.linspace(0.2, 2.0, 10)  # 0.2, 0.4 ... 2.0 m
HEIGHTS = {
    "low": 0.05, "fair": 0.95, "limit": 1.0, "over": 1.05, "high": 3.0, "very_high": 30.0, "mixed": MIXED,
    "lost": np.full(10, np.nan), "half_lost": np.where(np.arange(10) < 5, np.nan, 0.1),
    "high_and_lost": np.where(np.arange(10) < 5, np.nan, 9.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Flights on both sides of many limits, and some that were not seen."""
    root = toy_corpus(tmp_path_factory.mktemp("toys") / "corpus", HEIGHTS)
    (root / "broken.npz").write_bytes(b"no zip")
    return root


@pytest.fixture(scope="module")
def first(corpus: Path) -> Run:
    """The run under published limits."""
    return run(corpus, out=corpus.parent / "first", gates=GATES, jobs=1)


def profile(folder: Path, params: str, effects: str = "require") -> Path:
    """A profile that changes params of the toy gate."""
    text = f'name = "mine"\n[[effects]]\ngates = "INT950"\neffect = "{effects}"\n[params.INT950]\n{params}'
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"


def statuses(done: Run) -> dict[str, tuple[str, str]]:
    """Status and decision by episode."""
    verdicts = {row["subject"]: row["status"] for row in done.verdicts.to_pylist()}
    return {row["subject"]: (verdicts[row["subject"]], row["decision"]) for row in done.episodes.to_pylist()}


@pytest.mark.parametrize(
    "params",
    [
        "limit = 0.4", "limit = 2", "limit = 10", "limit = 2.5\nquota = 0.5", "quota = 0.4", "quota = 1", "",
    ],
)  # fmt: skip
def test_on_a_rung_it_equals_a_new_run(params: str, first: Run, corpus: Path, tmp_path: Path) -> None:
    mine = profile(tmp_path, params)
    again = rejudge_run(first, mine, tmp_path / "again")
    fresh = run(corpus, out=tmp_path / "fresh", gates=GATES, jobs=1, profile=mine)
    assert statuses(again) == statuses(fresh)
    for counted in (
        "accepted",
        "rejected",
        "unmeasured",
        "declared",
        "present",
        "frames",
        "gates",
        "abstentions",
    ):
        assert again.summary[counted] == fresh.summary[counted], counted
    for column in ("limit", "quota", "lo", "hi", "n_in", "n_nan", "effect"):
        assert again.verdicts[column].to_pylist() == fresh.verdicts[column].to_pylist(), column


def test_off_a_rung_both_neighbours_agree_or_the_data_are_needed(first: Run, tmp_path: Path) -> None:
    again = rejudge_run(first, profile(tmp_path, "limit = 1.02"), tmp_path / "again")  # between 1 and 1.1
    found = statuses(again)
    assert found["low"][0] == "pass"
    assert found["high"][0] == found["mixed"][0] == "fail"
    assert found["over"] == ("abstain", "unmeasured")  # 1.05 m: fails at 1 m and passes at 1.1 m
    rows = {row["subject"]: row for row in again.verdicts.to_pylist()}
    assert rows["over"]["reason"] == "needs-data"
    assert rows["lost"]["status"] == "abstain"
    assert again.summary["abstentions"]["needs-data"] == 1


def test_effects_decide_anew(first: Run, tmp_path: Path) -> None:
    assert first.summary["rejected"] > 0
    again = rejudge_run(first, profile(tmp_path, "", effects="flag"), tmp_path / "again")
    assert (again.summary["rejected"], again.summary["unmeasured"]) == (0, 0)
    assert again.summary["gates"] == first.summary["gates"]
    assert again.summary["profile"] == "mine"
    assert again.summary["judge_id"] != first.summary["judge_id"]
    assert again.summary["measure_id"] == first.summary["measure_id"]


def test_a_limit_that_the_new_profile_does_not_name_is_the_published_one(
    first: Run, corpus: Path, tmp_path: Path
) -> None:
    loose = run(corpus, out=tmp_path / "loose", gates=GATES, jobs=1, profile=profile(tmp_path, "limit = 4"))
    assert statuses(loose)["high"][0] == "pass"
    strict = rejudge_run(loose, profile(tmp_path, ""), tmp_path / "strict")
    assert statuses(strict)["high"][0] == statuses(first)["high"][0] == "fail"


def test_judging_again_twice_is_judging_once(first: Run, tmp_path: Path) -> None:
    loose = rejudge_run(first, profile(tmp_path, "limit = 4"), tmp_path / "loose")
    back = rejudge_run(loose, profile(tmp_path, ""), tmp_path / "back")
    assert {k: v[0] for k, v in statuses(back).items()} == {k: v[0] for k, v in statuses(first).items()}


def test_it_works_when_the_corpus_is_gone(first: Run, corpus: Path, tmp_path: Path) -> None:
    mine = profile(tmp_path, "limit = 2")
    here = statuses(rejudge_run(first, mine, tmp_path / "with"))
    hidden = corpus.with_name("hidden")
    corpus.rename(hidden)
    try:
        gone = rejudge_run(Run(first.path), mine, tmp_path / "without")
        assert statuses(gone) == here
        with pytest.raises(UsageError, match="there is no such corpus"):
            first.episode("low").evidence("INT950")
    finally:
        hidden.rename(corpus)


@pytest.mark.parametrize(
    ("params", "named"),
    [("scale = 2", "scale"), ("min_run = 0.5", "min_run"), ("limit = 2\nscale = 3", "scale")],
)
def test_what_changes_the_measurement_is_refused(params: str, named: str, first: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        rejudge_run(first, profile(tmp_path, params), tmp_path / "again")
    assert str(caught.value).startswith(f"mine: INT950.{named} changes the measurement (found ")
    assert str(caught.value).endswith(", as in the run); run again on the data: assay run --profile.")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    "params", ["limt = 2", "limit = nan", 'limit = "2"', "limit = 2\n[params.INT95]\nlimit = 1"]
)
def test_a_profile_that_does_not_fit_is_refused(params: str, first: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine: profile params? INT95"):
        rejudge_run(first, profile(tmp_path, params), tmp_path / "again")


def test_a_gate_of_another_version_is_refused(first: Run, tmp_path: Path) -> None:
    shutil.copytree(first.path, tmp_path / "old")
    plan = (tmp_path / "old/plan.json").read_text().replace('"INT950": 1', '"INT950": 7')
    (tmp_path / "old/plan.json").write_text(plan)
    with pytest.raises(RunError) as caught:
        rejudge_run(Run(tmp_path / "old"), profile(tmp_path, ""), tmp_path / "again")
    assert str(caught.value) == (
        f"{tmp_path / 'old'}: gate INT950 has another version now (found version 1, expected version 7); "
        "run again on the data."
    )


def test_a_run_is_not_written_over(first: Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the run folder exists already"):
        rejudge_run(first, profile(tmp_path, ""), first.path)


def test_findings_stay_where_a_gate_still_fails(first: Run, tmp_path: Path) -> None:
    again = rejudge_run(first, profile(tmp_path, "limit = 2.5"), tmp_path / "again")
    kept = set(again.findings["subject"].to_pylist())
    assert kept == {"high", "very_high", "high_and_lost"}


def test_the_profile_of_another_kind_is_said_and_kept(first: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('extends = "retargeted-motion"\n')
    said = (
        "the profile mine is one for retargeted-motion, and corpus is teleoperation: "
        "what matters to its own kind may count for nothing here"
    )
    assert rejudge_run(first, tmp_path / "mine.toml", tmp_path / "again").summary["foreign_profile"] == said
    new = run(corpus, out=tmp_path / "new", gates=GATES, profile=tmp_path / "mine.toml", jobs=1)
    assert new.summary["foreign_profile"] == said
    assert first.summary["foreign_profile"] == ""
    for text in ("", 'extends = "teleoperation"\n'):
        (tmp_path / "own.toml").write_text(text)
        own = rejudge_run(first, tmp_path / "own.toml", tmp_path / f"own-{len(text)}")
        assert own.summary["foreign_profile"] == ""
