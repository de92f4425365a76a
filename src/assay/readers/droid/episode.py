"""Listing and opening DROID's episode folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, Final

import h5py
import numpy as np
import orjson
from numpy.typing import NDArray

from assay import hdf5
from assay.errors import UnreadableError
from assay.inside import open_inside, path_inside
from assay.model import Claim, Clip, Clock, Episode, Listing, Part, Ref, Role, Source, Stream, StreamDecl
from assay.motion.walk import Peek, files_of, share_of
from assay.reader import Probe
from assay.readers.droid.clocks import camera_stamps, request_stamps, robot_stamps
from assay.readers.droid.columns import COLUMNS, Column
from assay.recording.assembly import best_clock
from assay.sheet import Sheet

__all__ = ["NAME", "discover", "open_", "probe"]

NAME: Final = "droid"
SUFFIXES: Final = ("trajectory.h5",)
RATE: Final = Fraction(15)
MOST_METADATA: Final = 16 << 20
_ROLES: Final = ("wrist", "ext1", "ext2")
_FOLDERS: Final = ("recordings/MP4", ".")
Ints = NDArray[np.int64]


def peek(root: Path, file: str) -> list[Peek]:
    """One episode if the file has DROID's groups."""
    with hdf5.opened(root, file) as data:
        names = [n for n in ("observation/robot_state", "observation/timestamp", "action")
                 if isinstance(hdf5.at(data, n), h5py.Group)]  # fmt: skip
    return [Peek("trajectory")] if len(names) == 3 else []


def probe(path: Path) -> Probe:
    """How many of the first trajectories are DROID's."""
    return Probe(*share_of(path, SUFFIXES, peek, "DROID episodes"))


def discover(path: Path) -> Listing:
    """Every folder with a trajectory; streams and cameras as the first readable one has them."""
    root = path.parent if path.is_file() else path
    refs = []
    for _, file in files_of(path, SUFFIXES):
        folder = str(PurePosixPath(file).parent)
        refs.append(Ref(root.resolve().name if folder == "." else folder, (Part("trajectory", NAME, file),)))
    facts = {"format": "DROID raw", "fps": 15, "kind": "teleoperation", "robot_type": "franka_panda"}
    bare = Listing(NAME, root, tuple(refs), None, facts)
    return Listing(NAME, root, tuple(refs), None, facts, _declared(bare))


def _declared(listing: Listing) -> tuple[StreamDecl, ...]:
    for ref in listing.refs:
        try:
            ep = open_(listing, ref, None, Sheet())
        except UnreadableError:
            continue
        return tuple(StreamDecl(s.name, s.role, s.channels, s.rate, s.clock) for s in ep.streams)
    return ()


