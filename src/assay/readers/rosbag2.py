"""rosbag2: a folder with ``metadata.yaml`` and its files, SQLite or MCAP, split or not; a bag is an episode.

Layout. ``metadata.yaml`` names the files in order, the topics and their message counts. What its files hold
is read as `assay.readers.mcap` does. SQLite files older than Iron carry no message definitions: types that a
ROS distribution has are decoded by its tables, of others only the stamps are read. A ``.db3`` file without
metadata beside it is read alone.

Clocks. SQLite files have one stamp a message, that of the log; the sensor's is in the message. MCAP files
have a publishing time too.

Traps met. Files compressed as a whole (``compression_mode: FILE``) are not read; messages compressed one by
one are. Old metadata name files with the bag's folder in front. Counts are written when the bag is closed: a
crash leaves them stale or the metadata absent; so are ``starting_time`` and ``duration``, which are held
against the first and last stamps of the log. An unmerged journal (``-wal``) hides messages: such a bag is
refused. The ``id`` of a row is the order of writing; its time may not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from assay.errors import OutsideCorpusError, UnreadableError
from assay.inside import open_inside, path_inside
from assay.model import Claim, Episode, Listing, Part, Ref, Role, Topic
from assay.motion.take import unended
from assay.motion.walk import Peek, files_of, share_of
from assay.reader import Probe, reader
from assay.recording.assembly import Files
from assay.recording.episodes import EXTRA, Promised, declared, episode, missing_extra
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "rosbag2"
BAG: Final = "metadata.yaml"
SUFFIXES: Final = (BAG, ".db3")
PART: Final = "part"
"""The layout of a database that a bag's metadata speak for."""
SILENT: Final[tuple[Topic, ...]] = ("pointer",)
"""A bag points at no task; its metadata say when it begins and how long it lasts."""
ALONE: Final[tuple[Topic, ...]] = (*SILENT, "boundary")
"""A database without its metadata has no place for either."""
KEY: Final = "rosbag2_bagfile_information"
MOST_BYTES: Final = 4 << 20
MOST_FILES: Final = 100_000
_STORED: Final = (".db3", ".mcap", ".zstd")


@dataclass(frozen=True, slots=True)
class Bag:
    """What ``metadata.yaml`` says: files, what they hold, messages of all, and whether it ends."""

    files: tuple[str, ...]
    packed: bool
    promised: Promised
    total: int | None = None
    ended: bool = True


def peek(root: Path, file: str) -> list[Peek]:
    """One bag if the metadata file begins as a bag's does, or the database has none beside it."""
    if not file.endswith(BAG):
        return [Peek(PART if (root / file).with_name(BAG).is_file() else "alone")]
    with open_inside(root, file) as stream:
        head = stream.read(4096)
    return [Peek("bag")] if KEY.encode() in head else []


def probe(path: Path) -> Probe:
    """How many of the first metadata files are those of bags."""
    score, reason, weight = share_of(path, SUFFIXES, peek, "bags")
    missing = missing_extra() if score > 0 else ""
    return (
        Probe(0.0, missing, weight, lacks=EXTRA) if missing else Probe(score and score + 0.05, reason, weight)
    )


def discover(path: Path) -> Listing:
    """Every bag below the folder."""
    root = path.parent if path.is_file() else path
    refs = []
    for _, file in files_of(path, SUFFIXES):
        try:
            if all(one.layout == PART for one in peek(root, file)) and not _spoilt(root, file):
                continue
        except UnreadableError:
            pass  # opened like any other, and says so then
        folder = str(PurePosixPath(file).parent)
        name = root.resolve().name if folder == "." else folder
        id_ = name if file.endswith(BAG) else file.rpartition(".")[0]
        refs.append(Ref(id_, (Part("recording", NAME, file),)))
    return Listing(NAME, root, tuple(refs), None, {"format": "rosbag2"}, declared(_peekable(root, refs)))


def _spoilt(root: Path, file: str) -> bool:
    """Whether metadata that are no bag's lie beside a bag's files: those would be judged by nobody."""
    if not file.endswith(BAG):
        return False
    folder = path_inside(root, file).parent
    return any(p.suffix in _STORED for p in folder.iterdir()) and not peek(root, file)


