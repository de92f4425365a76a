"""What a new user tries first works as it stands: the example, and one command on an own folder."""

import runpy
from pathlib import Path

import pytest

from assay import cli
from tiny_corpus import tiny_corpus, too_far

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_judge_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tiny_corpus(tmp_path / "corpus", edit=too_far)
    script = EXAMPLES / "judge_a_corpus.py"
    monkeypatch.setattr("sys.argv", [str(script), str(root), str(tmp_path / "run")])
    runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "1 accepted, 1 rejected of 2"
    assert "episode_000001 RTG001 observation.state left_elbow 0.00 to 1.00 s" in said
    assert said[-1] == "episode_000001 RTG001: 0.2056 rad beyond the body's limit at worst"


def test_every_example_is_tested() -> None:
    assert {p.name for p in EXAMPLES.glob("*.py")} == {"judge_a_corpus.py"}


def typed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and output of a command, as one line."""
    monkeypatch.setattr("sys.argv", ["assay", *words.split()])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(str(stop.value.code)), " ".join(capsys.readouterr().out.split())


def test_an_own_lerobot_folder_without_a_sheet_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_corpus(tmp_path / "mine", edit=too_far)
    monkeypatch.chdir(tmp_path)
    code, said = typed("run mine --out run --jobs 1", monkeypatch, capsys)
    assert code == 1
    assert "body unitree_g1_29+inspire (inferred)" in said
    assert "accepted 1, rejected 1, unmeasured 0 of 2 episodes" in said
    assert "RTG001 joint limit violation: 1 episode, all at observation.state left_elbow" in said
    code, said = typed("verdicts run", monkeypatch, capsys)
    assert code == 1
    assert "episode_000001" in said
    assert "left_elbow" in said
