"""The corpus sheet: who may say what, for which episodes, and what happens to a sheet that does not fit."""

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from assay.corpus import discover
from assay.embodiment import load
from assay.errors import UsageError
from assay.inspection import draft_sheet, inspect
from assay.model import Channel, Clock, Episode, Kind, Role, Stream
from assay.sheet import Item, Sheet, apply, flatten, lay
from assay.sheet_file import parse_sheet
from toy import toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")

LAYERS = [
    ("format", {"fps": 1.0, "kind": "simulation", "sync": "none", "vendor": "f"}, "format metadata"),
    ("corpus", {"fps": 2.0, "kind": "teleoperation", "sync": "clap"}, "assay.toml"),
    ("buyer", {"fps": 3.0, "kind": "simulation"}, "buyer.toml"),
    ("option", {"fps": 4.0}, "--fps"),
]


def sheet_of(text: str, origin: str = "corpus", **facts: object) -> Sheet:
    """A sheet from the text of a file and what the format says."""
    return lay([(origin, parse_sheet(text, "assay.toml"), "assay.toml"), ("format", facts, "format")])  # type: ignore[list-item]


def episode(name: str = "episode_000001", **changes: object) -> Episode:
    """One stream of three unnamed channels on a nominal clock."""
    t = np.arange(4, dtype=np.int64) * 100
    channels = (Channel("a"), Channel("b"), Channel("c"))
    stream = Stream("observation.state", Role.OTHER, t, np.zeros((4, 3)), channels, rate=Fraction(30))
    return Episode(name, (stream,), **changes)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- authority


@pytest.mark.parametrize("order", [LAYERS, LAYERS[::-1]], ids=["upwards", "downwards"])
def test_higher_authority_wins_and_each_value_keeps_its_origin(order: list[object]) -> None:
    sheet = lay(order)  # type: ignore[arg-type]
    assert {k: (i.value, i.origin) for k, i in sheet.items.items()} == {
        "fps": (4.0, "option"), "kind": ("simulation", "buyer"), "sync": ("clap", "corpus"),
        "vendor": ("f", "format"),
    }  # fmt: skip
    assert sheet.items["kind"].evidence == "buyer.toml"


def test_what_nobody_says_is_unresolved() -> None:
    assert lay(LAYERS).origin("licence") == "unresolved"  # type: ignore[arg-type]
    assert Sheet({"embodiment": Item(None, "unresolved", "no names")}).get("embodiment", "x") == "x"


def test_inferred_values_never_replace_stated_ones() -> None:
    sheet = sheet_of('embodiment = "inspire"').with_items("inferred", {"embodiment": "x", "fps": 9.0})
    assert sheet.get("embodiment") == "inspire"
    assert sheet.origin("fps") == "inferred"


def test_nested_tables_are_named_by_path() -> None:
    assert flatten({"a": {"b": {"c": 1}}, "d": [1]}) == {"a/b/c": 1, "d": [1]}


# --------------------------------------------------------------------------------------------- sections


def test_sections_hold_for_episodes_that_match_and_later_ones_win() -> None:
    sheet = sheet_of("""
        rig = "west"
        [[episodes]]
        match = "episode_00000*"
        rig = "north"
        operator = "ada"
        [[episodes]]
        match = "episode_000001"
        rig = "east"
    """)
    rigs = {i: sheet.for_episode(f"episode_00000{i}").get("rig") for i in (0, 1)}
    assert rigs == {0: "north", 1: "east"}
    assert sheet.for_episode("episode_000001").get("operator") == "ada"
    assert sheet.for_episode("episode_123456").get("rig") == "west"


def test_a_vendors_section_does_not_stand_above_the_buyer() -> None:
    corpus = parse_sheet('[[episodes]]\nmatch = "*"\nrig = "vendor"\nscene = "vendor"', "assay.toml")
    sheet = lay([("buyer", {"rig": "buyer"}, ""), ("corpus", corpus, "")]).for_episode("any")
    assert (sheet.get("rig"), sheet.get("scene")) == ("buyer", "vendor")


