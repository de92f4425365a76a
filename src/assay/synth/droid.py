"""A DROID episode with known clocks: `write_droid`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import av
import h5py
import numpy as np
import orjson
from numpy.typing import NDArray

from assay.synth.recordings import REST

__all__ = ["SERIALS", "write_droid"]

SERIALS: Final = {"wrist": "18026681", "ext1": "22008760"}
START: Final = 1_700_000_000_000
"""ms of the epoch."""


def write_droid(
    folder: Path, rows: int = 30, *, pictures: int | None = None, late: float = 40.0, robot: float = -3.0,
    drift: float = 0.0, success: bool = True,
) -> None:  # fmt: skip
    """Write ``trajectory.h5``, metadata and two MP4s of small pictures.

    Args:
        folder: of the episode, made if need be.
        rows: control steps at 15 Hz.
        pictures: in each MP4; as many as rows where None.
        late: ms from capture to receipt of a picture.
        robot: ms by which the robot's clock is ahead of the laptop's at the start.
        drift: ppm by which it runs fast.
        success: the outcome, in attribute and metadata.
    """
    (folder / "recordings/MP4").mkdir(parents=True, exist_ok=True)
    step = START + np.rint(np.arange(rows) * 1000 / 15).astype(np.int64)
    with h5py.File(folder / "trajectory.h5", "w", track_order=True) as data:
        data.attrs.update({"success": success, "failure": not success, "user": "nobody", "building": "lab"})
        _values(data, step)
        _stamps(data, step, late, robot, drift)
    said = {
        "uuid": "LAB+0+2023-01-01", "success": success, "current_task": "put the cup on the plate",
        "trajectory_length": rows, **{f"{role}_cam_serial": serial for role, serial in SERIALS.items()},
    }  # fmt: skip
    (folder / "metadata_LAB+0+2023-01-01.json").write_bytes(orjson.dumps(said))
    for serial in SERIALS.values():
        _movie(folder / f"recordings/MP4/{serial}.mp4", rows if pictures is None else pictures)


def _values(data: Any, step: NDArray[np.int64]) -> None:
    t = (step - step[0])[:, None] * 1e-3
    q = REST + 0.4 * np.sin(t + np.arange(7))
    state = data.create_group("observation/robot_state")
    state["joint_positions"], state["joint_velocities"] = q, 0.4 * np.cos(t + np.arange(7))
    state["joint_torques_computed"] = np.sin(2 * t + np.arange(7))
    state["gripper_position"] = np.clip(np.sin(t[:, 0]), 0, 1)
    state["cartesian_position"] = np.concatenate([0.1 * q[:, :3] + 0.4, q[:, 3:6]], axis=1)
    asked = data.create_group("action")
    asked["joint_position"] = REST + 0.4 * np.sin(t + 0.1 + np.arange(7))
    asked["joint_velocity"] = 0.1 * np.cos(t + np.arange(7))
    asked["gripper_position"] = np.clip(np.sin(t[:, 0] + 0.1), 0, 1)


def _stamps(data: Any, step: NDArray[np.int64], late: float, robot: float, drift: float) -> None:
    at = data.create_group("observation/timestamp")
    at["control/step_start"], at["control/control_start"] = step, step + 30
    at["control/step_end"] = step + 60
    own = np.rint(((step - START) * (1 + drift * 1e-6) + robot) * 1e6).astype(np.int64) + START * 1_000_000
    at["robot_state/robot_timestamp_seconds"] = own // 1_000_000_000
    at["robot_state/robot_timestamp_nanos"] = own % 1_000_000_000
    at["robot_state/read_start"], at["robot_state/read_end"] = step + 1, step + 4
    for serial in SERIALS.values():
        at[f"cameras/{serial}_read_start"], at[f"cameras/{serial}_read_end"] = step + 4, step + 20
        at[f"cameras/{serial}_frame_received"] = step + 10
        at[f"cameras/{serial}_estimated_capture"] = step + 10 - late
    at["skip_action"] = np.arange(len(step)) < 3


def _movie(file: Path, pictures: int) -> None:
    with av.open(str(file), "w") as out:
        track: Any = out.add_stream("h264", rate=15)
        track.width, track.height, track.pix_fmt = 32, 24, "yuv420p"
        for i in range(pictures):
            shade = np.full((36, 32), (7 * i) % 200, np.uint8)
            out.mux(track.encode(av.VideoFrame.from_ndarray(shade, "yuv420p")))
        out.mux(track.encode(None))
