"""MJCF: classes, frames, angles, actuators and included files, and what a stranger's file cannot do."""

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.embodiment import Embodiment, find_body, model_inside
from assay.embodiment.kinematics import link_poses
from assay.embodiment.mjcf import read_mjcf
from assay.errors import MissingExtraError, OutsideCorpusError, UnreadableError, UsageError
from model_texts import MJCF, write
from oracles import by_mujoco, random_poses


@pytest.fixture
def body(tmp_path: Path) -> Embodiment:
    return read_mjcf(tmp_path, write(tmp_path, MJCF))


def test_the_free_body_is_the_root(body: Embodiment) -> None:
    tree = body.tree
    assert tree is not None
    assert body.name == "small"
    assert tree.floating
    assert tree.links[0] == "pelvis"
    assert tree.p[0].tolist() == [0, 0, 0]  # its place in the file is a pose, not part of the tree
    assert [j.name for j in body.joints] == ["left_ankle", "right_ankle", "right_ankle_slide"]


def test_ranges_are_degrees_by_class_and_metres_for_slides(body: Embodiment) -> None:
    limits = body.limits[0]
    assert limits.grade == "simulator"
    np.testing.assert_allclose(limits.lower, [-math.pi / 2, -np.inf, -0.1])
    np.testing.assert_allclose(limits.upper, [math.pi / 4, np.inf, 0.2])
    assert np.isinf(limits.speed).all()


def test_effort_is_what_an_actuator_can_give(body: Embodiment) -> None:
    assert body.limits[0].effort.tolist() == [60.0, math.inf, 5.0]  # 30 x gear 2; placeholder; forcerange


def test_soles_are_foot_spheres_or_ends_of_capsules(body: Embodiment) -> None:
    left, right = body.soles
    assert (left.origin, right.origin) == ("spheres", "primitives")
    assert left.points.shape == right.points.shape == (4, 3)
    assert left.radius.tolist() == [0.01] * 4
    np.testing.assert_allclose(sorted(left.points[:, 0]), [-0.1, -0.1, 0.1, 0.1])
    np.testing.assert_allclose(right.points[:, 2], -0.03)
    assert [site.name for site in body.sites] == ["left_sole"]


def test_poses_are_mujocos(tmp_path: Path, body: Embodiment) -> None:
    """Pivot off the origin, reference angle, two joints on one body, frames, extrinsic Euler angles."""
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (assay[physics]): no oracle")
    tree = body.tree
    assert tree is not None
    poses = random_poses(tree, 20)
    p, quat = link_poses(tree, *poses)
    theirs, turned, _ = by_mujoco(mujoco, tmp_path / "model.xml", tree, *poses)
    known = [tree.index(name) for name in ("pelvis", "left_foot", "right_foot")]
    np.testing.assert_allclose(p[:, known], theirs[:, known], atol=1e-9)
    aligned = np.abs((quat[:, known] * turned[:, known]).sum(axis=-1))
    np.testing.assert_allclose(aligned, 1.0, atol=1e-9)


def test_a_pivot_off_the_origin_by_hand(body: Embodiment) -> None:
    """At the reference angle the foot stands where the file puts it; half a turn further it is mirrored."""
    tree = body.tree
    assert tree is not None
    q = np.radians([[10.0], [190.0]]) * [1.0, 0.0, 0.0] + [0.0, 0.0, 0.05]
    p, _ = link_poses(tree, q, links=["left_foot"])
    np.testing.assert_allclose(p[:, 0], [[0, 0.1, -0.5], [0, 0.1, -0.3]], atol=1e-12)


@pytest.mark.parametrize(
    "turn",
    ['quat="0.5 0.5 0.5 0.5"', 'axisangle="1 1 1 120"', 'euler="90 0 90"', 'xyaxes="0 2 0 0 0 3"'],
)
def test_one_orientation_in_four_forms(tmp_path: Path, turn: str) -> None:
    text = MJCF.replace('euler="0 0 90" childclass', f"{turn} childclass").replace(
        'eulerseq="XYZ"', 'eulerseq="xyz"'
    )
    if turn.startswith("euler"):
        text = text.replace('eulerseq="xyz"', 'eulerseq="zyx"')
        text = text.replace('euler="90 0 90" childclass', 'euler="90 0 90" childclass')
    tree = read_mjcf(tmp_path, write(tmp_path, text)).tree
    assert tree is not None
    quat = tree.quat[1]
    np.testing.assert_allclose(np.abs(quat @ [0.5, 0.5, 0.5, 0.5]), 1.0, atol=1e-9)


def test_a_body_fixed_in_the_world_hangs_on_it(tmp_path: Path) -> None:
    body = read_mjcf(tmp_path, write(tmp_path, MJCF.replace('<freejoint name="root"/>', "")))
    assert body.tree is not None
    assert body.tree.links[:2] == ("world", "pelvis")
    assert body.tree.p[1].tolist() == [0, 0, 1]


