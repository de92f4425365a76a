"""Small files of every motion layout. As a script, it writes each ``<case>/input`` and ``episode.json`` anew.

Joblib and PyTorch are not needed to read such files and are not installed: the joblib cases are kept as they
were written by joblib 1.6 (``JOBLIB`` below, run where it is), the tensor archive is assembled by hand.
"""

from __future__ import annotations

import json
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FRAMES = 4


def base(order: str) -> np.ndarray[Any, Any]:
    """Upright poses that face sideways: which order is right shows at once."""
    yaw = np.linspace(1.4, 1.7, FRAMES)
    q = np.stack([np.cos(yaw / 2), 0.02 + 0 * yaw, 0.01 + 0 * yaw, np.sin(yaw / 2)], axis=1)
    return q if order == "wxyz" else q[:, [1, 2, 3, 0]]


def places() -> np.ndarray[Any, Any]:
    step = np.linspace(0, 0.1, FRAMES)
    return np.stack([step, 0.5 * step, 0.78 + 0 * step], axis=1)


def angles(joints: int) -> np.ndarray[Any, Any]:
    """Knees beyond what other joints may reach, so that orders differ in their limits."""
    x = 0.01 * np.arange(joints) + 0.001 * np.arange(FRAMES)[:, None]
    x[:, [3, 9]] += 1.2
    return x


def body(up: str = "z") -> np.ndarray[Any, Any]:
    """24 SMPL joints of a standing person, (n, 24, 3)."""
    height = [0.9, 0.8, 0.8, 1.0, 0.45, 0.45, 1.1, 0.08, 0.08, 1.2, 0.02, 0.02, 1.45, 1.4, 1.4, 1.6]
    height += [1.4, 1.4, 1.15, 1.15, 0.9, 0.9, 0.8, 0.8]
    x = np.zeros((FRAMES, 24, 3))
    x[..., 2] = height
    x[..., 0] = 0.01 * np.arange(FRAMES)[:, None]
    x[..., 1] = 0.1 * (np.arange(24) % 3 - 1)
    return np.stack([x[..., 0], x[..., 2], -x[..., 1]], axis=-1) if up == "y" else x


