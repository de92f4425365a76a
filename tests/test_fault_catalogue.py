"""Faults that people met (docs/faults.md, D01 to D62), each as a tiny corpus, and what the audit says of it.

Every row lists all findings of the whole run: a gate that speaks where it should be silent fails the row too.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pytest

import assay
from assay.synth.episodes import ARM_NAMES
from catalogue import (
    ACTION,
    CAMERA,
    FPS,
    NAMES,
    STATE,
    Row,
    Says,
    added,
    audit,
    check,
    column,
    filmed,
    g1,
    noisy,
    restated,
    seen,
    sheet,
    velocity,
    videos,
)

SECONDS = np.arange(90) / FPS
MOVING = NAMES[:20]  # of 26: no more findings are kept, and all are as bad


# ----------------------------------------------------------------------------------- D01 to D05: the clocks


def sine(rate: float) -> object:
    """D01: one joint at 0.5 Hz, 40 rows recorded at ``rate`` Hz and stamped i / 30, with its velocity."""
    s = g1(40)
    t = np.arange(40) / rate
    s.rows[0][STATE][:, column("left_elbow")] = 0.6 + 0.5 * np.sin(np.pi * t)
    s.rows[0][ACTION][:, column("left_elbow")] = 0.6 + 0.5 * np.sin(np.pi * (t + 0.1))
    v = (0.5 * np.pi * np.cos(np.pi * t)).astype(np.float32)[:, None]
    return added(s, "observation.velocity", [v], ["left_elbow.vel"])


def late_starts(step: float) -> object:
    """D02: fifty episodes in one file whose starts are a running sum that is ``step`` s long each time."""
    s = g1(*[9] * 50, version="v3.0", packs=[list(range(50))], cameras=(CAMERA,))
    for e in range(50):
        for name in ("from", "to"):
            s.table[f"videos/{CAMERA}/{name}_timestamp"][e] += e * step
    return s


def stamped(change: object, n: int = 100, dtype: str = "float64") -> object:
    """A set of one episode whose stamps (s) are ``change(stamps)``."""
    s = g1(n)
    s.info["features"]["timestamp"]["dtype"] = dtype
    s.rows[0]["timestamp"] = change(np.arange(n) / FPS).astype(dtype)  # type: ignore[operator]
    return restated(s)


def collided(t: np.ndarray) -> np.ndarray:
    """Epoch nanoseconds as float64 seconds, one message 100 ns after another: a step is 238 ns there."""
    ns = 1726000000_000000000 + np.rint(t * 1e9).astype(np.int64)
    ns[60] = ns[59] + 100
    return ns / 1e9


def stepped(t: np.ndarray) -> np.ndarray:
    return 1.75e9 + t - 37.2 * (np.arange(len(t)) >= 60)


def unset(t: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(t)) <= 20, 181043.0 + t, 1.75e9 + t)


def zero(t: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(t)) == 50, 0.0, 1.75e9 + t)


def bunched(t: np.ndarray) -> np.ndarray:
    """A second was never recorded; the twelve rows behind the hole are stamped at receipt within 20 ms."""
    t = t + 1.02 * (np.arange(len(t)) >= 50)
    t[50:62] = t[61] + np.linspace(-0.02, 0.0, 12)
    return t


def permuted(version: str, lengths: tuple[int, ...]) -> object:
    """D03: the table lists other lengths than the rows have, in another order."""
    s = g1(79, 117, 96, version=version, packs=[[0, 1, 2]])
    for row, n in zip(s.episodes, lengths, strict=True):
        row["length"] = n
    if version == "v3.0":
        ends = np.cumsum(lengths).tolist()
        s.table |= {"length": list(lengths), "dataset_from_index": [0, *ends[:-1]], "dataset_to_index": ends}
    return s


def lost_numbers() -> object:
    """D05: rows 40 to 69 were lost, stamps and frame numbers tell."""
    s = g1(150)
    s.rows[0] = {k: np.delete(v, np.s_[40:70], axis=0) for k, v in s.rows[0].items()}
    s.rows[0]["index"] = np.arange(120)
    s.episodes[0]["length"] = s.info["total_frames"] = 120
    return restated(s)


def lost_files(root: Path) -> None:
    s = g1(*[20] * 8)
    s.absent = {f"data/chunk-000/episode_{e:06d}.parquet" for e in (0, 1, 6)}
    s.write(root)


CLOCKS = (
    Row("D01", "50 Hz stamped as 30 Hz", lambda r: sine(50.0).write(r),
        (Says("SYN006", 0, "velocity", (0.0, 1.31)),)),
    Row("D01", "clean twin", lambda r: sine(30.0).write(r), abstains={"SYN006": "nominal-clock"}),
    Row("D01", "the whole arms, camera-paced", lambda r: velocity(g1(90, 90), 20.0).write(r),
        (Says("SYN006", 0, "velocity"), Says("SYN006", 1, "velocity"))),
    Row("D01", "the container says 50 Hz",
        lambda r: filmed(g1(90, cameras=(CAMERA,)), r, seen(SECONDS), rate=50),
        (Says("SYN006", 0, "container"),)),
    Row("D02", "starts by running sum", lambda r: filmed(late_starts(1.2e-3), r, seen(np.arange(450) / FPS)),
        tuple(Says("INT005", e, "pictures") for e in range(14, 50))),
    Row("D02", "stamps collide in float64", lambda r: stamped(collided).write(r),
        (Says("SYN005", 0, "repeated"),)),
    Row("D03", "lengths in another order, v2.1", lambda r: permuted("v2.1", (96, 117, 79)).write(r),
        tuple(Says("INT005", e, "rows") for e in range(3))),
    Row("D03", "lengths in another order, v3.0", lambda r: permuted("v3.0", (96, 117, 79)).write(r),
        tuple(Says("INT005", e, "rows") for e in range(3))),
    Row("D03", "clean twin", lambda r: permuted("v3.0", (79, 117, 96)).write(r), passes=("INT004", "INT005")),
    Row("D04", "37.2 s back at row 60", lambda r: stamped(stepped).write(r),
        (Says("SYN005", 0, "backwards"),)),
    Row("D04", "the first stamps are of 1970", lambda r: sheet(stamped(unset).write(r), CAPTURE),
        (Says("SYN005", 0, "date"), Says("SYN004", 0, ""))),
    Row("D04", "one stamp is 0", lambda r: stamped(zero).write(r), (Says("SYN005", 0, "backwards"),)),
    Row("D05", "a second lost", lambda r: stamped(lambda t: t + 1.02 * (np.arange(len(t)) >= 50)).write(r),
        (Says("SYN004", 0, "", (1.6, 2.7)),)),
    Row("D05", "a second lost, then bunched", lambda r: stamped(bunched).write(r),
        (Says("SYN004", 0, "", (1.6, 3.1)),)),
    Row("D05", "rows lost, numbers tell", lambda r: lost_numbers().write(r),
        (Says("SYN004", 0, "", (1.3, 2.4)), Says("INT004", 0, "frame_index"))),
    Row("D05", "files 0, 1 and 6 lost", lost_files, (
        *(Says("INT002", e, "data") for e in (0, 1, 6)), Says("INT002", None, "data files"),
    )),
)  # fmt: skip
CAPTURE = """
[streams."observation.state"]
clock = "receive"
[streams.action]
clock = "receive"
"""


# ------------------------------------------------------------------------------ D06 to D10: the pictures


def shot(root: Path, pictures: np.ndarray, rows: int, version: str = "v2.1", **options: str) -> Path:
    """A set of one episode whose camera shows these pictures."""
    return filmed(g1(rows, version=version, cameras=(CAMERA,)), root, pictures, **options)


def spliced(rows: int) -> np.ndarray:
    """180 pictures of one take and 80 of another."""
    n = np.arange(260)
    return seen(np.where(n < 180, n, n + 400) / FPS, (n >= 180).astype(np.intp))[:rows]


def late(seconds: float) -> np.ndarray:
    return seen(SECONDS - seconds)


def hidden(root: Path) -> None:
    """D10 A: the header counts 102, an edit list shows 87, and there are 87 rows."""
    path = videos(shot(root, seen(np.arange(102) / FPS), 87))[0]
    data = bytearray(path.read_bytes())
    at = data.index(b"elst") + 16  # media time of the first edit
    scale = int.from_bytes(data[data.index(b"mdhd") + 16 : data.index(b"mdhd") + 20], "big")
    start = int.from_bytes(data[at : at + 4], "big") + 15 * scale // FPS
    data[at : at + 4] = start.to_bytes(4, "big")
    path.write_bytes(data)


def holed(root: Path) -> None:
    """D10 B: 64 bytes amid the fifth group of pictures are zero."""
    path = videos(
        shot(root, seen(np.arange(100) / FPS), 100, g="10", bf="0", keyint_min="10", sc_threshold="0")
    )[0]
    with av.open(str(path)) as box:
        packet = [p for p in box.demux(video=0) if p.size][52]
        place = packet.pos + packet.size // 2
    data = bytearray(path.read_bytes())
    data[place : place + 64] = bytes(64)
    path.write_bytes(data)


def cut(path: Path, keep: float | int) -> None:
    """The first share (or all but the last bytes) of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))] if isinstance(keep, float) else data[:keep])


