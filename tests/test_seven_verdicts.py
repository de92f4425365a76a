"""The seven defects: each gate names the right episode and span, and nothing else is new."""

from __future__ import annotations

import json
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from tests.test_seven_defects import LAYOUTS, tool

import assay

__all__ = ["tool"]

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("seven"), pytest.mark.timeout(600)]

HERE = Path(__file__).resolve().parent
EPISODE = "episode_000003"
CAMERA = "observation.images.cam_high"
NAMED = {
    "d1": "SYN006", "d2": "RTG008", "d3": "SYN001", "d4": "INT003", "d5": "SYN008", "d6": "INT001",
    "d6b": "SYN007", "c3": None,
}  # fmt: skip
REJECTED = {"d3", "d4", "d5", "d6", "d6b"}  # SYN006 and RTG008 flag, they do not reject


@pytest.fixture(scope="module")
def built(real_data: Path, tool: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("seven-verdicts")
    tool.build(real_data / "lerobot/g1_inspire_teleop_v21_video", to, ["base", *NAMED])
    return to


@pytest.fixture(scope="module", params=LAYOUTS)
def runs(request: pytest.FixtureRequest, built: Path) -> dict[str, assay.Run]:
    layout = request.param
    return {
        variant: assay.run(
            built / f"{variant}_{layout}", out=built / "runs" / f"{variant}_{layout}", cache=built / "cache"
        )
        for variant in ("base", *NAMED)
    }


@pytest.fixture(scope="module")
def truth(built: Path) -> dict[str, Any]:
    planted: dict[str, Any] = json.loads((built / "truth.json").read_text("utf-8"))
    return planted


def test_every_finding_is_expected_or_planted(runs: dict[str, assay.Run], truth: dict[str, Any]) -> None:
    for variant, run in runs.items():
        new = [f for f in run.findings.to_pylist() if not expected(f)]
        gate = NAMED.get(variant)
        assert {f["gate"] for f in new} == ({gate} if gate else set()), variant
        assert {f["subject"] for f in new} <= {EPISODE}, variant
        if gate:
            spans = [(f["t0"], f["t1"]) for f in new]
            planted = truth[variant]["t0"], truth[variant]["t1"]
            assert all(overlap(span, planted) > 0.8 for span in spans), (variant, spans, planted)


def test_the_clipped_elbow_and_the_three_nan_joints_are_named(runs: dict[str, assay.Run]) -> None:
    clipped = {f["channel"] for f in runs["d2"].findings.to_pylist() if f["gate"] == "RTG008"}
    assert clipped == {"kRightElbow"}
    assert len({f["channel"] for f in runs["d4"].findings.to_pylist() if f["gate"] == "INT003"}) == 3


def test_the_decisions(runs: dict[str, assay.Run]) -> None:
    for variant, run in runs.items():
        rejected = {r["subject"] for r in run.episodes.to_pylist() if r["decision"] == "rejected"}
        assert rejected == ({EPISODE} if variant in REJECTED else set()), variant
        assert run.summary["errors"] == 0
        assert run.summary["declared"] == run.summary["episodes"] == 10, "nothing leaves the denominator"


def test_the_shift_of_three_frames_fails_by_content(runs: dict[str, assay.Run]) -> None:
    (found,) = [f for f in runs["d3"].findings.to_pylist() if f["gate"] == "SYN001"]
    assert (found["channel"], found["note"]) == ("deviation", "pictures late")
    assert found["worst"] == pytest.approx(3 / 30, abs=0.015)


def test_untouched_episodes_keep_to_the_corpus(runs: dict[str, assay.Run]) -> None:
    for variant in ("base", "c3"):
        rows = [r for r in runs[variant].verdicts.to_pylist() if r["gate"] == "SYN001"]
        assert sum(r["status"] == "pass" for r in rows) >= 9, variant
        assert {r["status"] for r in rows} <= {"pass", "abstain"}


def test_the_head_camera_really_runs_at_15_fps(runs: dict[str, assay.Run]) -> None:
    rows = [
        m for m in runs["base"].measures.to_pylist() if m["gate"] == "SYN006" and m["channel"] == "pictures"
    ]
    assert len(rows) == 10
    rates = [30.0 * (1.0 - m["worst"]) for m in rows]
    assert all(14.0 < rate < 17.0 for rate in rates), rates


def expected(finding: dict[str, Any]) -> bool:
    known = tomllib.loads((HERE / "expected/g1_inspire_base.toml").read_text("utf-8"))["finding"]
    return any(
        (finding["gate"], finding["stream"], finding["channel"]) == (k["gate"], k["stream"], k["channel"])
        and fnmatchcase(finding["subject"], k["episodes"])
        for k in known
    )


def overlap(found: tuple[int, int], planted: tuple[int, int]) -> float:
    """Intersection over union of two spans."""
    both = min(found[1], planted[1]) - max(found[0], planted[0])
    return both / (max(found[1], planted[1]) - min(found[0], planted[0]))
