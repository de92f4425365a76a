"""The readers of recordings: golden folders, planted clocks, cut and hostile files, pictures in messages."""

import hashlib
import pickle
import random
import re
import runpy
import shutil
import sqlite3
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from assay import plugs
from assay.corpus import discover
from assay.errors import MissingExtraError, UnreadableError
from assay.extras import install_line
from assay.media import luma
from assay.model import Clock, Episode, Role, Stream
from assay.recording import episodes
from assay.recording.files import opened as open_file
from assay.recording.layout import pieces
from assay.recording.mcap import MAGIC
from assay.recording.messages import stamps_of
from assay.recording.words import by_words, is_request
from assay.sheet import Sheet
from assay.synth.recordings import EPOCH, JOINTS, Rig, write_bag, write_mcap
from films import encode, numbered

GOLDEN = Path(__file__).parent / "golden/recording"
MAKE = runpy.run_path(str(GOLDEN / "make.py"), run_name="make")
CASES = {case: reader for case, (reader, _) in MAKE["CASES"].items()}
SMALL = 8192
PICTURES = (".mp4",)
"""A cut video is found where its container is indexed, not on opening the episode."""


def reader(name: str) -> Any:
    return plugs.readers()[name]


def opened(name: str, path: Path, want: frozenset[Role] | None = None) -> list[Episode]:
    listing = reader(name).discover(path)
    return [reader(name).open(listing, ref, want, Sheet()) for ref in listing.refs]


def one(path: Path, name: str = "mcap") -> Episode:
    (ep,) = opened(name, path)
    return ep


def stream(ep: Episode, name: str) -> Stream:
    found = ep.stream(name)
    assert found is not None, [s.name for s in ep.streams]
    return found


# ------------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("case", sorted(CASES))
def test_golden(case: str) -> None:
    assert MAKE["text"](reader(CASES[case]), GOLDEN / case / "input") == (
        GOLDEN / case / "episode.json"
    ).read_text("utf-8")


def digest(folder: Path) -> str:
    data = b"".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("case", sorted(CASES))
def test_each_case_is_read_by_its_reader_and_left_alone(case: str) -> None:
    folder = GOLDEN / case / "input"
    before = digest(folder)
    scores = {name: r.probe(folder).score for name, r in plugs.readers().items()}
    assert max(scores, key=scores.__getitem__) == CASES[case], scores
    first, second = (MAKE["text"](reader(CASES[case]), folder) for _ in range(2))
    assert first == second
    assert digest(folder) == before
    assert not list(folder.rglob("*-shm"))


def cuts_of(size: int, every: bool) -> list[int]:
    """Every byte of a small file, 200 random ones and the ends of a larger one."""
    if size <= SMALL and every:
        return list(range(size))
    ends = (0, 1, 8, 16, 99, 100, size - 1, size - 2, size - 8, size - 37)
    return sorted({*random.Random(1).sample(range(size), min(200, size)), *ends})


def shown(name: str, folder: Path, listing: Any = None) -> tuple[list[Any], int]:
    """(what was read, complaints), under a listing made before or anew."""
    listing = listing or reader(name).discover(folder)
    bad, good = sum(c.size != 0 for c in listing.claims), []
    for ref in listing.refs:
        try:
            ep = reader(name).open(listing, ref, None, Sheet())
        except UnreadableError as error:
            bad += 1 if str(error).endswith(".") and "\n" not in str(error) else -100
            continue
        bad += sum(c.size != 0 for c in ep.claims)
        good.append((ep.id, [(s.name, s.x.shape, float(np.nansum(s.x)), int(s.t.sum())) for s in ep.streams]))
    return good, bad


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_cut_is_one_clear_error(case: str, tmp_path: Path) -> None:
    name = CASES[case]
    folder = shutil.copytree(GOLDEN / case / "input", tmp_path / "x")
    listing, before = reader(name).discover(folder), shown(name, folder)
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in PICTURES):
        whole = path.read_bytes()
        # The MCAP files of a bag are those of mcap_ros2, the metadata of one bag those of the other.
        every = not case.startswith("rosbag2") or (path.suffix == ".yaml" and case == "rosbag2_split")
        for cut in cuts_of(len(whole), every):
            path.write_bytes(whole[:cut])
            now = shown(name, folder, None if cut % 100 == 0 else listing)
            # A bag's metadata end with items that say nothing of its messages.
            told = now[1] > before[1] or len(now[0]) < len(before[0])
            assert told or (now == before and path.name == "metadata.yaml"), f"{path.name} cut at {cut}"
        path.write_bytes(whole)