DROPPED = np.delete(np.arange(300), [121, 240])
PICTURES = (
    *(Row("D06", f"a camera {ms} ms late, stamped with its row", lambda r, ms=ms: shot(r, late(ms / 1e3), 90),
          abstains={"SYN001": "not-calibrated"}, decisions=("unmeasured",)) for ms in (0, 42, 67)),
    Row("D07", "two of 300 pictures dropped", lambda r: shot(r, seen(DROPPED / FPS), 300),
        (Says("SYN007", 0, "pictures"),)),
    Row("D07", "two dropped, the last repeated twice",
        lambda r: shot(r, seen(np.r_[DROPPED, 299, 299] / FPS), 300),
        abstains={"SYN001": "not-calibrated"}, decisions=("unmeasured",), passes=("SYN007",)),
    Row("D07", "5 pictures of 40 rows", lambda r: shot(r, seen(np.arange(5) / FPS), 40),
        (Says("SYN007", 0, "pictures", (5 / 30, 1.31)),)),
    Row("D08", "80 pictures of a discarded take", lambda r: shot(r, spliced(260), 180),
        (Says("INT008", 0, "surplus", (5.9, 8.7)), Says("INT008", 0, "cut", (5.9, 6.1)),
        Says("SYN007", 0, "pictures"))),
    Row("D08", "as many rows as pictures", lambda r: shot(r, spliced(260), 260),
        (Says("INT008", 0, "cut", (5.9, 6.1)),)),
    Row("D08", "the surplus in a packed file", lambda r: shot(r, spliced(260), 180, "v3.0"),
        (Says("INT008", 0, "surplus"), Says("SYN007", 0, "pictures"))),
    Row("D09", "pictures stretched by 1.03", lambda r: shot(r, seen(SECONDS / 1.03), 90),
        abstains={"SYN001": "not-calibrated"}, decisions=("unmeasured",)),
    Row("D09", "6.8 s of pictures for 6.6 s of rows", lambda r: shot(r, seen(np.arange(204) / FPS), 198),
        (Says("SYN007", 0, "pictures"), Says("INT008", 0, "surplus"))),
    Row("D10", "hidden pictures that the header counts", hidden, passes=("SYN007", "INT001"),
        abstains={"SYN001": "not-calibrated"}),
    Row("D10", "damage amid the fifth group", holed,
        (Says("INT001", 0, "pictures", (5 / 3, 2.0)), Says("SYN007", 0, "pictures"))),
    Row("D10", "cut at 70 % of its bytes", lambda r: cut(videos(shot(r, seen(SECONDS), 90))[0], 0.7),
        (Says("INT001", 0, "container"),)),
)  # fmt: skip


