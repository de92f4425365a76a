"""Episodes made of several files: the robot's clip, and beside it the human it came from, a video, a log.

``[parts.human] path = "human/{stem}.pt"`` in the sheet adds one file to each episode: ``{id}`` is the
episode's id, ``{stem}`` the name of its first file without the last ending. All parts open into one
`Episode`, each stream on its own clock. How the clocks of two parts relate is declared (``offset``), or it is
not known, and gates that need it estimate it or abstain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from assay import plugs
from assay.errors import UnreadableError
from assay.inside import path_inside
from assay.model import Claim, Episode, Listing, Part, Ref, Role, Stream, StreamDecl
from assay.sheet import Sheet, apply

__all__ = ["attach", "open_episode"]

HUMAN: Final = "human"
"""The part of this name is the human source: the sheet that declares it makes the delivery owe it."""


def attach(listing: Listing, sheet: Sheet) -> Listing:
    """The listing with the parts that the sheet declares added to each ref; nothing is opened."""
    names = sorted({n.split("/")[1] for n in sheet.items if n.startswith("parts/")})
    if not names:
        return listing
    refs = tuple(replace(r, parts=(*r.parts, *_declared(sheet, names, r))) for r in listing.refs)
    promised = (StreamDecl(n, Role.HUMAN_BODY) for n in names if n == HUMAN)
    return replace(listing, refs=refs, streams=(*listing.streams, *promised))


def open_episode(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """The episode of ``ref`` with all its parts, under its sheet.

    A part that is absent or unreadable is a claim of the episode; the others open.

    Raises:
        UnreadableError: if the episode's own file cannot be read.
    """
    ep = plugs.readers()[listing.reader].open(listing, ref, want, sheet)
    meta: dict[str, Any] = {}
    for part in ref.parts:
        if part.key.get("declared_by") == "sheet":
            streams, claims = _part(listing.root, part, want, sheet)
            ep = replace(ep, streams=(*ep.streams, *streams), claims=(*ep.claims, *claims))
            meta[f"parts/{part.name}/offset"] = part.key.get("offset")
    return apply(sheet, replace(ep, meta={**ep.meta, **meta}) if meta else ep)


def _declared(sheet: Sheet, names: list[str], ref: Ref) -> Iterator[Part]:
    mine = sheet.for_episode(ref.id)
    stem = PurePosixPath(ref.parts[0].path).stem if ref.parts else ref.id
    for name in names:
        template = mine.get(f"parts/{name}/path")
        if template is not None:
            path = template.replace("{id}", ref.id).replace("{stem}", stem)
            key = {"declared_by": "sheet", "offset": mine.get(f"parts/{name}/offset")}
            yield Part(name, mine.get(f"parts/{name}/reader", ""), path, key)


def _part(
    root: Path, part: Part, want: frozenset[Role] | None, sheet: Sheet
) -> tuple[tuple[Stream, ...], tuple[Claim, ...]]:
    try:
        path = path_inside(root, part.path)
        if not path.is_file():
            return (), (Claim("file", part.name, part.path, "absent", 1.0, where=part.path),)
        found = _open(path, part, want, sheet)
    except UnreadableError as error:
        claim = Claim("readable", part.name, "a readable file", str(error), 1.0, where=part.path)
        return (), (claim,)
    streams = tuple(replace(s, name=f"{part.name}/{s.name}") for s in found.streams)
    return streams, (*found.claims, Claim("file", part.name, part.path, "there", 0.0, where=part.path))


def _open(path: Path, part: Part, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    readers = plugs.readers()
    name = part.reader or max(readers, key=lambda n: readers[n].probe(path).score)
    if name not in readers or readers[name].probe(path).score <= 0:
        raise UnreadableError("no reader recognises this part", where=part.path)
    listing = readers[name].discover(path)
    if len(listing.refs) != 1:
        raise UnreadableError("the part holds several episodes", where=part.path,
                              found=str(len(listing.refs)), expected="1")  # fmt: skip
    return readers[name].open(listing, listing.refs[0], want, sheet)
