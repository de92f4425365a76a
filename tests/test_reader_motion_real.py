"""Every real motion file: which reader opens it, how long it is, and what was decided about it."""

from pathlib import Path

import pytest

from assay import plugs
from assay.embodiment import load
from assay.model import Episode, Role
from assay.sheet import Item, Sheet

pytestmark = pytest.mark.real

G1 = Sheet({"embodiment": Item("unitree_g1_29", "option")}, body=load("unitree_g1_29"))
ASAP = "g1_23dof_asap/0-motions_raw_tairantestbed_smpl_video_{}_filter_amass"
TABLE: dict[str, tuple[str, int, int, float | None, str, str]] = {
    # file: reader, frames, joints (or values of the human body), rate, quaternion order, joint names
    "cmu_humanoid_dmcontrol/test_trajectories/cmuv2019_001": ("cmu-hdf5", 10, 56, 20, "wxyz", "none"),
    "cmu_humanoid_dmcontrol/test_trajectories/cmuv2019_002": ("cmu-hdf5", 10, 56, 20, "wxyz", "none"),
    "g1_29dof_g1moves/bonus/B_Fence1/retarget/B_Fence1": ("csv36", 1620, 29, None, "xyzw", "model"),
    "g1_29dof_g1moves/bonus/B_HandsUp/retarget/B_HandsUp": ("csv36", 442, 29, None, "xyzw", "model"),
    "g1_29dof_g1moves/dance/J_Dance20_DWG/retarget/J_Dance20_DWG": ("csv36", 938, 29, None, "xyzw", "model"),
    "g1_29dof_g1moves/dance/J_ShortDance14_Disco/retarget/J_ShortDance14_Disco": (
        "csv36",
        858,
        29,
        None,
        "xyzw",
        "model",
    ),
    "g1_29dof_g1moves/karate/B_SpinKarate/retarget/B_SpinKarate": ("csv36", 1540, 29, None, "xyzw", "model"),
    "g1_29dof_g1moves/karate/M_Move8/retarget/M_Move8": ("csv36", 843, 29, None, "xyzw", "model"),
    "g1_29dof_g1moves/karate/M_ShortMove14/retarget/M_ShortMove14": ("csv36", 393, 29, None, "xyzw", "model"),
    "g1_kimodo_generated/output_dance": ("csv36", 150, 29, None, "wxyz", "model"),
    "g1_kimodo_generated/output_jumpjack": ("csv36", 120, 29, None, "wxyz", "model"),
    "g1_kimodo_generated/output_walk": ("csv36", 150, 29, None, "wxyz", "model"),
    "g1_29dof_g1moves/bonus/B_HandsUp/training/B_HandsUp": ("robot-npz", 441, 29, 60, "wxyz", "model"),
    "g1_29dof_g1moves/karate/M_ShortMove14/training/M_ShortMove14": (
        "robot-npz",
        392,
        29,
        60,
        "wxyz",
        "model",
    ),
    "g1_29dof_holosoma/sub3_largebox_003_mj": ("robot-npz", 325, 29, 50, "wxyz", "native"),
    "g1_29dof_holosoma/sub3_largebox_003_mj_w_obj": ("robot-npz", 325, 29, 50, "wxyz", "native"),
    "isaaclab_amp_humanoid28/humanoid_run": ("robot-npz", 82, 28, 60, "wxyz", "native"),
    "isaaclab_amp_humanoid28/humanoid_walk": ("robot-npz", 154, 28, 60, "wxyz", "native"),
    "loco_mujoco_real/02-constspeed_TALOS": ("robot-npz", 500, 25, 500, "wxyz", "native"),
    "loco_mujoco_real/02-constspeed_UnitreeG1": ("robot-npz", 500, 25, 500, "wxyz", "native"),
    "loco_mujoco_real/02-constspeed_full_humanoid": ("robot-npz", 500, 45, 500, "wxyz", "native"),
    "loco_mujoco_real/05-run_ATLAS": ("robot-npz", 500, 25, None, "wxyz", "native"),
    "loco_mujoco_real/05-run_UnitreeH1": ("robot-npz", 500, 23, 500, "wxyz", "native"),
    "g1_23dof_asap/0-TairanTestbed_TairanTestbed_CR7_video_CR7_level1_filter_amass": (
        "motion-pickle",
        119,
        23,
        30,
        "xyzw",
        "model, wrists left out,",
    ),
    **{
        ASAP.format(name): ("motion-pickle", n, 23, 30.0, "xyzw", "model, wrists left out,")
        for name, n in {
            "CR7_level2": 134,
            "jump_degree_level2": 125,
            "jump_forward_level2": 107,
            "kick_level2": 101,
            "shoot_level2": 125,
            "side_jump_level4": 101,
            "single_foot_jump_level1": 158,
            "step_forward_back_level1": 119,
            "step_forward_forward_level2": 131,
            "walk_level3": 143,
        }.items()
    },
    "g1_lerobot_examples/dance_jackson": ("human-npz", 87, 72, 50, "", ""),
    "g1_lerobot_examples/high_jump": ("human-npz", 414, 72, 50, "", ""),
    "g1_lerobot_examples/hiphop_ii": ("human-npz", 642, 72, 50, "", ""),
    "g1_lerobot_examples/horse_riding": ("human-npz", 182, 72, 50, "", ""),
    "g1_lerobot_examples/turn_jump_270": ("human-npz", 180, 72, 50, "", ""),
    "g1_lerobot_examples/victory_dance": ("human-npz", 387, 72, 50, "", ""),
    "g1_lerobot_examples/walk_forward": ("human-npz", 2002, 72, 50, "", ""),
    "human_src_holosoma/OMOMO_new/sub3_largebox_003": ("omomo-pt", 196, 156, None, "", ""),
    "human_src_holosoma/climb/mocap_climb_seq_1/mocap_climb_seq_1_joint_positions_f0-2422": (
        "motion-npy",
        2423,
        159,
        None,
        "",
        "",
    ),
    "smpl_keypoints_contacts_pyroki/smpl_keypoints": ("motion-npy", 122, 135, None, "", ""),
    "bvh_bvhtoolbox/test_freebvh": ("bvh", 69, 210, 30, "", ""),
    "c3d_ezc3d/Qualisys": ("c3d", 340, 165, 200, "", ""),
}
OTHER = {"motion-pickle": 1, "motion-npy": 3, "human-npz": 11, "robot-npz": 7}
"""Files with a reader's suffix in none of its layouts: height_dict.pkl, flags, a height map, other npz."""