@pytest.mark.parametrize("case", sorted(CASES))
def test_changed_bytes_end_nothing(case: str, tmp_path: Path) -> None:
    """Whatever a byte becomes, the file opens or is one sentence."""
    chance = random.Random(2)
    folder = shutil.copytree(GOLDEN / case / "input", tmp_path / "x")
    listing = reader(CASES[case]).discover(folder)
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in PICTURES):
        whole = path.read_bytes()
        for i in range(40):
            data = bytearray(whole)
            for _ in range(chance.choice((1, 1, 4))):
                data[chance.randrange(len(data))] = chance.choice((0, 1, 127, 255, chance.randrange(256)))
            path.write_bytes(data)
            assert shown(CASES[case], folder, listing if i % 8 else None)[1] >= 0
        path.write_bytes(whole)


def test_a_listing_and_an_episode_cross_process_borders() -> None:
    folder = GOLDEN / "mcap_protobuf/input"
    listing = pickle.loads(pickle.dumps(reader("mcap").discover(folder)))  # noqa: S301
    ep = pickle.loads(pickle.dumps(reader("mcap").open(listing, listing.refs[0], None, Sheet())))  # noqa: S301
    assert len(stream(ep, "/head")) == 4


def test_without_the_extra_the_probe_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "find_spec", lambda name: None)
    for case in ("mcap_ros2", "rosbag2_sqlite"):
        found = reader(CASES[case]).probe(GOLDEN / case / "input")
        assert found.score == 0
        assert (found.lacks, found.reason) == ("ros", "recordings need rosbags, which is not installed")


def test_without_the_extra_what_to_install_is_all_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not one clause among those of every other reader, nor pictures judged in the recordings' stead."""
    monkeypatch.setattr(episodes, "find_spec", lambda name: None)
    folder = shutil.copytree(GOLDEN / "mcap_ros2/input", tmp_path / "x")
    encode(folder / "head.mp4", numbered(8))
    said = f"{folder}: recordings need rosbags, which is not installed; {install_line('ros')}."
    with pytest.raises(MissingExtraError, match=f"^{re.escape(said)}$"):
        discover(folder)


def test_only_wanted_roles_come_and_the_task_always() -> None:
    (ep,) = opened("mcap", GOLDEN / "mcap_ros2/input", frozenset({Role.IMU}))
    assert [s.name for s in ep.streams] == ["/imu"]
    assert ep.task == "pick up the cup"
    (ep,) = opened("droid", GOLDEN / "droid/input", frozenset({Role.CAMERA}))
    assert [s.name for s in ep.streams] == ["wrist"]


# ----------------------------------------------------------------------------------------------- clocks


def test_three_clocks_are_kept_apart(tmp_path: Path) -> None:
    rig = Rig(2.0, drift=500.0, offset=0.05, send=0.002, log=0.003)
    said = write_mcap(tmp_path / "a.mcap", rig)
    ep = one(tmp_path)
    camera = stream(ep, "/camera/image/compressed")
    mine = [m for m in said if m.topic == camera.name]
    assert camera.clock is Clock.SENSOR
    assert camera.t.tolist() == [m.sensor for m in mine]
    assert camera.stamps[Clock.RECEIVE].tolist() == [m.publish for m in mine]
    assert camera.stamps[Clock.LOG].tolist() == [m.log for m in mine]
    true = camera.stamps[Clock.RECEIVE] - round(rig.send * 1e9) - EPOCH
    ppm = 1e6 * (np.polyfit(true, (camera.t - EPOCH).astype(float), 1)[0] - 1)
    assert abs(ppm - 500) < 1
    state = stream(ep, "/joint_states.position")
    assert state.names == JOINTS
    assert state.unit == "rad"
    assert np.array_equal(state.stamps[Clock.LOG] - state.t, np.full(len(state), 5_000_000))


