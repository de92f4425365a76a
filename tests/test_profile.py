"""Profiles: which gate may do what to an episode, and how files that do not fit are refused."""

from pathlib import Path

import pytest

from assay.calibrate import Calibration
from assay.errors import UsageError
from assay.model import Kind, Role
from assay.plan import make_plan, params_of, select
from assay.profile import Profile, Rule, load_profile, profile_for

INT = {**{f"INT00{i}": "require" for i in range(1, 7)}, "INT007": "reject", "INT008": "reject",
       "INT009": "require", "INT010": "reject"}  # fmt: skip
CLIP = {**INT, **{f"INT00{i}": "reject" for i in (2, 4, 5, 6)}}  # one file without metadata: docs/adr/0002
DEFAULTS = {
    Kind.TELEOPERATION: {
        **INT, "RTG001": "require", "SYN001": "report", "SYN002": "reject", "SYN004": "reject",
        "SYN005": "reject", "SYN006": "flag", "SYN007": "reject", "SYN008": "reject", "ACT001": "reject",
        "ACT005": "reject",
        "RTG007": "reject", "RTG008": "flag", "CHN010": "flag", "RTG009": "report",
    },
    Kind.RETARGETED: {**CLIP, "RTG001": "require", "RTG005": "reject", "RTG013": "reject", "RTG008": "flag"},
    Kind.DEMONSTRATION: {**CLIP, "HND001": "require", "HND002": "flag", "HND007": "flag", "RTG001": "report"},
    Kind.SIMULATION: {
        **INT, "RTG001": "require", "SYN007": "reject", "SYN008": "reject", "ACT005": "reject",
        "SYN001": "report",
    },
}  # fmt: skip


def written(folder: Path, text: str) -> Path:
    """A profile file."""
    path = folder / "mine.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", DEFAULTS)
def test_the_packaged_profiles_have_the_published_effects(kind: Kind) -> None:
    profile = profile_for(kind)
    assert profile.name == kind
    assert {code: profile.effect(code, ()) for code in DEFAULTS[kind]} == DEFAULTS[kind]


def test_an_unresolved_kind_is_judged_as_teleoperation() -> None:
    assert profile_for(Kind.UNRESOLVED) == profile_for(Kind.TELEOPERATION)


@pytest.mark.parametrize("kind", [Kind.TELEOPERATION, Kind.DEMONSTRATION])
def test_synchronisation_is_required_where_there_is_a_camera(kind: Kind) -> None:
    assert profile_for(kind).effect("SYN001", {Role.CAMERA}) == "require"
    assert profile_for(kind).effect("SYN001", {Role.JOINT_POSITION}) == "report"


def test_a_clip_whose_conventions_or_rate_are_not_known_is_not_accepted() -> None:
    profile = profile_for(Kind.RETARGETED)
    assert profile.effect("RTG012", {Role.BASE_POSE}) == "require"
    assert profile.effect("RTG012", {Role.JOINT_POSITION}) == "reject"


def test_a_clip_whose_floor_is_not_known_is_not_accepted() -> None:
    profile = profile_for(Kind.RETARGETED)
    assert profile.effect("RTG013", {Role.BASE_POSE}) == "require"
    assert profile.effect("RTG013", {Role.JOINT_POSITION}) == "reject"


def test_the_last_rule_that_matches_holds() -> None:
    profile = Profile("p", (Rule("INT*", "require"), Rule("INT00[12]", "flag"), Rule("INT002", "report")))
    assert [profile.effect(f"INT00{i}", ()) for i in (1, 2, 3)] == ["flag", "report", "require"]
    assert profile.effect("SYN001", ()) == "report"


def test_a_profile_extends_a_packaged_one(tmp_path: Path) -> None:
    text = """
        extends = "teleoperation"
        [[effects]]
        gates = "SYN006"
        effect = "reject"
        [params.RTG001]
        quota = 0.001
    """
    profile = load_profile(written(tmp_path, text))
    assert profile.name == "mine"
    assert [profile.effect(g, ()) for g in ("SYN006", "RTG001")] == ["reject", "require"]
    gate = select("RTG001")[0]
    assert params_of(gate, profile).quota == 0.001
    assert params_of(gate, profile).limit == gate.params().limit


