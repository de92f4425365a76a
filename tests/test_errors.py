"""What Assay says when something is wrong: one sentence with place, fact and remedy, and nothing else."""

import ast
import itertools
import pickle
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import cli, errors
from assay.calibrate import Calibration
from assay.corpus import discover
from assay.embodiment import load
from assay.engine import run
from assay.engine.again import open_again
from assay.errors import AssayError, OutsideCorpusError, RunError, UnreadableError, UsageError
from assay.gate import REASONS
from assay.inject import parse_defect
from assay.units import si_unit

SRC = Path(__file__).resolve().parent.parent / "src/assay"
KINDS = [getattr(errors, name) for name in errors.__all__]


# ------------------------------------------------------------------------------------------ the sentence


def test_the_parts_of_a_sentence() -> None:
    whole = AssayError("it broke", where="a/b.txt", found="3", expected="4", remedy="mend it")
    assert str(whole) == "a/b.txt: it broke (found 3, expected 4); mend it."
    assert str(AssayError("it broke")) == "it broke."
    assert str(AssayError("it broke", found="3")) == "it broke (found 3)."
    assert str(AssayError("it broke", expected="4", remedy="mend it")) == "it broke (expected 4); mend it."
    assert str(AssayError("it broke", found="")) == "it broke (found )."


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_errors_cross_process_borders(kind: type[AssayError]) -> None:
    for more in ({}, {"where": "w", "found": "f", "expected": "e", "remedy": "r"}, {"remedy": "r"}):
        before = kind("what", **more)
        after = pickle.loads(pickle.dumps(before))  # noqa: S301 - our own
        assert type(after) is kind
        assert str(after) == str(before)
        assert vars(after) == vars(before)


def test_the_family_of_errors() -> None:
    assert issubclass(OutsideCorpusError, UnreadableError)
    assert not issubclass(UnreadableError, UsageError | RunError)
    assert {k.__mro__[-4] for k in KINDS} == {AssayError}


# ------------------------------------------------------------------------------------------- raise sites


def planned(**gates: Any) -> Any:
    """As much of a stored plan as is looked at."""
    return {"gates": gates, "corpora": []}


