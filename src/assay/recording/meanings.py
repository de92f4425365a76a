"""What the messages of a schema mean: drafts of streams from values by path.

Schemas known by name: ``sensor_msgs`` (JointState, Imu, Image, CompressedImage, CameraInfo),
``geometry_msgs`` (Pose, Transform, Wrench with and without stamp), ``nav_msgs/Odometry``,
``tf2_msgs/TFMessage``, Foxglove's (JointStates, FrameTransform(s), PoseInFrame, Raw- and CompressedImage,
CompressedVideo, CameraCalibration, RawAudio), ``std_msgs/String``. Of any other message, each array of
numbers is a stream of its own and all single numbers are one: their roles are what topic and field are
called, their units are not known.

Joints are named by each message itself; quaternions are stored xyzw and become wxyz.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Channel, Role
from assay.recording.layout import Piece
from assay.recording.words import by_words, is_request, unit_of, words

__all__ = ["CALIBRATION", "PICTURES", "SILENT", "Draft", "drafts", "family", "roles_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PICTURES: Final = frozenset({
    "sensor_msgs/Image", "sensor_msgs/CompressedImage", "foxglove/RawImage", "foxglove/CompressedImage",
    "foxglove/CompressedVideo",
})  # fmt: skip
CALIBRATION: Final = frozenset({"sensor_msgs/CameraInfo", "foxglove/CameraCalibration"})
SILENT: Final = frozenset({"rcl_interfaces/Log", "rcl_interfaces/ParameterEvent", "foxglove/Log",
                           "rosgraph_msgs/Log", "rosbag2_interfaces/WriteSplitEvent"})  # fmt: skip
"""Types that are about the software and not about the attempt."""
MOST_CHANNELS: Final = 1024
_JOINTS: Final = (("position", Role.JOINT_POSITION), ("velocity", Role.JOINT_VELOCITY),
                  ("effort", Role.JOINT_TORQUE))  # fmt: skip
_INDEX: Final = re.compile(r"\[(\d+)\]")
_SECONDS: Final = ("sec", "secs", "seconds")
_NANOSECONDS: Final = ("nanosec", "nsec", "nsecs", "nanos")
_DEEP: Final = frozenset(["16uc1", "mono16", "32fc1", "16sc1", "64fc1"])


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Samples of one stream.

    Attributes:
        suffix: what follows the topic in its name, e.g. ``.velocity``.
        rows: (k,) the messages they come from, in order; x: (k, c).
        sensor: (k,) int64 ns, the stamp inside each message, None where the type has none.
        after: (k,) ns by which a sample follows its message's stamps (audio), else None.
        text: of all these samples, for a stream of words.
        form: how pictures are stored, e.g. ``jpeg`` or ``rgb8``.
    """

    suffix: str
    role: Role
    rows: Ints
    x: Floats
    channels: tuple[Channel, ...]
    sensor: Ints | None
    frame: str = ""
    after: Ints | None = None
    text: str | None = None
    form: str = ""


Meaning = Callable[[str, Piece, NDArray[np.uint8]], Iterator[Draft]]


def family(type_: str) -> str:
    """One name for a type's spellings: ``sensor_msgs/Imu``, ``foxglove/RawImage``."""
    parts = type_.replace(".", "/").split("/")
    package, name = "/".join(parts[:-1]).removesuffix("/msg"), parts[-1]
    return f"{'foxglove' if package == 'foxglove_msgs' else package}/{name}"


