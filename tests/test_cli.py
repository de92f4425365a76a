"""The command line as DESIGN has it: commands, exit codes, who prints what where, and how wide."""

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assay import __version__, cli, plugs
from assay.cli.progress import Bar
from assay.engine import Progress
from assay.engine.job import Done
from assay.gate import REASONS
from tiny_corpus import tiny_corpus
from toy import assay, flights, toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")

COMMANDS = (
    "run", "demo", "selftest", "gates", "readers", "embodiments", "explain", "inspect", "calibrate",
    "verdicts", "rejudge", "report", "view", "inject", "attribute",
)  # fmt: skip
LATER = {
    "audit": "0.5", "accept": "0.6", "verify": "0.6", "export": "0.6",
    "plan": "0.7", "watch": "0.7", "catalogue": "0.5", "transfer": "0.6",
}  # fmt: skip


class Said:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """Standard output as JSON, with nothing beside it."""
        return json.loads(self.out)


class Shell:
    """Runs commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Said:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["assay", *map(str, arguments)])
            with pytest.raises(SystemExit) as stop:
                cli.main()
        out, err = self.capsys.readouterr()
        for text in (out, err):
            assert "\x1b" not in text
            assert "Traceback" not in text, text
        return Said(int(str(stop.value.code)), out, err)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """A terminal that is none."""
    return Shell(capsys)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One corpus for each outcome."""
    folder = tmp_path_factory.mktemp("corpora")
    toy_corpus(folder / "good", {"ep_000": 0.5, "ep_001": 0.6})
    toy_corpus(folder / "bad", flights(3))
    (toy_corpus(folder / "open", {"ep_000": 0.5}) / "ep_001.npz").write_bytes(b"no zip")
    return folder


@pytest.fixture(scope="module")
def finished(corpora: Path) -> Path:
    """A run in which something was rejected."""
    from assay.engine import run
    from assay.report import write_report

    done = run(corpora / "bad", out=corpora / "finished", gates="INT950", jobs=1)
    write_report(done, done.path / "report.html")
    return done.path


TOY = ("--gates", "INT950", "--profile", Path(__file__).parent / "toy_site/toy.toml", "--jobs", 1)


# ---------------------------------------------------------------------------------------------- commands


def test_every_command_is_listed_with_one_line(shell: Shell) -> None:
    said = shell("--help")
    assert said.code == 0
    for name in (*COMMANDS, *LATER):
        assert any(line.split()[:1] == [name] for line in said.out.splitlines()), name
    assert all(len(line) <= 80 for line in said.out.splitlines())


@pytest.mark.parametrize("name", [*COMMANDS, *LATER])
def test_every_command_has_help(shell: Shell, name: str) -> None:
    said = shell(name, "--help")
    assert said.code == 0
    assert f"assay {name}" in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines())


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("more", [(), ("RUN", "--plan", "x", "--json", "add")], ids=["bare", "with options"])
def test_what_comes_later_says_when(shell: Shell, name: str, more: tuple[str, ...]) -> None:
    said = shell(name, *more)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"assay: assay {name} arrives with version {LATER[name]} (found version 0.1.0).\n"


def test_nothing_at_all_shows_the_help(shell: Shell) -> None:
    said = shell()
    assert said.code == 2
    assert "Usage: assay" in said.out + said.err


@pytest.mark.parametrize("words", ["run", "run x --colour", "sing", "run x --jobs 0", "run x --jobs many"])
def test_wrong_use_of_options_is_exit_code_2(shell: Shell, words: str) -> None:
    said = shell(*words.split())
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: ")


# -------------------------------------------------------------------------------------------- exit codes


def test_0_everything_accepted(shell: Shell, corpora: Path, tmp_path: Path) -> None:
    assert shell("run", corpora / "good", "--out", tmp_path / "r", *TOY).code == 0


def test_3_something_required_was_not_measured(shell: Shell, corpora: Path, tmp_path: Path) -> None:
    assert shell("run", corpora / "open", "--out", tmp_path / "r", *TOY).code == 3
    assert shell("verdicts", tmp_path / "r").code == 3
    allowed = shell("run", corpora / "open", "--out", tmp_path / "r", *TOY, "--resume", "--allow-unmeasured")
    assert allowed.code == 0