def test_the_buyers_section_stands_above_the_vendors() -> None:
    said = [parse_sheet(f'[[episodes]]\nmatch = "*"\nrig = "{who}"', who) for who in ("buyer", "vendor")]
    assert lay([("buyer", said[0], ""), ("corpus", said[1], "")]).for_episode("any").get("rig") == "buyer"


def test_a_section_may_name_another_body_and_rate() -> None:
    sheet = sheet_of('[[episodes]]\nmatch = "*1"\nembodiment = "inspire"\nfps = 50', "buyer", fps=30.0)
    sheet = Sheet(sheet.items, sheet.sections, load("unitree_g1_29"))
    first, second = (apply(sheet, episode(f"episode_00000{i}")) for i in (0, 1))
    assert first.embodiment is not None
    assert first.embodiment.name == "unitree_g1_29"
    assert second.embodiment is not None
    assert second.embodiment.name == "inspire"
    assert [ep.streams[0].rate for ep in (first, second)] == [30, 50]


# ------------------------------------------------------------------------------------------------ apply


def test_apply_changes_meanings_and_no_value() -> None:
    sheet = sheet_of(
        """
        kind = "teleoperation"
        sync = "ptp"
        limit_set = "urdf"
        [action]
        meaning = "command"
        [streams."observation.state"]
        role = "joint-position"
        units = ["rad", "rad", "1"]
        channels = ["x", "y", "z"]
        clock = "sensor"
        rate = 29.97
        frame = "pelvis"
    """,
        "buyer",
    )
    before = episode()
    after = apply(sheet, before)
    stream = after.streams[0]
    assert (after.kind, after.sync, after.limit_set) == (Kind.TELEOPERATION, "ptp", "urdf")
    assert after.meta["action/meaning"] == "command"
    assert (stream.role, stream.clock, stream.frame) == (Role.JOINT_POSITION, Clock.SENSOR, "pelvis")
    assert stream.rate == Fraction(2997, 100)
    assert [(c.name, c.unit) for c in stream.channels] == [("x", "rad"), ("y", "rad"), ("z", "1")]
    assert stream.x is before.streams[0].x
    assert stream.t is before.streams[0].t


def test_one_unit_holds_for_all_channels() -> None:
    stream = apply(sheet_of('[streams."observation.state"]\nunit = "deg"'), episode()).streams[0]
    assert {c.unit for c in stream.channels} == {"deg"}


def test_the_buyers_one_unit_stands_above_the_vendors_list() -> None:
    lists = parse_sheet('[streams."observation.state"]\nunits = ["m", "m", "m"]', "")
    sheet = lay([("buyer", {"streams/observation.state/unit": "rad"}, ""), ("corpus", lists, "")])
    assert {c.unit for c in apply(sheet, episode()).streams[0].channels} == {"rad"}


def test_units_that_do_not_fit_are_not_dealt_out() -> None:
    stream = apply(sheet_of('[streams."observation.state"]\nunits = ["rad"]'), episode()).streams[0]
    assert {c.unit for c in stream.channels} == {"unknown"}


def test_a_stream_that_the_sheet_is_silent_about_stays_as_it_is() -> None:
    before = episode()
    assert apply(sheet_of('rig = "west"', fps=30.0), before).streams[0] is before.streams[0]


# ------------------------------------------------------------------------- what the data stand against

STATE = "observation.state"


def on_grid(n: int = 300, **changes: object) -> Episode:
    """One stream whose stamps are index / 30, as seconds in 32 bits would hold them."""
    seconds = (np.arange(n) / 30).astype(np.float32).astype(np.float64)
    stream = replace(
        episode().streams[0], t=np.rint(seconds * 1e9).astype(np.int64), x=np.zeros((n, 3)), **changes
    )  # type: ignore[arg-type]
    return Episode("episode_000001", (stream,), kind=Kind.TELEOPERATION)


def said_of(ep: Episode) -> dict[str, tuple[str, str]]:
    """What the sheet is refused: item to both sides."""
    assert all((c.topic, c.size) == ("declared", 1.0) for c in ep.claims)
    return {c.about: (c.declared, c.found) for c in ep.claims}


