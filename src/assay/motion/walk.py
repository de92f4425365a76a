"""A folder of many clips as one corpus: which files are a reader's own, and which of those cannot be read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.errors import UnreadableError
from assay.model import Claim, Listing, Part, Ref, StreamDecl
from assay.motion.robots import robot_in

__all__ = ["Peek", "Peeker", "files_of", "list_clips", "share_of"]

MOST_FILES: Final = 1_000_000
MOST_SEEN: Final = 100_000
"""Names that a probe looks at; a corpus that shows none of its files among these is not found by it."""
SAMPLE: Final = 12
"""Files that a probe opens at most."""


@dataclass(frozen=True, slots=True)
class Peek:
    """One clip of a file, before its values are read.

    Attributes:
        layout: which of the reader's layouts it has, e.g. ``holosoma``.
        frames: how many, where the header says so; joints: how many columns.
        key: its name inside a file that holds several.
        fps: as stated; streams: what will be there.
        sure: whether it looks like a clip by itself. One that does not (its first values are no pose's) is
            one all the same where it is as wide as the sure ones: a spoilt clip must not vanish.
    """

    layout: str
    frames: int | None = None
    joints: int | None = None
    key: str = ""
    fps: float | None = None
    streams: tuple[StreamDecl, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    sure: bool = True


Peeker = Callable[[Path, str], Sequence[Peek]]
"""(root, path) → the clips in a file; none if it has another layout. Raises UnreadableError if broken."""


def files_of(root: Path, suffixes: tuple[str, ...], most: int | None = None) -> Iterator[tuple[Path, str]]:
    """(corpus folder, relative path) of every file below ``root`` with one of the suffixes, sorted.

    ``root`` may be one file: the folder is then the one that it lies in. ``most`` ends the walk early.
    """
    if root.is_file():
        if root.name.lower().endswith(suffixes):
            yield root.parent, root.name
        return
    seen = looked = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        looked += len(names)
        if most is not None and looked > most:
            return
        for name in sorted(names):
            if name.lower().endswith(suffixes) and not name.startswith("."):
                seen += 1
                if seen > MOST_FILES:
                    raise UnreadableError("more files than can be listed", where=str(root),
                                          expected=f"at most {MOST_FILES}")  # fmt: skip
                yield root, (Path(folder) / name).relative_to(root).as_posix()


def share_of(
    path: Path, suffixes: tuple[str, ...], peek: Peeker, title: str, *, human: bool = False
) -> tuple[float, str, float]:
    """Score, reason and weight of a probe: how many of the first files with these suffixes are its own.

    Where none can be read, the longer suffix weighs more (``trajectory.h5`` beside ``.h5``). A human source
    scores a little less: beside a robot's clips it is their source and not the corpus.
    """
    try:
        found = _first(path, suffixes)
        own, broken = 0, 0
        for root, name in found:
            try:
                own += any(p.sure for p in peek(root, name))
            except UnreadableError:
                broken += 1
    except (OSError, UnreadableError, ValueError) as error:
        return 0.0, f"cannot be looked at ({type(error).__name__})", 0.0
    if not found:
        why = f"has no {'/'.join(suffixes)}" if path.exists() else "there is no such file or folder"
        return 0.0, why, 0.0
    text = f"{own} of the first {len(found)} {'/'.join(suffixes)} files are {title}"
    if own:
        return 0.5 + (0.3 if human else 0.4) * own / len(found), text, float(own)
    close = max(len(s) for s in suffixes) / 100
    return (0.1, f"{text}, {broken} cannot be read", close) if broken else (0.0, text, 0.0)


def _first(path: Path, suffixes: tuple[str, ...]) -> list[tuple[Path, str]]:
    found: list[tuple[Path, str]] = []
    for one in files_of(path, suffixes, MOST_SEEN):
        found.append(one)
        if len(found) == SAMPLE:
            break
    return found


def list_clips(name: str, path: Path, suffixes: tuple[str, ...], peek: Peeker, kind: str = "") -> Listing:
    """The listing of all clips of a reader; a file that cannot be read is a claim and stays in the count."""
    root = path.parent if path.is_file() else path
    refs: list[Ref] = []
    robots: set[str | None] = set()
    claims: list[Claim] = []
    peeks: list[Peek] = []
    other: list[str] = []
    looked = [(file, _looked(peek, root, file)) for _, file in files_of(path, suffixes)]
    wide = {
        p.joints for _, found in looked if not isinstance(found, UnreadableError) for p in found if p.sure
    }
    for file, found in looked:
        if isinstance(found, UnreadableError):
            claims.append(Claim("readable", "file", "a readable file", str(found), 1.0, where=file))
            refs.append(Ref(_stem(file), (Part("motion", name, file, {"layout": "", "clip": ""}),)))
            continue
        mine = [p for p in found if p.sure or p.joints in wide]
        other += [] if mine else [file]
        for one in mine:
            peeks.append(one)
            robot = robot_in(Path(root.absolute().name, file)) if one.joints else None
            robots.add(robot)
            key = {"layout": one.layout, "clip": one.key, "robot": robot, **one.more}
            stem = f"{_stem(file)}/{one.key}" if len(mine) > 1 else _stem(file)
            refs.append(Ref(stem, (Part("motion", name, file, key),), one.frames))
    facts = _facts(name, peeks, robots, {"kind": kind or None, "other_files": len(other) or None,
                                         "other_names": tuple(other[:SAMPLE]) or None})  # fmt: skip
    some = frozenset(s.role for p in peeks for s in p.streams)
    return Listing(name, root, _unique(refs), None, facts, _declared(peeks), tuple(claims), some=some)


def _looked(peek: Peeker, root: Path, file: str) -> Sequence[Peek] | UnreadableError:
    try:
        return peek(root, file)
    except UnreadableError as error:
        return error


def _stem(file: str) -> str:
    return file.rpartition(".")[0] or file


def _unique(refs: list[Ref]) -> tuple[Ref, ...]:
    """Refs whose ids are unique: namesakes with other suffixes keep theirs."""
    count = Counter(r.id for r in refs)
    return tuple(r if count[r.id] == 1 else Ref(f"{r.parts[0].path}/{r.parts[0].key['clip']}".rstrip("/"),
                                                r.parts, r.frames) for r in refs)  # fmt: skip


def _facts(name: str, peeks: list[Peek], robots: set[str | None], more: dict[str, Any]) -> dict[str, Any]:
    layouts = sorted({p.layout for p in peeks})
    said = {
        "format": f"{name}: {', '.join(layouts)}" if layouts else name,
        "fps": _one({p.fps for p in peeks}),
        "joints": _one({p.joints for p in peeks}),
        "robot_type": _one(robots),
        **more,
    }
    return {item: value for item, value in said.items() if value is not None}


def _one(values: Collection[Any]) -> Any:
    return next(iter(values)) if len(values) == 1 else None


def _declared(peeks: list[Peek]) -> tuple[StreamDecl, ...]:
    """Streams that every clip has, with the channels where these agree."""
    if not peeks:
        return ()
    named = [{s.name: s for s in p.streams} for p in peeks]
    shared = [s for s in peeks[0].streams if all(s.name in other for other in named)]
    agreed = []
    for stream in shared:
        same = all(other[stream.name].channels == stream.channels for other in named)
        agreed.append(stream if same else StreamDecl(stream.name, stream.role))
    return tuple(agreed)