@dataclass(slots=True)
class _Open:
    """One episode in the making."""

    root: Path
    file: str
    want: frozenset[Role] | None
    rows: int = 0
    streams: list[Stream] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def add(self, name: str, role: Role, x: NDArray[Any], stamps: Mapping[Clock, Ints], **more: Any) -> None:
        """A stream on the best of its clocks, if it is wanted."""
        if self.want is None or role in self.want:
            clock = best_clock(stamps)
            others = {k: v for k, v in stamps.items() if k is not clock}
            made = Stream(name, role, stamps[clock], x, clock=clock, rate=RATE, stamps=others, **more)
            self.streams.append(made)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open an episode.

    Raises:
        UnreadableError: if its trajectory or its metadata are absent, cut or broken.
    """
    file = ref.parts[0].path
    said, where = _metadata(listing.root, file)
    ep = _Open(listing.root, file, want, files=[file, *([where] if where else [])])
    with hdf5.opened(listing.root, file) as data:
        ep.rows = _rows(data, file)
        _columns(ep, data)
        _cameras(ep, data, said)
        attributes = _attributes(data)
    found = {**attributes, **said}
    outcome = _outcome(ep, attributes, said)
    task = next((str(found[k]) for k in ("current_task", "language_instruction") if found.get(k)), None)
    conversions = ("stamps: milliseconds, seconds and nanoseconds to int64 ns", "joints: named as Franka's")
    return Episode(
        ref.id, tuple(ep.streams), task=task, outcome=outcome,
        source=Source(NAME, listing.root, tuple(ep.files), conversions, ("pointer",)),
        claims=tuple(ep.claims), declared=listing.streams,
        meta={"format": "DROID raw", "rows": ep.rows, **{k: v for k, v in found.items() if _plain(v)}},
    )  # fmt: skip


def _rows(data: Any, file: str) -> int:
    q = hdf5.at(data, "observation/robot_state/joint_positions")
    if not isinstance(q, h5py.Dataset) or len(q.shape) != 2:
        raise UnreadableError("the trajectory holds no joint positions", where=file)
    return int(q.shape[0])


def _columns(ep: _Open, data: Any) -> None:
    """Every known array of numbers, each row on its own clocks."""
    robot = robot_stamps(data, ep.file, ep.rows)
    asked = request_stamps(data, ep.file, ep.rows)
    for column in COLUMNS:
        x = hdf5.numbers(data, column.path, ep.file)
        if x is None:
            continue
        x = x.reshape(len(x), -1) if x.ndim in (1, 2) else x
        if x.ndim != 2 or x.shape[1] != len(column.channels):
            raise UnreadableError("an array has another shape", where=f"{ep.file}/{column.path}",
                                  found=str(x.shape), expected=f"n x {len(column.channels)}")  # fmt: skip
        _length(ep, column.path, len(x))
        if len(x) == ep.rows:
            stamps = asked if column.role in (Role.REQUEST, Role.EVENT) else robot
            ep.add(column.path, column.role, x.astype(np.float64), stamps, **_of(column))


def _of(column: Column) -> dict[str, Any]:
    return {"channels": column.channels, "frame": column.frame}


def _length(ep: _Open, name: str, rows: int) -> None:
    claim = Claim("boundary", "rows", str(ep.rows), str(rows), float(abs(rows - ep.rows)), name, ep.file)
    ep.claims.append(claim)


# ---------------------------------------------------------------------------------------------- cameras


def _cameras(ep: _Open, data: Any, said: Mapping[str, Any]) -> None:
    """Each camera that has stamps or a video, as a stream of rows; its pictures are the video's."""
    stamps = camera_stamps(data, ep.file, ep.rows)
    videos = _videos(ep)
    names = {str(said[f"{role}_cam_serial"]): role for role in _ROLES if said.get(f"{role}_cam_serial")}
    if said.get("trajectory_length") is not None:
        declared = said["trajectory_length"]
        off = float(abs(declared - ep.rows)) if isinstance(declared, int) else np.nan
        ep.claims.append(
            Claim("declared", "trajectory_length", str(declared), str(ep.rows), off, where=ep.file)
        )
    for serial in sorted({*stamps, *videos, *names}):
        name, video = names.get(serial, serial), videos.get(serial, "")
        there = 0.0 if video else 1.0
        found = "present" if video else "absent"
        ep.claims.append(
            Claim("file", "video", video or f"{serial}.mp4", found, there, name, video or ep.file)
        )
        if video and serial in stamps:
            empty = np.empty((ep.rows, 0))
            ep.files.append(video)
            ep.add(name, Role.CAMERA, empty, stamps[serial], clip=Clip(ep.root, video))
        elif video:
            ep.claims.append(Claim("file", "stamps", serial, "no stamps of this camera", 1.0, name, ep.file))


def _videos(ep: _Open) -> dict[str, str]:
    """Serial → its MP4, the single picture before the stereo one."""
    found: dict[str, str] = {}
    folder = PurePosixPath(ep.file).parent
    for below in _FOLDERS:
        real = path_inside(ep.root, (folder / below).as_posix())
        names = sorted(p.name for p in real.iterdir()) if real.is_dir() else []
        for name in (n for n in names if n.endswith(".mp4")):
            serial = name.removesuffix(".mp4").removesuffix("-stereo")
            if serial not in found or not name.endswith("-stereo.mp4"):
                found[serial] = (folder / below / name).as_posix()
    return found


# --------------------------------------------------------------------------------------------- metadata


def _metadata(root: Path, file: str) -> tuple[dict[str, Any], str]:
    """The JSON file beside the trajectory, and its path; empty where there is none."""
    folder = PurePosixPath(file).parent
    names = sorted(p.name for p in path_inside(root, folder.as_posix()).glob("metadata_*.json"))
    if not names:
        return {}, ""
    path = (folder / names[0]).as_posix()
    with open_inside(root, path) as stream:
        text = stream.read(MOST_METADATA)
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableError("the metadata are not JSON", where=path, found=str(error)[:80]) from error
    if not isinstance(said, dict):
        raise UnreadableError("the metadata are no object", where=path, found=type(said).__name__)
    return said, path


def _attributes(data: Any) -> dict[str, Any]:
    found = {}
    for name in list(data.attrs)[:100]:
        value = data.attrs[name]
        value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        value = value.item() if isinstance(value, np.generic) else value
        if _plain(value):
            found[str(name)] = value
    return found


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 1000)


def _outcome(ep: _Open, attributes: Mapping[str, Any], said: Mapping[str, Any]) -> str | None:
    """Success or failure, and a claim where attribute, metadata and folder disagree."""
    folders = [part for part in PurePosixPath(ep.file).parts if part in ("success", "failure")]
    told = {
        "attribute": attributes.get("success"),
        "metadata": said.get("success"),
        "folder": folders[-1] == "success" if folders else None,
    }
    known = {by: bool(value) for by, value in told.items() if isinstance(value, bool | int)}
    if len(known) > 1:
        text = ", ".join(f"{by}: {'success' if v else 'failure'}" for by, v in known.items())
        apart = float(len(set(known.values())) > 1)
        ep.claims.append(Claim("declared", "outcome", "one outcome", text, apart, where=ep.file))
    return None if not known else "success" if next(iter(known.values())) else "failure"