# ------------------------------------------------------------------- D11 to D16: pointers, numbers, files


def rolled_over() -> object:
    """D11: episodes 4 and 5 lie in the second file, the table says that 4 is in the first."""
    s = g1(*[20] * 6, version="v3.0", packs=[[0, 1, 2, 3], [4, 5]])
    s.table["data/file_index"] = [0, 0, 0, 0, 0, 1]
    return s


def split_apart() -> object:
    """D11, control: one data file, six files of one camera, two of another."""
    cameras = ("observation.images.a", "observation.images.b")
    return g1(
        *[40] * 6, version="v3.0", packs=[list(range(6))], cameras=cameras,
        video_packs={cameras[0]: [[e] for e in range(6)], cameras[1]: [[0, 1, 2], [3, 4, 5]]},
    )  # fmt: skip


def films_of(s: Any, root: Path) -> Path:
    """Every video file shows its episodes one after another, each from another moment."""
    takes = [seen(e + np.arange(n) / FPS) for e, n in enumerate(s.lengths)]
    packs = [pack for camera in sorted(s.video_packs) for pack in s.video_packs[camera]]
    return filmed(s, root, *(np.concatenate([takes[e] for e in pack]) for pack in packs))


def hole_in_ids(root: Path) -> None:
    """D12: twelve declared, ids 0 to 6 and 9 to 11 in table and data."""
    s = g1(*[20] * 12)
    s.absent = {f"data/chunk-000/episode_{e:06d}.parquet" for e in (7, 8)}
    s.episodes = [row for row in s.episodes if row["episode_index"] not in (7, 8)]
    s.write(root)