def row(name: str, ep: Episode) -> tuple[str, int, int, float | None, str, str]:
    decided = ep.meta["decided"]
    main = (ep.by_role(Role.JOINT_POSITION) or ep.by_role(Role.HUMAN_BODY))[0]
    robot = main.role is Role.JOINT_POSITION
    order = decided.get("joint order", ("none", ""))
    names = order[1].split(" in ")[1].split(" order")[0] if " order" in order[1] else order[0]
    return (
        name,
        len(main),
        main.x.shape[1],
        float(main.rate) if main.rate else None,
        decided["quaternion"][0] if robot else "",
        names if robot else "",
    )


def test_every_real_file(real_data: Path) -> None:
    found = {}
    for folder in ("motion", "mocap"):
        for name, reader in plugs.readers().items():
            if reader.probe(real_data / folder).score <= 0:
                continue
            listing = reader.discover(real_data / folder)
            assert listing.facts.get("other_files", 0) == OTHER.get(name, 0), name
            assert not listing.claims
            for ref in listing.refs:
                ep = reader.open(
                    listing,
                    ref,
                    None,
                    G1 if "g1" in (ref.parts[0].key["robot"] or "") or "kimodo" in ref.id else Sheet(),
                )
                assert [c for c in ep.claims if c.size] == []
                found[ref.id] = row(name, ep)
    assert found == TABLE


def test_what_stays_unresolved(real_data: Path) -> None:
    """Stored velocities give 500 Hz, but those of 05-run_ATLAS do not belong to its positions: no rate."""
    reader = plugs.readers()["robot-npz"]
    listing = reader.discover(real_data / "motion/loco_mujoco_real")
    why = {
        r.id: reader.open(listing, r, None, Sheet()).meta["unresolved"].get("fps", "") for r in listing.refs
    }
    assert [name for name, text in why.items() if text] == ["05-run_ATLAS"]
    assert "do not belong to the positions" in why["05-run_ATLAS"]


def test_each_folder_finds_its_reader(real_data: Path) -> None:
    wanted = {
        "g1_23dof_asap": "motion-pickle",
        "g1_29dof_g1moves": "csv36",
        "g1_kimodo_generated": "csv36",
        "g1_29dof_holosoma": "robot-npz",
        "g1_lerobot_examples": "human-npz",
        "loco_mujoco_real": "robot-npz",
        "isaaclab_amp_humanoid28": "robot-npz",
        "cmu_humanoid_dmcontrol": "cmu-hdf5",
        "smpl_keypoints_contacts_pyroki": "motion-npy",
    }
    for folder, name in wanted.items():
        scores = {n: r.probe(real_data / "motion" / folder).score for n, r in plugs.readers().items()}
        assert max(scores, key=scores.__getitem__) == name, (folder, scores)