@pytest.mark.parametrize("origin", ["corpus", "buyer", "option"])
@pytest.mark.parametrize("clock", ["sensor", "receive", "log"])
def test_nobody_may_call_stamps_measured_that_were_made_from_the_rate(origin: str, clock: str) -> None:
    ep = apply(sheet_of(f'[streams."{STATE}"]\nclock = "{clock}"', origin), on_grid(20_000))
    assert ep.streams[0].clock is Clock.NOMINAL
    assert said_of(ep) == {f"streams/{STATE}/clock": (clock, "stamps made from the rate")}


def test_a_sample_left_out_does_not_make_stamps_measured() -> None:
    whole = on_grid()
    t = np.delete(whole.streams[0].t, [40, 41, 200])
    ep = replace(whole, streams=(replace(whole.streams[0], t=t, x=np.zeros((297, 3))),))
    assert apply(sheet_of(f'[streams."{STATE}"]\nclock = "log"'), ep).streams[0].clock is Clock.NOMINAL


def test_stamps_that_leave_the_grid_may_be_called_measured() -> None:
    ep = on_grid()
    late = np.random.default_rng(0).normal(0, 1e6, 300).astype(np.int64)
    ep = replace(ep, streams=(replace(ep.streams[0], t=ep.streams[0].t + late),))
    after = apply(sheet_of(f'[streams."{STATE}"]\nclock = "sensor"'), ep)
    assert (after.streams[0].clock, after.claims) == (Clock.SENSOR, ())


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.SIMULATION])
def test_only_a_simulator_has_one_clock(kind: Kind) -> None:
    ep = apply(sheet_of('sync = "one-clock"'), replace(on_grid(), kind=kind))
    assert said_of(ep) == {"sync": ("one-clock", f"kind is {kind}, not simulation")}
    assert not apply(sheet_of('sync = "one-clock"\nkind = "simulation"'), on_grid()).claims


@pytest.mark.parametrize("section", ["", '[[episodes]]\nmatch = "*"\n'], ids=["sheet", "section"])
@pytest.mark.parametrize("role", [Role.CAMERA, Role.DEPTH, Role.REQUEST, Role.JOINT_POSITION])
def test_the_corpus_takes_no_role_away_and_the_buyer_may(section: str, role: Role) -> None:
    table = "[episodes.streams" if section else "[streams"
    text = f'{section}{table}."{STATE}"]\nrole = "event"'
    ep = apply(sheet_of(text), on_grid(role=role))
    assert ep.streams[0].role is role
    assert said_of(ep) == {f"streams/{STATE}/role": ("event", role)}
    bought = apply(sheet_of(text, "buyer"), on_grid(role=role))
    assert (bought.streams[0].role, bought.claims) == (Role.EVENT, ())


@pytest.mark.parametrize("said", ['unit = "deg"', 'units = ["rad", "deg", "rad"]'])
def test_a_unit_that_contradicts_the_reader_is_unknown_and_the_buyer_may(said: str) -> None:
    text = f'[streams."{STATE}"]\n{said}'
    known = on_grid(channels=(Channel("a", "rad"), Channel("b", "rad"), Channel("c")))
    ep = apply(sheet_of(text), known)
    units = [c.unit for c in ep.streams[0].channels]
    assert units[1] == "unknown"
    assert units[2] in said
    assert said_of(ep) == {f"streams/{STATE}/unit": ("deg", "rad")}
    bought = apply(sheet_of(text, "buyer"), known)
    assert (bought.streams[0].channels[1].unit, bought.claims) == ("deg", ())


@pytest.mark.parametrize("section", ["", '[[episodes]]\nmatch = "*"\n'], ids=["sheet", "section"])
def test_the_formats_rate_stays_against_the_corpus_and_not_against_the_buyer(section: str) -> None:
    text = f"{section}fps = 60"
    ep = apply(sheet_of(text, fps=30.0), on_grid())
    assert ep.streams[0].rate == 30
    assert said_of(ep) == {"fps": ("60", "30")}
    assert apply(sheet_of(text, "buyer", fps=30.0), on_grid()).streams[0].rate == 60