SHAPE = (
    'expected gates = "INT*, SYN001", effect = require, reject, flag, report, '
    "or with where = camera, human-body, base-pose)."
)
REFUSED = {
    "a = 1": "mine.toml: unknown item in a profile (found a, "
    "expected name, extends, [[effects]], [params.CODE]).",
    "name = ": "mine.toml: the profile is not TOML (found Invalid value (at end of document)); "
    "see docs/guide.md for what a profile may hold.",
    'extends = "robots"': "mine.toml: unknown profile to extend (found 'robots', expected teleoperation, "
    "retargeted-motion, human-demonstration, simulation, unresolved).",
    'effects = "INT*"': "mine.toml: effects are not tables (expected [[effects]]).",
    'extends = "teleop"': "mine.toml: unknown profile to extend (found 'teleop', expected teleoperation, "
    "retargeted-motion, human-demonstration, simulation, unresolved); did you mean teleoperation?",
    '[[effect]]\ngates = "INT*"': "mine.toml: unknown item in a profile (found effect, "
    "expected name, extends, [[effects]], [params.CODE]); did you mean effects?",
    '[[effects]]\ngate = "INT*"\neffect = "flag"': "mine.toml: unknown item gate in an effect rule "
    "(found {'gate': 'INT*', 'effect': 'flag'}, " + SHAPE[:-1] + "; did you mean gates?",
    '[[effects]]\ngates = "INT*"\neffect = "rejct"': "mine.toml: not an effect rule "
    "(found {'gates': 'INT*', 'effect': 'rejct'}, " + SHAPE[:-1] + "; did you mean reject?",
    '[[effects]]\ngates = "INT001, RTG01"\neffect = "flag"': "mine.toml: an effect rule names no gate "
    """(found 'RTG01', expected codes or patterns, as in "RTG001" or "INT*, SYN001"); """
    "did you mean RTG001 or RTG010 or RTG011?",
    '[[effects]]\ngates = ["INT001", 2]\neffect = "flag"': "mine.toml: not an effect rule "
    "(found {'gates': ['INT001', 2], 'effect': 'flag'}, " + SHAPE,
    "[params]\nRTG001 = 3": "mine.toml: params are not tables (expected [params.CODE]).",
    '[[effects]]\ngates = "INT*"\neffect = "ignore"': "mine.toml: not an effect rule "
    "(found {'gates': 'INT*', 'effect': 'ignore'}, " + SHAPE,
    '[[effects]]\ngates = "INT*"\neffect = "flag"\nwhere = "moon"': "mine.toml: not an effect rule "
    "(found {'gates': 'INT*', 'effect': 'flag', 'where': 'moon'}, " + SHAPE,
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_is_no_profile_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_profile(Path("mine.toml"))
    assert str(caught.value) == REFUSED[text]


def test_lists_in_lists_in_lists_are_no_profile(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the profile is not TOML"):
        load_profile(written(tmp_path, "name = " + "[" * 100_000))


def test_a_profile_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read \(found No such file or directory, expected"):
        load_profile(tmp_path / "none.toml")
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"cannot be read \(found invalid start byte, expected"):
        load_profile(tmp_path / "mine.toml")


@pytest.mark.parametrize("gates", ['"SYN006, act001,"', '["SYN006", "ACT001"]'])
def test_a_rule_may_name_several_gates(gates: str, tmp_path: Path) -> None:
    """With commas, as --gates has them, or as a list."""
    profile = load_profile(written(tmp_path, f'[[effects]]\ngates = {gates}\neffect = "reject"'))
    assert [(r.gates, r.effect) for r in profile.rules] == [("SYN006", "reject"), ("ACT001", "reject")]


@pytest.mark.parametrize("value", ["nan", "inf", "true", '"1"', "[1]"])
def test_a_limit_must_be_a_number(value: str, tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, f"[params.RTG001]\nlimit = {value}"))
    with pytest.raises(UsageError, match=r"profile param RTG001\.limit does not fit"):
        params_of(select("RTG001")[0], profile)


@pytest.mark.parametrize(("value", "fits"), [("-1.0", False), ("2.0", False), ("0", True), ("1.0", True)])
def test_a_quota_is_a_share(value: str, fits: bool, tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, f"[params.RTG001]\nquota = {value}"))
    if fits:
        assert params_of(select("RTG001")[0], profile).quota == float(value)
        return
    with pytest.raises(UsageError, match=r"profile param RTG001\.quota is no share of samples .*0 to 1"):
        params_of(select("RTG001")[0], profile)


def test_a_param_that_the_gate_does_not_have_is_refused(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, "[params.RTG001]\nlimt = 1"))
    said = r"RTG001\.limt does not fit .*expected a number for one of .*limit.*; did you mean limit\?$"
    with pytest.raises(UsageError, match=said):
        params_of(select("RTG001")[0], profile)


def test_params_of_a_gate_that_is_not_there_are_refused(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, "[params.RTG0001]\nlimit = 1"))
    with pytest.raises(UsageError, match="profile params RTG0001: no gate has this code"):
        make_plan((), gates=(), profiles=[profile], calibration=Calibration(), decode="auto")