def merged(version: str) -> object:
    """D13: 50 rows of task 0 and 30 of task 1; the statistics of the whole are those of the first part."""
    s = g1(50, 30, version=version, packs=[[0, 1]])
    s.rows[1]["task_index"] = np.ones(30, np.int64)
    s.tasks.append({"task_index": 1, "task": "open the drawer"})
    s.info["total_tasks"] = 2
    s.episodes[1]["tasks"] = ["open the drawer"]
    if version == "v3.0":
        s.table["tasks"][1] = ["open the drawer"]
    return restated(s)


def merged_stale(root: Path, version: str) -> None:
    s = merged(version)
    whole = s.pooled if version == "v3.0" else {"task_index": {"count": [80]}}
    whole["task_index"] |= {"min": [0], "max": [0], "mean": [0.0], "std": [0.0]}
    s.extra["meta/stats.json"] = json.dumps(whole).encode()
    s.write(root)


def clipped_range(root: Path, version: str) -> None:
    """D13: the action's rows reach -2.4, its stored minimum is -1.1."""
    s = g1(50, 30, version=version, packs=[[0, 1]])
    s.rows[0][ACTION][20:25, 2] = -2.4
    restated(s)
    if version == "v2.1":
        s.stats[0][ACTION]["min"][2] = -1.1
    elif version == "v3.0":
        whole = s.pooled
        whole[ACTION]["min"][2] = -1.1
        s.extra["meta/stats.json"] = json.dumps(whole).encode()
    else:
        x = np.concatenate([r[ACTION] for r in s.rows]).astype(float)
        low = x.min(0)
        low[2] = -1.1
        said = {
            "min": low.tolist(),
            "max": x.max(0).tolist(),
            "mean": x.mean(0).tolist(),
            "std": x.std(0).tolist(),
        }
        s.extra["meta/stats.json"] = json.dumps({ACTION: said}).encode()
    s.write(root)


def flagged(name: str, last: list[int], version: str = "v2.1") -> object:
    """D14: four episodes of 50 steps; the flag is true in these rows of each."""
    s = g1(*[50] * 4, version=version, packs=[[0, 1, 2, 3]])
    flags = np.isin(np.arange(50), last)
    return added(s, name, [flags] * 4)


def cut_log(root: Path, n: int) -> None:
    """D15: an MCAP file without its last bytes: 8 are its closing mark, 200 reach into its index."""
    root.mkdir()
    whole = (Path(__file__).parent / "golden/recording/mcap_ros2/input/run.mcap").read_bytes()
    (root / "run_0.mcap").write_bytes(whole[:-n])


def cut_table(root: Path, version: str, keep: float | int = -32) -> None:
    """D16: one of four tables ends before its end."""
    g1(*[50] * 4, version=version).write(root)
    cut(sorted((root / "data").rglob("*.parquet"))[2], keep)