def test_a_gap_of_one_stream_and_of_all(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", Rig(1.0, lost=(("/imu", 0.2, 0.3), ("all", 0.6, 0.7))))
    ep = one(tmp_path)
    holes = {s.name: np.flatnonzero(np.diff(s.t) > 50_000_000).size for s in ep.streams if len(s) > 1}
    assert holes["/imu"] == 2
    assert {holes[n] for n in holes if n != "/imu"} == {1}


def test_clocks_that_were_never_set_are_kept_and_not_used(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", Rig(0.2, unset=True))
    state = stream(one(tmp_path), "/joint_states.position")
    assert state.clock is Clock.RECEIVE
    assert not state.stamps[Clock.SENSOR].any()
    assert set(state.stamps) == {Clock.SENSOR, Clock.LOG}


def test_the_same_rig_reads_alike_from_every_storage(tmp_path: Path) -> None:
    rig = Rig(0.3)
    write_mcap(tmp_path / "a.mcap", rig)
    for storage in ("sqlite3", "mcap"):
        write_bag(tmp_path / storage / "bag", rig, storage)
        a, b = one(tmp_path / "a.mcap"), one(tmp_path / storage, "rosbag2")
        assert [s.name for s in a.streams] == [s.name for s in b.streams]
        for left, right in zip(a.streams, b.streams, strict=True):
            assert np.array_equal(left.x, right.x), left.name
        assert np.array_equal(stream(a, "/imu").t, stream(b, "/imu").t)
        assert Clock.RECEIVE not in stream(b, "/imu").stamps


def test_droid_has_a_clock_for_each_source() -> None:
    (ep,) = opened("droid", GOLDEN / "droid/input")
    state, camera = stream(ep, "observation/robot_state/joint_positions"), stream(ep, "wrist")
    log = state.stamps[Clock.LOG]
    assert (state.clock, camera.clock) == (Clock.SENSOR, Clock.SENSOR)
    assert set((state.t - log).tolist()) == {-3_000_000}
    assert set((state.stamps[Clock.RECEIVE] - log).tolist()) == {4_000_000}
    assert set((camera.stamps[Clock.RECEIVE] - log).tolist()) == {10_000_000}
    assert set((camera.t - log).tolist()) == {-30_000_000}
    asked = stream(ep, "action/joint_position")
    assert asked.clock is Clock.RECEIVE
    assert asked.names == state.names
    lost = [(c.about, c.stream) for c in ep.claims if c.size]
    assert lost == [("video", "ext1")]


# --------------------------------------------------------------------------------------------- messages


def cdr_types() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def write_topic(file: Path, kind: str, values: list[Any], big: bool = False) -> None:
    from mcap.writer import Writer

    store = cdr_types()
    text, _ = store.generate_msgdef(kind, ros_version=2)
    with file.open("wb") as out:
        writer = Writer(out)
        writer.start("ros2", "assay")
        schema = writer.register_schema(kind, "ros2msg", text.encode())
        channel = writer.register_channel("/topic", "cdr", schema)
        for i, value in enumerate(values):
            data = bytes(store.serialize_cdr(value, kind, little_endian=not big))
            writer.add_message(channel, EPOCH + i * 10**7, data, EPOCH + i * 10**7)
        writer.finish()


@pytest.mark.parametrize("big", [False, True])
def test_joints_follow_their_names_and_may_be_absent(tmp_path: Path, big: bool) -> None:
    types = cdr_types().types
    time = types["builtin_interfaces/msg/Time"](sec=EPOCH // 10**9, nanosec=0)
    header = types["std_msgs/msg/Header"](stamp=time, frame_id="x")
    state = types["sensor_msgs/msg/JointState"]
    none = np.zeros(0)
    values = [
        state(header, ["a", "b"], np.array([1.0, 2.0]), none, none),
        state(header, ["b", "a"], np.array([2.0, 1.0]), np.array([0.5, 0.25]), none),
        state(header, ["b"], np.array([3.0]), none, none),
    ]
    write_topic(tmp_path / "a.mcap", "sensor_msgs/msg/JointState", values, big)
    ep = one(tmp_path)
    q = stream(ep, "/topic.position")
    assert q.names == ("a", "b")
    assert np.array_equal(q.x, [[1, 2], [1, 2], [np.nan, 3]], equal_nan=True)
    velocity = stream(ep, "/topic.velocity")
    assert velocity.names == ("b", "a")
    assert len(velocity) == 1


def test_every_known_schema_decodes_as_rosbags_does(tmp_path: Path) -> None:
    """Layouts of types with everything in them: nested arrays, strings between numbers, fixed arrays."""
    store, chance = cdr_types(), np.random.default_rng(3)
    t = store.types
    header = t["std_msgs/msg/Header"](t["builtin_interfaces/msg/Time"](EPOCH // 10**9, 5), "map")

    def transform(child: str) -> Any:
        xyz = t["geometry_msgs/msg/Vector3"](*chance.normal(size=3))
        q = t["geometry_msgs/msg/Quaternion"](*chance.normal(size=4))
        return t["geometry_msgs/msg/TransformStamped"](
            header, child, t["geometry_msgs/msg/Transform"](xyz, q)
        )

    trees = [[transform(c) for c in ("pelvis", "cup object", "hand")[: 1 + i % 3]] for i in range(7)]
    values = [t["tf2_msgs/msg/TFMessage"](x) for x in trees]
    write_topic(tmp_path / "a.mcap", "tf2_msgs/msg/TFMessage", values)
    ep = one(tmp_path)
    assert [(s.name, s.role, len(s)) for s in ep.streams] == [
        ("/topic.pelvis", Role.BASE_POSE, 7),
        ("/topic.cup object", Role.OBJECT_POSE, 4),
        ("/topic.hand", Role.OTHER, 2),
    ]
    hand = [x[2].transform for x in trees if len(x) == 3]
    want = [[h.translation.x, h.translation.y, h.translation.z, h.rotation.w, h.rotation.x, h.rotation.y,
             h.rotation.z] for h in hand]  # fmt: skip
    assert np.array_equal(stream(ep, "/topic.hand").x, want)
    assert stream(ep, "/topic.hand").frame == "map"
    assert stream(ep, "/topic.hand").clock is Clock.SENSOR


def write_raw(file: Path, kind: str, definition: str, data: list[bytes]) -> None:
    from mcap.writer import Writer

    with file.open("wb") as out:
        writer = Writer(out)
        writer.start("ros2", "assay")
        schema = writer.register_schema(kind, "ros2msg", definition.encode())
        channel = writer.register_channel("/topic", "cdr", schema)
        for i, one_ in enumerate(data):
            writer.add_message(channel, EPOCH + i * 10**7, one_, EPOCH + i * 10**7)
        writer.finish()


def test_motors_of_an_unknown_type_are_joints_by_their_words(tmp_path: Path) -> None:
    """Unitree's low state: an array of structures, each field of which is one stream."""
    split = "=" * 80
    definition = f"""uint8 mode
unitree_hg/MotorState[3] motor_state
uint32 tick
{split}
MSG: unitree_hg/MotorState
uint8 mode
float32 q
float32 dq
float32 tau_est
int16[2] temperature
"""
    data = []
    for i in range(4):
        values = [struct.pack("<fff2h", i + m, 0.5, 2.0, 30, 31) for m in range(3)]
        # Structures are not aligned, their numbers are: the first mode follows the message's own at once.
        data.append(b"\0\1\0\0\5\1\0\0" + b"\1\0\0\0".join(values) + struct.pack("<I", i))
    write_raw(tmp_path / "a.mcap", "unitree_hg/msg/LowState", definition, data)
    ep = one(tmp_path)
    q, dq = stream(ep, "/topic.motor_state.q"), stream(ep, "/topic.motor_state.dq")
    assert (q.role, q.unit, q.x[:, 2].tolist()) == (Role.JOINT_POSITION, "rad", [2, 3, 4, 5])
    assert (dq.role, dq.unit) == (Role.JOINT_VELOCITY, "rad/s")
    assert stream(ep, "/topic.motor_state.tau_est").role is Role.JOINT_TORQUE
    assert stream(ep, "/topic").names == ("mode", "tick")
    assert stream(ep, "/topic.motor_state.temperature").x.shape == (4, 6)


def test_every_sample_of_sound_has_its_own_time(tmp_path: Path) -> None:
    definition = """builtin_interfaces/Time timestamp
uint8[] data
string format
uint32 sample_rate
uint32 number_of_channels
"""
    data = []
    for i in range(3):
        sound = (np.arange(8) + 8 * i).astype("<i2").tobytes()
        head = struct.pack("<iII", EPOCH // 10**9, i * 500_000, len(sound)) + sound
        data.append(b"\0\1\0\0" + head + struct.pack("<I", 8) + b"pcm-s16\0" + struct.pack("<II", 8000, 2))
    write_raw(tmp_path / "a.mcap", "foxglove_msgs/msg/RawAudio", definition, data)
    sound_ = stream(one(tmp_path), "/topic")
    assert sound_.role is Role.AUDIO
    assert sound_.clock is Clock.SENSOR
    assert np.array_equal(sound_.x * 32768, np.arange(24).reshape(12, 2))
    assert (sound_.t - EPOCH).tolist() == [125_000 * i for i in range(12)]


def test_messages_compressed_one_by_one(tmp_path: Path) -> None:
    path = bag(tmp_path, **{"compression_mode: ''": "compression_mode: MESSAGE"})
    (base,) = path.parent.glob("*.db3")
    with sqlite3.connect(base) as link:
        for key, value in link.execute("select id, data from messages").fetchall():
            link.execute("update messages set data = ? where id = ?", (zstandard.compress(value), key))
    ep = one(tmp_path, "rosbag2")
    assert stream(ep, "/joint_states.position").x.shape == (10, 7)
    camera = stream(ep, "/camera/image/compressed")
    assert camera.clip is not None
    assert len(luma(camera.clip, []).t) == len(camera)
    with sqlite3.connect(base) as link:
        bomb = zstandard.compress(bytes(1 << 29))
        link.execute("update messages set data = ? where id = 1", (bomb,))
    with pytest.raises(UnreadableError, match="inflates beyond measure"):
        one(tmp_path, "rosbag2")


def test_layouts_without_end_stay_linear() -> None:
    """Texts that all differ make as many layouts as there are messages; each is walked once."""
    walked = 0
    data = np.arange(4000, dtype=np.uint8)

    def walk(message: bytes) -> Any:
        nonlocal walked
        walked += 1
        from assay.recording.layout import Layout

        first = np.frombuffer(message, np.uint8)
        return Layout(first, np.full(len(message), 255, np.uint8), (), {}, {})

    found = list(pieces(data, np.arange(0, 4000, 8), np.full(500, 8), walk))
    assert sum(len(p.rows) for p in found) == 500
    assert walked <= 500


@pytest.mark.parametrize(
    ("name", "role", "request_"),
    [
        ("/left_arm/joint_states", Role.JOINT_POSITION, False),
        ("/gello/joint_command", Role.JOINT_POSITION, True),
        ("/lowstate.motor_state.dq", Role.JOINT_VELOCITY, False),
        ("/ee_pose", Role.OTHER, False),
        ("/wristForce", Role.FORCE_TORQUE, False),
        ("/unrelated", Role.OTHER, False),
    ],
)
def test_words_tell_roles(name: str, role: Role, request_: bool) -> None:
    assert by_words(name) is role
    assert is_request(name) is request_


def test_stamps_of_any_size() -> None:
    assert stamps_of([1, 2**64 - 1]).tolist() == [1, 2**62]
    assert stamps_of([-5, 7]).tolist() == [-5, 7]


# --------------------------------------------------------------------------------------------- pictures


class Means:
    def __init__(self) -> None:
        self.found: list[float] = []

    def feed(self, luma: Any, t: Any, which: Any) -> None:
        self.found += luma.mean(axis=(1, 2))[which].tolist()

    def value(self) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("case", "name", "topic", "step"),
    [
        ("mcap_protobuf", "mcap", "/head", 40.0),
        ("mcap_ros2", "mcap", "/camera/image/compressed", 10.0),
        ("rosbag2_sqlite", "rosbag2", "/camera/image/compressed", None),
        ("rosbag2_split", "rosbag2", "/camera/image/compressed", 0.0),
    ],
)
def test_pictures_in_messages_are_decoded(case: str, name: str, topic: str, step: float | None) -> None:
    camera = stream(one(GOLDEN / case / "input", name), topic)
    assert camera.clip is not None
    seen = Means()
    done = luma(camera.clip, [seen])
    assert (done.asked, len(done.t), done.error) == (len(camera), len(camera), "")
    if step is not None:
        assert np.allclose(np.diff(seen.found), step, atol=3)
    assert bool(done.key[0])


def test_plain_pixels_and_broken_pictures(tmp_path: Path) -> None:
    types = cdr_types().types
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](EPOCH // 10**9, 0), "")
    image = types["sensor_msgs/msg/Image"]
    pixels = np.full((4, 10, 3), 128, np.uint8)
    rows = np.concatenate([pixels.reshape(4, 30), np.zeros((4, 2), np.uint8)], axis=1).reshape(-1)
    values = [image(header, 4, 10, "rgb8", 0, 32, rows), image(header, 4000, 10, "rgb8", 0, 32, rows)]
    write_topic(tmp_path / "a.mcap", "sensor_msgs/msg/Image", values)
    camera = stream(one(tmp_path), "/topic")
    assert camera.clip is not None
    seen = Means()
    done = luma(camera.clip, [seen])
    assert len(done.missing) == 1
    assert "no picture" in done.error
    assert 115 < seen.found[0] < 140


# ------------------------------------------------------------------------------------------ strange files


def mcap_of(*records: tuple[int, bytes]) -> bytes:
    body = b"".join(struct.pack("<BQ", op, len(data)) + data for op, data in records)
    header = struct.pack("<BQ", 1, 8) + bytes(8)
    end = struct.pack("<BQ", 15, 4) + bytes(4) + struct.pack("<BQ", 2, 20) + bytes(20)
    return MAGIC + header + body + end + MAGIC


def chunk(data: bytes, size: int, crc: int = 0, kind: bytes = b"zstd") -> bytes:
    head = struct.pack("<QQQII", 0, 0, size, crc, len(kind)) + kind
    return head + struct.pack("<Q", len(data)) + data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no MCAP"),
        (MAGIC, "has no end"),
        (mcap_of((6, chunk(zstandard.compress(bytes(100)), 1 << 40))), "inflates beyond measure"),
        (mcap_of((6, chunk(zstandard.compress(bytes(100)), 99))), "another size than it says"),
        (mcap_of((6, chunk(b"rubbish", 100))), "compressed data are broken"),
        (mcap_of((6, chunk(zstandard.compress(bytes(9)), 9, 7))), "does not fit its checksum"),
        (mcap_of((6, chunk(zstandard.compress(bytes(100)), 100, 0, b"lzma"))), "compression is not known"),
        (mcap_of((6, chunk(b"\x05" + struct.pack("<Q", 1 << 60), 9, 0, b""))), "beyond its chunk"),
        (mcap_of((5, b"123")), "shorter than its header"),
        (mcap_of((3, b"\1\0\xff\xff\xff\xff")), "shorter than its fields"),
    ],
)
def test_hostile_mcap(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(data)
    with pytest.raises(UnreadableError, match=says):
        one(tmp_path)


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    packed = zstandard.compress(bytes(1 << 26))
    (tmp_path / "a.mcap").write_bytes(mcap_of((6, chunk(packed, 1000))))
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="another size"):
        open_file(tmp_path, "a.mcap")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (b"\0\1\0\0" + b"\xff" * 4, "beyond the message|before its fields"),
        (b"\0\7\0\0" + bytes(40), "plain CDR"),
        (b"", "plain CDR"),
        (b"\0\1\0\0" + bytes(12) + struct.pack("<I", 1 << 30), "beyond the message"),
    ],
)
def test_malformed_messages(message: bytes, says: str, tmp_path: Path) -> None:
    from mcap.writer import Writer

    text, _ = cdr_types().generate_msgdef("sensor_msgs/msg/JointState", ros_version=2)
    with (tmp_path / "a.mcap").open("wb") as out:
        writer = Writer(out)
        writer.start("ros2", "assay")
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", text.encode())
        writer.add_message(writer.register_channel("/q", "cdr", schema), 1, message, 1)
        writer.finish()
    with pytest.raises(UnreadableError, match=says):
        one(tmp_path)


@pytest.mark.parametrize(
    ("language", "definition"),
    [
        ("ros2msg", b"a/B b\n" + b"=" * 80 + b"\nMSG: a/B\na/B b"),
        ("ros2msg", b"]]["),
        ("ros2msg", b"x" * (2 << 20)),
        ("ros2idl", b"module a { struct B {"),
        ("protobuf", b"\xff\xff"),
    ],
)
def test_malformed_definitions_leave_the_stamps(language: str, definition: bytes, tmp_path: Path) -> None:
    from mcap.writer import Writer

    with (tmp_path / "a.mcap").open("wb") as out:
        writer = Writer(out)
        writer.start("", "assay")
        encoding = "protobuf" if language == "protobuf" else "cdr"
        schema = writer.register_schema("a/msg/B", language, definition)
        writer.add_message(writer.register_channel("/q", encoding, schema), 5, b"\0\1\0\0\1", 5)
        writer.finish()
    if b"a/B b" in definition:  # it can be read, but nests without end
        with pytest.raises(UnreadableError, match="nested"):
            one(tmp_path)
        return
    ep = one(tmp_path)
    assert stream(ep, "/q").t.tolist() == [5]
    assert "/q" in ep.meta["undecoded"]


def bag(folder: Path, **change: Any) -> Path:
    write_bag(folder / "bag", Rig(0.1))
    path = folder / "bag/metadata.yaml"
    text = path.read_text("utf-8")
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("bag.db3", "../../outside.db3", "outside the corpus"),
        ("bag.db3", "other.db3", "absent"),
        ("rosbag2_bagfile_information:", "rosbag2_bagfile_information: [", "not YAML"),
        ("compression_mode: ''", "compression_mode: FILE", "compressed as a whole"),
        (
            "rosbag2_bagfile_information:",
            "rosbag2_bagfile_information: !!python/object:os.system",
            "not YAML",
        ),
    ],
)
def test_hostile_metadata(old: str, new: str, says: str, tmp_path: Path) -> None:
    path = bag(tmp_path)
    text = path.read_text("utf-8")
    if old not in text:
        pytest.fail(text)
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(UnreadableError, match=says):
        one(tmp_path, "rosbag2")


