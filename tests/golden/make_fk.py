"""Positions of links of every card: ``python tests/golden/make_fk.py PATH_TO_MODELS > tests/golden/fk.json``.

Pinocchio reads the makers' files; the cards and our kernel are not used, except for names. The joint values
are 0.5 sin(joint + 1 + frame), with joints numbered as in the card.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from assay.embodiment import cards, load
from oracles import by_pinocchio

FILES = {
    "unitree_g1_29": "unitree_ros/g1_description/g1_29dof_rev_1_0.urdf",
    "unitree_g1_23_asap": "unitree_ros/g1_description/g1_29dof_rev_1_0.urdf",
    "unitree_g1_23": "unitree_ros/g1_description/g1_23dof_rev_1_0.urdf",
    "unitree_h1": "unitree_ros/h1_description/urdf/h1.urdf",
    "fourier_gr1t2": "fourier_gr1/gr1t2.urdf",
    "franka_panda": "example_robot_data/panda.urdf",
}
FRAMES = 3


def poses(joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    frame = np.arange(FRAMES)[:, None]
    q = 0.5 * np.sin(np.arange(joints) + 1.0 + frame)
    base_q = np.concatenate([np.ones((FRAMES, 1)), 0.1 * frame, 0.2 * frame, 0.3 + 0 * frame], axis=1)
    return q, np.concatenate([0.1 * frame, -0.2 * frame, 0.8 + 0 * frame], axis=1), base_q


def main(models: Path) -> None:
    golden = {}
    for name in cards():
        tree = load(name).tree
        if tree is None:
            continue
        q, base_p, base_q = poses(len(tree.joints))
        unit = base_q / np.linalg.norm(base_q, axis=1, keepdims=True)
        p, _ = by_pinocchio(pin, models / FILES[name], tree, q, base_p, unit)
        ends = sorted(set(range(len(tree.links))) - set(tree.parent.tolist()))
        golden[name] = {tree.links[i]: np.round(p[:, i], 12).tolist() for i in ends}
    print("{")
    print(",\n".join(f' "{name}": {json.dumps(links)}' for name, links in golden.items()))
    print("}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