def test_1_something_was_rejected(shell: Shell, finished: Path) -> None:
    for form in ("table", "json", "csv", "junit", "sarif", "md"):
        assert shell("verdicts", finished, "--format", form).code == 1


def test_2_no_reader_says_what_each_missed(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = shell("run", tmp_path / "empty")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"assay: {tmp_path / 'empty'}: no reader recognises this corpus (found ")
    assert "lerobot: has no meta/info.json; " in said.err
    assert "toy: has no toy.json; " in said.err
    assert said.err.endswith("); point at the corpus's root (see assay readers).\n")
    assert not Path("assay-runs").exists()


def test_2_for_a_path_that_is_not_there_and_for_a_file(shell: Shell, tmp_path: Path) -> None:
    absent = shell("run", tmp_path / "absent")
    assert absent.code == 2
    assert "there is no such corpus" in absent.err
    (tmp_path / "notes.txt").write_text("hello")
    file = shell("run", tmp_path / "notes.txt")
    assert file.code == 2
    assert "no reader recognises this corpus" in file.err


def test_2_names_the_remedy_when_the_run_exists_or_lies_inside(
    shell: Shell, corpora: Path, finished: Path
) -> None:
    said = shell("run", corpora / "bad", "--out", finished, *TOY)
    assert said.code == 2
    assert "--resume" in said.err
    said = shell("run", corpora / "bad", "--out", corpora / "bad/run", *TOY)
    assert said.code == 2
    assert "choose --out elsewhere" in said.err


@pytest.mark.parametrize("body", ["robot.urdf", "robot.xml", "menagerie:no_such_robot"])
def test_2_a_body_that_is_not_there_says_what_to_do(shell: Shell, corpora: Path, body: str) -> None:
    said = shell("run", corpora / "good", "--embodiment", body, "--dry-run")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"assay: {body}: ")
    assert said.err.count("\n") == 1


