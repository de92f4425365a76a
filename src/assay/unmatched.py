"""Parts that a sheet declares and no episode has: which names do not meet, and what would make them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from assay.errors import UnreadableError
from assay.inside import path_inside
from assay.model import Listing, Part, Ref
from assay.parts import stem_of
from assay.sheet import Sheet

__all__ = ["unmatched"]

_MOST_FILES: Final = 2000
_MOST_CLIPS: Final = 50
"""As many names are held to each other as tell how they differ."""


def unmatched(listing: Listing, sheet: Sheet) -> Iterator[str]:
    """A sentence for each declared part of which no episode has its file: a name of each side, the remedy."""
    declared = [(r, p) for r in listing.refs for p in r.parts if p.key.get("declared_by") == "sheet"]
    for name in sorted({part.name for _, part in declared}):
        mine = [(ref, part) for ref, part in declared if part.name == name]
        if not any(_is_file(listing.root, part.path) for _, part in mine):
            yield _sentence(listing.root, sheet, mine)


def _is_file(root: Path, path: str) -> bool:
    try:
        return path_inside(root, path).is_file()
    except UnreadableError:
        return False


def _sentence(root: Path, sheet: Sheet, mine: Sequence[tuple[Ref, Part]]) -> str:
    ref, part = mine[0]
    folder, ending = PurePosixPath(part.path).parent, PurePosixPath(part.path).suffix
    files = _files(root, str(folder), ending)
    if not files:
        why = f"no {ending or 'such'} file lies in {folder}"
        why += _deeper(root, sheet, [p for _, p in mine[:_MOST_CLIPS]], folder)
        return f"no episode has its file of [parts.{part.name}]: {ref.id} wants {part.path}, and {why}"
    pairs = [
        (r, p, f) for r, p in mine[:_MOST_CLIPS] for f in files if _meet(stem_of(r), f.removesuffix(ending))
    ]
    if not pairs and (deeper := _deeper(root, sheet, [p for _, p in mine[:_MOST_CLIPS]], folder)):
        return f"no episode has its file of [parts.{part.name}]: {ref.id} wants {part.path}{deeper}"
    ref, part, file = max(pairs, key=lambda pair: len(pair[2]), default=(ref, part, files[0]))
    there = str(folder / file)
    cure = _cure(sheet, part, stem_of(ref), there, file.removesuffix(ending))
    return (
        f"no episode has its file of [parts.{part.name}]: {ref.id} wants {part.path}, and {there} is there; "
        f"in assay.toml, under [parts.{part.name}]: {cure}"
    )


def _files(root: Path, folder: str, ending: str) -> list[str]:
    try:
        with os.scandir(path_inside(root, folder)) as found:
            return sorted(f.name for f in islice(found, _MOST_FILES) if f.name.endswith(ending))
    except (OSError, UnreadableError):
        return []


def _deeper(root: Path, sheet: Sheet, parts: Sequence[Part], folder: PurePosixPath) -> str:
    """Where below the folder a file that is wanted lies, and the path that says so."""
    for part in parts:
        name, path = PurePosixPath(part.path).name, str(sheet.get(f"parts/{part.name}/path"))
        if below := _below(root, folder, name):
            cure = path.replace(f"{folder}/", f"{below}/", 1) if path.startswith(f"{folder}/") else ""
            said = f'; in assay.toml, under [parts.{part.name}]: path = "{cure}"' if cure else ""
            return f", but {below / name} is there{said}"
    return ""


def _below(root: Path, folder: PurePosixPath, name: str) -> PurePosixPath | None:
    """The folder below ``folder`` in which a file of this name lies."""
    try:
        top = path_inside(root, str(folder))
    except UnreadableError:
        return None
    walked = islice(os.walk(top), _MOST_FILES)
    return next(
        (folder / Path(at).relative_to(top).as_posix() for at, _, names in walked if name in names), None
    )


def _meet(stem: str, name: str) -> bool:
    short, long = sorted((stem, name), key=len)
    return bool(short) and (long.startswith(short) or long.endswith(short))


def _cure(sheet: Sheet, part: Part, stem: str, there: str, name: str) -> str:
    """What to say in the sheet so that the file is found."""
    template = str(sheet.get(f"parts/{part.name}/path"))
    if "{stem}" in template and _meet(stem, name) and stem != name:
        if len(stem) > len(name):
            rest = stem.removeprefix(name) if stem.startswith(name) else stem.removesuffix(name)
            return f'strip = ["{rest}"]'
        return f'path = "{template.replace("{stem}", name.replace(stem, "{stem}", 1))}"'
    return f'files = {{ "{stem}" = "{there}" }}, one for each'
