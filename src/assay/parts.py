"""Episodes made of several files: the robot's clip, and beside it the human it came from, a video, a log.

``[parts.human] path = "human/{stem}.pt"`` in the sheet adds one file to each episode: ``{id}`` is the
episode's id, ``{stem}`` the name of its first file without the last ending, and without what ``strip`` takes
off its ends; ``[parts.human.files]`` names single files by id or stem. All parts open into one `Episode`,
each stream under ``part/stream`` and on its own clock: its rate is its own file's or its ``fps``, never the
corpus's. How the clocks of two parts relate is declared (``offset``), or it is not known, and gates that need
it estimate it or abstain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from assay import plugs
from assay.errors import UnreadableError
from assay.inside import path_inside
from assay.model import Claim, Episode, Listing, Part, Ref, Role, Stream, StreamDecl
from assay.sheet import Sheet, apply

__all__ = ["attach", "misfits", "open_episode", "stem_of"]

HUMAN: Final = "human"
"""The part of this name is the human source: the sheet that declares it makes the delivery owe it."""


def attach(listing: Listing, sheet: Sheet) -> Listing:
    """The listing with the parts that the sheet declares added to each ref; nothing is opened."""
    names = _names(sheet)
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
            streams, claims = _part(listing.root, part, want, sheet.for_episode(ref.id))
            ep = replace(ep, streams=(*ep.streams, *streams), claims=(*ep.claims, *claims),
                         declared=_kept(ep.declared, part.name, streams))  # fmt: skip
            meta[f"parts/{part.name}/offset"] = part.key.get("offset")
    return apply(sheet, replace(ep, meta={**ep.meta, **meta}) if meta else ep)


def misfits(sheet: Sheet, streams: Sequence[StreamDecl], part: str = "") -> Iterator[Claim]:
    """What a sheet says about streams that are not there, or not with so many channels.

    Args:
        sheet: what it says.
        streams: the corpus's own, or those of one part under their names in the episode.
        part: that part's name; the corpus's own streams are held apart from those of its parts.
    """
    width, parts = {s.name: len(s.channels) for s in streams}, _names(sheet)
    for item, said in sheet.items.items():
        name, _, key = item.removeprefix("streams/").rpartition("/")
        owner = name.partition("/")[0]
        if not item.startswith("streams/") or (owner if owner in parts and "/" in name else "") != part:
            continue
        if name not in width:
            yield Claim("declared", item, "in the sheet", "no such stream", 1.0, name, said.evidence)
        elif key in ("units", "channels") and len(said.value) != width[name]:
            size = float(abs(len(said.value) - width[name]))
            yield Claim("declared", item, str(len(said.value)), str(width[name]), size, name, said.evidence)


def _names(sheet: Sheet) -> list[str]:
    return sorted({n.split("/")[1] for n in sheet.items if n.startswith("parts/")})


def _kept(declared: tuple[StreamDecl, ...], part: str, streams: Sequence[Stream]) -> tuple[StreamDecl, ...]:
    """The declared streams with the promise of a part replaced by the streams that keep it."""
    owed = {d.role for d in declared if d.name == part}
    kept = [StreamDecl(s.name, s.role, s.channels, s.rate, s.clock) for s in streams if s.role in owed]
    return (*(d for d in declared if d.name != part), *kept) if kept else declared


def _declared(sheet: Sheet, names: list[str], ref: Ref) -> Iterator[Part]:
    mine = sheet.for_episode(ref.id)
    for name in names:
        path = _path(mine, f"parts/{name}", ref)
        if path is not None:
            key = {"declared_by": "sheet", "offset": mine.get(f"parts/{name}/offset")}
            yield Part(name, mine.get(f"parts/{name}/reader", ""), path, key)


def _path(sheet: Sheet, part: str, ref: Ref) -> str | None:
    """Where the file of a part is: as it is listed, else by the template."""
    stem = stem_of(ref)
    listed = sheet.get(f"{part}/files/{ref.id}") or sheet.get(f"{part}/files/{stem}")
    template: str | None = listed or sheet.get(f"{part}/path")
    for affix in () if listed else sheet.get(f"{part}/strip", ()):
        rest = stem.removesuffix(affix) if stem.endswith(affix) else stem.removeprefix(affix)
        stem = rest or stem
    return (
        template if listed or template is None else template.replace("{id}", ref.id).replace("{stem}", stem)
    )


def stem_of(ref: Ref) -> str:
    """The name of an episode's first file without its last ending."""
    return PurePosixPath(ref.parts[0].path).stem if ref.parts else ref.id


def _part(
    root: Path, part: Part, want: frozenset[Role] | None, sheet: Sheet
) -> tuple[tuple[Stream, ...], tuple[Claim, ...]]:
    try:
        path = path_inside(root, part.path)
        if not path.is_file():
            return (), (Claim("file", part.name, part.path, "absent", 1.0, where=part.path),)
        found, fits = _open(path, part, want, sheet)
    except UnreadableError as error:
        claim = Claim("readable", part.name, "a readable file", str(error), 1.0, where=part.path)
        return (), (claim,)
    streams = tuple(replace(s, name=f"{part.name}/{s.name}") for s in found.streams)
    return streams, (*found.claims, *fits, Claim("file", part.name, part.path, "there", 0.0, where=part.path))


def _open(
    path: Path, part: Part, want: frozenset[Role] | None, sheet: Sheet
) -> tuple[Episode, tuple[Claim, ...]]:
    readers = plugs.readers()
    name = part.reader or max(readers, key=lambda n: readers[n].probe(path).score)
    if name not in readers or readers[name].probe(path).score <= 0:
        raise UnreadableError("no reader recognises this part", where=part.path)
    listing = readers[name].discover(path)
    if len(listing.refs) != 1:
        raise UnreadableError("the part holds several episodes", where=part.path,
                              found=str(len(listing.refs)), expected="1")  # fmt: skip
    named = [replace(d, name=f"{part.name}/{d.name}") for d in listing.streams]
    said = sheet.items.get(f"parts/{part.name}/fps")
    items = {n: item for n, item in sheet.items.items() if n != "fps"} | ({"fps": said} if said else {})
    found = readers[name].open(listing, listing.refs[0], want, replace(sheet, items=items))
    return found, tuple(misfits(sheet, named, part.name))