FILES = (
    Row("D11", "the shard before the right one", lambda r: rolled_over().write(r),
        (Says("INT004", 4, "data file"), Says("INT005", 4, "rows"),
        Says("INT006", None, "rows of data files"))),
    Row("D11", "data and cameras split apart", lambda r: films_of(split_apart(), r),
        passes=("INT004", "INT005", "SYN007")),
    Row("D12", "ids 7 and 8 are not there", hole_in_ids, (
        *(Says("INT002", e, "data") for e in (7, 8)), *(Says("INT006", e, "episode table") for e in (7, 8)),
        Says("INT002", None, "data files"), Says("INT006", None, "total_episodes"),
        Says("INT006", None, "total_frames"),
        Says("INT006", None, "episode_index"),
    ), decisions=(*["accepted"] * 7, "rejected", "rejected", *["accepted"] * 3)),
    *(Row("D13", f"after a merge, {v}", lambda r, v=v: merged_stale(r, v),
        (Says("INT007", None, "task_index"),))
      for v in ("v2.0", "v3.0")),
    *(Row("D13", f"merged and stored anew, {v}", lambda r, v=v: merged(v).write(r)) for v in ("v2.0", "v2.1",
        "v3.0")),
    Row("D13", "rows beyond the stored range, v2.0", lambda r: clipped_range(r, "v2.0"),
        (Says("INT007", None, NAMES[2]),)),
    Row("D13", "rows beyond the stored range, v2.1", lambda r: clipped_range(r, "v2.1"),
        (Says("INT007", 0, NAMES[2]),)),
    Row("D13", "rows beyond the stored range, v3.0", lambda r: clipped_range(r, "v3.0"),
        (Says("INT007", None, ACTION),)),
    *(Row("D14", f"{name} is never true", lambda r, name=name: flagged(name, []).write(r),
          tuple(Says("INT005", e, name) for e in range(4))) for name in ("next.done", "is_last")),
    Row("D14", "true amid the episode too, packed", lambda r: flagged("next.done", [20, 49], "v3.0").write(r),
        tuple(Says("INT005", e, "next.done") for e in range(4))),
    Row("D14", "terminal before the last row", lambda r: flagged("is_terminal", [48]).write(r),
        tuple(Says("INT005", e, "is_terminal") for e in range(4))),
    Row("D14", "true in the last row", lambda r: flagged("next.done", [49]).write(r), passes=("INT005",)),
    Row("D14", "never terminal, as where time ran out", lambda r: flagged("is_terminal", []).write(r),
        passes=("INT005",)),
    *(Row("D15", f"a log without its last {n} bytes", lambda r, n=n: cut_log(r, n),
          (Says("INT001", 0, "data"),), decisions=("rejected",)) for n in (8, 200)),
    Row("D16", "the third of four tables cut by 32 bytes", lambda r: cut_table(r, "v2.1"),
        (Says("INT001", 2, "data"),),
        decisions=("accepted", "accepted", "rejected", "accepted")),
    Row("D16", "the third of four, cut to 73.2 %, v3.0", lambda r: cut_table(r, "v3.0", 0.732),
        (Says("INT001", 2, "data"), Says("INT001", None, "data file"))),
)  # fmt: skip


# --------------------------------------------------------------------- D17 to D52: what the numbers mean


def copied(shift: int, part: slice = slice(None)) -> object:
    """D17, D18: the action is the state of ``shift`` rows on, in these rows."""
    s = g1(200)
    now = s.rows[0]
    now[ACTION][part] = np.roll(now[STATE], -shift, axis=0)[part]
    return restated(s)


def pausing() -> object:
    """D17, control: equal only in rows 60 to 110, where both rest after slowing down."""
    s = g1(200)
    rest = s.rows[0][STATE][60].copy()
    row = np.arange(200)
    near = np.clip(np.maximum(60 - row, row - 110) / 30, 0, 1)[:, None] ** 2  # 0 at rest, 1 from a second off
    for name in (STATE, ACTION):
        s.rows[0][name][:] = rest + (s.rows[0][name] - rest) * near
    return restated(s)


