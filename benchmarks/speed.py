"""Speed and memory of a run that decodes nothing, beside merely reading the same columns with pyarrow.

    python benchmarks/speed.py [--episodes 200] [--rows 1500] [--memory]

Prints, in one run and on one core: the bare read; opening through the reader; the arithmetic of each gate and
feature; and the whole run as a user starts it. The aim: whole run <= 1.5 x the bare read, beside the gates'
arithmetic; peak memory with 2,000 episodes within 10 % of that with 100.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

JOINTS = [
    f"{side}_{joint}_joint"
    for side in ("left", "right")
    for joint in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
]
JOINTS += ["waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"]
JOINTS += [
    f"{side}_{joint}_joint"
    for side in ("left", "right")
    for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch",
                  "wrist_yaw")
]  # fmt: skip
COLUMNS = ["observation.state", "action", "timestamp", "frame_index", "episode_index", "index", "task_index"]


def main() -> None:
    """Generate, measure, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--episodes", type=int, default=200)
    options.add_argument("--rows", type=int, default=1500)
    options.add_argument("--memory", action="store_true", help="compare 100 with 2,000 episodes instead")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.memory:
            compare_memory(Path(folder), chosen.rows)
        else:
            compare_speed(Path(folder), chosen.episodes, chosen.rows)


def corpus(folder: Path, episodes: int, rows: int) -> Path:
    """A LeRobot v2.1 corpus of a G1's 29 joints, state and action, no camera."""
    rng = np.random.default_rng(0)
    (folder / "meta").mkdir(parents=True)
    (folder / "data/chunk-000").mkdir(parents=True)
    feature = {"dtype": "float32", "shape": [29], "names": JOINTS}
    scalar = {"shape": [1], "names": None}
    info = {
        "codebase_version": "v2.1", "robot_type": "unitree_g1", "total_episodes": episodes,
        "total_frames": episodes * rows, "total_tasks": 1, "total_videos": 0, "total_chunks": 1,
        "chunks_size": 100_000, "fps": 30, "splits": {"train": f"0:{episodes}"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "", "features": {
            "observation.state": feature, "action": feature, "timestamp": {"dtype": "float32", **scalar},
            **{n: {"dtype": "int64", **scalar} for n in COLUMNS[3:]},
        },
    }  # fmt: skip
    (folder / "meta/info.json").write_text(json.dumps(info))
    (folder / "meta/tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": "walk"}) + "\n")
    lines, stats = [], []
    for e in range(episodes):
        table, kept = episode(rng, e, rows)
        pq.write_table(table, folder / f"data/chunk-000/episode_{e:06d}.parquet")
        lines.append(json.dumps({"episode_index": e, "tasks": ["walk"], "length": rows}))
        stats.append(json.dumps({"episode_index": e, "stats": kept}))
    (folder / "meta/episodes.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "meta/episodes_stats.jsonl").write_text("\n".join(stats) + "\n")
    return folder


def episode(
    rng: np.random.Generator, index: int, rows: int
) -> tuple[pa.Table, dict[str, dict[str, list[float]]]]:
    """One episode's table and statistics: band-limited motion well inside the limits."""
    t = np.arange(rows) / 30.0
    phase, size = rng.uniform(0, 6.28, (4, 29)), rng.uniform(0.01, 0.04, (4, 29))
    centre = np.where([("knee" in j or "elbow" in j) for j in JOINTS], 0.6, 0.0)
    action = centre + sum(
        size[i] * np.sin(2 * np.pi * f * t[:, None] + phase[i]) for i, f in enumerate((0.2, 0.4, 0.7, 1.1))
    )
    state = np.roll(action, 3, axis=0) + rng.normal(0, 2e-4, action.shape)
    columns, kept = {}, {}
    for name, x in (("observation.state", state), ("action", action)):
        x32 = np.ascontiguousarray(x, np.float32)
        columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(x32.ravel()), 29)
        f64 = x32.astype(np.float64)
        kept[name] = {"min": f64.min(0).tolist(), "max": f64.max(0).tolist(), "mean": f64.mean(0).tolist(),
                      "std": f64.std(0).tolist(), "count": [rows]}  # fmt: skip
    i = np.arange(rows)
    columns |= {"timestamp": pa.array((i / 30).astype(np.float32)), "frame_index": pa.array(i)}
    columns |= {"episode_index": pa.array(np.full(rows, index)), "index": pa.array(i + index * rows)}
    columns |= {"task_index": pa.array(np.zeros(rows, np.int64))}
    return pa.table(columns), kept


