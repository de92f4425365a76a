"""Small LeRobot sets as plain values that can be bent before they are written: for golden folders and tests.

Videos are a few bytes that say so: a reader of this format never opens a container.
"""

from __future__ import annotations

import json
import shutil
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ARM = ["kLeftShoulderPitch", "kLeftElbow", "kLeftHandIndex"]
VIDEO = b"a video stands here"
V2_DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
V2_VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
V3_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
V3_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
BOOK = {n: {"dtype": "int64", "shape": [1], "names": None}
        for n in ("frame_index", "episode_index", "index", "task_index")}  # fmt: skip


class Small:
    """A clean set; change ``info``, ``rows``, ``episodes``, ``tasks``, ``stats`` or ``videos``, then `write`.

    ``rows``: episode → list of (column, values); ``packs`` (v3): data files as lists of episodes.
    """

    def __init__(
        self,
        version: str,
        lengths: list[int],
        *,
        fps: float = 10,
        cameras: tuple[str, ...] = ("observation.images.top",),
        packs: list[list[int]] | None = None,
        video_packs: dict[str, list[list[int]]] | None = None,
    ) -> None:
        self.version, self.lengths, self.fps, self.cameras = version, lengths, fps, cameras
        n, starts = len(lengths), [0, *accumulate(lengths)]
        vector = {"dtype": "float32", "shape": [3], "names": [ARM]}
        facts = {"video.height": 48, "video.width": 64, "video.fps": int(fps), "video.is_depth_map": False}
        picture = {
            "dtype": "video",
            "shape": [48, 64, 3],
            "names": ["height", "width", "channel"],
            "info": facts,
        }
        self.info: dict[str, Any] = {
            "codebase_version": version, "robot_type": "Unitree_G1_Inspire", "total_episodes": n,
            "total_frames": sum(lengths), "total_tasks": 1, "chunks_size": 1000, "fps": fps,
            "splits": {"train": f"0:{n}"},
            "data_path": V2_DATA if version < "v3" else V3_DATA,
            "video_path": V2_VIDEO if version < "v3" else V3_VIDEO,
            "features": {
                "observation.state": vector, "action": dict(vector), **{c: dict(picture) for c in cameras},
                "timestamp": {"dtype": "float32", "shape": [1], "names": None}, **BOOK,
            },
        }  # fmt: skip
        if version < "v3":
            self.info["total_videos"] = n * len(cameras)
        self.tasks = [{"task_index": 0, "task": "put the can on the plate"}]
        self.rows = [self._columns(e, lengths[e], starts[e]) for e in range(n)]
        self.episodes: list[dict[str, Any]] = [
            {"episode_index": e, "tasks": ["put the can on the plate"], "length": lengths[e]}
            for e in range(n)
        ]
        self.stats = [self._stats(e) for e in range(n)] if version != "v2.0" else []
        self.packs = packs or [[e] for e in range(n)]
        self.video_packs = {c: (video_packs or {}).get(c) or [list(range(n))] for c in cameras}
        self.extra: dict[str, bytes] = {}
        self.absent: set[str] = set()
        self.table: dict[str, list[Any]] = self._table(starts) if version >= "v3" else {}

    def _columns(self, e: int, n: int, start: int) -> dict[str, Any]:
        wave = np.sin(0.3 * np.arange(n)[:, None] + np.arange(3) + e).astype(np.float32) * [0.5, 0.5, 0.25]
        wave = (wave + np.array([0.0, 0.6, 0.5])).astype(np.float32)
        count = np.arange(n, dtype=np.int64)
        return {
            "observation.state": wave, "action": np.roll(wave, -1, axis=0),
            "timestamp": (count / self.fps).astype(np.float32), "frame_index": count,
            "episode_index": np.full(n, e), "index": start + count, "task_index": np.zeros(n, np.int64),
        }  # fmt: skip

    def _stats(self, e: int) -> dict[str, Any]:
        def of(x: Any) -> dict[str, Any]:
            x = np.asarray(x, np.float64).reshape(len(x), -1)
            return {"min": x.min(0).tolist(), "max": x.max(0).tolist(), "mean": x.mean(0).tolist(),
                    "std": x.std(0).tolist(), "count": [len(x)]}  # fmt: skip

        return {name: of(x) for name, x in self.rows[e].items()}

    @property
    def pooled(self) -> dict[str, Any]:
        """The statistics of all episodes together, from those of each (v3's ``stats.json``)."""
        found = {}
        for name in self.stats[0] if self.stats else ():
            parts = [s[name] for s in self.stats]
            n = np.array([p["count"] for p in parts], np.float64)
            mean, std = (np.array([p[k] for p in parts], np.float64) for k in ("mean", "std"))
            whole = (n * mean).sum(0) / n.sum()
            spread = np.sqrt((n * (std**2 + (mean - whole) ** 2)).sum(0) / n.sum())
            found[name] = {
                "min": np.min([p["min"] for p in parts], 0).tolist(),
                "max": np.max([p["max"] for p in parts], 0).tolist(),
                "mean": whole.tolist(), "std": spread.tolist(), "count": [int(n.sum())],
            }  # fmt: skip
        return found

    def _table(self, starts: list[int]) -> dict[str, list[Any]]:
        """The columns of the v3 table of episodes."""
        n = len(self.lengths)
        at = {e: f for f, pack in enumerate(self.packs) for e in pack}
        table: dict[str, list[Any]] = {
            "episode_index": list(range(n)), "tasks": [e["tasks"] for e in self.episodes],
            "length": list(self.lengths), "data/chunk_index": [0] * n,
            "data/file_index": [at[e] for e in range(n)],
            "dataset_from_index": starts[:-1], "dataset_to_index": starts[1:],
        }  # fmt: skip
        for camera, packs in self.video_packs.items():
            place = {}
            for f, pack in enumerate(packs):
                frame = 0
                for e in pack:
                    place[e] = (0, f, frame / self.fps, (frame + self.lengths[e]) / self.fps)
                    frame += self.lengths[e]
            for i, name in enumerate(("chunk_index", "file_index", "from_timestamp", "to_timestamp")):
                table[f"videos/{camera}/{name}"] = [place[e][i] for e in range(n)]
        return table

    # ------------------------------------------------------------------------------------------- writing

    def write(self, root: Path) -> Path:
        """Write the set; files named in ``absent`` are left out."""
        shutil.rmtree(root, ignore_errors=True)
        self._put(root, "meta/info.json", json.dumps(self.info).encode())
        (self._write_v2 if self.version < "v3" else self._write_v3)(root)
        for path, data in self.extra.items():
            self._put(root, path, data)
        return root

    def _put(self, root: Path, path: str, data: bytes | pa.Table) -> None:
        if path in self.absent:
            return
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, bytes):
            (root / path).write_bytes(data)
        else:
            write_table(data, root / path)

    def _write_v2(self, root: Path) -> None:
        lines = {"tasks": self.tasks, "episodes": self.episodes}
        if self.version == "v2.0":
            self._put(root, "meta/stats.json", b"{}")
        if self.version == "v2.1":
            rows = [{"episode_index": e, "stats": s} for e, s in enumerate(self.stats)]
            lines["episodes_stats"] = rows
        for name, values in lines.items():
            text = "".join(json.dumps(v) + "\n" for v in values)
            self._put(root, f"meta/{name}.jsonl", text.encode())
        for e, rows in enumerate(self.rows):
            self._put(root, V2_DATA.format(episode_chunk=0, episode_index=e), arrow(rows))
            for camera in self.cameras:
                path = V2_VIDEO.format(episode_chunk=0, video_key=camera, episode_index=e)
                self._put(root, path, VIDEO)

    def _write_v3(self, root: Path) -> None:
        self._put(root, "meta/stats.json", json.dumps(self.pooled).encode())
        tasks = pa.table({k: [t[k] for t in self.tasks] for k in ("task_index", "task")})
        self._put(root, "meta/tasks.parquet", tasks)
        table = dict(self.table)
        for name in self.stats[0] if self.stats else ():
            for kind in self.stats[0][name]:
                table[f"stats/{name}/{kind}"] = [s[name][kind] for s in self.stats]
        self._put(root, "meta/episodes/chunk-000/file-000.parquet", pa.table(table))
        for f, pack in enumerate(self.packs):
            path = V3_DATA.format(chunk_index=0, file_index=f)
            if path not in self.absent:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                tables = [arrow(self.rows[e]) for e in pack]
                with pq.ParquetWriter(root / path, tables[0].schema) as writer:
                    for one in tables:
                        writer.write_table(one)
        for camera, packs in self.video_packs.items():
            for f in range(len(packs)):
                self._put(root, V3_VIDEO.format(video_key=camera, chunk_index=0, file_index=f), VIDEO)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as small as it goes; statistics and dictionaries only cost bytes here."""
    table = table.replace_schema_metadata(None)
    pq.write_table(
        table, path, write_statistics=False, use_dictionary=False, store_schema=len(table.columns) < 9
    )


def arrow(rows: dict[str, Any]) -> pa.Table:
    """Columns as arrow: (n, c) arrays as lists of fixed length."""
    return pa.table(
        {name: x if isinstance(x, pa.Array | pa.ChunkedArray) else vector(x) for name, x in rows.items()}
    )


def vector(x: Any) -> pa.Array:
    """(n,) or (n, c) numbers as an arrow array."""
    x = np.asarray(x)
    flat = pa.array(x.reshape(-1))
    return flat if x.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, x.shape[1])