def mislabelled() -> object:
    """D19: named as joint velocities, holding a pose of the hand."""
    s = g1(300)
    t = np.arange(300)[:, None] / FPS
    pose = np.concatenate([0.45 + 0.15 * np.sin(t + np.arange(3)), np.cos(t + np.arange(3)), t > 5], axis=1)
    names = [*(f"joint_vel_{i}" for i in range(1, 7)), "gripper"]
    s.info["features"][ACTION] |= {"shape": [7], "names": names}
    s.rows[0][ACTION] = pose.astype(np.float32)
    return restated(s)


def narrow(low: float, high: float) -> object:
    """D48: one joint nearly (or exactly) still in state and action."""
    s = g1(300)
    rng = np.random.default_rng(1)
    for name in (STATE, ACTION):
        s.rows[0][name][:, column("left_wrist_yaw")] = rng.uniform(low, high, 300)
    return restated(s)


def zeroed(*names: str, streams: tuple[str, ...] = (STATE,)) -> object:
    """D49: these columns are 0.0 in these streams."""
    s = g1(90)
    for name in streams:
        s.rows[0][name][:, [column(n) for n in names]] = 0.0
    return restated(s)


def still_speed() -> object:
    """D49: velocities are all zero while the arms move."""
    s = velocity(g1(90), 30.0)
    s.rows[0]["observation.velocity"][:] = 0.0
    return restated(s)


def parked() -> object:
    """D49, control: a gripper parked at 0.04 in both."""
    s = g1(90)
    for name in (STATE, ACTION):
        s.rows[0][name][:, column("right_hand_pinky")] = 0.04
    return restated(s)


def garbage(row: list[float]) -> object:
    """D50: uninitialised memory in one row of a torque column."""
    tau = np.sin(SECONDS[:, None] + np.arange(4))
    s = added(g1(90), "observation.effort", [tau], NAMES[:4])
    tau[40] = row
    s.stats[0].pop("observation.effort")
    return s


def ragged(row: list[float] | None) -> object:
    """D50: one vector is empty, or absent."""
    s = g1(90)
    x: list[list[float] | None] = s.rows[0][STATE].tolist()
    x[60] = row
    s.rows[0][STATE] = pa.array(x, pa.list_(pa.float32()))
    s.stats[0].pop(STATE, None)
    return s


def told(texts: list[str], indices: dict[int, int] | None = None) -> object:
    """D51: an episode for each text; some point at another place of the table."""
    known = list(dict.fromkeys(texts))
    s = g1(*[12] * len(texts), version="v3.0", packs=[list(range(len(texts)))])
    s.tasks = [{"task_index": i, "task": text} for i, text in enumerate(known)]
    s.info["total_tasks"] = len(known)
    for e, text in enumerate(texts):
        s.rows[e]["task_index"] = np.full(12, (indices or {}).get(e, known.index(text)))
        s.table["tasks"][e] = [text]
    return restated(s)


TEXTS = (
    [f"put the can on plate {i % 6}" for i in range(61)]
    + [""] * 34
    + [" "] * 3
    + ["put the can on plate 0"] * 2
)
ARM = ARM_NAMES[7:]


def related() -> object:
    """D52: a joint's column is that of another; the place of an episode is written twice."""
    s = g1(90)
    s.rows[0][STATE][:, column("right_elbow")] = s.rows[0][STATE][:, column("left_elbow")]
    return restated(s)


def repeated_index(root: Path) -> None:
    """D57: a packed file listed once per episode: every running number stands more than once."""
    s = g1(5, 5)
    s.rows[0]["index"] = np.zeros(5, np.int64)
    restated(s).write(root)