SITES: dict[str, tuple[Callable[[], object], str]] = {
    "unknown unit": (
        lambda: si_unit("furlong"),
        ("unknown unit (found 'furlong', expected one of 1, m, cm, mm, rad, deg, s, ms, ns, Hz, m/s, rad/s, "
        "deg/s, m/s^2, N, N*m, A, V, kg, K, frame, row, byte, grey, ppm, %, tick, unknown)."),
    ),
    "unknown body": (
        lambda: load("hal"),
        ("unknown body (found 'hal', expected one of fourier_gr1t2, franka_panda, inspire, unitree_dex3, "
        "unitree_g1_23, unitree_g1_23_asap, unitree_g1_29, unitree_h1); "
        "several are joined by +, as in unitree_g1_29+inspire."),
    ),
    "no corpus": (run, "no corpus was named; name at least one folder."),
    "absent corpus": (
        lambda: run("/nowhere/at/all"),
        "/nowhere/at/all: there is no such corpus; name a folder or file that is there.",
    ),
    "no workers": (
        lambda: run("/tmp", jobs=0),
        "jobs: too few worker processes (found 0, expected 1 or more).",
    ),
    "absent sheet": (
        lambda: discover(SRC.parent, sheet_file=Path("/no.toml")),
        None,  # a folder without a reader is refused before
    ),
    "other gate": (
        lambda: open_again(planned(RTG001=1), Calibration(), "e", "RTG008"),
        "the run did not use this gate (found RTG008, expected RTG001).",
    ),
    "no episode": (
        lambda: open_again(planned(RTG001=1), Calibration(), "e", "RTG001"),
        "the corpus has no such episode any more (found e); run again on the corpus as it is now.",
    ),
    "no calibration": (
        lambda: Calibration.read(Path("/none.json")),
        "/none.json: not a calibration (found no such file or directory); make one with assay calibrate.",
    ),
    "size": (
        lambda: parse_defect("nan=many"),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SITES)
def test_snapshots(name: str) -> None:
    act, expected = SITES[name]
    with pytest.raises(AssayError) as caught:
        act()
    lawful(str(caught.value))
    if expected is not None:
        assert str(caught.value) == expected


COMMANDS = {
    "run x --resume": "--resume needs the run to continue; name it with --out.",
    "run x --engine ray": "the ray engine arrives with version 0.7; use --engine local.",
    "run x --engine slurm": "--engine: unknown engine (found slurm, expected local).",
    "run x --decode half": "--decode: unknown way to decode (found half, expected none, auto or full).",
    "verdicts x --format xml": "--format: unknown format (found xml, "
    "expected table, json, csv, junit, sarif, md).",
    "verdicts x": "x: not a run folder; name the folder of a run.",
    "report x": "x: not a run folder; name the folder of a run.",
    "rejudge x --profile y": "x: not a run folder; name the folder of a run.",
    "inspect x": "x: there is no such corpus; name a folder or file that is there.",
    "calibrate x": "x: there is no such corpus; name a folder or file that is there.",
    "calibrate x --out here": "here: the file exists already; name a new one with --out.",
    "view x e": "x: not a run folder; name the folder of a run.",
}


@pytest.mark.parametrize("text", COMMANDS)
def test_snapshots_of_the_command_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").write_text("")
    monkeypatch.setattr("sys.argv", ["assay", *text.split()])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr()
    assert (stop.value.code, said.out, said.err) == (2, "", f"assay: {COMMANDS[text]}\n")
    lawful(COMMANDS[text])


# -------------------------------------------------------------------------------------------------- laws


def lawful(sentence: str) -> None:
    """One sentence: no doubled spaces or stops, no line break, one full stop or question mark at its end."""
    assert "  " not in sentence, sentence
    assert "\n" not in sentence, sentence
    assert re.search(r"(?<!\.)[.?]$", sentence), sentence
    assert not re.search(r"[.;,:]\s*[.;,]", sentence.replace("...", "")), sentence


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Every place of the sources where one of our errors is made, with the name of its class."""
    names = {k.__name__ for k in KINDS}
    for path in sorted(SRC.rglob("*.py")):
        if path.name == "errors.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield f"{path.relative_to(SRC)}:{node.lineno} {node.func.id}", node


CALLS = list(calls())


def texts(node: ast.AST) -> str:
    """The literal text below a node, with an x for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "x"
    if isinstance(node, ast.JoinedStr):
        return "".join(texts(part) for part in node.values)
    return "x"


@pytest.mark.parametrize(("place", "call"), CALLS, ids=[place for place, _ in CALLS])
def test_every_error_is_made_of_clauses(place: str, call: ast.Call) -> None:
    parts = {"what": call.args[0], **{k.arg: k.value for k in call.keywords if k.arg}}
    assert len(call.args) == 1, "where, found, expected and remedy are named"
    for name, node in parts.items():
        text = texts(node)
        assert "  " not in text, text
        assert text == text.strip(), text
        assert not text.endswith((".", ";", ",", ":", "!")) or name in ("found", "expected"), text
        if name in ("what", "remedy"):
            assert not re.match(r"[A-Z][a-z]", text) or text.split()[0] in ("LeRobot", "Assay"), text
    if "UnreadableError" not in place and "OutsideCorpusError" not in place:
        assert {"remedy", "expected", "found"} & set(parts), (
            "neither what was found, nor expected, nor a remedy"
        )


def test_joined_literals_have_a_space_between_them() -> None:
    missing = []
    for path in sorted(SRC.rglob("*.py")):
        with tokenize.open(path) as file:
            tokens = [t for t in tokenize.generate_tokens(file.readline) if t.type != tokenize.NL]
        for one, two in itertools.pairwise(tokens):
            if one.type == two.type == tokenize.STRING and prose(one.string) and prose(two.string):
                left, right = bare(one.string), bare(two.string)
                if left and right and left[-1] not in " \n(/" and right[0] not in " \n).,;:/":
                    missing.append(f"{path.relative_to(SRC)}:{two.start[0]} {left[-20:]!r} {right[:20]!r}")
    assert missing == []


def prose(literal: str) -> bool:
    """Whether a literal holds words: patterns and globs need no spaces."""
    return not re.match(r"[a-z]*r[a-z]*['\"]", literal.lower()) and " " in bare(literal).strip()


def bare(literal: str) -> str:
    """A literal without prefix and quotes."""
    return re.sub(r"^\w*('''|\"\"\"|'|\")|('''|\"\"\"|'|\")$", "", literal)


def test_reasons_of_abstentions_are_clauses() -> None:
    for code, cure in REASONS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        lawful(f"{cure}.".replace("--", ""))
