"""Metadata files of strangers: JSON, JSON lines and path templates, bounded in size and free of surprises."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import Any, Final

import orjson

from assay.errors import OutsideCorpusError, UnreadableError
from assay.inside import open_inside, path_inside

__all__ = ["Template", "file_at", "json_of", "lines_of", "mapping", "present", "ranges", "whole"]

MOST_BYTES: Final = 256 << 20
"""No metadata file that people have met is larger; a larger one is refused instead of filling memory."""

MOST_LINE: Final = 16 << 20
MOST_ENTRIES: Final = 2_000_000

FIELDS: Final = ("episode_chunk", "episode_index", "chunk_index", "file_index", "video_key", "image_key")
_HOLE: Final = re.compile(r"\{(\w+)(?::0?(\d{1,2})d)?\}")


def json_of(root: Path, relative: str) -> Any:
    """The value of a JSON file; NaN and Infinity, which LeRobot writes into statistics, are read.

    Raises:
        UnreadableError: if it is absent, too large or not JSON.
    """
    with open_inside(root, relative) as handle:
        data = handle.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UnreadableError(
            "the metadata file is too large", where=relative, expected=f"at most {MOST_BYTES >> 20} MB"
        )
    return _parsed(data, relative)


def lines_of(root: Path, relative: str) -> Iterator[tuple[int, int, bytes]]:
    """The non-empty lines of a JSON-lines file: (number from 1, offset in bytes, line).

    Raises:
        UnreadableError: if it is absent, or a line is too long.
    """
    with open_inside(root, relative) as handle:
        number = offset = 0
        while line := handle.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise UnreadableError(
                    "the line is too long", where=f"{relative}:{number}", expected=f"{MOST_LINE >> 20} MB"
                )
            if not line.isspace():
                yield number, offset, line
            offset += len(line)


def mapping(line: bytes, where: str) -> dict[str, Any]:
    """One line as an object.

    Raises:
        UnreadableError: naming ``where`` (file:line) if it is not a JSON object.
    """
    value = _parsed(line, where)
    if not isinstance(value, dict):
        raise UnreadableError("not a JSON object", where=where, found=type(value).__name__)
    return value


def _parsed(data: bytes, where: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:  # slower, but knows NaN and Infinity
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError("not JSON", where=where, found=text[:200]) from error


def whole(value: Any) -> int | None:
    """A whole number below 2**53 that a stranger wrote, or None where it is anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        return None
    return int(value) if abs(value) < 2**53 else None


@dataclass(frozen=True, slots=True)
class Template:
    """A path with named holes, filled by plain substitution: no attribute access, no wide padding."""

    text: str
    parts: tuple[tuple[str, str, int], ...]
    """(literal before the hole, field or empty, width)."""

    form: str
    """The same for the % operator, with one place per field in order."""

    @classmethod
    def parse(cls, text: Any, where: str) -> Template:
        """Split a template of ``info.json``.

        Raises:
            UnreadableError: if it is no text or has a hole other than the known fields.
        """
        if not isinstance(text, str):
            raise UnreadableError("not a path template", where=where, found=repr(text)[:80])
        parts, at = [], 0
        for hole in _HOLE.finditer(text):
            parts.append((text[at : hole.start()], hole[1], int(hole[2] or 0)))
            at = hole.end()
        parts.append((text[at:], "", 0))
        odd = [field for _, field, _ in parts if field and field not in FIELDS]
        if odd or any(brace in literal for literal, _, _ in parts for brace in "{}"):
            raise UnreadableError(
                "the path template cannot be filled",
                where=where,
                found=repr(text)[:200],
                expected="fields " + ", ".join(FIELDS),
            )
        return cls(text, tuple(parts), "".join(_form(*part) for part in parts))

    def fill(self, fields: Mapping[str, int | str | None]) -> str | None:
        """The path, or None where a field has no value."""
        found = tuple([fields.get(field) for _, field, _ in self.parts if field])
        return None if None in found else self.form % found

    @property
    def uses(self) -> frozenset[str]:
        """The fields it needs."""
        return frozenset(field for _, field, _ in self.parts if field)

    @property
    def folder(self) -> str:
        """The folder below which all its paths lie."""
        return self.parts[0][0].rpartition("/")[0]

    @property
    def ending(self) -> str:
        """The ending of all its paths, e.g. ``.parquet``."""
        return Path("x" + self.parts[-1][0]).suffix


def _form(literal: str, field: str, width: int) -> str:
    place = "" if not field else "%s" if field.endswith("_key") or not width else f"%0{width}d"
    return literal.replace("%", "%%") + place


@lru_cache(maxsize=256)
def _folder(root: Path, relative: str) -> str:
    return str(path_inside(root, relative))


def file_at(root: Path, relative: str) -> Path:
    """The real path of a regular file of the corpus; the folder it is in is resolved once per process.

    Raises:
        OutsideCorpusError: if it leads out of the corpus.
        UnreadableError: if it is not a regular file.
    """
    folder, _, name = relative.rpartition("/")
    path = Path(f"{_folder(root, folder)}/{name}") if folder else path_inside(root, relative)
    try:
        mode = path.lstat().st_mode
        if S_ISLNK(mode):
            path = path_inside(root, relative)
            mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        state = "absent" if isinstance(error, FileNotFoundError) else str(error)
        raise UnreadableError("the file cannot be opened", where=relative, found=state) from error
    if not S_ISREG(mode):  # a device or a pipe could block for ever
        raise UnreadableError("the file cannot be opened", where=relative, found="not a regular file")
    return path


def present(root: Path, folder: str) -> frozenset[str]:
    """Paths, relative to ``root``, of all files below a folder; links that lead out are not followed.

    Raises:
        OutsideCorpusError: if the folder itself is not inside ``root``.
        UnreadableError: if there are too many entries to list.
    """
    seen, found, ahead = set[Path](), list[str](), [folder.strip("/")]
    path_inside(root, folder)
    while ahead:
        below = ahead.pop()
        try:
            real = path_inside(root, below)
            if real in seen:
                continue
            seen.add(real)
            entries = list(os.scandir(real))
        except (OSError, OutsideCorpusError):
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            (ahead if _is_folder(entry) else found).append(path)
        if len(found) > MOST_ENTRIES:
            raise UnreadableError("too many files", where=folder, expected=f"at most {MOST_ENTRIES}")
    return frozenset(found)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def ranges(ids: list[int], most: int = 8) -> str:
    """Ids as text: ``0-13, 17``; the rest beyond ``most`` stretches is counted."""
    stretches: list[list[int]] = []
    for i in sorted(ids):
        if stretches and i == stretches[-1][1] + 1:
            stretches[-1][1] = i
        else:
            stretches.append([i, i])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in stretches[:most])
    more = sum(b - a + 1 for a, b in stretches[most:])
    return f"{text} and {more} more" if more else text or "none"
