"""A corpus's own model of a body that a card knows adds to the card, and takes nothing from it (ADR 0012)."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay import plugs
from assay.cases import judge_case
from assay.corpus import Corpus, discover
from assay.embodiment import Embodiment, load
from assay.gate import Case
from assay.gates.retarget.rtg007_joint_overspeed import dashing
from assay.inspection import inspect
from assay.judge import Verdict
from assay.model import Episode
from assay.sheet import apply
from assay.synth.episodes import edit
from assay.synth.walks import walk
from assay.tally import decide
from model_texts import mjcf_of, urdf_of

CLIP = Path(__file__).parent / "golden/motion/csv_xyzw/input"
WRITERS = {"body.urdf": urdf_of, "body.xml": mjcf_of}
G1, H1 = load("unitree_g1_29"), load("unitree_h1")
Write = Callable[..., str]


def corpus(folder: Path, name: str, text: str, more: str = "", **options: object) -> Corpus:
    shutil.copytree(CLIP, folder / "clips")
    (folder / "clips" / name).write_text(text)
    (folder / "clips/assay.toml").write_text(f'embodiment = "{name}"\n{more}')
    return discover(folder / "clips", **options)  # type: ignore[arg-type]


def body_of(found: Corpus) -> Embodiment:
    assert found.sheet.body is not None
    return found.sheet.body


def verdict(code: str, ep: Episode) -> Verdict:
    return judge_case(plugs.gates()[code], Case("", lambda: ep, "pass")).verdict


def elbow(body: Embodiment, over: float) -> Episode:
    """A walk whose left elbow goes beyond the card's limit for a fifth of the time."""

    def bend(x: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        x[: len(x) // 5, names.index("left_elbow_joint")] = G1.limits[0].upper[18] + over
        return x

    return replace(edit(walk(), "joints", bend), embodiment=body)


@pytest.mark.parametrize("name", WRITERS)
def test_the_model_of_the_card_itself_changes_nothing(name: str, tmp_path: Path) -> None:
    found = corpus(tmp_path, name, WRITERS[name](G1))
    body = body_of(found)
    assert (body.card, body.apart) == ("unitree_g1_29", "")
    assert [s.claimed for s in body.limits] == [False] * 4 + [True]
    for mine, card in zip(body.unclaimed, G1.limits, strict=True):
        np.testing.assert_allclose(mine.upper, card.upper)
    assert len(body.soles) == len(body.hands) == 2
    assert body.capsules is G1.capsules
    for code in ("RTG001", "RTG013"):
        assert verdict(code, replace(walk(), embodiment=body)).status == "pass"


@pytest.mark.parametrize("name", WRITERS)
def test_wider_limits_leave_a_state_between_undecided(name: str, tmp_path: Path) -> None:
    body = body_of(corpus(tmp_path, name, WRITERS[name](G1, widen=1.5)))
    between, beyond = (verdict("RTG001", elbow(body, over)) for over in (0.35, 1.7))
    assert verdict("RTG001", elbow(G1, 0.35)).status == "fail"
    assert (between.status, between.reason) == ("abstain", "claimed-body")
    assert "2.094 by one source, 3.594 by another" in between.detail
    assert beyond.status == "fail"


@pytest.mark.parametrize("rename", [["left_elbow_joint"], [j.name for j in G1.joints]], ids=["one", "all"])
def test_another_name_for_a_joint_frees_it_of_no_limit(rename: list[str], tmp_path: Path) -> None:
    names = {old: f"{old[:-6]}_jnt" for old in rename}
    body = body_of(corpus(tmp_path, "body.urdf", urdf_of(G1, widen=1.5, rename=names)))
    ep = elbow(G1, 0.35)
    for stream in ep.streams:
        channels = tuple(replace(c, name=names.get(c.name, c.name)) for c in stream.channels)
        ep = ep.with_stream(replace(stream, channels=channels))
    got = verdict("RTG001", replace(ep, embodiment=body))
    assert (got.status, got.reason) == ("abstain", "claimed-body")


def test_faster_ratings_leave_a_speed_between_undecided(tmp_path: Path) -> None:
    body = body_of(corpus(tmp_path, "body.urdf", urdf_of(G1, widen=1.5)))
    fast = verdict("RTG007", replace(dashing(60.0), embodiment=body))
    assert verdict("RTG007", dashing(60.0)).status == "fail"
    assert (fast.status, fast.reason) == ("abstain", "claimed-body")


def test_ratings_that_a_model_does_not_know_are_those_of_the_card(tmp_path: Path) -> None:
    body = body_of(corpus(tmp_path, "body.xml", mjcf_of(G1, widen=1.5)))
    assert verdict("RTG007", replace(dashing(60.0), embodiment=body)).status == "fail"


def test_an_undecided_claim_leaves_an_episode_unmeasured_even_where_the_gate_only_rejects() -> None:
    row = {"gate": "RTG007", "status": "abstain", "effect": "reject", "reason": "claimed-body"}
    assert decide([row]) == ("unmeasured", ["RTG007"])
    assert decide([row | {"reason": "limits-conflict"}]) == ("accepted", [])
    assert decide([row | {"effect": "flag"}]) == ("accepted", [])


@pytest.mark.parametrize("name", WRITERS)
def test_narrower_limits_hold(name: str, tmp_path: Path) -> None:
    body = body_of(corpus(tmp_path, name, WRITERS[name](G1, widen=-0.2)))
    assert body.limits[0].source.endswith(f", no wider than {name}")
    assert verdict("RTG001", elbow(body, -0.1)).status == "fail"
    assert verdict("RTG001", elbow(G1, -0.1)).status == "pass"


@pytest.mark.parametrize("name", WRITERS)
def test_soles_elsewhere_than_the_cards_are_unknown(name: str, tmp_path: Path) -> None:
    found = corpus(tmp_path, name, WRITERS[name](G1, lift=0.1))
    body = body_of(found)
    assert "left sole is 10.0 cm from where unitree_g1_29 has it" in body.apart
    judged = verdict("RTG013", replace(walk(), embodiment=body))
    assert (judged.status, judged.reason, judged.detail) == ("abstain", "claimed-body", body.apart)
    assert body.apart in found.own_body


def test_a_shorter_leg_is_as_good_as_a_lower_sole(tmp_path: Path) -> None:
    assert G1.tree is not None
    p = G1.tree.p.copy()
    p[G1.tree.index("left_knee_link"), 2] -= 0.05
    model = urdf_of(replace(G1, tree=replace(G1.tree, p=p)))
    assert body_of(corpus(tmp_path, "body.urdf", model)).apart


def test_soles_that_a_model_does_not_show_are_those_of_the_card(tmp_path: Path) -> None:
    body = body_of(corpus(tmp_path, "body.urdf", urdf_of(replace(G1, soles=()))))
    assert body.soles == G1.soles


def test_only_the_buyer_chooses_the_corpus_s_own_set(tmp_path: Path) -> None:
    found = corpus(tmp_path, "body.urdf", urdf_of(G1, widen=1.5), 'limit_set = "body.urdf"')
    mine = apply(found.sheet, elbow(body_of(found), 0.35))
    assert (mine.limit_set, verdict("RTG001", mine).reason) == ("", "claimed-body")
    (tmp_path / "buyer.toml").write_text('limit_set = "body.urdf"')
    bought = discover(tmp_path / "clips", sheet_file=tmp_path / "buyer.toml")
    theirs = apply(bought.sheet, elbow(body_of(bought), 0.35))
    assert (theirs.limit_set, verdict("RTG001", theirs).status) == ("body.urdf", "pass")


def test_the_buyer_s_own_file_decides_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.urdf").write_text(urdf_of(G1, widen=1.5))
    found = corpus(tmp_path, "body.urdf", urdf_of(G1), embodiment=str(tmp_path / "mine.urdf"))
    assert (len(body_of(found).limits), body_of(found).card, found.own_body) == (1, "", "")


@pytest.mark.parametrize(
    ("text", "card"),
    [
        (urdf_of(G1).replace("</robot>", '<link name="x"/><joint name="x_joint" type="revolute"><parent '
                             'link="pelvis"/><child link="x"/></joint></robot>'), "unitree_g1_29"),
        (urdf_of(load("unitree_h1")), "unitree_h1"),
        (urdf_of(load("fourier_gr1t2")), "fourier_gr1t2"),
        (urdf_of(G1, rename={j.name: f"j{i}_joint" for i, j in enumerate(G1.joints)}), "unitree_g1_29"),
        (urdf_of(G1, rename={"left_knee_joint": "left_knee_jnt"}), "unitree_g1_29"),
        (urdf_of(H1, rename={j.name: f"j{i}" for i, j in enumerate(H1.joints)}), "unitree_h1"),
    ],
    ids=["a joint more", "h1", "gr1", "other names", "one other name", "h1 with other names"],
)  # fmt: skip
def test_which_card_a_model_is_held_to(text: str, card: str, tmp_path: Path) -> None:
    found = corpus(tmp_path, "body.urdf", text)
    assert body_of(found).card == card
    assert (f"beside the card {card}" if card else "no card knows such a body") in found.own_body
    assert [line.evidence for line in inspect(found) if line.item == "body"] == [found.own_body]