def test_the_corpus_gives_a_rate_only_where_the_format_has_none() -> None:
    text = f'[streams."{STATE}"]\nrate = 60'
    ep = apply(sheet_of(text), on_grid())
    assert ep.streams[0].rate == 30
    assert said_of(ep) == {f"streams/{STATE}/rate": ("60", "30")}
    ep = apply(sheet_of(text), on_grid(rate=None))
    assert (ep.streams[0].rate, ep.claims) == (60, ())


def test_one_rate_may_be_written_in_two_ways() -> None:
    ep = apply(sheet_of("fps = 29.97"), on_grid(rate=Fraction(30_000, 1001)))
    assert (ep.streams[0].rate, ep.claims) == (Fraction(30_000, 1001), ())


@pytest.mark.parametrize("origin", ["corpus", "buyer"])
def test_a_limit_set_that_the_body_does_not_have_is_ignored(origin: str) -> None:
    body = load("unitree_g1_29")
    sheet = replace(sheet_of('limit_set = "widest"', origin), body=body)
    ep = apply(sheet, on_grid())
    assert ep.limit_set == ""
    asked, found = said_of(ep)["limit_set"]
    assert asked == "widest"
    assert found.startswith("no limit set of unitree_g1_29, which has unitree_ros")
    named = replace(sheet_of(f'limit_set = "{body.limits[-1].source}"', origin), body=body)
    assert (apply(named, on_grid()).limit_set, apply(named, on_grid()).claims) == (body.limits[-1].source, ())


# ---------------------------------------------------------------------------------------- refused sheets

