"""A corpus before any of its data is read: which reader, which episodes, and what its sheet says."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from assay import plugs
from assay.embodiment import Embodiment, find_body, is_model_file, load, model_inside
from assay.embodiment.claimed import held_to
from assay.embodiment.infer import infer, known_as
from assay.errors import AssayError, MissingExtraError, NoReaderError, UnreadableError, UsageError
from assay.extras import install_line
from assay.inside import open_inside
from assay.model import Claim, Kind, Listing, Role
from assay.parts import attach, misfits
from assay.reader import Probe, Reader
from assay.sheet import ORIGINS, Item, Origin, Sheet, lay
from assay.sheet_file import parse_sheet
from assay.unmatched import unmatched

__all__ = ["Corpus", "Touched", "discover"]

SHEET: Final = "assay.toml"
_RECOGNISED: Final = 0.5
"""A reader's score from which a folder holds files of its format."""
_AS_SURE: Final = 0.09
"""Scores nearer than this are equal; a human source stays 0.1 below the robot's clips that it belongs to."""
_OF_BUYER: Final = ("option", "buyer")
_LEROBOT: Final = "meta/info.json"
"""What the folder of a LeRobot set has."""
_MOST_SETS: Final = 100
_MOST_NAMED: Final = 5
_MOST_SHEET: Final = 1 << 20  # bytes; a sheet is a page, not a database


@dataclass(frozen=True, slots=True)
class Touched:
    """The file of a folder on this machine that was last changed, which nobody can set back.

    Attributes:
        folder: identity of the folder itself: device and inode.
        at: the file's time of last change (ctime), ns; file: its path in the folder.
    """

    folder: str
    at: int
    file: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus, listed.

    Attributes:
        name: the folder's name; unique within a run.
        path: as given.
        probes: what each reader made of it.
        listing: episodes and declared streams; sheet: merged meanings with their origins.
        digest: of names, sizes and times of all files, for plans and caches.
        touched: see `Touched`; a copy of the corpus, which is the same corpus, has another.
        sheet_file, embodiment: the options it was listed with, to list it again.
    """

    name: str
    path: Path
    probes: Mapping[str, Probe]
    listing: Listing
    sheet: Sheet
    digest: str
    touched: Touched
    sheet_file: Path | None = None
    embodiment: str | None = None

    @property
    def kind(self) -> Kind:
        """The declared kind of data, or unresolved."""
        return Kind(self.sheet.get("kind", Kind.UNRESOLVED))

    @property
    def refused(self) -> str:
        """Why the corpus's own sheet counts for nothing; empty where it is read, or not there."""
        mine = (c.found for c in self.listing.claims if (c.topic, c.where) == ("readable", SHEET))
        return next(mine, "")

    @property
    def unmatched(self) -> str:
        """Why no episode has its file of a part that the sheet declares; empty where one has."""
        return next(unmatched(self.listing, self.sheet), "")

    @property
    def idle(self) -> str:
        """Which ``[[episodes]]`` of a sheet match no episode; empty where each matches one."""
        ids = [ref.id for ref in self.listing.refs]
        idle = ", ".join(f'"{pattern}"' for pattern in self.sheet.idle(ids)) if ids else ""
        return f"[[episodes]] match = {idle} matches no episode; the first is {ids[0]}" if idle else ""

    @property
    def own_body(self) -> str:
        """What a body counts for that the corpus's own model file describes; empty where none does."""
        said = [
            self.sheet.items.get("embodiment"),
            *(items.get("embodiment") for _, items in self.sheet.sections),
        ]
        mine = {i.value for i in said if i is not None and i.value and i.origin not in _OF_BUYER}
        return "; ".join(
            _counts_for(name, self.sheet.bodies[name]) for name in sorted(mine) if is_model_file(name)
        )

    @property
    def others(self) -> str:
        """Files that end as the clips do and are none, in one sentence; empty where there are none."""
        count, names = self.listing.facts.get("other_files", 0), self.listing.facts.get("other_names", ())
        if not count:
            return ""
        head = (
            "1 file ends as the clips do and holds"
            if count == 1
            else f"{count} files end as the clips do and hold"
        )
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        return f"{head} something else: {', '.join(names[:_MOST_NAMED])}{more}"

    @property
    def beside(self) -> list[str]:
        """Other readers that know files here, or lack a library; none where the sheet makes files parts."""
        if any(name.startswith("parts/") for name in self.sheet.items):
            return []
        mine = self.listing.reader
        probes = sorted((n, probe) for n, probe in self.probes.items() if n != mine)
        return [n for n, probe in probes if probe.score >= _RECOGNISED or probe.lacks]