def test_journals_views_and_types_of_a_database(tmp_path: Path) -> None:
    bag(tmp_path)
    (base,) = (tmp_path / "bag").glob("*.db3")
    base.with_name(base.name + "-wal").write_bytes(b"x")
    with pytest.raises(UnreadableError, match="journal"):
        one(tmp_path, "rosbag2")
    base.with_name(base.name + "-wal").unlink()
    with sqlite3.connect(base) as link:
        link.execute("update messages set data = 'text' where id = 2")
    with pytest.raises(UnreadableError, match="other types"):
        one(tmp_path, "rosbag2")
    with sqlite3.connect(base) as link:
        link.execute("alter table messages rename to m")
        link.execute("create view messages as select * from m")
    with pytest.raises(UnreadableError, match="no bag"):
        one(tmp_path, "rosbag2")


def test_counts_and_files_that_the_metadata_get_wrong(tmp_path: Path) -> None:
    path = bag(tmp_path)
    (base,) = (tmp_path / "bag").glob("*.db3")
    shutil.copy(base, base.with_name("left_over.db3"))
    path.write_text(path.read_text("utf-8").replace("message_count: 10", "message_count: 12"), "utf-8")
    wrong = {(c.about, c.size) for c in one(tmp_path, "rosbag2").claims if c.size}
    assert wrong == {("files of the bag", 1.0), ("messages of the bag", 2.0), ("message_count", 6.0)}