def drafts(topic: str, type_: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    """The streams of messages that are laid out alike."""
    known = family(type_)
    if known in SILENT or known in CALIBRATION:
        return
    yield from _MEANINGS.get(known, (_anything, None))[0](topic, piece, data)


def roles_of(topic: str, type_: str) -> frozenset[Role] | None:
    """The roles that a topic's streams may have, None where only its messages tell."""
    known = family(type_)
    if known in SILENT or known in CALIBRATION:
        return frozenset()
    return _MEANINGS.get(known, (_anything, None))[1]


# ------------------------------------------------------------------------------------------------ stamps


def _sensor(piece: Piece, *places: str) -> Ints | None:
    """(k,) ns, the stamp of the message itself: of its header, or a field of its own."""
    numbers = piece.numbers
    for place in places or ("header.stamp", "stamp", "timestamp"):
        seconds = next((numbers[p] for s in _SECONDS if (p := f"{place}.{s}") in numbers), None)
        if seconds is not None and seconds.ndim == 1:
            rest = next((numbers[p] for s in _NANOSECONDS if (p := f"{place}.{s}") in numbers), seconds * 0)
            whole = np.clip(seconds.astype(np.int64), -(1 << 32), 1 << 32) * 1_000_000_000
            return np.asarray(whole + np.clip(rest.astype(np.int64), -(1 << 40), 1 << 40))
        if f"{place}_ns" in numbers:
            return np.asarray(np.clip(numbers[f"{place}_ns"], -(1 << 62), 1 << 62).astype(np.int64))
    return None


def _is_stamp(path: str) -> bool:
    found = path.split(".")
    within = _INDEX.sub("", found[-2]) if len(found) > 1 else ""
    own = found[-1] in ("timestamp_ns", "stamp_ns", "stamp", "timestamp")
    return found[0] in ("header", "layout") or own or within in ("stamp", "timestamp")


def _frame(piece: Piece) -> str:
    found = piece.texts.get("header.frame_id", piece.texts.get("frame_id", ""))
    return found if isinstance(found, str) else ""


# ---------------------------------------------------------------------------------------- known schemas


def _joint_state(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    said = piece.texts.get("name", ())
    names = (said,) if isinstance(said, str) else said
    values = {key: piece.numbers[key] for key, _ in _JOINTS if key in piece.numbers}
    yield from _joints(topic, piece, values, names)


def _foxglove_joints(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    count = len({p.partition("]")[0] for p in piece.texts if p.startswith("joints[")})
    names = tuple(str(piece.texts.get(f"joints[{i}].name", "")) for i in range(count))
    values = {}
    for key, _ in _JOINTS:
        there = [piece.numbers.get(f"joints[{i}].{key}") for i in range(count)]
        columns = [c for c in there if c is not None]
        if count and len(columns) == count:
            values[key] = np.stack(columns, axis=1)
    yield from _joints(topic, piece, values, names)


def _joints(
    topic: str, piece: Piece, values: dict[str, NDArray[Any]], names: Sequence[str]
) -> Iterator[Draft]:
    asked = is_request(topic)
    for key, role in _JOINTS:
        x = values.get(key)
        if x is None or x.ndim != 2 or not x.shape[1]:
            continue
        fitting = names if len(names) == x.shape[1] else [f"[{i}]" for i in range(x.shape[1])]
        # A request of velocities is not the request of the positions that bear the same names.
        tail = f" {key}" if asked and key != "position" else ""
        channels = tuple(Channel(f"{n}{tail}", unit_of(role, n), _part(n, role)) for n in fitting)
        kinds = {c.role for c in channels}
        whole = Role.REQUEST if asked else kinds.pop() if len(kinds) == 1 else role
        yield Draft(
            f".{key}",
            whole or role,
            piece.rows,
            x.astype(np.float64),
            channels,
            _sensor(piece),
            _frame(piece),
        )


def _part(name: str, role: Role) -> Role:
    found = by_words(name)
    return found if role is Role.JOINT_POSITION and found in (Role.GRIPPER, Role.HAND_JOINTS) else role


def _columns(piece: Piece, paths: Sequence[str]) -> Floats | None:
    if not all(path in piece.numbers for path in paths):
        return None
    return np.stack([piece.numbers[path].astype(np.float64) for path in paths], axis=1)


def _imu(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    parts = (
        ("orientation", "wxyz", "1"),
        ("angular_velocity", "xyz", "rad/s"),
        ("linear_acceleration", "xyz", "m/s^2"),
    )
    paths = [(f"{part}.{axis}", unit) for part, axes, unit in parts for axis in axes]
    x = _columns(piece, [path for path, _ in paths])
    if x is not None:
        channels = tuple(Channel(path, unit, Role.IMU) for path, unit in paths)
        yield Draft("", Role.IMU, piece.rows, x, channels, _sensor(piece), _frame(piece))


def _wrench(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    at = "wrench." if "wrench.force.x" in piece.numbers else ""
    paths = [f"{at}{part}.{axis}" for part in ("force", "torque") for axis in "xyz"]
    x = _columns(piece, paths)
    if x is not None:
        units = ("N",) * 3 + ("N*m",) * 3
        names = [path.removeprefix(at) for path in paths]
        channels = tuple(Channel(n, u, Role.FORCE_TORQUE) for n, u in zip(names, units, strict=True))
        role = Role.REQUEST if is_request(topic) else Role.FORCE_TORQUE
        yield Draft("", role, piece.rows, x, channels, _sensor(piece), _frame(piece))


def _pose_of(piece: Piece, at: str, places: tuple[str, str]) -> Floats | None:
    xyz, q = (f"{at}{place}" for place in places)
    return _columns(piece, [*(f"{xyz}.{a}" for a in "xyz"), *(f"{q}.{a}" for a in "wxyz")])


POSE: Final = tuple(Channel(n, u) for n, u in zip(("x", "y", "z", "qw", "qx", "qy", "qz"),
                                                 ("m",) * 3 + ("1",) * 4, strict=True))  # fmt: skip


def _pose_role(*texts: str) -> Role:
    if is_request(*texts):
        return Role.REQUEST
    found = frozenset[str]().union(*(words(text) for text in texts))
    if found & {"base", "pelvis", "odom", "odometry", "root", "floating"}:
        return Role.BASE_POSE
    return Role.OBJECT_POSE if found & {"object", "objects", "marker", "tag", "box", "item"} else Role.OTHER


def _pose(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    for at in ("pose.pose.", "pose.", ""):
        x = _pose_of(piece, at, ("position", "orientation"))
        if x is not None:
            role = Role.BASE_POSE if at == "pose.pose." else _pose_role(topic)
            yield Draft("", role, piece.rows, x, POSE, _sensor(piece), _frame(piece))
            return


def _transforms(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    """One stream for each child frame; a message may hold many, and each has its own stamp."""
    found = {p.rpartition("child_frame_id")[0] for p in piece.texts if p.endswith("child_frame_id")}
    for at in sorted(found, key=lambda p: (len(p), p)):
        child = str(piece.texts[f"{at}child_frame_id"])
        x = _pose_of(piece, f"{at}transform.", ("translation", "rotation"))
        x = _pose_of(piece, at, ("translation", "rotation")) if x is None else x
        if x is not None:
            parent = piece.texts.get(f"{at}header.frame_id", piece.texts.get(f"{at}parent_frame_id", ""))
            stamp = _sensor(piece, f"{at}header.stamp", f"{at}timestamp")
            yield Draft(f".{child}", _tf_role(child), piece.rows, x, POSE, stamp, str(parent))


def _tf_role(child: str) -> Role:
    found = _pose_role(child)
    return found if found in (Role.BASE_POSE, Role.OBJECT_POSE) else Role.OTHER


def _picture(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    form = str(piece.texts.get("format", piece.texts.get("encoding", ""))).lower()
    deep = "depth" in words(topic) or "depth" in form or form in _DEEP or form.partition(";")[0] in _DEEP
    role = Role.DEPTH if deep else Role.CAMERA
    x = np.empty((len(piece.rows), 0))
    yield Draft("", role, piece.rows, x, (), _sensor(piece), _frame(piece), form=form)


def _audio(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    """16-bit samples, each on its own time after its message's stamp."""
    rate, count = piece.numbers.get("sample_rate"), piece.numbers.get("number_of_channels")
    blob = piece.blobs.get("data")
    if rate is None or count is None or blob is None or piece.texts.get("format") != "pcm-s16":
        yield Draft(
            "", Role.AUDIO, piece.rows, np.empty((len(piece.rows), 0)), (), _sensor(piece), _frame(piece)
        )
        return
    stamp = _sensor(piece)
    for i, row in enumerate(piece.rows):
        wide, (at, size) = int(min(max(count[i], 1), 64)), blob[i]
        n = int(size) // (2 * wide)
        x = (
            data[at : at + n * 2 * wide].view("<i2")
            if at % 2 == 0
            else data[at : at + n * 2 * wide].copy().view("<i2")
        )
        after = (np.arange(n) * (1e9 / max(float(rate[i]), 1.0))).astype(np.int64)
        channels = tuple(Channel(f"[{c}]", "1", Role.AUDIO) for c in range(wide))
        sensor = None if stamp is None else np.full(n, stamp[i])
        yield Draft(
            "", Role.AUDIO, np.full(n, row), x.reshape(n, wide) / 32768.0, channels, sensor, "", after
        )


def _text(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    said = piece.texts.get("data", "")
    task = words(topic) & {"instruction", "task", "prompt", "language", "command"}
    role = Role.INSTRUCTION if task else Role.EVENT
    text = said if isinstance(said, str) else "; ".join(said)
    text = text if len(text) <= 1000 else f"{len(text)} characters"
    yield Draft(
        "", role, piece.rows, np.zeros((len(piece.rows), 1)), (Channel("text", "1", role),), None, text=text
    )


def _anything(topic: str, piece: Piece, data: NDArray[np.uint8]) -> Iterator[Draft]:
    """Each array of numbers as a stream, all single numbers as one."""
    arrays: dict[str, list[tuple[str, NDArray[Any]]]] = defaultdict(list)
    for path, x in piece.numbers.items():
        if not _is_stamp(path):
            several = x.ndim == 2 or _INDEX.search(path)
            arrays[_INDEX.sub("", path) if several else ""].append((path, x))
    for path, columns in arrays.items():
        names = [name for p, x in columns for name in _names(p, x)]
        if not 0 < len(names) <= MOST_CHANNELS:
            continue
        x = np.concatenate(
            [c.reshape(len(c), -1) for _, c in columns], axis=1, dtype=np.float64, casting="unsafe"
        )
        role = by_words(path, topic)
        channels = tuple(Channel(n, _unitree(piece, role), role) for n in names)
        asked = is_request(topic, path) and role is not Role.EVENT
        suffix = f".{path}" if path not in ("", "data") else ""
        whole = Role.REQUEST if asked else role
        yield Draft(suffix, whole, piece.rows, x, channels, _sensor(piece), _frame(piece))


def _names(path: str, x: NDArray[Any]) -> list[str]:
    return [path] if x.ndim == 1 else [f"{path}[{i}]" for i in range(x.shape[1])]


def _unitree(piece: Piece, role: Role) -> str:
    """Unitree's motors turn: rad, rad/s, N m."""
    motors = any(path.startswith(("motor_state[0].", "motor_cmd[0].")) for path in piece.numbers)
    return unit_of(role, "") if motors else "unknown"


_OF_JOINTS: Final = frozenset({Role.JOINT_POSITION, Role.JOINT_VELOCITY, Role.JOINT_TORQUE, Role.GRIPPER,
                               Role.HAND_JOINTS, Role.REQUEST})  # fmt: skip
_OF_POSES: Final = frozenset({Role.BASE_POSE, Role.OBJECT_POSE, Role.OTHER, Role.REQUEST})
_OF_PICTURES: Final = frozenset({Role.CAMERA, Role.DEPTH})
_WRENCHES: Final = ("geometry_msgs/Wrench", "geometry_msgs/WrenchStamped")
_POSES: Final = ("geometry_msgs/Pose", "geometry_msgs/PoseStamped", "geometry_msgs/PoseWithCovarianceStamped",
                 "nav_msgs/Odometry", "foxglove/PoseInFrame")  # fmt: skip
_TRANSFORMS: Final = ("tf2_msgs/TFMessage", "geometry_msgs/TransformStamped", "foxglove/FrameTransform",
                      "foxglove/FrameTransforms")  # fmt: skip
_MEANINGS: Final[dict[str, tuple[Meaning, frozenset[Role] | None]]] = {
    "sensor_msgs/JointState": (_joint_state, _OF_JOINTS),
    "foxglove/JointStates": (_foxglove_joints, _OF_JOINTS),
    "sensor_msgs/Imu": (_imu, frozenset({Role.IMU})),
    "foxglove/RawAudio": (_audio, frozenset({Role.AUDIO})),
    "std_msgs/String": (_text, frozenset({Role.INSTRUCTION, Role.EVENT})),
    **dict.fromkeys(_WRENCHES, (_wrench, frozenset({Role.FORCE_TORQUE, Role.REQUEST}))),
    **dict.fromkeys(_POSES, (_pose, _OF_POSES)),
    **dict.fromkeys(_TRANSFORMS, (_transforms, _OF_POSES)),
    **dict.fromkeys(PICTURES, (_picture, _OF_PICTURES)),
}  # fmt: skip