def test_4_an_error_of_ours_shows_where(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(plugs, "gates", broken)
    monkeypatch.setattr("sys.argv", ["assay", "gates"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr()
    assert (stop.value.code, said.out) == (4, "")
    assert "Traceback" in said.err
    assert said.err.endswith(
        "assay: an error of Assay itself (ZeroDivisionError); please report it with the lines above\n"
    )


def test_130_interrupted_where_nothing_was_begun(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plugs, "gates", interrupted)
    said = shell("gates")
    assert (said.code, said.out, said.err) == (130, "", "assay: interrupted\n")


# ------------------------------------------------------------------------------------------------- json


def test_json_of_lists(shell: Shell) -> None:
    assert {"RTG001", "INT001"} <= {row["code"] for row in shell("gates", "--json").json}
    assert {row["name"] for row in shell("readers", "--json").json} >= {"lerobot", "csv36", "toy"}
    bodies = {row["name"]: row["joints"] for row in shell("embodiments", "--json").json}
    assert {"unitree_g1_29": 29, "inspire": 12, "unitree_h1": 19}.items() <= bodies.items()
    told = shell("explain", "rtg001", "--json").json
    assert told["code"] == "RTG001"
    assert {"what", "why", "method", "source", "blind spots", "dose"} <= set(told)


def test_json_of_a_run_and_what_follows(shell: Shell, corpora: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    made = shell("run", corpora / "bad", "--out", out, *TOY, "--json")
    assert made.code == 1
    summary = json.loads((out / "summary.json").read_text())
    assert made.json == summary | {"run": str(out), "report": str(out / "report.html")}
    for field in (
        "declared", "present", "episodes", "accepted", "rejected", "unmeasured", "frames", "hours", "gates",
        "abstentions", "measure_id", "judge_id", "versions", "schema_version",
    ):  # fmt: skip
        assert field in summary, field
    rows = shell("verdicts", out, "--json").json
    assert {row["subject"] for row in as_rows(rows)} >= set(flights(3))
    assert shell("report", out, "--json").json == {"report": str(out / "report.html")}
    (tmp_path / "loose.toml").write_text(
        '[[effects]]\ngates = "INT950"\neffect = "require"\n[params.INT950]\nlimit = 10'
    )
    again = shell("rejudge", out, "--profile", tmp_path / "loose.toml", "--json")
    assert (again.code, again.json["rejected"]) == (0, 0)
    assert again.json["run"] == str(tmp_path / "run-loose")


def test_a_profile_of_another_kind_is_said_on_stderr(shell: Shell, finished: Path, tmp_path: Path) -> None:
    (tmp_path / "clips.toml").write_text('extends = "retargeted-motion"\n')
    said = shell("rejudge", finished, "--profile", tmp_path / "clips.toml", "--out", tmp_path / "r", "--json")
    assert said.err.startswith("assay: the profile clips is one for retargeted-motion, and ")
    assert said.json["foreign_profile"] in said.err


def as_rows(told: Any) -> list[dict[str, Any]]:
    """The verdict rows of ``verdicts --format json``."""
    rows: list[dict[str, Any]] = told if isinstance(told, list) else told["verdicts"]
    return rows


def test_json_before_a_run(shell: Shell, corpora: Path, tmp_path: Path) -> None:
    lines = shell("inspect", corpora / "good", "--json").json
    assert {"item": "reader", "value": "toy", "known": "measured", "evidence": "has toy.json"} in lines
    plan = shell("run", corpora / "good", "--dry-run", "--json", *TOY).json
    assert plan["gates"] == {"INT950": 1}
    learnt = shell("calibrate", corpora / "good", "--jobs", 1, "--out", tmp_path / "c.json", "--json").json
    assert "toy_centre" in learnt["learnt"]
    assert learnt["calibration"] == str(tmp_path / "c.json")


def test_json_is_json_whatever_strangers_call_things(shell: Shell, tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 3.0}, channels=("\x1b[31mred\x07", "\x9b2J", 'q"\\', "ü🤖"))
    made = shell("run", root, "--out", tmp_path / "r", *TOY)
    assert "\\u001b[31mred" in made.out or "\x1b" not in made.out
    channels = {row["channel"] for row in as_rows(shell("verdicts", tmp_path / "r", "--json").json)}
    assert channels <= {"\x1b[31mred\x07", "\x9b2J", 'q"\\', "ü🤖", ""}
    for form in ("table", "csv", "junit", "sarif", "md"):
        assert "\x9b" not in shell("verdicts", tmp_path / "r", "--format", form).out


# ------------------------------------------------------------------------------------------ what is shown


def test_the_end_of_a_run_fits_into_15_lines_of_80_columns(
    shell: Shell, corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = shell("run", corpora / "bad", "--out", "runs/a", *TOY)
    lines = said.out.splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80
    assert lines == [
        "bad: toy, kind unresolved, judged as teleoperation, body unknown",
        "coverage    3 of 3 episodes read; 30 frames, 3 s",
        "decisions   accepted 2, rejected 1, unmeasured 0 of 3 episodes",
        "causes      INT950 toy too high: 1 episode, all at height z",
        "report      runs/a/report.html",
        "next        assay verdicts runs/a",
    ]
    assert said.err.splitlines()[0].startswith("measure: 1/3 episodes")
    assert Path("runs/a/report.html").is_file()


def test_the_end_says_who_said_the_kind(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    said = {"kind": "simulation", "kind_origin": "corpus"}
    done.summary |= {"corpora": [{**done.summary["corpora"][0], **said}]}
    assert "simulation (corpus), body unknown" in " ".join(closing(done, "report.html"))


def test_the_end_says_what_was_flagged_ignored_and_known_of_clocks(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    refused = {**done.summary["corpora"][0], "refused": "assay.toml: unknown item grond."}
    done.summary |= {"flagged": {"SYN006": 24}, "corpora": [refused]}
    row = {"stream": "head", "against": "joints", "settled": "bounded", "by": "content", "seconds": -5e-3,
           "u": 4e-3, "ppm": None, "hand": None, "hand_speed": None, "detail": "", "cure": ""}  # fmt: skip
    done.timing = pa.Table.from_pylist([row])
    lines = closing(done, "report.html")
    assert "ignored     the whole sheet: assay.toml: unknown item grond." in lines
    assert "flagged     SYN006 wrong rate in 24 episodes" in lines
    assert "clocks      head bounded by content × 1: usual lag 5 ms ± 8 ms, worst 5 ms" in lines


def test_the_end_keeps_its_last_lines_whatever_there_is_to_say(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    done.path = Path("/a/very/long/path/of a run/" + "x" * 60)
    cause = {"gate": "INT950", "episodes": 5, "stream": "s" * 60, "channel": "c " * 90, "there": 3}
    done.summary |= {"causes": [cause] * 9, "corpus_failures": ["INT006"] * 20, "errors": 2}
    done.summary["unlock"] = {"hours": 2.0, "reason": "unknown-body", "remedy": "name the body " * 9}
    lines = closing(done, f"{done.path}/report.html")
    assert len(lines) == 15
    assert lines[-4:] == ["report", f"{done.path}/report.html", "next", f"assay verdicts '{done.path}'"]
    assert max(map(len, lines[:-4])) <= 80


def test_however_little_room_there_is_the_largest_causes_are_named(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    cause = {"gate": "INT950", "stream": "s" * 60, "channel": "c " * 60, "there": 1}
    counts = {"RTG012": 1, "RTG007": 16, "RTG005": 2}
    unlock = {"hours": 2.0, "reason": "unknown-body", "remedy": "name the body " * 9}
    done.summary |= {"causes": [cause | {"gate": g, "episodes": n} for g, n in counts.items()],
                     "unlock": unlock}  # fmt: skip
    lines = closing(done, "report.html")
    assert "            and RTG007 in 16 episodes, RTG005 in 2 episodes" in lines
    assert any(line.startswith("causes      RTG012") for line in lines)


def test_the_end_says_what_is_missing_and_how_many_channels(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    cause = {"gate": "INT950", "episodes": 1, "stream": "height", "channel": "", "channels": 3, "there": 1}
    unlock = {"hours": 33 / 3600, "reason": "nominal-clock", "remedy": REASONS["nominal-clock"]}
    done.summary |= {"causes": [cause], "unlock": unlock}
    lines = closing(done, "report.html")
    assert "causes      INT950 toy too high: 1 episode, all at 3 channels of height" in lines
    assert "unmeasured  33 s of data for want of capture stamps: deliver capture stamps, or" in lines


def test_the_end_names_what_most_unmeasured_episodes_want(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    wanting = {"unknown-body": 9, "no-ground": 7, "still": 2}
    done.summary |= {"unmeasured": 9, "unlock": None, "wanting": wanting}
    said = " ".join(" ".join(closing(done, "report.html")).split())
    assert (
        "unmeasured 9 episodes for want of a known body, beside the floor's height, motion: name the body: "
        "--embodiment NAME" in said
    )
    assert "assay view RUN EPISODE lists all that is open" in said


def test_the_end_points_to_a_sheet_that_is_ignored(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    refused = {**done.summary["corpora"][0], "refused": "assay.toml: unknown item grond."}
    unlock = {"reason": "unknown-body", "remedy": REASONS["unknown-body"], "hours": 1.0}
    done.summary |= {"unmeasured": 3, "unlock": unlock, "corpora": [refused]}
    said = " ".join(" ".join(closing(done, "report.html")).split())
    assert "for want of a known body: mend assay.toml, ignored as a whole" in said
    assert "name the body" not in said


def test_the_end_proposes_a_sheet(shell: Shell, tmp_path: Path) -> None:
    root = shutil.copytree(Path(__file__).parent / "golden/motion/csv_wxyz/input", tmp_path / "c")
    said = shell("run", root, "--out", tmp_path / "r", "--gates", "RTG001", "--jobs", 1)
    lines = said.out.splitlines()
    assert said.code == 3
    assert len(lines) <= 15
    assert 'embodiment = "unitree_g1_29"  # its joints fit; check that it is the robot' in lines
    both = shell("run", root, root, "--out", tmp_path / "r3", "--gates", "RTG001", "--jobs", 1)
    assert "c-1, of 2 to inspect: Lines for the top of assay.toml" in " ".join(both.out.split())
    again = shell("run", root, "--out", tmp_path / "r2", "--gates", "RTG001", "--jobs", 1, "--json")
    assert again.json["proposed_sheets"]["c"][0].startswith('embodiment = "unitree_g1_29"')


def test_what_was_decided_is_said_however_much_is_proposed(finished: Path) -> None:
    from assay.store import Run
    from assay.terminal import closing

    done = Run(finished)
    done.path = Path("/a/very/long/path/of a run/" + "x" * 60)
    done.summary |= {"unmeasured": 3, "unlock": None, "wanting": {"unknown-body": 3, "no-ground": 2}}
    done.summary["corpora"] = [
        {**done.summary["corpora"][0], "unmatched": "no episode " * 20, "beside": ["bvh"]}
    ]
    lines = closing(done, f"{done.path}/report.html", {"c": [f"# line {i}" for i in range(9)]})
    assert len(lines) == 15
    assert any(line.startswith("decisions   ") for line in lines)
    assert "# line 3" in lines
    assert "# line 4" not in lines


def test_a_run_stands_where_nothing_can_be_proposed_any_more(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(corpus: object) -> list[str]:
        raise KeyError("a bug of the reader")

    monkeypatch.setattr("assay.proposal.proposed", broken)
    root = shutil.copytree(Path(__file__).parent / "golden/motion/csv_wxyz/input", tmp_path / "c")
    said = shell("run", root, "--out", tmp_path / "r", "--gates", "RTG001", "--jobs", 1)
    assert said.code == 3
    assert "leave out --gates" in " ".join(said.out.split())


def test_every_reason_has_words_for_what_is_missing() -> None:
    from assay.terminal import _WANT

    assert set(_WANT) == set(REASONS) - {"scope-empty"}  # which wants nothing


def test_the_default_folder_is_named_after_the_corpus(
    shell: Shell, corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shell("run", corpora / "good", *TOY).code == 0
    (made,) = Path("assay-runs").iterdir()
    assert made.name.startswith("good-20")
    assert (made / "report.html").is_file()


def test_progress_is_a_line_per_ten_seconds_and_one_per_stage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Bar() as bar:
        for stage in ("calibrate", "measure"):
            for second in range(35):
                bar.show(Progress(stage, second + 1, 40, second + 1, 40, float(second), Done("e")))  # type: ignore[arg-type]
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(" episodes")[0] for line in said.err.splitlines()] == [
        f"{stage}: {n}/40" for stage in ("calibrate", "measure") for n in (1, 11, 21, 31)
    ]
    assert "left" in said.err


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_no_color_is_honoured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for colour in (False, True):
        shown = Terminal()
        monkeypatch.setattr("sys.stderr", shown)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        if not colour:
            monkeypatch.setenv("NO_COLOR", "1")
        with Bar() as bar:
            bar.show(Progress("measure", 1, 2, 10, 20, 1.0))
        assert ("\x1b[3" in shown.getvalue()) == colour


def test_a_process_of_its_own_prints_results_to_stdout_only(corpora: Path, tmp_path: Path) -> None:
    done = assay("run", corpora / "good", "--out", "r", *TOY, "--json", cwd=tmp_path, FORCE_COLOR="1")
    assert done.returncode == 0
    assert json.loads(done.stdout)["accepted"] == 2
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.startswith("measure: 1/2 episodes")


def test_a_reader_that_has_read_enough_changes_no_exit_code() -> None:
    words = [sys.executable, "-m", "assay.cli", "explain", "RTG012"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()  # before anything is printed
        said = command.stderr.read()
    assert (command.returncode, said) == (0, b"")


# ------------------------------------------------------------------------------------------ single ones


def test_lists_and_explanations_fit_the_terminal(shell: Shell) -> None:
    for words in ("gates", "readers", "embodiments", "explain RTG001", "explain int950"):
        said = shell(*words.split())
        assert said.code == 0
        assert said.out
        assert max(map(len, said.out.splitlines())) <= 80, words


def test_an_explanation_has_all_sections_and_every_limit(shell: Shell) -> None:
    said = shell("explain", "RTG001").out
    for part in ("What:", "Why:", "Method:", "Source:", "Blind spots:", "Dose:", "limit =", "quota ="):
        assert part in said


def test_an_unknown_gate_is_wrong_use(shell: Shell) -> None:
    said = shell("explain", "RTG01")
    assert said.code == 2
    assert said.err.startswith("assay: no gate has this code (found RTG01); did you mean RTG001 or RTG01")
    assert shell("explain", "zz").err == "assay: no gate has this code (found zz); assay gates lists them.\n"


def test_the_version_is_one_line(shell: Shell) -> None:
    said = shell("--version")
    assert (said.code, said.out, said.err) == (0, f"assay {__version__}\n", "")


def test_inspect_drafts_a_sheet_and_writes_over_nothing(shell: Shell, corpora: Path, tmp_path: Path) -> None:
    said = shell("inspect", corpora / "good", "--write-sheet", tmp_path / "s.toml")
    assert said.code == 0
    assert "unresolved  kind" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert '[streams."height"]' in (tmp_path / "s.toml").read_text()
    again = shell("inspect", corpora / "good", "--write-sheet", tmp_path / "s.toml")
    assert (again.code, "the file exists already" in again.err) == (2, True)
    nowhere = shell("inspect", corpora / "good", "--write-sheet", tmp_path / "no/s.toml")
    assert (nowhere.code, "the file cannot be written" in nowhere.err) == (2, True)


def test_inspect_names_both_sides_of_a_claim_and_the_cure_of_a_unit(
    shell: Shell, corpora: Path, tmp_path: Path
) -> None:
    said = " ".join(shell("inspect", corpora / "good").out.split())
    assert (
        'no unit for 1 of 1; in assay.toml: units = [...], one for each channel, under [streams."height"]'
        in said
    )
    root = toy_corpus(tmp_path / "flag", {"ep_000": 0.5})
    (tmp_path / "buyer.toml").write_text('[streams."height"]\nrole = "reward"')
    said = " ".join(shell("inspect", root, "--sheet", tmp_path / "buyer.toml").out.split())
    assert "declared stream height: reward, 1 channel, sensor clock no gate needs its unit" in said
    tiny = tiny_corpus(tmp_path / "tiny", episodes=2)
    info = json.loads((tiny / "meta/info.json").read_text())
    (tiny / "meta/info.json").write_text(json.dumps(info | {"total_episodes": 5}))
    lines = shell("inspect", tiny).out.splitlines()
    at = lines.index("measured    metadata: total_episodes")
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["declared: 5", "found: 2"]


def test_inject_says_what_must_be_found_where(shell: Shell, tmp_path: Path) -> None:
    root = tiny_corpus(tmp_path / "c", episodes=1)
    words = ("inject", root, "--defect", "clip-at-limit=0.05", "--seed", 3, "--to")
    said, told = shell(*words, tmp_path / "a"), shell(*words, tmp_path / "b", "--json").json
    assert said.code == 0
    assert said.out.startswith("clip-at-limit of size 0.05: RTG008 must find it in episode_000000 from ")
    assert (told[0]["gate"], told[0]["episode"], told[0]["size"]) == ("RTG008", "episode_000000", 0.05)


def test_a_dry_run_writes_nothing(
    shell: Shell, corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = shell("run", corpora / "good", "--dry-run", *TOY)
    assert said.code == 0
    assert said.out.startswith("good: toy, 2 episodes, body None\n1 gates: INT950\nmeasure_id ")
    assert list(tmp_path.iterdir()) == []


def test_the_module_is_the_command() -> None:
    assert "assay.cli:main" in Path(__file__).parent.parent.joinpath("pyproject.toml").read_text()
    assert sys.modules["assay.cli"].main is cli.main