NUMBERS = (
    Row("D17", "state under the name of action", lambda r: copied(0).write(r),
        tuple(Says("ACT001", 0, n) for n in MOVING)),
    Row("D17", "equal only while both rest", lambda r: pausing().write(r), passes=("ACT001",)),
    Row("D18", "the next state under the name of action", lambda r: copied(1).write(r),
        tuple(Says("ACT001", 0, n) for n in MOVING)),
    Row("D19", "a pose under the names of velocities", lambda r: mislabelled().write(r),
        abstains={"ACT001": "unresolved-names", "ACT005": "unresolved-names"}),
    Row("D48", "nearly still", lambda r: narrow(1.5686, 1.5696).write(r), passes=("ACT005", "INT007")),
    Row("D48", "exactly still", lambda r: narrow(0.0, 0.0).write(r), passes=("ACT005", "INT007")),
    Row("D49", "the right arm's state is 0.0", lambda r: zeroed(*ARM).write(r),
        tuple(Says("ACT005", 0, n) for n in ARM)),
    Row("D49", "the right arm's action is 0.0", lambda r: zeroed(*ARM, streams=(ACTION,)).write(r),
        tuple(Says("ACT005", 0, n) for n in ARM)),
    Row("D49", "velocity is 0.0 while the arms move", lambda r: still_speed().write(r),
        tuple(Says("ACT005", 0, f"{n}.vel") for n in ARM_NAMES)),
    Row("D49", "a parked gripper", lambda r: parked().write(r), passes=("ACT005",)),
    Row("D50", "1e224 and a denormal", lambda r: garbage([0.0, 2.89e-321, 1.04e224, 0.0]).write(r),
        (Says("INT003", 0, NAMES[1], (4 / 3, 41 / 30)), Says("INT003", 0, NAMES[2], (4 / 3, 41 / 30)))),
    *(Row("D50", f"row 60 is {what}", lambda r, v=v: ragged(v).write(r),
          (*(Says("INT003", 0, n, (2.0, 61 / 30)) for n in NAMES), Says("INT006", 0, "rows")))
      for what, v in (("empty", []), ("short", [0.0] * 5), ("null", None))),
    Row("D51", "34 empty, 3 blank, 2 beyond the table", lambda r: told(TEXTS, {98: 9, 99: 9}).write(r), (
        *(Says("INT006", e, "task") for e in range(61, 98)),
        *(Says("INT006", e, "task_index") for e in (98, 99)),
    )),
    Row("D51", "one phrase for all", lambda r: told(["do something"] * 20).write(r),
        abstains={"CHN010": "not-declared"}),
    Row("D52", "a column written from the wrong source", lambda r: related().write(r),
        (Says("INT009", 0, "right_elbow"),)),
    Row("D57", "running numbers repeat", repeated_index,
        (Says("INT004", 0, "index"), Says("INT005", 0, "rows"))),
)  # fmt: skip


# ---------------------------------------------------------- D61, D62: what a checker must not say, or hide


def packed(root: Path) -> Path:
    """D61: one file of 378 pictures for two episodes of 117 and 261 rows."""
    return films_of(g1(117, 261, version="v3.0", packs=[[0, 1]], cameras=(CAMERA,)), root)


def scaled(factor: float) -> object:
    """D61: positions in per cent (or degrees) under the names of joints."""
    s = g1(150)
    for name in (STATE, ACTION):
        s.rows[0][name] = (s.rows[0][name] * factor).astype(np.float32)
    return restated(s)


def resting(root: Path, pictures: np.ndarray) -> Path:
    """D61: nobody moves: encoders flicker, requests rest, and the instruction asks for nothing else."""
    s = g1(len(pictures), cameras=(CAMERA,))
    rng = np.random.default_rng(2)
    now = s.rows[0]
    now[ACTION][:] = now[ACTION][0]
    now[STATE] = (now[STATE][0] + rng.normal(0, 2e-4, now[STATE].shape)).astype(np.float32)
    s.tasks[0]["task"] = "stand by the door"
    s.episodes[0]["tasks"] = ["stand by the door"]
    return filmed(restated(s), root, pictures)


def locked() -> object:
    """D61: all of both wrists is locked, in state and action."""
    s = g1(150)
    use = [i for i, n in enumerate(NAMES) if "wrist" in n]
    for name in (STATE, ACTION):
        s.rows[0][name][:, use] = 0.1
    return restated(s)


