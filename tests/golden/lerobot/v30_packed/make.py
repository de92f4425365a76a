"""v3.0: three episodes, data in two files, each camera split on its own, ``from_timestamp`` that drifts."""

import runpy
from pathlib import Path

HERE = Path(__file__).parent
sets = runpy.run_path(str(HERE.parent / "sets.py"))

small = sets["Small"](
    "v3.0", [4, 3, 5], cameras=("cam_a", "cam_b"), packs=[[0, 1], [2]],
    video_packs={"cam_a": [[0, 1, 2]], "cam_b": [[0], [1, 2]]},
)  # fmt: skip
for name in ("from", "to"):  # at 10 pictures per second: 0.4 and 0.8 of a picture late
    column = small.table[f"videos/cam_a/{name}_timestamp"]
    column[1] += 0.04
    column[2] += 0.08
small.stats = [{"observation.state": s["observation.state"]} for s in small.stats]
small.write(HERE / "input")
