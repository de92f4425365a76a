"""The table of what is known of time: in the run, its report, its text, and a run judged again."""

import json
from pathlib import Path

import pytest

import assay
from assay.rejudge import rejudge_run
from assay.report.clocks import clock_rows, clock_text
from assay.store import Run
from assay.tables import SCHEMAS
from assay.view import text_of, view_of
from fake_run import fake_run
from tiny_corpus import tiny_corpus


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("clocks")
    tiny_corpus(root / "corpus")
    assay.run(root / "corpus", out=root / "run", gates="SYN002", decode="none", jobs=1)
    return Run(root / "run")


def test_every_episode_has_its_rows(run: Run) -> None:
    rows = run.timing.to_pylist()
    present = {r["subject"] for r in run.episodes.to_pylist() if r["present"]}
    assert {r["subject"] for r in rows} == present
    assert {r["settled"] for r in rows} == {"assumed"}
    assert all(r["cure"] for r in rows)


def test_the_view_says_it(run: Run) -> None:
    subject = run.timing.to_pylist()[0]["subject"]
    seen = view_of(run, subject)
    lines = list(text_of(seen))
    assert any("assumed" in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert seen.timing == [r for r in run.timing.to_pylist() if r["subject"] == subject]


def test_judged_again_it_stays(run: Run, tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text('extends = "teleoperation"\n')
    again = rejudge_run(run, profile, tmp_path / "again")
    assert again.timing.to_pylist() == run.timing.to_pylist()


def test_a_run_of_before_the_table_has_none(run: Run, tmp_path: Path) -> None:
    for name in ("summary.json", "plan.json"):
        (tmp_path / name).write_text(json.dumps({}))
    assert Run(tmp_path).timing.schema == SCHEMAS["timing"]


def test_a_pair_is_known_as_well_as_in_its_worst_episode() -> None:
    rows = {row["stream"]: row for row in clock_rows(fake_run(40, absent=2))}
    head = rows["observation.images.head"]
    assert (head["settled"], head["counts"]) == ("bounded", {"measured": 8, "bounded": 30})
    assert head["worst"] == "12\N{NO-BREAK SPACE}ms"
    assert next(iter(rows)) == "observation.images.left_wrist"  # what is assumed comes first
    assert rows["observation.images.left_wrist"]["lag"] == "–"


def test_text_says_how_well_late_and_how_far() -> None:
    row = fake_run(1).timing.to_pylist()[0]
    text = "\n".join(clock_text([row], 100))
    assert "measured to ± 0.8 ms by stamps" in text
    assert "4 ms late, 0.22 cm at the hand" in text
    assert "drift 12 ± 3 ppm" in text
    assert "29.97 Hz, jitter 0.3 ms" in text
    by_content = "\n".join(clock_text([row | {"by": "content", "settled": "bounded"}], 120))
    assert "bounded to ± 0.8 ms by content, the usual lag over windows of 3 s" in by_content
