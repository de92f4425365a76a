"""Recordings with known clocks: one small rig written as MCAP, rosbag2 or a DROID episode.

The rig has an arm, its requests, an IMU and a camera, each on its own clock. What is planted is exact: drift
and offset of the camera's clock, latency of the log, messages lost in one stream or in all. Needs the extra
``[ros]``, whose libraries write the files; they are not what reads them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from numpy.typing import NDArray

__all__ = ["JOINTS", "REST", "Message", "Rig", "jpeg", "messages", "write_bag", "write_mcap"]

Ints = NDArray[np.int64]

JOINTS: Final = tuple(f"panda_joint{i}" for i in range(1, 8))
REST: Final = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
"""rad; the pose around which the arm swings, far from all limits."""
EPOCH: Final = 1_700_000_000_000_000_000
"""ns; when the first sample is taken."""


@dataclass(frozen=True, slots=True)
class Rig:
    """What is recorded, and what is wrong with it.

    Attributes:
        seconds: length; rate, camera_rate: Hz.
        drift: ppm by which the camera's clock runs fast; offset: s by which it is ahead at the start.
        send, log: s from sensing to publishing, and from there to the log.
        jitter: s, standard deviation of the log's latency.
        lost: (stream or ``all``, first s, last s) within which nothing is recorded.
        unset: whether the sensors' clocks were never set: their stamps are zero.
    """

    seconds: float = 2.0
    rate: float = 100.0
    camera_rate: float = 30.0
    drift: float = 0.0
    offset: float = 0.0
    send: float = 0.002
    log: float = 0.003
    jitter: float = 0.0
    lost: tuple[tuple[str, float, float], ...] = ()
    unset: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its topic, type, three stamps in ns, and what it holds (`rosbags` object)."""

    topic: str
    type: str
    sensor: int
    publish: int
    log: int
    value: Any


def _store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def jpeg(shade: int) -> bytes:
    """A JPEG picture of 32 x 24 pixels, one shade of grey with a ramp."""
    context: Any = av.CodecContext.create("mjpeg", "w")
    context.width, context.height, context.pix_fmt = 32, 24, "yuvj420p"
    context.time_base = Fraction(1, 30)
    ramp = (np.arange(24 * 32).reshape(24, 32) // 8 + shade) % 256
    frame = av.VideoFrame.from_ndarray(ramp.astype(np.uint8), "gray").reformat(format="yuvj420p")
    frame.pts = 0
    return b"".join(bytes(packet) for packet in (*context.encode(frame), *context.encode(None)))


def _times(rig: Rig, stream: str, rate: float) -> Ints:
    """When a stream is sampled, ns since the start, without what was lost."""
    t = (np.arange(int(rig.seconds * rate)) * (1e9 / rate)).astype(np.int64)
    for name, first, last in rig.lost:
        if name in (stream, "all"):
            t = t[(t < first * 1e9) | (t > last * 1e9)]
    return t


def messages(rig: Rig) -> list[Message]:
    """Every message in the order of its log time."""
    store = _store()
    types, noise = store.types, np.random.default_rng(rig.seed)
    found = [*_arm(rig, types), *_imu(rig, types), *_camera(rig, types)]
    text = types["std_msgs/msg/String"](data="pick up the cup")
    found.append(Message("/instruction", "std_msgs/msg/String", 0, EPOCH, EPOCH, text))
    late = np.abs(noise.normal(0.0, rig.jitter, len(found))) * 1e9
    made = [Message(m.topic, m.type, m.sensor, m.publish, m.log + int(d), m.value)
            for m, d in zip(found, late, strict=True)]  # fmt: skip
    return sorted(made, key=lambda m: m.log)


def _header(types: Any, stamp: int, frame: str) -> Any:
    time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
    return types["std_msgs/msg/Header"](stamp=time, frame_id=frame)


def _stamped(rig: Rig, t: int, own: int) -> tuple[int, int, int]:
    sent = EPOCH + t + int(rig.send * 1e9)
    return 0 if rig.unset else EPOCH + own, sent, sent + int(rig.log * 1e9)


def _arm(rig: Rig, types: Any) -> Iterator[Message]:
    kind = "sensor_msgs/msg/JointState"
    for topic, ahead in (("/joint_states", 0.0), ("/joint_commands", 0.1)):
        for t in _times(rig, topic, rig.rate).tolist():
            sensor, publish, log = _stamped(rig, t, t)
            phase = 2 * np.pi * 0.5 * (t * 1e-9 + ahead) + np.arange(7)
            velocity = np.pi * np.cos(phase) * 0.4
            none = np.zeros(0)
            asked = topic == "/joint_commands"
            value = types[kind](_header(types, sensor, "base"), list(JOINTS), REST + 0.4 * np.sin(phase),
                                none if asked else velocity, none)  # fmt: skip
            yield Message(topic, kind, sensor, publish, log, value)


def _imu(rig: Rig, types: Any) -> Iterator[Message]:
    kind, vector = "sensor_msgs/msg/Imu", types["geometry_msgs/msg/Vector3"]
    level = types["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.6, w=0.8)
    for t in _times(rig, "/imu", rig.rate).tolist():
        sensor, publish, log = _stamped(rig, t, t)
        value = types[kind](_header(types, sensor, "imu"), level, np.zeros(9), vector(0.1, 0.2, 0.3),
                            np.zeros(9), vector(0.0, 0.0, 9.81), np.zeros(9))  # fmt: skip
        yield Message("/imu", kind, sensor, publish, log, value)


def _camera(rig: Rig, types: Any) -> Iterator[Message]:
    kind = "sensor_msgs/msg/CompressedImage"
    pictures = [np.frombuffer(jpeg(10 * i), np.uint8) for i in range(10)]
    for i, t in enumerate(_times(rig, "/camera/image/compressed", rig.camera_rate).tolist()):
        own = int(t * (1 + rig.drift * 1e-6) + rig.offset * 1e9)
        sensor, publish, log = _stamped(rig, t, own)
        value = types[kind](_header(types, sensor, "camera"), "jpeg", pictures[i % 10])
        yield Message("/camera/image/compressed", kind, sensor, publish, log, value)


def write_mcap(file: Path, rig: Rig) -> list[Message]:
    """Write the rig as one MCAP file of CDR messages; returns what it holds."""
    from mcap.writer import Writer

    store, found = _store(), messages(rig)
    with file.open("wb") as stream:
        writer = Writer(stream, chunk_size=1 << 16)
        writer.start("ros2", "assay")
        channels = {}
        for m in found:
            if m.topic not in channels:
                text, _ = store.generate_msgdef(m.type, ros_version=2)
                schema = writer.register_schema(m.type, "ros2msg", text.encode())
                channels[m.topic] = writer.register_channel(m.topic, "cdr", schema)
            data = bytes(store.serialize_cdr(m.value, m.type))
            writer.add_message(channels[m.topic], m.log, data, m.publish)
        writer.finish()  # type: ignore[no-untyped-call]
    return found


def write_bag(folder: Path, rig: Rig, storage: str = "sqlite3") -> list[Message]:
    """Write the rig as a rosbag2 folder; ``storage`` is ``sqlite3`` or ``mcap``. Returns what it holds."""
    from rosbags.rosbag2 import StoragePlugin, Writer

    store, found = _store(), messages(rig)
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    shutil.rmtree(folder, ignore_errors=True)
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        links: dict[str, Any] = {}
        for m in found:
            if m.topic not in links:
                links[m.topic] = writer.add_connection(m.topic, m.type, typestore=store)
            writer.write(links[m.topic], m.log, bytes(store.serialize_cdr(m.value, m.type)))
    return found
