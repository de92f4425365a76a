"""Faults that people met (docs/faults.md, D01 to D62), each as a tiny corpus, and what the audit says of it.

Every row lists all findings of the whole run: a gate that speaks where it should be silent fails the row too.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from catalogue import (
    ACTION, CAMERA, FPS, NAMES, STATE, Row, Says, added, audit, check, column, filmed, found, g1, noisy,
    restated, seen, sheet, velocity, videos,
)

from assay.synth.episodes import ARM_NAMES

# ruff: noqa: E501

SECONDS = np.arange(90) / FPS


# ----------------------------------------------------------------------------------- D01 to D05: the clocks


def sine(rate: float) -> object:
    """D01: one joint at half a hertz, 40 rows recorded at ``rate`` Hz and stamped i / 30, with its velocity."""
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
    Row("D01", "50 Hz stamped as 30 Hz", lambda r: sine(50.0).write(r), (Says("SYN006", 0, "velocity", (0.0, 1.31)),)),
    Row("D01", "clean twin", lambda r: sine(30.0).write(r), abstains={"SYN006": "nominal-clock"}),
    Row("D01", "the whole arms, camera-paced", lambda r: velocity(g1(90, 90), 20.0).write(r),
        (Says("SYN006", 0, "velocity"), Says("SYN006", 1, "velocity"))),
    Row("D01", "the container says 50 Hz", lambda r: filmed(g1(90, cameras=(CAMERA,)), r, seen(SECONDS), rate=50),
        (Says("SYN006", 0, "container"),)),
    Row("D02", "starts by running sum", lambda r: filmed(late_starts(1.2e-3), r, seen(np.arange(450) / FPS)),
        tuple(Says("INT005", e, "pictures") for e in range(14, 50))),
    Row("D02", "stamps collide in float64", lambda r: stamped(collided).write(r), (Says("SYN005", 0, "repeated"),)),
    Row("D03", "lengths in another order, v2.1", lambda r: permuted("v2.1", (96, 117, 79)).write(r),
        tuple(Says("INT005", e, "rows") for e in range(3))),
    Row("D03", "lengths in another order, v3.0", lambda r: permuted("v3.0", (96, 117, 79)).write(r),
        tuple(Says("INT005", e, "rows") for e in range(3))),
    Row("D03", "clean twin", lambda r: permuted("v3.0", (79, 117, 96)).write(r), passes=("INT004", "INT005")),
    Row("D04", "37.2 s back at row 60", lambda r: stamped(stepped).write(r), (Says("SYN005", 0, "backwards"),)),
    Row("D04", "the first stamps are of 1970", lambda r: sheet(stamped(unset).write(r), CAPTURE),
        (Says("SYN005", 0, "date"), Says("SYN004", 0, ""))),
    Row("D04", "one stamp is 0", lambda r: stamped(zero).write(r), (Says("SYN005", 0, "backwards"),)),
    Row("D05", "a second lost", lambda r: stamped(lambda t: t + 1.02 * (np.arange(len(t)) >= 50)).write(r),
        (Says("SYN004", 0, "", (1.6, 2.7)),)),
    Row("D05", "a second lost, then bunched", lambda r: stamped(bunched).write(r), (Says("SYN004", 0, "", (1.6, 3.1)),)),
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


@pytest.mark.parametrize("row", CLOCKS, ids=lambda r: f"{r.d} {r.name}")
def test_row(row: Row, tmp_path: Path) -> None:
    row.make(tmp_path / "set")
    check(row, audit(tmp_path / "set", tmp_path / "run"))