def test_included_files_stand_where_they_are_named(tmp_path: Path) -> None:
    start, rest = MJCF.split("<actuator>")
    write(
        tmp_path,
        "<mujocoinclude><actuator>" + rest.replace("</mujoco>", "</mujocoinclude>"),
        "parts/drive.xml",
    )
    name = write(tmp_path, start + '<include file="parts/drive.xml"/></mujoco>')
    assert read_mjcf(tmp_path, name).limits[0].effort.tolist() == [60.0, math.inf, 5.0]


INCLUDE = MJCF.replace("</mujoco>", '<include file="{}"/></mujoco>')
LOW = '<joint name="right_ankle" range="-0 0"/>'
END = "</worldbody>"
BROKEN = {
    "ball": (MJCF.replace('name="right_ankle"', 'name="right_ankle" type="ball"'), "ball"),
    "free below": (MJCF.replace(LOW, '<joint type="free"/>'), "below the top"),
    "two float": (MJCF.replace(END, f'<body name="cup"><freejoint/></body>{END}'), "several bodies float"),
    "joints beside": (MJCF.replace(END, f'<body name="door"><joint name="d"/></body>{END}'), "beside"),
    "replicate": (MJCF.replace("<worldbody>", '<worldbody><replicate count="9"/>'), "replicate"),
    "global": (MJCF.replace("<compiler", '<compiler coordinate="global"'), "global"),
    "euler": (MJCF.replace('"XYZ"', '"XXQ"'), "eulerseq"),
    "class": (MJCF.replace('class="ghost" type', 'class="x" type'), "class"),
    "nameless class": (MJCF.replace('<default class="ghost">', "<default>"), "no class"),
    "turn of nothing": (MJCF.replace('euler="0 0 90" childclass', 'quat="0 0 0 0" childclass'), "length 0"),
    "range": (MJCF.replace('range="-90 45"', 'range="-90"'), "finite numbers"),
    "two names": (MJCF.replace('"right_foot"', '"left_foot"'), "one name"),
    "itself": (INCLUDE.format("model.xml"), "twice"),
    "missing": (INCLUDE.format("absent.xml"), "cannot be opened"),
    "no model": (INCLUDE.format("other.xml"), "not an MJCF"),
    "no bodies": ("<mujoco/>", ""),
}  # fmt: skip


@pytest.mark.parametrize("fault", [name for name in BROKEN if name != "no bodies"])
def test_a_broken_file_is_one_sentence(tmp_path: Path, fault: str) -> None:
    text, says = BROKEN[fault]
    write(tmp_path, "<robot/>", "other.xml")
    with pytest.raises(UnreadableError, match=says) as caught:
        model_inside(tmp_path, write(tmp_path, text))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["../secret.xml", "/etc/passwd", "link.xml"])
def test_includes_stay_in_the_models_folder(tmp_path: Path, file: str) -> None:
    write(tmp_path, "<mujoco/>", "secret.xml")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "link.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(OutsideCorpusError):
        model_inside(tmp_path / "model", write(tmp_path / "model", INCLUDE.format(file)))


def test_includes_that_multiply_are_stopped(tmp_path: Path) -> None:
    for i in range(80):
        write(tmp_path, f'<mujoco><include file="{i + 1}.xml"/></mujoco>', f"{i}.xml")
    with pytest.raises(UnreadableError, match="too many"):
        read_mjcf(tmp_path, "0.xml")


def test_menagerie_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[models\]"):
        find_body("menagerie:unitree_g1")


def _package(folder: Path | None) -> SimpleNamespace:
    def path(progress: object) -> Path:
        assert progress is None  # nothing but the command line prints
        if folder is None:
            raise OSError("no route to host")
        return folder

    entry = SimpleNamespace(name="g1", file="model.xml")
    model = SimpleNamespace(
        path=path, entry_points=(entry,), default_model="g1", oid="ad24af3fa9bc1a99", license="MIT"
    )
    return SimpleNamespace(names=lambda: ["unitree_g1"], get=lambda name: model)


def test_menagerie_offline_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", _package(None))
    with pytest.raises(UsageError, match=r"^menagerie:unitree_g1: the model cannot be fetched .*go online"):
        find_body("menagerie:unitree_g1")
    with pytest.raises(UsageError, match="no such model"):
        find_body("menagerie:r2d2")


def test_menagerie_gives_the_model_with_its_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, MJCF)
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", _package(tmp_path))
    body = find_body("menagerie:unitree_g1")
    assert (body.limits[0].source, body.limits[0].revision) == ("mujoco_menagerie model.xml", "ad24af3fa9bc")
    assert body.licence == "MIT"