def compare_speed(folder: Path, episodes: int, rows: int) -> None:
    """Print the table of times."""
    root = corpus(folder / "corpus", episodes, rows)
    pa.set_cpu_count(1)
    files = sorted((root / "data/chunk-000").iterdir())
    bare_read(files)  # fill the page cache
    bare = min(timed(bare_read, files) for _ in range(3))
    opened, parts, whole_worker = in_process(root)
    wall, cpu = as_user(root, folder / "run", jobs=1)
    frames = episodes * rows
    arithmetic = sum(parts.values())
    print(f"{episodes} episodes, {frames} frames, 29 joints, state and action; one core")
    print(f"{'bare pyarrow read of the same columns':44} {bare:8.2f} s  1.00 x")
    print(f"{'open through the reader':44} {opened:8.2f} s  {opened / bare:.2f} x")
    each = arithmetic / frames * 1e6
    print(f"{'arithmetic of gates and features':44} {arithmetic:8.2f} s  {each:.1f} us/frame")
    beside = whole_worker - arithmetic
    print(f"{'measure all, in process':44} {whole_worker:8.2f} s")
    print(f"{'  beside the arithmetic':44} {beside:8.2f} s  {beside / bare:.2f} x (aim 1.5)")
    print(f"{'assay run --decode none --jobs 1 (wall)':44} {wall:8.2f} s  cpu {cpu:.2f} s")
    beside = cpu - arithmetic
    print(
        f"{'  cpu beside the arithmetic':44} {beside:8.2f} s  {beside / bare:.2f} x, with start-up and tables"
    )
    for name, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        print(f"    {name:40} {seconds / frames * 1e6:8.2f} us/frame")


def bare_read(files: list[Path]) -> int:
    """Read the columns a run reads, and nothing else."""
    return sum(pq.read_table(f, columns=COLUMNS, use_threads=False).num_rows for f in files)


def in_process(root: Path) -> tuple[float, dict[str, float], float]:
    """Seconds to open all episodes, per gate and feature, and for the whole of what a worker does."""
    from assay import plugs
    from assay.engine import planned
    from assay.engine.episode import Bench
    from assay.engine.job import job_of, tasks
    from assay.examine import examine

    plan = planned(root, decode="none")
    bench, todo = Bench.of(job_of(plan)), list(tasks(plan, "measure"))
    for task in todo[:3]:
        bench.do(task)
    opened, parts = 0.0, defaultdict(float)
    for task in todo:
        started = time.process_time()
        ep = bench.open(task)
        opened += time.process_time() - started
        features = bench.features(task, ep)
        asked = {n for g in bench.gates for n in g.needs}
        wanted = [n for n, f in plugs.features().items() if not f.pixels and n in asked]
        for name in wanted:
            started = time.process_time()
            features.get(name)
            parts[f"feature {name}"] += time.process_time() - started
        for gate in bench.gates:
            started = time.process_time()
            examine(gate, features, bench.job.params[0][gate.code], task.subject)
            parts[f"{gate.code} {gate.name}"] += time.process_time() - started
    started = time.process_time()
    for task in todo:
        bench.do(task)
    return opened, parts, time.process_time() - started


def as_user(root: Path, out: Path, jobs: int) -> tuple[float, float]:
    """Wall and CPU seconds of the command itself."""
    assay = Path(sys.executable).with_name("assay")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [assay, "run", root, "--out", out, "--decode", "none", "--jobs", str(jobs), "--json"]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_memory(folder: Path, rows: int) -> None:
    """Print the peak memory of the run and of its worker at two sizes."""
    peaks = {}
    for episodes in (100, 2000):
        root = corpus(folder / f"corpus{episodes}", episodes, rows)
        peaks[episodes] = peak(root, folder / f"run{episodes}")
        shutil.rmtree(root)
        print(f"{episodes:5} episodes: peak {peaks[episodes]:.0f} MB in the largest process")
    print(f"ratio {peaks[2000] / peaks[100]:.3f} (aim <= 1.10)")


def peak(root: Path, out: Path) -> float:
    """Peak resident megabytes of the largest process of a run."""
    code = (
        "import resource, sys, assay;"
        f"assay.run({str(root)!r}, out={str(out)!r}, decode='none', jobs=1);"
        "own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "kids = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss;"
        "print(max(own, kids) / 1024)"
    )
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=env)
    return float(done.stdout)


def timed(function: object, *arguments: object) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    function(*arguments)  # type: ignore[operator]
    return time.process_time() - started


if __name__ == "__main__":
    main()
