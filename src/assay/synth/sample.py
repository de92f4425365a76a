"""The sample corpus of `assay demo`: twelve short simulated episodes, eight with a known defect."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.embodiment import load
from assay.synth.episodes import ARM_NAMES, HAND_NAMES, teleop
from assay.synth.faults import FAULTS, Truth
from assay.synth.lerobot import Dataset, write
from assay.synth.movies import encode
from assay.synth.takes import Movie, Take, as_episode, with_faults

__all__ = ["DEFECTS", "TRUTH", "Planted", "write_sample"]

_FPS: Final = 30
_CAMERA: Final = "observation.images.cam_head"
_BODY: Final = "unitree_g1_29+inspire"
_TASK: Final = "put the can on the plate"
_WIDTH: Final = 96
_HEIGHT: Final = 72
_SECONDS: Final = (7.0, 6.5, 7.5, 6.0, 8.0, 7.0, 6.5, 7.5, 7.0, 6.0, 8.0, 6.5)

DEFECTS: Final[dict[int, tuple[str, float, str]]] = {
    1: ("over-limit", 0.02, "right_elbow"),
    2: ("clip-at-limit", 0.05, "left_wrist_pitch"),
    4: ("nan", 30, ""),
    5: ("frozen-state", 1.0, ""),
    7: ("video-short", 0.8, ""),
    8: ("video-cut", 0.6, ""),
    9: ("timestamp-rate", 0.2, ""),
    11: ("missing-file", 1, ""),
}
"""Episode → fault, size, channel (empty: chosen by seed)."""

_SHEET: Final = f"""\
# What every number of this corpus means. Drawn and moved by a program: no robot, no people.
kind = "simulation"
sync = "one-clock"
embodiment = "{_BODY}"
vendor = "assay sample"
delivery = "demo-1"
pass = 1
licence = "CC0-1.0"
task_family = "pick-and-place"
scene = "drawn table"

[action]
meaning = "command"
mode = "absolute"

[cameras."{_CAMERA}"]
primary = true
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """Gate that must find it, interval in ns of the episode, and channel (empty: not one channel)."""

    gate: str
    t0: int
    t1: int
    channel: str


TRUTH: Final[dict[str, Planted]] = {
    "episode_000001": Planted("RTG001", 3_000_000_000, 3_266_666_651, "right_elbow"),
    "episode_000002": Planted("RTG008", 5_266_666_889, 5_633_333_206, "left_wrist_pitch"),
    "episode_000004": Planted(
        "INT003", 7_533_333_302, 7_866_666_794, "right_shoulder_yaw, right_wrist_roll, right_wrist_yaw"
    ),
    "episode_000005": Planted("SYN008", 2_933_333_397, 3_933_333_397, ""),
    "episode_000007": Planted("SYN007", 6_000_000_000, 7_466_666_698, ""),
    "episode_000008": Planted("INT001", 0, 6_966_666_698, ""),
    "episode_000009": Planted("SYN006", 0, 5_978_600_031, ""),
    "episode_000011": Planted("INT002", 0, 6_466_666_698, ""),
}
"""Episode id → what was planted; the other episodes are clean."""


def write_sample(folder: Path) -> list[Truth]:
    """Write the sample corpus (LeRobot v2.1, 30 fps, one 96 x 72 camera) into a new folder.

    Returns:
        What was planted where, as `TRUTH` has it.

    Raises:
        FileExistsError: if the folder exists.
    """
    if folder.exists():
        raise FileExistsError(folder)
    with TemporaryDirectory() as scratch:
        made = [_take(number, Path(scratch)) for number in range(len(_SECONDS))]
        sheet = Path(scratch, "assay.toml")
        sheet.write_text(_SHEET, "utf-8")
        takes = tuple(take for take, _ in made)
        write(folder, Dataset(_info(), (_TASK,), takes, {"assay.toml": sheet}), "v2.1")
    return [truth for _, truth in made if truth is not None]


def _take(number: int, scratch: Path) -> tuple[Take, Truth | None]:
    take = _clean(number)
    movie = scratch / f"{number}.mp4"
    state = np.asarray(take.rows.column("observation.state").combine_chunks().flatten()).reshape(
        len(take.rows), -1
    )
    encode(movie, _drawn(state, number), Fraction(_FPS))
    take = Take(take.rows, {_CAMERA: Movie(movie)}, take.tasks)
    if number not in DEFECTS:
        return take, None
    name, size, channel = DEFECTS[number]
    before = as_episode(take, _info()["features"], Fraction(_FPS), f"episode_{number:06d}", load(_BODY))
    after, truth = FAULTS[name].apply(before, size, number, channel)
    return with_faults(take, before, after), truth


def _clean(number: int) -> Take:
    ep = teleop(_SECONDS[number], _FPS, seed=100 + number)
    stamps = (np.arange(len(ep.streams[0])) / _FPS).astype(np.float32)
    columns = {s.name: _vectors(np.asarray(s.x)) for s in ep.streams[:2]}
    return Take(pa.table({**columns, "timestamp": stamps}), tasks=(_TASK,))


def _vectors(x: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(x.astype(np.float32).ravel()), x.shape[1])


def _drawn(state: NDArray[Any], seed: int) -> NDArray[np.uint8]:
    """A textured table and two arms as chains of three blobs that follow shoulder and elbow: (n, h, w, 3)."""
    rng = np.random.default_rng(seed)
    y, x = np.arange(_HEIGHT, dtype=np.float32), np.arange(_WIDTH, dtype=np.float32)
    table = 70 + 25 * np.kron(rng.random((9, 12)), np.ones((8, 8))) + 20 * (y[:, None] > 40)
    shown = np.broadcast_to(table.astype(np.float32)[..., None], (len(state), _HEIGHT, _WIDTH, 3)).copy()
    for side, colour in ((0, [120, 60, -20]), (1, [-20, 60, 120])):
        pitch, roll, yaw, bend = state[:, side * 7 : side * 7 + 4].T.astype(np.float32)[:, :, None, None]
        arm = np.zeros(shown.shape[:3], np.float32)
        for link in (1, 2, 3):
            across = 24 + 48 * side + 20 * roll * link + 14 * yaw * (link - 1)
            down = 14 + 16 * link + 18 * pitch * link - 8 * (bend - 0.6) * (link - 1)
            arm += np.exp(-((y[:, None] - down) ** 2) / 18) * np.exp(-((x - across) ** 2) / 18)
        shown += arm[..., None] * np.array(colour, np.float32)
    return np.clip(shown, 0, 255).astype(np.uint8)


def _info() -> dict[str, Any]:
    names = [*ARM_NAMES, *HAND_NAMES]
    vector = {"dtype": "float32", "shape": [len(names)], "names": names}
    one = {"shape": [1], "names": None}
    video = {
        "video.fps": _FPS, "video.height": _HEIGHT, "video.width": _WIDTH, "video.channels": 3,
        "video.codec": "h264", "video.pix_fmt": "yuv420p", "video.is_depth_map": False, "has_audio": False,
    }  # fmt: skip
    whole = ("frame_index", "episode_index", "index", "task_index")
    return {
        "robot_type": "Unitree_G1_Inspire", "fps": _FPS,
        "features": {
            "observation.state": vector, "action": vector,
            _CAMERA: {"dtype": "video", "shape": [_HEIGHT, _WIDTH, 3],
                      "names": ["height", "width", "channel"], "info": video},
            "timestamp": {"dtype": "float32", **one}, **{k: {"dtype": "int64", **one} for k in whole},
        },
    }  # fmt: skip