def discover(
    path: Path, *, sheet_file: Path | None = None, embodiment: str | None = None, name: str | None = None
) -> Corpus:
    """List a corpus: choose its reader, read its metadata and lay its sheet.

    Args:
        path: a folder or a file.
        sheet_file: the buyer's sheet, above the corpus's own.
        embodiment: name of a body, above both.
        name: replaces the folder's name.

    Raises:
        NoReaderError: if no reader recognises it; says what each missed.
        MissingExtraError: if one would, and a library that it needs is not installed.
        UsageError: if the path is absent, the buyer's sheet does not fit, or the body is unknown.
        UnreadableError: if the corpus as a whole cannot be listed.
    """
    if not path.exists():
        raise UsageError(
            "there is no such corpus", where=str(path), remedy="name a folder or file that is there"
        )
    reader, probes = _choose(path)
    if reader.name == "video":
        _refuse_above(path)
    listing = reader.discover(path)
    own, claims = _own_sheet(listing.root)
    buyer = _buyer_sheet(sheet_file) if sheet_file else {}
    layers: list[tuple[Origin, Mapping[str, Any], str]] = [
        ("option", {"embodiment": embodiment} if embodiment else {}, "--embodiment"),
        ("buyer", buyer, str(sheet_file)),
        ("corpus", own, SHEET),
        ("format", listing.facts, "format metadata"),
    ]
    sheet = _with_body(lay(layers), listing)
    listing = replace(listing, claims=(*listing.claims, *claims, *misfits(sheet, listing.streams)))
    listing = attach(listing, sheet)
    return Corpus(
        name or path.resolve().name,
        path,
        probes,
        listing,
        sheet,
        *_digest(listing.root),
        sheet_file,
        embodiment,
    )


def _choose(path: Path) -> tuple[Reader, dict[str, Probe]]:
    readers = plugs.readers()
    probes = {name: reader.probe(path) for name, reader in readers.items()}
    surest = max((probe.score for probe in probes.values()), default=0.0)
    for probe in probes.values():
        if probe.lacks and surest < 1.0 and probe.weight >= max(p.weight for p in probes.values()):
            raise MissingExtraError(probe.reason, where=str(path), remedy=install_line(probe.lacks))
    if surest <= 0:
        _refuse_above(path)
        missed = "; ".join(f"{name}: {probe.reason}" for name, probe in probes.items())
        raise NoReaderError("no reader recognises this corpus", where=str(path), found=missed,
                            remedy="point at the corpus's root (see assay readers)")  # fmt: skip
    # One stray file of another format claims as much of a folder as twelve of its own do: count them, unless
    # metadata names the format.
    least = surest if surest >= 1.0 else max(surest - _AS_SURE, 1e-9)
    sure = [name for name, probe in probes.items() if probe.score >= least]
    best = max(sure, key=lambda name: (probes[name].weight, probes[name].score))
    return readers[best], probes


def _refuse_above(path: Path) -> None:
    """Refuse a folder of LeRobot sets: else their videos alone would be judged."""
    sets = _sets_below(path)
    if sets:
        found = ", ".join(sets[:3]) + (f" and {len(sets) - 3} more" if len(sets) > 3 else "")
        raise NoReaderError("LeRobot sets lie below, and this folder is none itself", where=str(path),
                            found=found, remedy=f"name {path / sets[0]}")  # fmt: skip


def _sets_below(path: Path) -> list[str]:
    metadata = (found for depth in ("*", "*/*") for found in path.glob(f"{depth}/{_LEROBOT}"))
    return sorted(found.parents[1].relative_to(path).as_posix() for found in islice(metadata, _MOST_SETS))


