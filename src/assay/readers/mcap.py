"""MCAP recordings: ROS 2 (CDR), ROS 1, Protocol Buffers and JSON messages; one file is one episode.

Layout. Every topic is a stream, some are several: joint states split into ``<topic>.position``, ``.velocity``
and ``.effort``, transforms into ``<topic>.<child frame>``. Schemas known by name are listed in
`assay.recording.meanings`; of any other message each array of numbers is a stream and all single numbers are
one. Definitions come from the file. Compressed pictures (JPEG, PNG, H.264, H.265, VP9, AV1) and plain pixels
are decoded when a gate asks for them; depth pictures are not.

Clocks. The stamp inside a message (sensor), its publishing time (receive) and its log time are kept apart
(`assay.recording.assembly`); nothing is nominal. The order is that of writing.

Traps met. A file without its footer was cut: it is not read. Log times may be zero, or count from the boot.
Publishing equals logging where nobody knew it. Joints may change their order from message to message, and
arrays may be empty. Two channels may share a topic. Text such as a robot description comes as a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.model import Episode, Listing, Part, Ref, Role, Topic
from assay.motion.walk import Peek, files_of, share_of
from assay.reader import Probe, reader
from assay.recording.assembly import Files
from assay.recording.episodes import EXTRA, Promised, declared, episode, missing_extra
from assay.recording.mcap import MAGIC
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "mcap"
SUFFIXES: Final = (".mcap",)
SILENT: Final[tuple[Topic, ...]] = ("file", "pointer", "boundary")
"""One file holds all of one recording: it names no other, points at no task, and begins and ends itself."""
BAG: Final = "metadata.yaml"
"""A folder with this file is a bag, and its files are parts of it."""


def peek(root: Path, file: str) -> list[Peek]:
    """One recording if the file begins as MCAP does and is no part of a bag."""
    if (root / file).with_name(BAG).is_file():
        return []
    with open_inside(root, file) as stream:
        head = stream.read(len(MAGIC))
    if head != MAGIC:
        raise UnreadableError("the file is no MCAP", where=file, found=head.hex() or "an empty file")
    return [Peek("mcap")]


def probe(path: Path) -> Probe:
    """How many of the first MCAP files are recordings of their own."""
    score, reason, weight = share_of(path, SUFFIXES, peek, "MCAP recordings")
    missing = missing_extra() if score > 0 else ""
    return Probe(0.0, missing, weight, lacks=EXTRA) if missing else Probe(score, reason, weight)


def _files(path: Path) -> Iterator[str]:
    for root, file in files_of(path, SUFFIXES):
        if not (root / file).with_name(BAG).is_file():
            yield file


def discover(path: Path) -> Listing:
    """Every MCAP file below the folder that is no part of a bag; one episode each."""
    root = path.parent if path.is_file() else path
    refs = tuple(Ref(file.rpartition(".")[0], (Part("recording", NAME, file),)) for file in _files(path))
    streams = declared(Files(root, (ref.parts[0].path,)) for ref in refs)
    return Listing(NAME, root, refs, None, {"format": "MCAP"}, streams)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a recording.

    Raises:
        UnreadableError: if it was cut or is broken.
    """
    return episode(NAME, listing, ref, want, Files(listing.root, (ref.parts[0].path,)), Promised(), SILENT)


READER: Final = reader(
    name=NAME, version=2,
    title="MCAP recordings (ROS 2, Protocol Buffers, JSON) with their three clocks",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