def rotvec(q: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    angle = 2 * np.arccos(q[:, :1])
    return q[:, 1:] / np.sin(angle / 2) * angle


def table(folder: Path, name: str, order: str) -> None:
    rows = np.concatenate([places(), base(order), angles(29)], axis=1)
    np.savetxt(folder / name, rows, delimiter=",", fmt="%.6f")


def csv_wxyz(folder: Path) -> None:
    table(folder, "walk.csv", "wxyz")


def csv_xyzw(folder: Path) -> None:
    table(folder, "walk_120fps.csv", "xyzw")


def csv_undecided(folder: Path) -> None:
    """Yaw near zero: both orders leave the pelvis upright."""
    q = np.tile([0.0, 0.01, 0.02, 1.0], (FRAMES, 1))
    np.savetxt(
        folder / "stand.csv", np.concatenate([places(), q, angles(29)], axis=1), delimiter=",", fmt="%.6f"
    )


def bodies(count: int) -> dict[str, Any]:
    pos = np.zeros((FRAMES, count, 3)) + places()[:, None]
    return {"body_pos_w": pos, "body_quat_w": np.zeros((FRAMES, count, 4)) + base("wxyz")[:, None]}


def beyondmimic(folder: Path) -> None:
    np.savez(folder / "clip.npz", fps=[50], joint_pos=angles(29), joint_vel=0 * angles(29), **bodies(2))


def names(count: int) -> np.ndarray[Any, Any]:
    return np.array([f"j{i}_joint" for i in range(count)])


def holosoma(folder: Path) -> None:
    q = np.concatenate([places(), base("wxyz"), angles(12)], axis=1)
    thing = {"object_pos_w": places() + 1, "object_quat_w": base("wxyz")}
    np.savez(
        folder / "clip.npz",
        fps=np.array([50]),
        joint_pos=q,
        joint_vel=np.zeros((FRAMES, 18)),
        joint_names=names(12),
        body_names=np.array(["world", "pelvis"]),
        **bodies(2),
        **thing,
    )


def holosoma_retarget(folder: Path) -> None:
    thing = np.concatenate([places() + 1, base("wxyz")], axis=1)
    np.savez(
        folder / "a.npz", qpos=np.concatenate([places(), base("wxyz"), angles(29), thing], axis=1), fps=30
    )
    np.savez(
        folder / "b_quat_first.npz",
        fps=1 / 30,
        qpos=np.concatenate([base("wxyz"), places(), angles(29)], axis=1),
        human_joints=body(),
    )


def loco(folder: Path) -> None:
    t = np.arange(40) / 500
    keys = [
        "pelvis_tx",
        "pelvis_tz",
        "pelvis_ty",
        "pelvis_tilt",
        "pelvis_list",
        "pelvis_rotation",
        "knee_angle_r",
    ]
    q = {f"q_{k}": np.sin(20 * t + i) for i, k in enumerate(keys)}
    np.savez(
        folder / "walk_UnitreeH1.npz", **q, **{f"dq_{k}": 20 * np.cos(20 * t + i) for i, k in enumerate(keys)}
    )


def amp(folder: Path) -> None:
    np.savez(
        folder / "walk.npz",
        fps=np.int64(60),
        dof_names=names(28),
        body_names=np.array(["pelvis", "torso"]),
        dof_positions=angles(28),
        dof_velocities=0 * angles(28),
        body_positions=bodies(2)["body_pos_w"],
        body_rotations=bodies(2)["body_quat_w"],
    )


def smpl(folder: Path) -> None:
    np.savez(
        folder / "clip.npz",
        smpl_joints=body("y").astype(np.float32),
        fps=np.float32(50),
        pose_aa=np.zeros((FRAMES, 72)),
        transl=places(),
    )


def amass(folder: Path) -> None:
    np.savez(
        folder / "old_poses.npz",
        poses=np.zeros((FRAMES, 156)),
        trans=places(),
        betas=np.zeros(16),
        gender=np.array(b"male"),
        mocap_framerate=120.0,
    )
    np.savez(
        folder / "stageii.npz",
        poses=np.zeros((FRAMES, 165)),
        trans=places(),
        betas=np.zeros(16),
        mocap_frame_rate=59.94,
    )


AXES = "yxzyyxyxzyyxzxyyxzyyxzy"


def clip(joints: int, axes: str, order: str) -> dict[str, Any]:
    dof = angles(joints).astype(np.float32)
    aa = np.zeros((FRAMES, joints + 4, 3), np.float32)
    aa[:, 0] = rotvec(base("wxyz"))
    for i, axis in enumerate(axes):
        aa[:, 1 + i, "xyz".index(axis)] = dof[:, i]
    return {
        "root_trans_offset": places().astype(np.float32),
        "pose_aa": aa,
        "dof": dof,
        "root_rot": base(order),
        "smpl_joints": body().astype(np.float32),
        "fps": 30,
    }


def asap(folder: Path) -> None:
    if JOBLIB:
        import joblib

        joblib.dump({"0-walk": clip(23, AXES, "xyzw")}, folder / "plain.pkl")
        joblib.dump({"0-walk": clip(23, AXES, "xyzw")}, folder / "zlib.pkl", compress=("zlib", 3))


def h2o(folder: Path) -> None:
    clips = {name: clip(19, "zxyyyzxyyyzyxzyyxzy", "xyzw") for name in ("punch", "wave")}
    (folder / "clips.pkl").write_bytes(pickle.dumps(clips, 4))


def sonic(folder: Path) -> None:
    one = clip(29, "", "wxyz")
    del one["pose_aa"], one["smpl_joints"]
    (folder / "clip.pkl").write_bytes(pickle.dumps({"run": one}, 5))


def phc_human(folder: Path) -> None:
    one = {
        "pose_aa": np.zeros((FRAMES, 72)),
        "root_trans_offset": places(),
        "trans_orig": places(),
        "beta": np.zeros(10),
        "gender": "neutral",
        "fps": 30,
    }
    (folder / "human.pkl").write_bytes(pickle.dumps(OrderedDict(walk=one), 2))


def gmr(folder: Path) -> None:
    one = {
        "fps": 30.0,
        "root_pos": places(),
        "root_rot": base("xyzw"),
        "dof_pos": angles(29),
        "local_body_pos": bodies(2)["body_pos_w"],
        "link_body_list": ["pelvis", "torso"],
    }
    (folder / "clip.pkl").write_bytes(pickle.dumps(one, 4))
    (folder / "single.pkl").write_bytes(
        pickle.dumps(one | {"local_body_pos": None, "link_body_list": None}, 0)
    )


def npy(folder: Path) -> None:
    np.save(folder / "walk_10fps.npy", angles(19))
    robot = {"root_trans": places(), "root_ori": base("xyzw"), "dof_pos": angles(29), "fps": 30}
    np.save(folder / "phuma.npy", np.array(robot, dtype=object), allow_pickle=True)
    np.save(folder / "human.npy", np.concatenate([places(), np.zeros((FRAMES, 66))], axis=1))
    np.save(folder / "heightmap.npy", np.zeros((5, 30), np.float32))
    (folder / "keys").mkdir(exist_ok=True)
    np.save(folder / "keys/smpl_keypoints.npy", body())
    for side in ("left", "right"):
        np.save(folder / f"keys/{side}_foot_contact.npy", np.arange(FRAMES) % 2 == (side == "left"))


def cmu(folder: Path) -> None:
    import h5py

    with h5py.File(folder / "clips.h5", "w", track_order=False) as file:
        for name in ("clip_1", "clip_2"):
            group = file.create_group(name)
            group.attrs.update(dt=0.05, num_steps=FRAMES + (name == "clip_2"))
            for path, x in {
                "walkers/walker_0/joints": angles(12),
                "walkers/walker_0/joints_velocity": angles(12),
                "walkers/walker_0/position": places(),
                "walkers/walker_0/quaternion": base("wxyz"),
                "props/prop_0/position": places(),
                "props/prop_0/quaternion": base("wxyz"),
            }.items():
                group[path] = x.T


BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Foot
  {
    OFFSET 0 -90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0 15
    }
  }
  JOINT Head
  {
    OFFSET 0 70 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 10 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0083333
"""


def bvh(folder: Path) -> None:
    rows = [f"0 {90 + i} 0 {10 * i} 0 0 0 {30 * i} 0 0 0 {45 * i}" for i in range(3)]
    (folder / "clip.bvh").write_text(BVH + "\n".join(rows) + "\n")


def c3d(folder: Path) -> None:
    for name, order, code, real in (
        ("intel", "<", 84, True),
        ("mips", ">", 86, True),
        ("ints", "<", 84, False),
    ):
        (folder / f"{name}.c3d").write_bytes(c3d_bytes(order, code, real))


def c3d_bytes(order: str, code: int, real: bool) -> bytes:
    labels, scale = ["LHEE", "LFHD"], -0.1 if real else 0.5

    def group(number: int, name: str) -> bytes:
        head = bytes([len(name), 256 - number]) + name.encode()
        return head + struct.pack(f"{order}H", 3) + b"\0"

    def param(name: str, kind: int, shape: list[int], data: bytes) -> bytes:
        rest = bytes([kind % 256, len(shape), *shape]) + data + b"\0"
        return bytes([len(name), 1]) + name.encode() + struct.pack(f"{order}H", len(rest) + 2) + rest

    text = "".join(label.ljust(4) for label in labels).encode()
    said = group(1, "POINT") + param("USED", 2, [], struct.pack(f"{order}h", 2))
    said += param("SCALE", 4, [], struct.pack(f"{order}f", scale)) + param("UNITS", -1, [2], b"mm")
    said += param("RATE", 4, [], struct.pack(f"{order}f", 100.0)) + param("LABELS", -1, [4, 2], text)
    said += param("FRAMES", 2, [], struct.pack(f"{order}h", FRAMES))
    said += param("DATA_START", 2, [], struct.pack(f"{order}h", 3)) + b"\0\0"
    head = bytes([2, 0x50]) + struct.pack(f"{order}5H", 2, 0, 1, FRAMES, 0)
    head += struct.pack(f"{order}fHHf", scale, 3, 0, 100.0)
    points = np.zeros((FRAMES, 2, 4))
    points[:, 0, :3], points[:, 1, :3] = [10, 20, 30], [10, 20, 1700]
    points[1, 1] = [0, 0, 0, -1]
    stored = points.astype(f"{order}f4") if real else (points / [0.5, 0.5, 0.5, 1]).astype(f"{order}i2")
    return head.ljust(512, b"\0") + (bytes([1, 80, 1, code]) + said).ljust(512, b"\0") + stored.tobytes()


def tensor(x: np.ndarray[Any, Any], storage: str = "FloatStorage", extra: bytes = b"") -> bytes:
    """``data.pkl`` of one tensor, opcode by opcode as PyTorch writes it."""

    def number(n: int) -> bytes:
        return b"J" + struct.pack("<i", n)

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    shape = b"(" + b"".join(number(n) for n in x.shape) + b"t"
    stride = b"(" + b"".join(number(n // x.itemsize) for n in x.strides) + b"t"
    where = (
        b"(("
        + text("storage")
        + f"ctorch\n{storage}\n".encode()
        + text("0")
        + text("cpu")
        + number(x.size)
        + b"tQ"
    )
    order = b"ccollections\nOrderedDict\n)R"
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n"
        + where
        + number(0)
        + shape
        + stride
        + b"\x89"
        + order
        + b"tR"
        + extra
        + b"."
    )


def torch_file(path: Path, x: np.ndarray[Any, Any], data: bytes | None = None) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {
            "data.pkl": data or tensor(x),
            "byteorder": b"little",
            "data/0": x.tobytes(),
            "version": b"3\n",
        }.items():
            archive.writestr(zipfile.ZipInfo(f"clip/{name}"), content)


def omomo(folder: Path) -> None:
    x = np.zeros((2, 591), np.float32)
    people = np.zeros((2, 52, 3), np.float32)
    people[:, 13, 2], people[:, [4, 8], 2] = 1.6, 0.02
    x[:, 162:318] = people.reshape(2, 156)
    x[:, 318:325] = [1, 2, 0.5, 0, 0, 0.6, 0.8]
    x[:, 330] = 1
    torch_file(folder / "clip.pt", x)


CASES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "csv_wxyz": ("csv36", csv_wxyz),
    "csv_xyzw": ("csv36", csv_xyzw),
    "csv_undecided": ("csv36", csv_undecided),
    "beyondmimic": ("robot-npz", beyondmimic),
    "holosoma": ("robot-npz", holosoma),
    "holosoma_retarget": ("robot-npz", holosoma_retarget),
    "loco": ("robot-npz", loco),
    "amp": ("robot-npz", amp),
    "smpl": ("human-npz", smpl),
    "amass": ("human-npz", amass),
    "asap": ("motion-pickle", asap),
    "h2o": ("motion-pickle", h2o),
    "sonic": ("motion-pickle", sonic),
    "phc_human": ("motion-pickle", phc_human),
    "gmr": ("motion-pickle", gmr),
    "npy": ("motion-npy", npy),
    "cmu": ("cmu-hdf5", cmu),
    "bvh": ("bvh", bvh),
    "c3d": ("c3d", c3d),
    "omomo": ("omomo-pt", omomo),
}
JOBLIB = False


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
    "some",
    "clip",
    "limit_set",
    "sync",
    "statistics",
    "spans",
    "stamps",
}


def plain(value: Any) -> Any:
    """A value as JSON: arrays with their shape and two rows, claims and channels as one line."""
    if type(value).__name__ in ("Claim", "Channel"):
        return " | ".join(str(getattr(value, f)) for f in value.__dataclass_fields__)
    if hasattr(value, "__dataclass_fields__"):
        return {f: plain(getattr(value, f)) for f in value.__dataclass_fields__ if f not in LEFT_OUT}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return {"shape": str(value.shape), "rows": json.dumps(np.round(value[:2].astype(float), 5).tolist())}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if isinstance(value, bool | int | float | type(None)) else str(value)


def main() -> None:
    from assay import plugs

    for case, (reader, make) in CASES.items():
        folder = HERE / case / "input"
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        (HERE / case / "episode.json").write_text(text(plugs.readers()[reader], folder), "utf-8")


if __name__ == "__main__":
    JOBLIB = "--joblib" in sys.argv
    if JOBLIB:
        (HERE / "asap/input").mkdir(parents=True, exist_ok=True)
        asap(HERE / "asap/input")
    else:
        main()