def bounds(folder: Path) -> dict[str, float]:
    return {c.about: c.size for c in one(folder, "rosbag2").claims if c.topic == "boundary"}


AGREED = {"starting_time": 0.0, "duration": 0.0, "end of the file": 0.0}


def test_begin_and_length_that_the_metadata_get_wrong(tmp_path: Path) -> None:
    """Six years early and an hour long; sizes are messages at their mean distance."""
    path = bag(tmp_path)
    text = path.read_text("utf-8")
    assert bounds(tmp_path) == AGREED
    ep = one(tmp_path, "rosbag2")
    log = np.concatenate([s.stamped(Clock.LOG) for s in ep.streams])
    lasted, count = int(np.ptp(log)), sum(t["messages"] for t in ep.meta["topics"].values())
    start, years, hour = int(log.min()), 6 * 31_557_600 * 10**9, 3_600 * 10**9
    for name, old, new in (("starting_time", start, start - years), ("duration", lasted, hour)):
        path.write_text(text.replace(f": {old}\n", f": {new}\n"), "utf-8")
        off = round(abs(new - old) / (lasted / (count - 1)))
        assert bounds(tmp_path) == AGREED | {name: off}
        listing = reader("rosbag2").discover(tmp_path)  # the roles that are asked for hide no message
        some = reader("rosbag2").open(listing, listing.refs[0], frozenset({Role.IMU}), Sheet())
        assert {c.about for c in some.claims if c.topic == "boundary" and c.size} == {name}
    path.write_text(text.replace(f": {start}\n", f": {start + 900_000}\n"), "utf-8")
    assert bounds(tmp_path) == AGREED  # rounded to milliseconds
    path.write_text(text.replace(f": {start}\n", f": {start + 2_000_000}\n"), "utf-8")
    assert bounds(tmp_path)["starting_time"] == 1.0  # nearer than half a message is still another stamp
    path.write_text(text.replace(f": {start}\n", f": 0x{'f' * 9000}\n"), "utf-8")
    assert bounds(tmp_path)["starting_time"] > 1e9


