"""v2.1 as converters of the Unitree G1 write it: names as a list in a list, one missing episode and video."""

import runpy
from pathlib import Path

HERE = Path(__file__).parent
sets = runpy.run_path(str(HERE.parent / "sets.py"))

small = sets["Small"]("v2.1", [5, 4])
small.info |= {"total_episodes": 3, "splits": {"train": "0:3"}}
small.absent.add("videos/chunk-000/observation.images.top/episode_000001.mp4")
small.write(HERE / "input")