ELSEWHERE = "see docs/sheet.md for what a sheet may hold (limits and effects belong in a profile)"
UNKNOWN = f"s.toml: unknown item {{}}; {ELSEWHERE}."
MISFIT = "s.toml: item {} does not fit (found {}, expected {})."
REFUSED = {
    'colour = "red"': UNKNOWN.format("colour"),
    "[params.RTG001]\nlimit = 1": UNKNOWN.format("params"),
    '[[effects]]\ngates = "*"\neffect = "report"': UNKNOWN.format("effects"),
    '[[episodes]]\nmatch = "*"\nlimit = 3': UNKNOWN.format("episodes/0/limit"),
    "[streams.a]\nlimit = 3": UNKNOWN.format("streams/a/limit"),
    "[clap]\ncounts = 2": UNKNOWN.format("clap/counts").replace("; see", "; did you mean count? see"),
    "grond = 0": UNKNOWN.format("grond").replace("; see", "; did you mean ground? see"),
    'kind = "teleop"': MISFIT.format(
        "kind",
        "'teleop'",
        "'teleoperation', 'retargeted-motion', 'human-demonstration', 'simulation' or 'unresolved'",
    )[:-1]
    + "; did you mean teleoperation?",
    'ground = "foo"': MISFIT.format(
        "ground", "'foo'", 'a height in m, as in ground = 0.0, or ground = "z=0"'
    ),
    "ground = true": MISFIT.format("ground", "True", 'a height in m, as in ground = 0.0, or ground = "z=0"'),
    "streams = 3": MISFIT.format("streams", "3", "a table"),
    "fps = -3": MISFIT.format("fps", "-3", "greater than or equal to 0.001"),
    "fps = inf": MISFIT.format("fps", "inf", "a finite number"),
    'sync = "ntp"': MISFIT.format(
        "sync", "'ntp'", "'one-clock', 'ptp', 'trigger', 'clap', 'software' or 'none'"
    ),
    '[parts.human]\npath = "{clip}.pt"': MISFIT.format(
        "parts/human/path", "'{clip}.pt'", "a path with {id} or {stem}, and no other name in braces"
    ),
    "[parts.human]\noffset = 1": "s.toml: item parts/human/path is missing; "
    "see docs/sheet.md for what a sheet may hold.",
    "kind = ": "s.toml: the sheet is not TOML (found Invalid value (at end of document)); "
    "see docs/sheet.md for what a sheet may hold.",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_sheet_that_does_not_fit_is_refused_with_the_item_named(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_sheet(text, "s.toml")
    assert str(caught.value) == REFUSED[text]


def test_limits_cannot_be_loosened_by_a_sheet() -> None:
    for item in ("limit", "limits", "quota", "effects", "params", "profile", "gates"):
        with pytest.raises(UsageError, match=f"unknown item {item};"):
            parse_sheet(f"{item} = 1", "s.toml")


HOSTILE = {
    "not TOML": b"kind = ",
    "not text": b"\xff\xfe\x00",
    "unknown item": b"limit = 3",
    "unknown body": b'embodiment = "hal_9000"',
    "unknown body of a subset": b'[[episodes]]\nmatch = "*"\nembodiment = "hal_9000"',
    "deep": b"a = " + b"[" * 20_000,
    "a number of 5,000 digits": b"fps = " + b"9" * 5000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_sheet_in_the_corpus_is_a_finding_about_it(name: str, tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5})
    (root / "assay.toml").write_bytes(HOSTILE[name])
    found = discover(root)
    assert [(c.topic, c.where, c.size) for c in found.listing.claims] == [("readable", "assay.toml", 1.0)]
    assert [line.value for line in inspect(found) if line.item == "assay.toml"] == ["ignored as a whole"]
    assert found.sheet.get("sync") == "unreadable", "what it promised is unknown, which is not nothing"
    assert found.sheet.origin("kind") == "unresolved"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_sheet_of_the_buyer_is_wrong_use(name: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(HOSTILE[name])
    with pytest.raises(UsageError):
        discover(toy_corpus(tmp_path / "c", {"ep_000": 0.5}), sheet_file=tmp_path / "s.toml")


def test_a_sheet_that_is_a_link_out_of_the_corpus_is_not_read(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5})
    (tmp_path / "secret.toml").write_text('kind = "simulation"')
    (root / "assay.toml").symlink_to(tmp_path / "secret.toml")
    found = discover(root)
    assert found.sheet.origin("kind") == "unresolved"
    assert "leads outside the corpus" in found.listing.claims[0].found


def test_what_the_sheet_says_of_streams_is_held_to_them(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5})
    (root / "assay.toml").write_text('[streams.heigth]\nunit = "m"\n[streams.height]\nunits = ["m", "m"]')
    claims = {c.about: (c.declared, c.found, c.size) for c in discover(root).listing.claims}
    assert claims == {
        "streams/height/units": ("2", "1", 1.0),
        "streams/heigth/unit": ("in the sheet", "no such stream", 1.0),
    }


# ------------------------------------------------------------------------------------------ the corpus's


def test_options_stand_above_the_buyer_above_the_corpus_above_the_format(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5})
    (root / "assay.toml").write_text('embodiment = "inspire"\nfps = 20\nvendor = "v"\nsync = "clap"')
    buyer = tmp_path / "buyer.toml"
    buyer.write_text('embodiment = "inspire"\nvendor = "b"\nfps = 25')
    sheet = discover(root, sheet_file=buyer, embodiment="unitree_g1_29").sheet
    assert (sheet.get("embodiment"), sheet.origin("embodiment")) == ("unitree_g1_29", "option")
    assert sheet.body is not None
    assert sheet.body.name == "unitree_g1_29"
    assert (sheet.get("vendor"), sheet.origin("vendor")) == ("b", "buyer")
    assert (sheet.get("fps"), sheet.get("sync")) == (25, "clap")
    assert discover(root).sheet.get("fps") == 20


def test_a_drafted_sheet_parses_and_resolves_the_same(tmp_path: Path) -> None:
    odd = ("ünï 🤖", 'say "x"', "back\\slash", "tab\tdel\x7f")
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5}, channels=odd)
    (root / "assay.toml").write_text('vendor = "v"\nfps = 12.5\n[action]\nmeaning = "result"')
    before = discover(root)
    draft = draft_sheet(before)
    assert parse_sheet(draft, "draft")["streams/height/channels"] == list(odd)
    (root / "assay.toml").write_text(draft)
    after = discover(root)
    assert not after.listing.claims
    for name in ("kind", "vendor", "fps", "action/meaning", "embodiment"):
        assert after.sheet.get(name) == before.sheet.get(name)
    assert inspect(after)[1:] == [*inspect(before)[1:]]


