"""Small recordings of every layout. As a script, writes each ``<case>/input`` and ``episode.json`` anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np

HERE = Path(__file__).parent
T0 = 1_700_000_000_000_000_000


def mcap_ros2(folder: Path) -> None:
    """Three clocks; the camera's is 50 ms ahead and 200 ppm fast; two joint states are lost."""
    from assay.synth.recordings import Rig, write_mcap

    rig = Rig(0.3, 20.0, 10.0, drift=200.0, offset=0.05, lost=(("/joint_states", 0.08, 0.17),))
    write_mcap(folder / "run.mcap", rig)


def mcap_json(folder: Path) -> None:
    """Not chunked, nothing indexed; log times from the boot beside stamps of an epoch; a clock never set."""
    from mcap.writer import CompressionType, IndexType, Writer

    with (folder / "vr.mcap").open("wb") as stream:
        writer = Writer(
            stream, compression=CompressionType.NONE, use_chunking=False, index_types=IndexType.NONE
        )
        writer.start("", "assay")
        writer.add_metadata("episode", {"task": "open the drawer", "success": "False", "robot_type": "arm"})
        schema = writer.register_schema("lab.RobotState", "jsonschema", b"{}")
        state = writer.register_channel("/state", "json", schema)
        action = writer.register_channel("/action", "json", schema)
        other = writer.register_channel("/raw", "flatbuffer", 0)
        for i in range(4):
            log, stamp = 5_000_000_000 + i * 50_000_000, T0 + i * 50_000_000
            said = {
                "timestamp": {"sec": stamp // 10**9, "nsec": stamp % 10**9},
                "joint_positions": [0.1 * i, 0.2, 0.3], "joint_velocities": [] if i < 2 else [1.0, 0.0, 0.0],
                "gripper_position": 0.5, "poses": {"left": [1, 2, 3]}, "ready": True,
            }  # fmt: skip
            writer.add_message(state, log, json.dumps(said).encode(), log)
            asked = {"timestamp": {"sec": 0, "nsec": 0}, "data": [0.1, 0.2]}
            writer.add_message(action, log, json.dumps(asked).encode(), log)
            writer.add_message(other, log, b"\x00\x01", log)
        writer.finish()


def protocol() -> bytes:
    """Foxglove's JointStates and CompressedVideo, as much of them as is needed."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    files = FileDescriptorSet()
    time = files.file.add(name="google/protobuf/timestamp.proto", package="google.protobuf", syntax="proto3")
    stamp = time.message_type.add(name="Timestamp")
    stamp.field.add(name="seconds", number=1, label=1, type=3)
    stamp.field.add(name="nanos", number=2, label=1, type=5)
    own = files.file.add(name="foxglove.proto", package="foxglove", syntax="proto3")
    own.dependency.append(time.name)
    joint = own.message_type.add(name="JointState")
    joint.field.add(name="name", number=1, label=1, type=9)
    for i, name in enumerate(("position", "velocity", "acceleration", "effort")):
        joint.field.add(name=name, number=2 + i, label=1, type=1, proto3_optional=True, oneof_index=i)
        joint.oneof_decl.add(name=f"_{name}")
    states = own.message_type.add(name="JointStates")
    video = own.message_type.add(name="CompressedVideo")
    for one in (states, video):
        one.field.add(name="timestamp", number=1, label=1, type=11, type_name=".google.protobuf.Timestamp")
    states.field.add(name="joints", number=2, label=3, type=11, type_name=".foxglove.JointState")
    for i, (name, kind) in enumerate((("frame_id", 9), ("data", 12), ("format", 9))):
        video.field.add(name=name, number=2 + i, label=1, type=kind)
    return bytes(files.SerializeToString())


def messages_of(definition: bytes) -> dict[str, Any]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClassesForFiles

    files, pool = FileDescriptorSet.FromString(definition), DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return dict(GetMessageClassesForFiles([f.name for f in files.file], pool))


def film(pictures: int) -> list[bytes]:
    """H.264 as Annex B, one picture each; the third is the only other one that decoding can start at."""
    context: Any = av.CodecContext.create("libx264", "w")
    context.width, context.height, context.pix_fmt, context.framerate = 32, 24, "yuv420p", 30
    context.time_base = 1 / context.framerate
    context.gop_size, context.max_b_frames = 2, 0
    context.options = {"tune": "zerolatency", "preset": "ultrafast"}
    found = []
    for i in range(pictures):
        picture = av.VideoFrame.from_ndarray(np.full((36, 32), 40 * i + 20, np.uint8), "yuv420p")
        picture.pts = i
        found += [bytes(p) for p in context.encode(picture)]
    return found + [bytes(p) for p in context.encode(None)]


def mcap_protobuf(folder: Path) -> None:
    """Joints whose positions are zero are left out of the wire by no one, nanoseconds of zero are."""
    from mcap.writer import CompressionType, Writer

    kinds = messages_of(protocol())
    with (folder / "run.mcap").open("wb") as stream:
        writer = Writer(stream, compression=CompressionType.LZ4)
        writer.start("", "assay")
        channels = {}
        for topic, kind in (("/joints", "foxglove.JointStates"), ("/head", "foxglove.CompressedVideo")):
            schema = writer.register_schema(kind, "protobuf", protocol())
            channels[topic] = writer.register_channel(topic, "protobuf", schema)
        for i, picture in enumerate(film(4)):
            stamp = {"seconds": T0 // 10**9, "nanos": i * 33_000_000}
            joints = [{"name": n, "position": 0.1 * i * j, "velocity": 1.0} for j, n in enumerate(("a", "b"))]
            if i == 2:
                joints.reverse()
            state = kinds["foxglove.JointStates"](timestamp=stamp, joints=joints)
            shown = kinds["foxglove.CompressedVideo"](
                timestamp=stamp, frame_id="head", data=picture, format="h264"
            )
            for topic, one in (("/joints", state), ("/head", shown)):
                log = T0 + i * 33_000_000 + 4_000_000
                writer.add_message(channels[topic], log, one.SerializeToString(), log - 1_000_000)
        writer.finish()


def rosbag2_sqlite(folder: Path) -> None:
    from assay.synth.recordings import Rig, write_bag

    write_bag(folder / "bag", Rig(0.15, 20.0, 10.0))


def rosbag2_split(folder: Path) -> None:
    """Two MCAP files; the metadata promise a message more than there is."""
    from assay.synth.recordings import Rig, write_mcap

    (folder / "bag").mkdir(exist_ok=True)
    for i in range(2):
        write_mcap(folder / f"bag/bag_{i}.mcap", Rig(0.1, 20.0, 10.0, seed=i))
    (folder / "bag/metadata.yaml").write_text(SPLIT, "utf-8")


SPLIT = """rosbag2_bagfile_information:
  version: 5
  storage_identifier: mcap
  duration: {nanoseconds: 55000000}
  starting_time: {nanoseconds_since_epoch: 1700000000000000000}
  message_count: 13
  topics_with_message_count:
    - topic_metadata: {name: /joint_states, type: sensor_msgs/msg/JointState, serialization_format: cdr}
      message_count: 5
    - topic_metadata: {name: /joint_commands, type: sensor_msgs/msg/JointState, serialization_format: cdr}
      message_count: 4
  compression_format: ""
  compression_mode: ""
  relative_file_paths: [bag/bag_0.mcap, bag/bag_1.mcap]
"""


def droid(folder: Path) -> None:
    """The robot's clock is 3 ms behind; one video has a picture less than there are rows, one is absent."""
    from assay.synth.droid import write_droid

    write_droid(folder / "success/2023-01-01/a", 6, pictures=5)
    (folder / "success/2023-01-01/a/recordings/MP4/22008760.mp4").unlink()


CASES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "mcap_ros2": ("mcap", mcap_ros2),
    "mcap_json": ("mcap", mcap_json),
    "mcap_protobuf": ("mcap", mcap_protobuf),
    "rosbag2_sqlite": ("rosbag2", rosbag2_sqlite),
    "rosbag2_split": ("rosbag2", rosbag2_split),
    "droid": ("droid", droid),
}


