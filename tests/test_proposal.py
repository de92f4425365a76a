"""What a sheet is proposed to say: enough to measure in one go, nothing that does not fit, never applied."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay import inspection, proposal
from assay.corpus import Corpus, discover
from assay.embodiment import load
from assay.embodiment.infer import alike, infer
from assay.model import Episode, Listing, Ref, Role
from assay.parts import open_episode
from assay.proposal import candidates, first_episode, proposed
from assay.sheet import Sheet
from assay.sheet_file import parse_sheet
from assay.terminal import inspected
from tiny_corpus import tiny_corpus

MOTION = Path(__file__).parent / "golden/motion"


def test_the_lines_make_clips_measurable_in_one_go(tmp_path: Path) -> None:
    root = shutil.copytree(MOTION / "csv_undecided/input", tmp_path / "c")
    lines = proposed(discover(root))
    assert [line.removeprefix("# ").split()[0] for line in lines] == [
        "embodiment", "fps", "quaternion", "ground", "parts.human.path",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80
    known = [line for line in lines if not line.startswith("#")]
    assert known == ['embodiment = "unitree_g1_29"  # its joints fit; check that it is the robot']
    assert parse_sheet("\n".join(known), "x") == {"embodiment": "unitree_g1_29"}
    (root / "assay.toml").write_text("\n".join(line.removeprefix("# ") for line in lines[:-1]))
    after = discover(root)
    assert proposed(after) == lines[-1:]
    episode = first_episode(after)
    assert episode is not None
    assert episode.embodiment is not None
    assert not episode.meta["unresolved"]


def test_nothing_proposed_is_applied(tmp_path: Path) -> None:
    found = discover(shutil.copytree(MOTION / "asap/input", tmp_path / "c"))
    assert proposed(found) == [
        'embodiment = "unitree_g1_23_asap"  # or unitree_g1_29',
        "# ground = 0.0  # height of the floor, m, in the frame of the base",
    ]
    assert found.sheet.body is None
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == sorted(
        p.name for p in (MOTION / "asap/input").iterdir()
    )


def test_no_body_is_proposed_that_does_not_fit() -> None:
    found = discover(MOTION / "cmu/input")
    assert candidates(found, first_episode(found)) == ()
    assert proposed(found)[0].startswith('# embodiment = "robot.urdf"')
    assert alike(["j1", "j2", "j3"]) == ()
    assert alike(["left_elbow"], "Unitree_H1") == ("unitree_h1",)


def test_bodies_whose_names_fit_alike_are_all_proposed() -> None:
    names = ["left_shoulder_pitch", "left_elbow"]
    assert infer(names)[0] is None
    assert alike(names) == ("unitree_h1", "unitree_g1_23")


def test_a_sheet_that_is_ignored_comes_first(tmp_path: Path) -> None:
    root = shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c")
    (root / "assay.toml").write_text('embodiment = "unitree_g1_29"\ngrond = 0.0\n')
    assert proposed(discover(root)) == []


def test_what_holds_no_motion_needs_no_lines(tmp_path: Path) -> None:
    assert proposed(discover(MOTION / "bvh/input")) == []
    assert proposed(discover(tiny_corpus(tmp_path / "t"))) == [
        '# kind = "teleoperation"  # or simulation, retargeted-motion, human-demonstration'
    ]


def test_inspect_ends_in_lines_to_copy() -> None:
    lines = inspected(inspection.inspect(discover(MOTION / "csv_wxyz/input")))
    start = lines.index("Lines for the top of assay.toml; check and complete them, none is applied:")
    assert lines[start + 1 :] == proposed(discover(MOTION / "csv_wxyz/input"))


@pytest.mark.parametrize("asked", [inspection.inspect, inspection.draft_sheet])
def test_the_first_episode_is_opened_once_and_its_bodies_looked_for_once(
    asked: Callable[[Corpus], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the opening, a clip whose columns have no names is opened once for each body that it may fit."""
    found = discover(MOTION / "asap/input", embodiment="unitree_g1_23")
    bodies = []

    def opening(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
        bodies.append(sheet.body.name if sheet.body else "")
        return open_episode(listing, ref, want, sheet)

    monkeypatch.setattr(proposal, "open_episode", opening)
    asked(found)
    assert len(bodies[1:]) > 1
    assert len(bodies[1:]) == len(set(bodies[1:]))


def test_the_source_of_clips_is_asked_for_no_robot() -> None:
    items = {line.item for line in inspection.inspect(discover(MOTION / "bvh/input"))}
    assert not {"embodiment", "sync", "action/meaning"} & items
    assert {"fps", "licence"} <= items


def test_another_body_is_proposed_where_the_named_one_does_not_fit() -> None:
    found = discover(MOTION / "asap/input", embodiment="unitree_g1_23")
    assert proposed(found)[0] == 'embodiment = "unitree_g1_23_asap"  # or unitree_g1_29'
    assert not any(
        "embodiment" in line for line in proposed(discover(MOTION / "asap/input", embodiment="unitree_g1_29"))
    )


def test_the_rate_of_the_human_is_proposed_where_its_table_is(tmp_path: Path) -> None:
    root = shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c")
    (root / "human").mkdir()
    shutil.copy(MOTION / "omomo/input/clip.pt", root / "human/walk.pt")
    (root / "assay.toml").write_text('[parts.human]\npath = "human/{stem}.pt"\n')
    assert "# fps = 30  # under [parts.human]; its rate, which its file does not say" in proposed(
        discover(root)
    )
    (root / "assay.toml").write_text('[parts.human]\npath = "human/{stem}.pt"\nfps = 30\n')
    assert not any("parts.human" in line for line in proposed(discover(root)))
    (root / "assay.toml").write_text('[parts.human]\npath = "human/{stem}.pt"\n')
    draft = inspection.draft_sheet(discover(root))
    assert '[parts.human]\npath = "human/{stem}.pt"\n# fps = 30' in draft


@pytest.mark.parametrize("golden", ["csv_undecided", "asap", "cmu", "npy"])
def test_the_lines_and_the_draft_compose(tmp_path: Path, golden: str) -> None:
    root = shutil.copytree(MOTION / golden / "input", tmp_path / "c")
    lines, draft = proposed(discover(root)), inspection.draft_sheet(discover(root))
    for line in lines:  # each is in the draft, whatever its table
        assert line.removeprefix("# ").partition(" = ")[0].rpartition(".")[2] + " = " in draft, line
    (root / "assay.toml").write_text(draft)
    more = [
        line.removeprefix("# ")
        for line in proposed(discover(root))
        if "# under [" not in line and "robot.urdf" not in line
    ]
    keys = [line.partition(" = ")[0] for line in more]
    old = [x for x in draft.splitlines() if x.partition(" = ")[0] not in keys]
    (root / "assay.toml").write_text("\n".join([*more, *old]))
    assert discover(root).refused == ""


def test_a_line_for_a_table_that_is_there_says_so(tmp_path: Path) -> None:
    root = shutil.copytree(MOTION / "cmu/input", tmp_path / "c")
    (name,) = [s.name for s in discover(root).listing.streams if s.role == "joint-position"]
    (root / "assay.toml").write_text(f'[streams."{name}"]\nrole = "joint-position"\n')
    assert all("streams." not in line.partition("  # ")[0] for line in proposed(discover(root)))


def test_no_line_is_proposed_that_cures_nothing(tmp_path: Path) -> None:
    teleoperation = discover(tiny_corpus(tmp_path / "t"))
    assert proposed(teleoperation, ["nominal-clock"])
    for reason in ("not-calibrated", "undecided", "not-run", "too-short", "unknown-body"):
        assert proposed(teleoperation, [reason]) == []
    clips = discover(shutil.copytree(MOTION / "csv_wxyz/input", tmp_path / "c"))
    assert proposed(clips, ["not-run"]) == []
    assert proposed(clips, ["not-run", "unknown-body"]) == proposed(clips)


def test_columns_in_no_known_order_are_asked_for_with_what_is_known(tmp_path: Path) -> None:
    body = load("unitree_g1_29")
    q = np.linspace(body.limits[0].lower, body.limits[0].upper, 60)[:, ::-1]
    base = np.tile([0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0], (60, 1))
    root = tmp_path / "c"
    root.mkdir()
    np.savetxt(root / "walk.csv", np.concatenate([base, q], axis=1), delimiter=",", fmt="%.6f")
    (root / "assay.toml").write_text('embodiment = "unitree_g1_29"\nfps = 30\nground = 0.0\n')
    lines = proposed(discover(root))
    assert any(line.startswith('# streams."joints".channels = ["..."]') for line in lines)
    assert max(map(len, lines)) <= 80
    assert "model order fits" in " ".join(line.removeprefix("# ") for line in lines)
