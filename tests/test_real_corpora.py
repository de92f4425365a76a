"""What whole runs say about real corpora from real robots (skipped visibly without them)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

import assay

pytestmark = pytest.mark.real

Judged = Callable[..., assay.Run]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Runs a corpus once per module and set of options."""
    done: dict[tuple[str, str], assay.Run] = {}

    def run(corpus: Path, decode: str = "none") -> assay.Run:
        key = (corpus.name, decode)
        if key not in done:
            out = tmp_path_factory.mktemp("runs") / f"{corpus.name}-{decode}"
            done[key] = assay.run(corpus, out=out, decode=decode, jobs=1)
        return done[key]

    return run


def found(run: assay.Run, gate: str) -> dict[str, set[tuple[str, str]]]:
    """Findings of one gate: subject → (stream, channel)."""
    table: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in run.findings.to_pylist():
        if row["gate"] == gate:
            table[row["subject"]].add((row["stream"], row["channel"]))
    return table


def test_86_of_the_100_declared_episodes_are_named_as_missing_while_14_are_judged(
    real_data: Path, judged: Judged
) -> None:
    run = judged(real_data / "lerobot/g1_inspire_teleop_v21_subset")
    assert (run.summary["declared"], run.summary["present"], run.summary["episodes"]) == (100, 14, 100)
    missing = {s for s, places in found(run, "INT002").items() if ("", "data") in places and s != "corpus"}
    assert missing == {f"episode_{i:06d}" for i in range(14, 100)}
    decided = {r["subject"]: r for r in run.verdicts.to_pylist() if r["gate"] == "RTG001"}
    assert [decided[f"episode_{i:06d}"]["status"] for i in range(14)] == ["pass"] * 14
    assert all(decided[s]["status"] == "abstain" for s in missing)
    assert run.summary["rejected"] + run.summary["unmeasured"] == 100, (
        "absent episodes stay in the denominator"
    )


def test_the_missing_second_camera_and_the_splits_of_the_gr1_set(real_data: Path, judged: Judged) -> None:
    run = judged(real_data / "lerobot/robot_sim.PickNPlace")
    missing = found(run, "INT002")
    assert ("observation.images.egoview", "video files") in missing["corpus"]
    assert all(("observation.images.egoview", "video") in missing[f"episode_{i:06d}"] for i in range(5))
    assert ("", "splits") in found(run, "INT006")["corpus"]


def test_an_unknown_body_abstains_and_names_its_cure(real_data: Path, judged: Judged) -> None:
    run = judged(real_data / "lerobot/robot_sim.PickNPlace")
    rows = [r for r in run.verdicts.to_pylist() if r["gate"] == "RTG001"]
    assert {(r["status"], r["reason"]) for r in rows} == {("abstain", "unknown-body")}
    from assay.gate import REASONS

    assert "--embodiment" in REASONS["unknown-body"]


def test_30_columns_against_28_names(real_data: Path, judged: Judged) -> None:
    run = judged(real_data / "lerobot/robocoin_newtest_meta_only")
    wrong = found(run, "INT006")["corpus"]
    assert {("observation.state", "names"), ("action", "names"), ("", "splits")} <= wrong
    assert run.summary["accepted"] == 0, "metadata without data is no accepted episode"


def test_the_frozen_top_camera_and_the_duplicate_columns_of_the_franka_set(
    real_data: Path, judged: Judged
) -> None:
    run = judged(real_data / "lerobot/franka_pickplace_sim_v30", decode="auto")
    frozen = found(run, "INT010")["corpus"]
    assert {stream for stream, _ in frozen} == {"observation.images.top"}
    assert ("", "columns") in found(run, "INT009")["corpus"]
    assert run.summary["rejected"] == 10, "there is no data table"


def test_numbers_of_the_report_summary_and_formats_agree(real_data: Path, judged: Judged) -> None:
    import json

    from assay.report.formats import FORMATS

    run = judged(real_data / "lerobot/g1_inspire_teleop_v21_subset")
    rows = json.loads("\n".join(FORMATS["json"](run)))["verdicts"]
    for code, counts in run.summary["gates"].items():
        mine = [r["status"] for r in rows if r["gate"] == code]
        assert {s: mine.count(s) for s in counts} == counts, code
