"""Forward kinematics against Pinocchio, MuJoCo and kept figures; and how the kernel is kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.embodiment import Tree, load, model_inside
from assay.embodiment.kinematics import link_poses, points, warm
from assay.embodiment.rotation import compose, matrix, rotate
from oracles import by_mujoco, by_pinocchio, random_poses

GOLDEN = Path(__file__).parent / "golden" / "fk.json"
TOLERANCE = 1e-9  # m

URDFS = (
    "example_robot_data/panda.urdf", "example_robot_data/so100.urdf", "example_robot_data/so101.urdf",
    "example_robot_data/talos_full_v2.urdf", "example_robot_data/ur10_robot.urdf",
    "fourier_gr1/gr1t1.urdf", "fourier_gr1/gr1t1_inspire_hand.urdf", "fourier_gr1/gr1t2.urdf",
    "fourier_gr1/gr1t2_fourier_hand_6dof.urdf", "holosoma/g1/g1_29dof.urdf",
    "unitree_ros/dexterous_hand_description/dex3_1/dex3_1_l.urdf",
    "unitree_ros/dexterous_hand_description/dex3_1/dex3_1_r.urdf",
    "unitree_ros/g1_description/g1_23dof_rev_1_0.urdf", "unitree_ros/g1_description/g1_29dof.urdf",
    "unitree_ros/g1_description/g1_29dof_mode_15.urdf", "unitree_ros/g1_description/g1_29dof_rev_1_0.urdf",
    "unitree_ros/g1_description/g1_29dof_rev_1_0_with_inspire_hand_DFQ.urdf",
    "unitree_ros/g1_description/g1_29dof_with_hand_rev_1_0.urdf",
    "unitree_ros/h1_description/urdf/h1.urdf", "unitree_ros/h1_description/urdf/h1_with_hand.urdf",
)  # fmt: skip
MJCFS = (
    "holosoma/g1/g1_29dof.xml", "robosuite/grippers/fourier_left_hand.xml",
    "robosuite/grippers/fourier_right_hand.xml", "robosuite/grippers/inspire_left_hand.xml",
    "robosuite/grippers/inspire_right_hand.xml", "robosuite/robots/gr1/robot.xml",
    "robosuite_models/grippers/g1_three_finger_left_gripper.xml",
    "robosuite_models/grippers/g1_three_finger_right_gripper.xml", "robosuite_models/robots/aloha/robot.xml",
    "robosuite_models/robots/g1/robot.xml", "robosuite_models/robots/h1/robot.xml",
    "unitree_ros/g1_description/g1_29dof_rev_1_0.xml", "unitree_ros/h1_description/mjcf/h1.xml",
)  # fmt: skip
TREES = ("fourier_gr1t2", "franka_panda", "unitree_g1_23", "unitree_g1_23_asap", "unitree_g1_29",
         "unitree_h1")  # fmt: skip


def tree_of(card: str) -> Tree:
    tree = load(card).tree
    assert tree is not None
    return tree


@pytest.mark.real
def test_every_model_is_compared(real_data: Path) -> None:
    models = real_data / "models"
    there = {str(p.relative_to(models)) for suffix in ("urdf", "xml") for p in models.rglob(f"*.{suffix}")}
    assert there == {*URDFS, *MJCFS}


@pytest.mark.real
@pytest.mark.parametrize("file", URDFS)
def test_urdf_against_pinocchio(real_data: Path, file: str) -> None:
    pin = pytest.importorskip("pinocchio", reason="pin is not installed (assay[physics]): no oracle")
    path = real_data / "models" / file
    tree = model_inside(path.parent, path.name).tree
    assert tree is not None
    poses = random_poses(tree, 25)
    p, quat = link_poses(tree, *poses)
    theirs, R = by_pinocchio(pin, path, tree, *poses)
    np.testing.assert_allclose(p, theirs, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(matrix(quat), R, rtol=0, atol=TOLERANCE)


@pytest.mark.real
@pytest.mark.parametrize("file", MJCFS)
def test_mjcf_against_mujoco(real_data: Path, file: str) -> None:
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (assay[physics]): no oracle")
    path = real_data / "models" / file
    body = model_inside(path.parent, path.name)
    tree = body.tree
    assert tree is not None
    q, base_p, base_q = random_poses(tree, 25)
    p, quat = link_poses(tree, q, *((base_p, base_q) if tree.floating else (None, None)))
    theirs, turned, model = by_mujoco(mujoco, path, tree, q, base_p, base_q)
    known = ~np.isnan(theirs[0, :, 0])
    assert known.mean() > 0.9
    np.testing.assert_allclose(p[:, known], theirs[:, known], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(matrix(quat[:, known]), matrix(turned[:, known]), rtol=0, atol=TOLERANCE)
    moving = slice(model.njnt - len(body.joints), None)
    ranges = np.where(model.jnt_limited[moving, None], model.jnt_range[moving], [-np.inf, np.inf])
    np.testing.assert_allclose(np.stack([body.limits[0].lower, body.limits[0].upper], axis=1), ranges)


@pytest.mark.parametrize("card", TREES)
def test_cards_against_kept_figures(card: str) -> None:
    """Pinocchio's positions of the makers' files (tests/golden/make_fk.py)."""
    golden = json.loads(GOLDEN.read_text("utf-8"))[card]
    tree = tree_of(card)
    frame = np.arange(3)[:, None]
    q = 0.5 * np.sin(np.arange(len(tree.joints)) + 1.0 + frame)
    base_q = np.concatenate([np.ones((3, 1)), 0.1 * frame, 0.2 * frame, 0.3 + 0 * frame], axis=1)
    base_p = np.concatenate([0.1 * frame, -0.2 * frame, 0.8 + 0 * frame], axis=1)
    p, _ = link_poses(tree, q, base_p, base_q, list(golden))
    assert len(golden) >= 3
    np.testing.assert_allclose(p, np.stack(list(golden.values()), axis=1), rtol=0, atol=TOLERANCE)


def test_moving_the_base_moves_everything_alike() -> None:
    tree = tree_of("unitree_g1_29")
    q, base_p, base_q = random_poses(tree, 10)
    p, quat = link_poses(tree, q)
    moved, turned = link_poses(tree, q, base_p, base_q)
    np.testing.assert_allclose(moved, base_p[:, None] + rotate(base_q[:, None], p), atol=1e-12)
    np.testing.assert_allclose(turned, compose(base_q[:, None], quat), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), 1.0, atol=1e-12)


def test_one_base_for_all_frames_and_a_base_of_any_length() -> None:
    tree = tree_of("unitree_h1")
    q, base_p, base_q = random_poses(tree, 5)
    one = link_poses(tree, q, base_p[0], 3.0 * base_q[0])
    many = link_poses(tree, q, np.tile(base_p[0], (5, 1)), np.tile(base_q[0], (5, 1)))
    np.testing.assert_allclose(one[0], many[0], atol=1e-12)
    np.testing.assert_allclose(one[1], many[1], atol=1e-12)


def test_chosen_links_and_points_are_those_of_all_links() -> None:
    body = load("unitree_g1_29")
    tree = tree_of("unitree_g1_29")
    poses = random_poses(tree, 20)
    p, quat = link_poses(tree, *poses)
    wanted = ["right_wrist_yaw_link", "pelvis", "left_ankle_roll_link", "pelvis"]
    at = [tree.index(name) for name in wanted]
    some, turned = link_poses(tree, *poses, wanted)
    np.testing.assert_array_equal(some, p[:, at])
    np.testing.assert_array_equal(turned, quat[:, at])
    links = [s.link for s in body.soles for _ in s.points]
    local = np.concatenate([s.points for s in body.soles])
    on = [tree.index(name) for name in links]
    expected = p[:, on] + rotate(quat[:, on], np.broadcast_to(local, (20, 8, 3)))
    np.testing.assert_allclose(points(tree, *poses, links, local), expected, atol=1e-12)


def test_a_missing_angle_is_missing_only_below_it() -> None:
    tree = tree_of("unitree_g1_29")
    q, base_p, base_q = random_poses(tree, 4)
    q[1, tree.joints.index("left_knee_joint")] = np.nan
    base_p[2] = np.nan
    base_q[3] = 0.0
    p, quat = link_poses(tree, q, base_p, base_q)
    lost = np.isnan(p).any(axis=2) | np.isnan(quat).any(
        axis=2
    )  # a link sits right, but turned nobody knows how
    below = [
        name in ("left_knee_link", "left_ankle_pitch_link", "left_ankle_roll_link") for name in tree.links
    ]
    assert lost[0].tolist() == [False] * len(below)
    assert lost[1].tolist() == below
    assert lost[2].all()
    assert lost[3].all()


def test_no_frames_no_poses() -> None:
    tree = tree_of("unitree_h1")
    p, quat = link_poses(tree, np.zeros((0, 19)))
    assert p.shape == (0, len(tree.links), 3)
    assert quat.shape == (0, len(tree.links), 4)


def test_inputs_stay_as_they_are_and_any_layout_is_read() -> None:
    tree = tree_of("unitree_h1")
    q, base_p, base_q = random_poses(tree, 6)
    kept = q.copy()
    rows = np.asfortranarray(q)
    rows.flags.writeable = False
    np.testing.assert_array_equal(
        link_poses(tree, rows, base_p, base_q)[0], link_poses(tree, q, base_p, base_q)[0]
    )
    single = link_poses(tree, q.astype(np.float32), base_p, base_q)[0]
    np.testing.assert_allclose(single, link_poses(tree, q, base_p, base_q)[0], atol=1e-5)
    np.testing.assert_array_equal(q, kept)


def test_wrong_shapes_and_names_are_refused() -> None:
    tree = tree_of("unitree_h1")
    with pytest.raises(ValueError, match=r"q is \(2, 20\), expected \(T, 19\)"):
        link_poses(tree, np.zeros((2, 20)))
    with pytest.raises(ValueError, match=r"expected \(2, 3\)"):
        link_poses(tree, np.zeros((2, 19)), np.zeros((3, 3)))
    with pytest.raises(KeyError, match="tail"):
        link_poses(tree, np.zeros((2, 19)), links=["tail"])
    with pytest.raises(ValueError, match="local"):
        points(tree, np.zeros((2, 19)), None, None, ["pelvis"], np.zeros((2, 3)))


def test_warm_says_where_the_kernel_is_kept() -> None:
    found = warm()
    assert found.seconds >= 0
    assert found.kept


def test_nobody_pays_for_numba_before_the_first_pose() -> None:
    code = "import sys, assay, assay.embodiment.kinematics; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": _sources()})


@pytest.mark.parametrize("temporary", [True, False])
def test_a_home_that_cannot_be_written_falls_back(tmp_path: Path, temporary: bool) -> None:
    """The package's folder, the user's cache and perhaps the folder for temporary files refuse writing."""
    package = tmp_path / "site" / "assay"
    package.parent.mkdir()
    _copy(Path(_sources()) / "assay", package)
    (package / "embodiment" / "__pycache__").write_text("a file where the folder of caches would be")
    scratch = tmp_path / "scratch"
    if temporary:
        scratch.mkdir()
        fake = "tempfile.tempdir = sys.argv[1]"
    else:
        fake = "tempfile.tempdir = '/dev/null'"
    code = (
        f"import sys, tempfile; {fake}\n"
        "import numpy as np\n"
        "from assay.embodiment import load\n"
        "from assay.embodiment.kinematics import link_poses, warm\n"
        "kept = warm().kept\n"
        "tree = load('unitree_h1').tree\n"
        "assert np.isfinite(link_poses(tree, np.zeros((1, 19)))[0]).all()\n"
        "print(kept)\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment |= {"HOME": "/dev/null", "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-W", "error", "-c", code, str(scratch)], env=environment,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr
    kept = run.stdout.strip()
    assert kept.startswith(str(scratch)) if temporary else kept == "this process only"


def test_a_folder_that_others_can_write_to_holds_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.embodiment import kinematics

    monkeypatch.setattr(kinematics.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = kinematics._private_folder()
    assert folder is not None
    folder.chmod(0o777)
    assert kinematics._private_folder() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert kinematics._private_folder() is None


def _sources() -> str:
    return str(Path(__file__).resolve().parent.parent / "src")


def _copy(source: Path, target: Path) -> None:
    """The package of bodies and the modules that it needs, named: it is to need no more of the package."""
    (target / "embodiment").mkdir(parents=True)
    (target / "__init__.py").write_bytes(b"")
    for name in ("errors.py", "extras.py", "inside.py", "misspelt.py"):
        (target / name).write_bytes((source / name).read_bytes())
    for file in (source / "embodiment").glob("*.py"):
        (target / "embodiment" / file.name).write_bytes(file.read_bytes())
    (target / "embodiment" / "cards").mkdir()
    card = source / "embodiment" / "cards" / "unitree_h1.json"
    (target / "embodiment" / "cards" / card.name).write_bytes(card.read_bytes())