def _peekable(root: Path, refs: list[Ref]) -> Iterator[Files]:
    for ref in refs:
        try:
            bag = _bag(root, ref.parts[0].path)
        except UnreadableError:
            continue
        yield Files(root, bag.files, bag.packed)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a bag.

    Raises:
        UnreadableError: if its metadata or one of its files is absent, was cut or is broken.
    """
    path = ref.parts[0].path
    bag = _bag(listing.root, path)
    if not bag.files:
        raise UnreadableError("the bag names no files", where=path)
    files, silent = Files(listing.root, bag.files, bag.packed), SILENT if bag.promised.where else ALONE
    ep = episode(NAME, listing, ref, want, files, bag.promised, silent)
    return replace(ep, claims=(*ep.claims, *_strays(listing.root, path, bag)))


def _strays(root: Path, path: str, bag: Bag) -> Iterator[Claim]:
    """Files of the folder that its metadata do not name."""
    if not path.endswith(BAG):
        yield Claim("file", BAG, "beside the database", "absent", 1.0, where=path)
        return
    yield unended(bag.ended, path)
    listed = sum(bag.promised.counts.values())
    apart = float(abs(listed - bag.total)) if bag.total is not None else 0.0
    yield Claim("declared", "message_count", str(bag.total), f"{listed} by topic", apart, where=path)
    folder = path_inside(root, path).parent
    names = {PurePosixPath(f).name for f in bag.files}
    stored = sorted(p.name for p in folder.iterdir() if p.suffix in _STORED)
    more = [name for name in stored if name not in names]
    found = f"also {', '.join(more)}"[:200] if more else "the same"
    yield Claim(
        "file", "files of the bag", ", ".join(sorted(names))[:200], found, float(len(more)), where=path
    )


def _bag(root: Path, path: str) -> Bag:
    if not path.endswith(BAG):
        return Bag((path,), False, Promised())
    said, ended = _metadata(root, path)
    names = said.get("relative_file_paths")
    mode, form = str(said.get("compression_mode") or "").lower(), str(said.get("compression_format") or "")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or len(names) > MOST_FILES:
        raise UnreadableError("the metadata name no files", where=path, expected="relative_file_paths")
    if mode not in ("", "none", "message") or any(n.endswith((".zstd", ".lz4")) for n in names):
        raise UnreadableError(
            "the bag's files are compressed as a whole", where=path, found=form or mode[:20],
            remedy="write it anew without (`ros2 bag convert`)",
        )  # fmt: skip
    files = tuple(_place(root, path, n) for n in names)
    start = _nanoseconds(said, "starting_time", "nanoseconds_since_epoch")
    lasts = _nanoseconds(said, "duration", "nanoseconds")
    promised = Promised(_counts(said, path), start, lasts, path)
    return Bag(files, mode == "message", promised, _total(said, path), ended)


def _metadata(root: Path, path: str) -> tuple[dict[str, Any], bool]:
    from ruamel.yaml import YAML

    with open_inside(root, path) as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UnreadableError("the metadata are too large", where=path, found=f"over {MOST_BYTES} bytes")
    try:
        tree = YAML(typ="safe", pure=True).load(data.decode("utf-8"))
    except Exception as error:
        # A parser of strangers' texts: YAMLError, ValueError, RecursionError, AttributeError and more.
        text = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
        raise UnreadableError("the metadata are not YAML", where=path, found=text) from error
    said = tree.get(KEY) if isinstance(tree, dict) else None
    if not isinstance(said, dict) or not isinstance(said.get("topics_with_message_count"), list):
        raise _cut(path, f"{KEY} with its topics")
    return said, data.endswith(b"\n")


def _cut(path: str, expected: str) -> UnreadableError:
    return UnreadableError("the metadata are cut or of another format", where=path, expected=expected,
                           remedy="`ros2 bag reindex` writes them anew")  # fmt: skip


def _counts(said: dict[str, Any], path: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in said["topics_with_message_count"]:
        about = entry.get("topic_metadata") if isinstance(entry, dict) else None
        count = entry.get("message_count") if isinstance(entry, dict) else None
        name = about.get("name") if isinstance(about, dict) else None
        if not isinstance(name, str) or not isinstance(count, int):
            raise _cut(path, "a name and a count for each topic")
        found[name] = found.get(name, 0) + count
    return found


def _nanoseconds(said: dict[str, Any], name: str, unit: str) -> int | None:
    about = said.get(name)
    value = about.get(unit) if isinstance(about, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return min(max(value, -(1 << 63)), (1 << 63) - 1)  # as the format stores them, whatever is written here


def _total(said: dict[str, Any], path: str) -> int | None:
    """All messages; every writer since version 3 ends what matters with the compression."""
    total, version = said.get("message_count"), said.get("version")
    if isinstance(version, int) and version >= 3 and "compression_mode" not in said:
        raise _cut(path, "compression_mode")
    return total if isinstance(total, int) else None


def _place(root: Path, path: str, name: str) -> str:
    """Where a file lies; metadata of before version 4 name it with the bag's folder in front."""
    folder = PurePosixPath(path).parent
    for candidate in (folder / name, folder / PurePosixPath(name).name):
        try:
            if path_inside(root, candidate.as_posix()).is_file():
                return candidate.as_posix()
        except OutsideCorpusError:
            if candidate.name == name:
                raise
    return (folder / name).as_posix()


READER: Final = reader(
    name=NAME, version=3,
    title="rosbag2 bags, SQLite and MCAP",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
