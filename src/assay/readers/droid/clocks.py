"""The stamps of DROID's rows, each source's own."""

from __future__ import annotations

from typing import Any, Final

import h5py
import numpy as np
from numpy.typing import NDArray

from assay import hdf5
from assay.errors import UnreadableError
from assay.model import Clock

__all__ = ["camera_stamps", "request_stamps", "robot_stamps"]

Ints = NDArray[np.int64]
Stamps = dict[Clock, Ints]
WITHIN: Final = "observation/timestamp"
_FAR: Final = 1 << 62
_CAMERA: Final = {"_estimated_capture": Clock.SENSOR, "_frame_received": Clock.RECEIVE}


def robot_stamps(data: Any, file: str, rows: int) -> Stamps:
    """Of the robot's state: by its own computer, by the laptop on receipt, and of the control step."""
    seconds = _array(data, "robot_state/robot_timestamp_seconds", file, rows)
    nanos = _array(data, "robot_state/robot_timestamp_nanos", file, rows)
    found = _log(data, file, rows)
    read = _milliseconds(data, "robot_state/read_end", file, rows)
    if read is not None:
        found[Clock.RECEIVE] = read
    if seconds is not None:
        whole = _nanoseconds(seconds, 1_000_000_000)
        rest = np.zeros(rows, np.int64) if nanos is None else _nanoseconds(nanos, 1)
        found[Clock.SENSOR] = np.clip(whole + rest, -_FAR, _FAR)
    return found


def request_stamps(data: Any, file: str, rows: int) -> Stamps:
    """Of what was asked of the robot: when the laptop began to send it, and of the control step."""
    found = _log(data, file, rows)
    sent = _milliseconds(data, "control/control_start", file, rows)
    return found if sent is None else {**found, Clock.RECEIVE: sent}


def camera_stamps(data: Any, file: str, rows: int) -> dict[str, Stamps]:
    """Serial → of its pictures: estimated capture, receipt, and of the control step."""
    group = hdf5.at(data, f"{WITHIN}/cameras")
    found: dict[str, Stamps] = {}
    log = _log(data, file, rows)
    for name in sorted(group) if isinstance(group, h5py.Group) else []:
        for tail, clock in _CAMERA.items():
            if name.endswith(tail):
                t = _milliseconds(data, f"cameras/{name}", file, rows)
                if t is not None:
                    found.setdefault(name.removesuffix(tail), dict(log))[clock] = t
    return found


def _log(data: Any, file: str, rows: int) -> Stamps:
    t = _milliseconds(data, "control/step_start", file, rows)
    if t is None:
        raise UnreadableError("the trajectory has no stamps of its steps", where=file,
                              expected=f"{WITHIN}/control/step_start")  # fmt: skip
    return {Clock.LOG: t}


def _milliseconds(data: Any, path: str, file: str, rows: int) -> Ints | None:
    x = _array(data, path, file, rows)
    return None if x is None else _nanoseconds(x, 1_000_000)


def _array(data: Any, path: str, file: str, rows: int) -> NDArray[Any] | None:
    x = hdf5.numbers(data, f"{WITHIN}/{path}", file)
    if x is None:
        return None
    if x.shape not in ((rows,), (rows, 1)):
        raise UnreadableError("stamps do not fit the rows", where=f"{file}/{WITHIN}/{path}",
                              found=str(x.shape), expected=f"{rows} rows")  # fmt: skip
    return x.reshape(-1)


def _nanoseconds(x: NDArray[Any], unit: int) -> Ints:
    """Exact for integers; what is not finite or too large saturates or is zero, as an unset clock is."""
    if x.dtype.kind in "ib":
        return np.clip(x.astype(np.int64), -_FAR // unit, _FAR // unit) * unit
    most = float(_FAR // unit)
    value = np.clip(np.nan_to_num(x.astype(np.float64)), -most, most)
    whole = np.floor(value)  # apart, so that an epoch keeps its digits
    return whole.astype(np.int64) * unit + np.rint((value - whole) * unit).astype(np.int64)
