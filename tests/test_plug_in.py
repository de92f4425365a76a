"""One new file is a new gate: found, run, explained, documented and in the report; nothing else is edited."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_corpus import tiny_corpus, too_far

SRC = Path(__file__).resolve().parent.parent / "src/assay"

GATE = '''"""The elbow is bent, which nobody minds: a gate of a test.

What: largest bend of any joint.

Why: so that a test can add a gate.

Method: largest absolute value in each frame.

Source: made up for tests.

Blind spots: everything but the largest.

Dose: rad beyond the limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.synth.episodes import edit, teleop


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG950."""

    limit: float = param(2.2, "rad", "made up for tests", judged=True)


CASES = (
    Case("bent by 2.5 rad", lambda: edit(teleop(), "observation.state", lambda x, names: x + 2.5), "fail"),
    Case("as usual", teleop, "pass"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
)


@gate(code="RTG950", name="bent-elbow-toy", reads=(Role.JOINT_POSITION,))
def bent(ep: Episode, p: Params) -> Iterator[Outcome]:
    """Each frame's largest value."""
    states = ep.by_role(Role.JOINT_POSITION)
    if not states:
        yield Abstain("absent-stream")
    for s in states:
        yield Evidence(np.abs(s.x[:]).max(axis=1), s.t, s.t + 1, "rad", p.limit, stream=s.name, channel="any")
'''


class Install:
    """A copy of Assay with one more file in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SRC, folder / "src/assay", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "src/assay/gates/retarget/rtg950_toy.py").write_text(GATE)

    def __call__(self, *words: object, module: str = "assay.cli") -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *map(str, words)],
            cwd=self.folder, env={**os.environ, "PYTHONPATH": str(self.folder / "src")}, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1, 3), done.stderr  # 3: required gates were left out
        return done.stdout


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """The temporary install."""
    return Install(tmp_path_factory.mktemp("install"))


def test_the_file_is_a_gate_of_its_own() -> None:
    assert "RTG950" not in json.dumps([str(p) for p in SRC.rglob("*.py")])
    assert ast.parse(GATE)


def test_it_is_found_and_explained(install: Install) -> None:
    assert "RTG950  2.2 rad      bent elbow toy" in install("gates")
    told = install("explain", "RTG950")
    assert "What: largest bend of any joint." in told
    assert "limit = 2.2 rad: made up for tests" in told


def test_it_is_run_and_in_the_report(install: Install) -> None:
    root = tiny_corpus(install.folder / "corpus", edit=too_far)
    install("run", root, "--out", "run", "--gates", "RTG95*", "--jobs", 1)
    summary = json.loads((install.folder / "run/summary.json").read_text())
    assert summary["gates"]["RTG950"] == {"pass": 1, "fail": 1, "abstain": 0, "n/a": 0, "error": 0}
    page = (install.folder / "run/report.html").read_text()
    assert "RTG950" in page
    assert "bent elbow toy" in page or "bent-elbow-toy" in page


def test_it_is_documented(install: Install) -> None:
    install("RTG950", module="assay.docs")
    page = (install.folder / "docs/gates/RTG950.md").read_text()
    for part in (
        "# RTG950 bent-elbow-toy",
        "largest bend of any joint",
        "| bent by 2.5 rad | fail | fail |",
        "2.2 | rad",
    ):
        assert part in page
    assert "[RTG950](RTG950.md)" in (install.folder / "docs/gates/README.md").read_text()