def test_a_bag_whose_metadata_state_no_begin_is_not_taken_for_sound(tmp_path: Path) -> None:
    path = bag(tmp_path, starting_time="begun")
    found = bounds(tmp_path)
    assert np.isnan(found["starting_time"])
    assert found["duration"] == 0
    assert one(tmp_path, "rosbag2").source.silent == ("pointer",)
    path.unlink()
    assert bounds(tmp_path) == {}
    assert "boundary" in one(tmp_path, "rosbag2").source.silent


def test_a_database_without_metadata_is_read_and_said(tmp_path: Path) -> None:
    bag(tmp_path).unlink()
    ep = one(tmp_path, "rosbag2")
    assert [c.about for c in ep.claims if c.size] == ["metadata.yaml"]
    assert len(stream(ep, "/imu")) == 10


# ------------------------------------------------------------------------------------------- real files


@pytest.mark.real
def test_real_recordings(real_data: Path) -> None:
    """As many messages as the library of the format finds, with the same times."""
    from mcap.reader import make_reader

    folder = real_data / "teleop"
    for path in sorted(folder.rglob("*.mcap")):
        with path.open("rb") as file:
            said = [(m.log_time, m.publish_time, len(m.data))
                    for _, _, m in make_reader(file).iter_messages(log_time_order=False)]  # fmt: skip
        recording = open_file(path.parent, path.name)
        found = [
            row
            for b in recording.batches(frozenset(t.id for t in recording.topics))
            for row in zip(b.log.tolist(), b.publish.tolist(), b.size.tolist(), strict=True)
        ]
        assert found == said
    eps = opened("mcap", folder / "mcap_franka_vr")
    assert [ep.outcome for ep in eps] == ["True", "True"]
    assert stream(eps[1], "/joint_states.position").names[0] == "fr3_joint1"
    bags = opened("rosbag2", folder / "rosbag2_fixtures")
    assert {ep.id.rpartition("/")[2]: sum(len(s) for s in ep.streams) for ep in bags} == {
        "empty_bag": 0, "wbag": 6074, "talker": 10, "wrong_rmw_test": 7,
    }  # fmt: skip


def test_the_inner_loop_is_quick(tmp_path: Path) -> None:
    """A guard against loops over messages: 20,000 of 29 joints, far below what one walk each would take."""
    import time

    types, store = cdr_types().types, cdr_types()
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](EPOCH // 10**9, 0), "")
    names, x = [f"joint_{i}" for i in range(29)], np.zeros(29)
    value = types["sensor_msgs/msg/JointState"](header, names, x, x, x)
    write_topic(tmp_path / "a.mcap", "sensor_msgs/msg/JointState", [value])
    data = bytes(store.serialize_cdr(value, "sensor_msgs/msg/JointState"))
    from assay.recording.decoding import decode
    from assay.recording.messages import Batch

    recording = open_file(tmp_path, "a.mcap")
    n = 20_000
    zero = np.zeros(n, np.int64)
    batch = Batch(np.frombuffer(data * n, np.uint8), zero + recording.topics[0].id, zero, zero,
                  np.arange(n) * len(data), zero + len(data))  # fmt: skip
    before = time.process_time()
    (piece,) = decode(recording.topics[0], batch)
    took = (time.process_time() - before) / n * 1e6
    assert piece.numbers["position"].shape == (n, 29)
    assert took < 20, f"{took:.1f} µs a message"
