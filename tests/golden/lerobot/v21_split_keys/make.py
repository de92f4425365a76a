"""v2.1 with one key per limb, names as tables or null, degrees, a rate of 29.97, an embedded image, a row
that is null."""

import runpy
from pathlib import Path

import numpy as np
import pyarrow as pa

HERE = Path(__file__).parent
sets = runpy.run_path(str(HERE.parent / "sets.py"))

small = sets["Small"]("v2.1", [4], fps=29.97, cameras=())
features, rows = small.info["features"], small.rows[0]
wave = rows.pop("observation.state")
del features["observation.state"]
features["observation.state.left_arm"] = {
    "dtype": "float32", "shape": [2], "names": {"motors": ["joint_1_deg", "joint_2_deg"]}
}  # fmt: skip
features["observation.state.left_gripper"] = {"dtype": "float32", "shape": [1], "names": None}
features["observation.force"] = {"dtype": "float32", "shape": [3], "names": {"fx": 0, "fy": 1, "fz": 2}}
features["observation.images.wrist"] = {
    "dtype": "image",
    "shape": [48, 64, 3],
    "names": ["height", "width", "channel"],
}
rows["observation.state.left_arm"] = wave[:, :2] * 90
rows["observation.state.left_gripper"] = wave[:, 2].copy()
rows["observation.force"] = pa.array([[1, 2, 3], None, [1, 2], [4, 5, 6]], pa.list_(pa.float32()))
rows["observation.images.wrist"] = pa.array([{"bytes": b"png", "path": "frame.png"}] * 4)
small.stats[0] = {"observation.state.left_arm": {
    "min": [0, 10], "max": [90, 90], "mean": [45, 45], "std": [9, 9], "count": [4]}}  # fmt: skip
np.testing.assert_equal(len(wave), 4)
small.write(HERE / "input")