def text(reader: Any, folder: Path) -> str:
    """Everything that a reader says about a case, as canonical JSON."""
    from assay.sheet import Sheet

    listing = reader.discover(folder)
    opened = [plain(reader.open(listing, ref, None, Sheet())) for ref in listing.refs]
    return json.dumps({"listing": plain(listing), "episodes": opened}, indent=1, sort_keys=True) + "\n"


LEFT_OUT = {
    "root",
    "embodiment",
    "declared",
    "kind",
    "shared",
    "limit_set",
    "sync",
    "statistics",
    "spans",
    "reader",
}


def plain(value: Any) -> Any:
    """A value as JSON: arrays with their shape, first two and last row; claims and channels as one line."""
    if type(value).__name__ in ("Claim", "Channel"):
        return " | ".join(str(getattr(value, f)) for f in value.__dataclass_fields__)
    if hasattr(value, "__dataclass_fields__"):
        return {f: plain(getattr(value, f)) for f in value.__dataclass_fields__ if f not in LEFT_OUT}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        rows = value if value.dtype.kind in "iub" else np.round(value.astype(float), 5)
        return {"shape": str(value.shape), "rows": json.dumps([*rows[:2].tolist(), *rows[-1:].tolist()])}
    if isinstance(value, list | tuple | set):
        return [plain(v) for v in value]
    return value if isinstance(value, bool | int | float | type(None)) else str(value)


def main() -> None:
    from assay import plugs

    for case, (reader, make) in CASES.items():
        folder = HERE / case / "input"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        (HERE / case / "episode.json").write_text(text(plugs.readers()[reader], folder), "utf-8")


if __name__ == "__main__":
    main()
