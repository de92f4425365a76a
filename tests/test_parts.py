"""Episodes of several files: what the sheet says of a part is held to that part, which keeps its promise."""

import shutil
from pathlib import Path

import pytest

from assay import plugs
from assay.corpus import Corpus, discover
from assay.examine import examine
from assay.feature import Features
from assay.inspection import inspect
from assay.model import Claim, Episode, Role
from assay.parts import open_episode

GOLDEN = Path(__file__).parent / "golden" / "motion"
HUMAN = '[parts.human]\npath = "human/{stem}.pt"\n'


def corpus(folder: Path, sheet: str, *, there: bool = True) -> Corpus:
    """A robot's clip with the human it came from in a folder beside it; neither states a rate."""
    shutil.copytree(GOLDEN / "csv_wxyz/input", folder)
    (folder / "human").mkdir()
    if there:
        shutil.copy(GOLDEN / "omomo/input/clip.pt", folder / "human/walk.pt")
    (folder / "assay.toml").write_text(sheet)
    return discover(folder, embodiment="unitree_g1_29")


def opened(found: Corpus) -> Episode:
    return open_episode(found.listing, found.listing.refs[0], None, found.sheet)


def wrong(claims: tuple[Claim, ...]) -> list[tuple[str, str]]:
    return [(c.about, c.found) for c in claims if c.size]


def test_a_part_that_is_there_keeps_what_the_sheet_promised(tmp_path: Path) -> None:
    found = corpus(tmp_path / "c", HUMAN)
    ep = opened(found)
    assert [s.name for s in ep.by_role(Role.HUMAN_BODY)] == ["human/body_pos"]
    assert not ep.missing(Role.HUMAN_BODY)
    assert "stream human/body_pos" in {line.item for line in inspect(found)}
    gate = plugs.gates()["INT003"]
    assert examine(gate, Features(ep, plugs.features()), gate.params(), ep.id).verdict.status == "pass"


def test_a_part_that_is_absent_is_missed(tmp_path: Path) -> None:
    ep = opened(corpus(tmp_path / "c", HUMAN, there=False))
    assert [d.name for d in ep.missing(Role.HUMAN_BODY)] == ["human"]
    assert wrong(ep.claims) == [("human", "absent")]


@pytest.mark.parametrize(
    ("name", "more", "cure"),
    [
        ("wal", "", 'strip = ["k"]'),
        ("alk", "", 'strip = ["w"]'),
        ("walk_smpl", "", 'path = "human/{stem}_smpl.pt"'),
        ("subject_walk", "", 'path = "human/subject_{stem}.pt"'),
        ("take7", "", 'files = { "walk" = "human/take7.pt" }, one for each'),
    ],
)
def test_a_part_of_another_name_is_found_by_what_is_said(
    name: str, more: str, cure: str, tmp_path: Path
) -> None:
    """Before: one clip and one file are named with the remedy; after it, the file is the clip's."""
    corpus(tmp_path / "c", HUMAN)
    (tmp_path / "c/human/walk.pt").rename(tmp_path / f"c/human/{name}.pt")
    found = discover(tmp_path / "c")
    assert found.unmatched == (
        "no episode has its file of [parts.human]: walk wants human/walk.pt, and "
        f"human/{name}.pt is there; in assay.toml, under [parts.human]: {cure}"
    )
    assert found.unmatched in {line.evidence for line in inspect(found)}
    said = cure.removesuffix(", one for each")
    sheet = f"[parts.human]\n{said}\n" if said.startswith("path") else f"{HUMAN}{said}\n"
    (tmp_path / "c/assay.toml").write_text(sheet)
    after = discover(tmp_path / "c")
    assert after.unmatched == ""
    assert [s.name for s in opened(after).by_role(Role.HUMAN_BODY)] == ["human/body_pos"]


def test_each_end_of_a_clip_is_taken_off_in_turn_and_never_all_of_it(tmp_path: Path) -> None:
    found = corpus(tmp_path / "c", HUMAN + 'strip = ["lk", "w", "a", ""]\n')
    assert [p.path for p in found.listing.refs[0].parts if p.name == "human"] == ["human/a.pt"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("human/{stem}.npy", "no .npy file lies in human"),
        ("people/{stem}.pt", "no .pt file lies in people"),
        ("../{stem}.pt", "no .pt file lies in .."),
    ],
)
def test_a_part_of_which_there_is_no_file_is_said_so(path: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "outside.pt").write_bytes(b"")
    found = corpus(tmp_path / "c", HUMAN.replace("human/{stem}.pt", path))
    assert found.unmatched.endswith(f"wants {path.format(stem='walk')}, and {why}")


@pytest.mark.parametrize(
    ("said", "robot", "human"),
    [("", None, None), ("fps = 50\n", 50, None), ("fps = 50\n" + HUMAN + "fps = 30\n", 50, 30)],
)
def test_a_part_has_its_own_rate(said: str, robot: int | None, human: int | None, tmp_path: Path) -> None:
    """The corpus's rate on a human of another one would move every step of it to a wrong time."""
    ep = opened(corpus(tmp_path / "c", said if HUMAN in said else said + HUMAN))
    rates = {s.name: s.rate for s in ep.streams}
    assert (rates["joints"], rates["human/body_pos"]) == (robot, human)
    if human:
        t = ep.by_role(Role.HUMAN_BODY)[0].t
        assert abs(t[1] - t[0] - 1e9 / human) < 1
    assert not [c for c in wrong(ep.claims) if "fps" in c[0] or "rate" in c[0]]


def test_what_the_sheet_says_of_a_parts_streams_is_held_to_them(tmp_path: Path) -> None:
    right = corpus(tmp_path / "a", HUMAN + '[streams."human/body_pos"]\nrate = 30\n')
    assert opened(right).by_role(Role.HUMAN_BODY)[0].rate == 30
    assert not wrong(right.listing.claims)
    assert not wrong(opened(right).claims)
    typo = corpus(tmp_path / "b", HUMAN + '[streams."human/body"]\nrate = 30\n')
    assert not wrong(typo.listing.claims)
    assert wrong(opened(typo).claims) == [("streams/human/body/rate", "no such stream")]
    none = corpus(tmp_path / "c", '[streams."human/body_pos"]\nrate = 30\n')
    assert wrong(none.listing.claims) == [("streams/human/body_pos/rate", "no such stream")]


@pytest.mark.parametrize("other", [False, True])
def test_a_part_that_lies_deeper_is_named(tmp_path: Path, other: bool) -> None:
    found = corpus(tmp_path / "c", HUMAN)
    (tmp_path / "c/human/take 1").mkdir()
    (tmp_path / "c/human/walk.pt").rename(tmp_path / "c/human/take 1/walk.pt")
    if other:
        (tmp_path / "c/human/dance.pt").touch()
    found = discover(tmp_path / "c")
    assert found.unmatched.endswith(
        ", but human/take 1/walk.pt is there; in assay.toml, under [parts.human]: "
        'path = "human/take 1/{stem}.pt"'
    )


@pytest.mark.parametrize("pattern", ["nomatch*", "*"])
def test_sections_that_match_no_episode_are_named(tmp_path: Path, pattern: str) -> None:
    found = corpus(tmp_path / "c", f'[[episodes]]\nmatch = "{pattern}"\nrig = "left"\n')
    said = {line.evidence for line in inspect(found)}
    idle = '[[episodes]] match = "nomatch*" matches no episode; the first is walk'
    assert found.idle == (idle if pattern == "nomatch*" else "")
    assert (idle in said) == (pattern == "nomatch*")
