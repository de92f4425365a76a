"""LeRobot v2.1 folders made by hand, without video: small enough to judge in a second."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assay.synth.episodes import ARM_NAMES, HAND_NAMES, teleop

NAMES = (*ARM_NAMES, *HAND_NAMES)
FPS = 30
Edit = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]


def tiny_corpus(folder: Path, *, episodes: int = 2, frames: int = 90, edit: Edit | None = None) -> Path:
    """A G1 with Inspire hands; ``edit(episode, state)`` gives the state that is stored."""
    (folder / "meta").mkdir(parents=True)
    (folder / "data/chunk-000").mkdir(parents=True)
    tables = [_write_rows(folder, number, frames, edit) for number in range(episodes)]
    stats = [{"episode_index": i, "stats": _statistics(table)} for i, table in enumerate(tables)]
    _lines(folder / "meta/episodes_stats.jsonl", stats)
    (folder / "meta/info.json").write_text(json.dumps(_info(episodes, frames)))
    _lines(folder / "meta/tasks.jsonl", [{"task_index": 0, "task": "put the can on the plate"}])
    rows = [
        {"episode_index": i, "tasks": ["put the can on the plate"], "length": frames} for i in range(episodes)
    ]
    _lines(folder / "meta/episodes.jsonl", rows)
    return folder


def too_far(number: int, state: NDArray[np.float64]) -> NDArray[np.float64]:
    """In the second episode the left elbow is beyond its limit for a third of the time."""
    if number == 1:
        state[: len(state) // 3, NAMES.index("left_elbow")] = 2.3
    return state


def _write_rows(folder: Path, number: int, frames: int, edit: Edit | None) -> pa.Table:
    ep = teleop(frames / FPS, FPS, seed=number)
    state, action = (np.array(s.x) for s in ep.streams[:2])
    state = edit(number, state) if edit else state
    count = np.arange(frames)
    table = pa.table({
        "observation.state": _vectors(state),
        "action": _vectors(action),
        "timestamp": (count / FPS).astype(np.float32),
        "frame_index": count,
        "episode_index": np.full(frames, number),
        "index": count + number * frames,
        "task_index": np.zeros(frames, np.int64),
    })  # fmt: skip
    pq.write_table(table, folder / f"data/chunk-000/episode_{number:06d}.parquet")
    return table


def _statistics(table: pa.Table) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in table.column_names:
        values = np.array(table.column(name).to_pylist(), np.float64).reshape(table.num_rows, -1)
        of = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
        found[name] = {k: v.tolist() for k, v in of.items()} | {"count": [table.num_rows]}
    return found


def _vectors(x: NDArray[np.float64]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(x.astype(np.float32).ravel()), x.shape[1])


def _info(episodes: int, frames: int) -> dict[str, object]:
    vector = {"dtype": "float32", "shape": [len(NAMES)], "names": list(NAMES)}
    one = {"shape": [1], "names": None}
    whole = ("frame_index", "episode_index", "index", "task_index")
    return {
        "codebase_version": "v2.1", "robot_type": "Unitree_G1_Inspire", "fps": FPS,
        "total_episodes": episodes, "total_frames": episodes * frames, "total_tasks": 1, "total_videos": 0,
        "total_chunks": 1, "chunks_size": 1000, "splits": {"train": f"0:{episodes}"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet", "video_path": None,
        "features": {
            "observation.state": vector, "action": vector, "timestamp": {"dtype": "float32", **one},
            **{name: {"dtype": "int64", **one} for name in whole},
        },
    }  # fmt: skip


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