def binary() -> object:
    """D61: fingers are open or closed, between one row and the next."""
    s = g1(150, 150)
    use = [i for i, n in enumerate(NAMES) if "hand" in n]
    for rows in s.rows:
        for name in (STATE, ACTION):
            rows[name][:, use] = np.rint(rows[name][:, use] * 1.2)
    return restated(s)


def partial(root: Path) -> None:
    """D62: 17 episodes declared, the files of 9 are there."""
    s = g1(*[20] * 17)
    s.absent = {f"data/chunk-000/episode_{e:06d}.parquet" for e in range(9, 17)}
    s.write(root)


FROZEN = np.arange(150)
FROZEN[60:105] = 60
CONTROLS = (
    Row("D61", "a packed file of two episodes", packed,
        passes=("INT001", "INT004", "INT005", "SYN007", "INT008")),
    Row("D61", "per cent", lambda r: scaled(100.0).write(r), abstains={"RTG001": "unresolved-unit"}),
    Row("D61", "degrees", lambda r: scaled(57.3).write(r), abstains={"RTG001": "unresolved-unit"}),
    Row("D61", "a still scene with a sensor's noise", lambda r: resting(r, noisy(150, 2.0)),
        passes=("INT010", "INT008", "SYN007")),
    Row("D61", "45 pictures frozen while the arms move", lambda r: shot(r, seen(FROZEN / FPS), 150),
        (Says("SYN008", 0, "pictures", (1.9, 3.6)),)),
    Row("D61", "locked joints", lambda r: locked().write(r), passes=("ACT005", "SYN008")),
    Row("D61", "binary grippers", lambda r: binary().write(r),
        passes=("ACT005", "SYN008", "RTG001", "RTG008")),
    Row("D62", "9 of 17 are here", partial, (
        *(Says("INT002", e, "data") for e in range(9, 17)), Says("INT002", None, "data files"),
    ), decisions=(*["accepted"] * 9, *["rejected"] * 8)),
)  # fmt: skip
ROWS = (*CLOCKS, *PICTURES, *FILES, *NUMBERS, *CONTROLS)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r.d} {r.name}")
def test_row(row: Row, tmp_path: Path) -> None:
    row.make(tmp_path / "set")
    check(row, audit(tmp_path / "set", tmp_path / "run"))


def test_controls_have_no_findings() -> None:
    # D61: the sets that a checker must leave alone; only a frozen camera among them is a fault.
    said = {row.name for row in ROWS if row.d == "D61" and row.says}
    assert said == {"45 pictures frozen while the arms move"}


def test_what_is_absent_stays_in_the_denominator(tmp_path: Path) -> None:
    # D62, by the way that users go: 53 % coverage is said, and nothing of it is accepted in silence.
    partial(tmp_path / "set")
    run = assay.run(tmp_path / "set", out=tmp_path / "run", jobs=1)
    s = run.summary
    assert (s["declared"], s["episodes"], s["present"], s["rejected"]) == (17, 17, 9, 8)


# ---------------------------------------------------------------------------------------------- the page

ASKED = [*range(1, 20), *range(48, 53), 57, 61, 62]


def test_every_fault_has_its_line_and_its_recipes() -> None:
    page = (Path(__file__).parent.parent / "docs/faults.md").read_text("utf-8")
    lines = re.findall(r"^\| (D\d\d) \|(.*)\|$", page, re.M)
    assert [d for d, _ in lines] == [f"D{n:02d}" for n in ASKED]
    assert {row.d for row in ROWS} == {d for d, _ in lines}
    for d, text in lines:  # a line names the gates that speak of its recipes, and no others
        spoken = {s.gate for row in ROWS if row.d == d for s in row.says}
        assert spoken <= set(re.findall(r"[A-Z]{3}\d{3}", text)), d


def test_codes_of_the_page_are_registered() -> None:
    page = (Path(__file__).parent.parent / "docs/faults.md").read_text("utf-8")
    known = tomllib.loads(files("assay.gates").joinpath("CODES.toml").read_text("utf-8"))["codes"]
    assert set(re.findall(r"[A-Z]{3}\d{3}", page)) <= set(known)
