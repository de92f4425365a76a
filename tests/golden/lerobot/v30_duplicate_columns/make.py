"""v3.0 with doubled column names in a stray table of episodes, its own ``data_path``, and no data files."""

import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
sets = runpy.run_path(str(HERE.parent / "sets.py"))

small = sets["Small"]("v3.0", [4, 4], cameras=("top",), video_packs={"top": [[0], [1]]})
small.info["data_path"] = "data/train/episode_{episode_index:06d}.parquet"
small.info["features"]["observation.state"]["names"] = {"joints": ["j1", "j2", "j3"]}
small.stats = []
small.absent |= {"data/chunk-000/file-000.parquet", "data/chunk-000/file-001.parquet"}
small.table["videos/top/file_index"] = [0, 0]
root = small.write(HERE / "input")
names = ["episode_index", "videos/top/file_index", "videos/top/chunk_index", "videos/top/file_index"]
columns = [pa.array(v) for v in ([0, 1], [0, 1], [0, 0], [0, 1])]
stray = root / "meta/episodes/episodes.parquet"
pq.write_table(pa.Table.from_arrays(columns, names), stray, write_statistics=False, use_dictionary=False)