def test_a_drafted_sheet_is_filled_in_by_uncommenting(tmp_path: Path) -> None:
    draft = draft_sheet(discover(toy_corpus(tmp_path / "c", {"ep_000": 0.5})))
    lines = [
        line.removeprefix("# ") if "=" in line.partition("#")[2] else line for line in draft.splitlines()
    ]
    said = parse_sheet("\n".join(lines), "draft")
    assert {"kind", "embodiment", "fps", "sync", "action/meaning", "licence", "vendor"} <= set(said)
    assert said["streams/height/units"] == ["unknown"]


def test_inspection_tells_declared_inferred_and_unresolved(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "c", {"ep_000": 0.5})
    (root / "assay.toml").write_text('kind = "simulation"')
    lines = {line.item: line for line in inspect(discover(root))}
    assert lines["kind"].known == "declared"
    assert lines["embodiment"].known == "unresolved"
    assert "--embodiment" in lines["embodiment"].evidence
    assert lines["fps"].known == "declared"
    assert lines["stream height"].known == "unresolved"  # nobody says its unit


# ------------------------------------------------------------------------------------ clips without names

MOTION = Path(__file__).parent / "golden" / "motion"


def test_a_drafted_sheet_does_not_pin_names_that_the_reader_made_up(tmp_path: Path) -> None:
    """joint_0 in a sheet stands above the body's own names, and every gate of joints would abstain."""
    root = shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c")
    draft = draft_sheet(discover(root))
    assert "streams/joints/units" in parse_sheet(draft, "draft")
    (root / "assay.toml").write_text(draft.replace("# embodiment", "embodiment").replace("# fps", "fps"))
    lines = {line.item: line for line in inspect(discover(root))}
    assert "29 of 29 are joints of unitree_g1_29" in lines["stream joints"].evidence


def test_a_drafted_sheet_of_clips_asks_for_what_gates_on_feet_need(tmp_path: Path) -> None:
    draft = draft_sheet(discover(shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c")))
    said = parse_sheet("\n".join(line.removeprefix("# ") for line in draft.splitlines()[1:]), "draft")
    assert {"ground", "quaternion", "fps", "parts/human/path"} <= set(said)
    assert not {"sync", "action/meaning"} & set(said)
    assert "parts" not in draft_sheet(discover(MOTION / "asap/input"))  # the pickle holds its human


def test_inspection_tells_what_the_reader_decided_from_the_data() -> None:
    lines = {line.item: line for line in inspect(discover(MOTION / "csv_xyzw/input"))}
    assert (lines["quaternion"].value, lines["quaternion"].known) == ("xyzw", "inferred")
    assert lines["conversion"].value == "root: quaternion from xyzw to wxyz"
    open_ = {line.item: line for line in inspect(discover(MOTION / "csv_undecided/input"))}
    assert open_["quaternion"].known == "unresolved"
    assert 'in assay.toml: quaternion = "xyzw"' in open_["quaternion"].evidence


@pytest.mark.parametrize(
    ("case", "first"),
    [("csv_wxyz", "unitree_g1_29"), ("asap", "unitree_g1_23_asap"), ("cmu", "robot.urdf")],
)
def test_a_body_is_proposed_where_its_joints_fit(case: str, first: str) -> None:
    """By number and axes: a clip on the axes of one body of 23 joints is not called another's."""
    lines = {line.item: line for line in inspect(discover(MOTION / case / "input"))}
    assert f'embodiment = "{first}"' in lines["embodiment"].evidence
    if first == "robot.urdf":
        assert "unitree" not in lines["embodiment"].evidence


def test_what_else_lies_in_the_folder_is_named(tmp_path: Path) -> None:
    root = shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c")
    assert discover(root).beside == []
    shutil.copytree(MOTION / "bvh/input", root / "source")
    found = discover(root)
    assert found.beside == ["bvh"]
    lines = {line.item: line for line in inspect(found)}
    assert lines["not judged"].value == "bvh"
    (root / "assay.toml").write_text('[parts.human]\npath = "source/{stem}.bvh"\n')
    assert discover(root).beside == []
    shutil.rmtree(root / "source")
    (root / "notes.csv").write_text("a,b\n1,2\n")
    assert {line.item: line.value for line in inspect(discover(root))}["other files"] == "1"
