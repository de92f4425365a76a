"""Headerless CSV of a floating-base robot, 36 columns for a G1: xyz (m), a quaternion, 29 joints (rad).

Layout. One row a frame, no header, comma-separated; 7 + n columns with n joints (LAFAN1 retargeting: G1 36,
H1 26, H1_2 34). One file is one episode.

Traps met. Two families share the 36 columns and differ in the quaternion: xyzw (LAFAN1, g1-moves) and wxyz
(kimodo). The order is decided from the data (which one leaves the pelvis upright), else by the sheet
(``quaternion``), else left unresolved. The file states no rate (30, 60 and 120 Hz are met) and no names:
joints are named once the body is known, in the model's order, which is what these writers use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.model import Channel, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.take import POSE, Pose, Take, episode, unended
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "csv36"
SUFFIXES: Final = (".csv",)
MOST_LINE: Final = 1 << 16
MOST_BYTES: Final = 4 << 30
FEWEST: Final = 12
"""Joints; a table with fewer columns is no humanoid."""
MOST: Final = 80
POINTER: Final = b"version https://git-lfs"
CONTROL: Final = bytes(c for c in range(32) if c not in b"\t\n\r\f\x1a\x1b")
UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
LOOKED: Final = 20
"""Lines within which a clip may begin whose first line is something else."""


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the first row is numbers with a unit quaternion in columns 4 to 7; else a doubtful one.

    Raises:
        UnreadableError: if it can be no table of anything: empty, no text, or a pointer to a file elsewhere.
    """
    with open_inside(root, file) as stream:
        line = stream.readline(MOST_LINE)
        cells = line.split(b",")
        sure = _is_row(cells)
        if not sure:  # a header, a byte-order mark, a line that was cut: perhaps a clip, by what follows
            more = stream.read(MOST_LINE)
            _refuse(line + more, file)
            cells = _row_in(more) or cells
    joints = len(cells) - 7
    if not FEWEST <= joints <= MOST:
        return []
    channels = tuple(Channel(f"joint_{i}", "rad", Role.JOINT_POSITION) for i in range(joints))
    streams = (StreamDecl("joints", Role.JOINT_POSITION, channels), StreamDecl("root", Role.BASE_POSE, POSE))
    return [Peek(f"{len(cells)} columns", None, joints, streams=streams, sure=sure)]


def _is_row(cells: list[bytes]) -> bool:
    """Whether these are numbers, as many as a pose has, with a unit quaternion in columns 4 to 7."""
    try:
        fits = FEWEST <= len(cells) - 7 <= MOST
        return fits and 0.9 < float(np.linalg.norm([float(cell) for cell in cells][3:7])) < 1.1
    except ValueError:
        return False


def _row_in(data: bytes) -> list[bytes]:
    """The cells of the first row of a clip among some lines, whatever stands between them; or none."""
    rows = (line.split(mark) for line in data.split(b"\n", LOOKED)[:LOOKED] for mark in (b",", b";", b"\t"))
    return next((cells for cells in rows if _is_row(cells)), [])


def _refuse(head: bytes, file: str) -> None:
    if not head.strip():
        raise UnreadableError("the file is empty", where=file)
    if head.startswith(POINTER):
        raise UnreadableError("the file was not delivered", where=file, found="a git-lfs pointer to it",
                              remedy="fetch it (git lfs pull) and deliver it")  # fmt: skip
    # Text of any encoding has next to none of these; bytes at random have them for one in nine.
    odd = len(head) - len(head.translate(None, CONTROL))
    if 200 * odd > len(head) and not head.startswith(UTF_16):
        raise UnreadableError("the file is no text", where=file, expected="rows of numbers")


def probe(path: Path) -> Probe:
    """How many of the first CSV files are such clips."""
    return Probe(*share_of(path, SUFFIXES, peek, "headerless poses"))


def discover(path: Path) -> Listing:
    """Every such file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek, "retargeted-motion")


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if it is no table of numbers.
    """
    file = ref.parts[0].path
    x, ended = _table(listing.root, file)
    if not FEWEST <= x.shape[1] - 7 <= MOST:
        raise UnreadableError("the table is no robot's pose", where=file, found=f"{x.shape[1]} columns",
                              expected="7 for the base and one for each joint")  # fmt: skip
    pose = Pose("root", Role.BASE_POSE, x[:, :3], x[:, 3:7])
    take = Take(f"{x.shape[1]} columns", joints=x[:, 7:], usual="model", poses=(pose,))
    take.claims.append(unended(ended, file))
    return episode(NAME, listing, ref, want, sheet, take)


def _table(root: Path, file: str) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], bool]:
    """The rows, and whether the last one ends with a line break."""
    import pyarrow as pa
    from pyarrow import csv

    with open_inside(root, file) as stream:
        data = stream.read(2 * MOST_LINE)
        _refuse(data, file)  # before all of it is read: a hole may have any size
        data += stream.read(MOST_BYTES)
    if data and not data.endswith(b"\n"):
        short = data.rpartition(b"\n")[2].count(b",") != data.partition(b"\n")[0].count(b",")
        if short:
            raise UnreadableError("the last row is cut off", where=file)
    try:
        width = data.partition(b"\n")[0].count(b",") + 1
        names = [str(i) for i in range(width)]
        types = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float64()), strings_can_be_null=False)
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(quote_char=False),
            types,
        )
    except (pa.ArrowInvalid, ValueError) as error:
        first, _, more = data[: 2 * MOST_LINE].partition(b"\n")
        if not _is_row(first.split(b",")) and _row_in(more):
            found = repr(first[:40].decode("utf-8", "replace")) if first.strip() else "a blank line"
            raise UnreadableError("the first line is no row of the clip that follows", where=file,
                                  found=found, expected="numbers with commas between") from error  # fmt: skip
        raise UnreadableError(
            "the file is no table of numbers", where=file, found=str(error)[:120]
        ) from error
    columns = [c.to_numpy(zero_copy_only=False) for c in table.columns]
    return np.stack(columns, axis=1), data.endswith(b"\n")


READER: Final = reader(
    name=NAME, version=2,
    title="Headerless CSV of base pose and joints (LAFAN1 retargeting, g1-moves, kimodo)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
