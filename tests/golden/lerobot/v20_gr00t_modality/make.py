"""v2.0 as GR00T writes it: ``modality.json``, bare motor names, annotations, a camera that is nowhere, lists
of free length (a parquet file that went through DuckDB), statistics of the whole set."""

import json
import runpy
from pathlib import Path

import numpy as np
import pyarrow as pa

HERE = Path(__file__).parent
sets = runpy.run_path(str(HERE.parent / "sets.py"))

small = sets["Small"](
    "v2.0", [4, 3], fps=20.0, cameras=("observation.images.ego_view", "observation.images.egoview")
)
small.info |= {"robot_type": "GR1ArmsOnly", "splits": {"train": "0:100"}, "total_tasks": 2}
small.tasks.append({"task_index": 1, "task": "valid"})
features = small.info["features"]
del features["frame_index"]
for name in ("observation.state", "action"):
    features[name] = {"dtype": "float64", "shape": [3], "names": ["motor_0", "motor_1", "motor_2"]}
features |= {
    "annotation.human.validity": {"dtype": "int64", "shape": [1]},
    "next.reward": {"dtype": "float64", "shape": [1]},
    "next.done": {"dtype": "bool", "shape": [1]},
}
for e, rows in enumerate(small.rows):
    n = len(rows.pop("frame_index"))
    for name in ("observation.state", "action"):
        rows[name] = pa.array(rows[name].astype(np.float64).tolist(), pa.list_(pa.float64()))
    rows["annotation.human.validity"] = np.ones(n, np.int64)
    rows["next.reward"] = np.eye(n)[-1]
    rows["next.done"] = np.eye(n)[-1] > 0
    small.absent.add(f"videos/chunk-000/observation.images.egoview/episode_{e:06d}.mp4")
slices = {"left_arm": {"start": 0, "end": 2}, "left_hand": {"start": 2, "end": 3}}
small.extra["meta/modality.json"] = json.dumps({"state": slices, "action": slices}).encode()
ones = [1, 1, 1]
stats = {"min": [0, 0, 0], "max": ones, "mean": ones, "std": ones, "q01": [0, 0, 0], "q99": ones, "count": 7}
small.extra["meta/stats.json"] = json.dumps({"observation.state": stats}).encode()
small.write(HERE / "input")