def _own_sheet(root: Path) -> tuple[dict[str, Any], tuple[Claim, ...]]:
    """The corpus's own sheet; a broken one is a finding about the corpus, and the run goes on without.

    What a broken one promised of its clocks is unknown, which is not the same as nothing.
    """
    if not (root / SHEET).exists():
        return {}, ()
    try:
        with open_inside(root, SHEET) as file:
            text = file.read(_MOST_SHEET).decode("utf-8")
        said = parse_sheet(text, SHEET)
        _known_bodies(said, partial(_body_of_corpus, root))
        return said, ()
    except (UnreadableError, UsageError, UnicodeDecodeError) as error:
        broken = Claim("readable", SHEET, "a corpus sheet", _said(error), 1.0, where=SHEET)
        return {"sync": "unreadable"}, (broken,)


def _said(error: AssayError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"{SHEET}: the sheet is no text in UTF-8."
    return str(error) if error.where else f"{SHEET}: {error}"


def _buyer_sheet(path: Path) -> dict[str, Any]:
    try:
        said = parse_sheet(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else error.reason
        raise UsageError("the sheet cannot be read", where=str(path), found=str(found),
                         expected="a TOML file in UTF-8") from error  # fmt: skip
    _known_bodies(said, find_body)
    return said


def _known_bodies(said: Mapping[str, Any], find: Callable[[str], Embodiment]) -> None:
    for part in (said, *said.get("episodes", ())):
        if "embodiment" in part:
            find(part["embodiment"])


def _with_body(sheet: Sheet, listing: Listing) -> Sheet:
    """The sheet with every body that it names loaded, or with the one that the channels' names tell."""
    all_said = [sheet.items.get("embodiment"), *(items.get("embodiment") for _, items in sheet.sections)]
    said = [item for item in all_said if item is not None and item.value]
    # The highest authority last: two may call two files by one name.
    said.sort(key=lambda item: ORIGINS.index(item.origin), reverse=True)
    named = {item.value: _body(listing.root, item) for item in said}
    sheet = replace(sheet, bodies=named)
    if sheet.get("embodiment"):
        return replace(sheet, body=named[sheet.get("embodiment")])
    channels = [c.name for s in listing.streams if s.role is Role.JOINT_POSITION for c in s.channels]
    found, evidence = infer(channels, listing.facts.get("robot_type"))
    if found is None:
        items = {**sheet.items, "embodiment": Item(None, "unresolved", evidence)}
        return replace(sheet, items=items)
    return replace(sheet.with_items("inferred", {"embodiment": found}, evidence), body=load(found))


def _body(root: Path, item: Item) -> Embodiment:
    """A user may name any model; a corpus's own sheet only a card, or a model file within the corpus."""
    return find_body(item.value) if item.origin in _OF_BUYER else _body_of_corpus(root, item.value)


def _body_of_corpus(root: Path, name: str) -> Embodiment:
    """A card, or a model file of the corpus, held to the card of the same body: it is its vendor's word."""
    if not is_model_file(name):
        return load(name)
    model = model_inside(root, name)
    card = known_as(model)
    return held_to(card, model) if card is not None else model


def _counts_for(name: str, body: Embodiment) -> str:
    if not body.card:
        return (
            f"{name} is the vendor's word: no card knows such a body, and its limits and soles are judged by"
        )
    known = f"{name} is the vendor's word beside the card {body.card}: what only it allows stays undecided"
    return f"{known}; {body.apart}" if body.apart else known


def _digest(root: Path) -> tuple[str, Touched]:
    digest, last = hashlib.sha256(), (0, "")
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            try:
                state = path.stat()
            except OSError:  # a dangling link is part of what is there
                state = path.lstat()
            relative = path.relative_to(root).as_posix()
            entry = f"{relative}\0{state.st_size}\0{state.st_mtime_ns}\n"
            digest.update(entry.encode("utf-8", "surrogateescape"))
            last = max(last, (state.st_ctime_ns, relative))
    own = root.stat()
    return digest.hexdigest()[:16], Touched(f"{own.st_dev}:{own.st_ino}", *last)
