"""Toy corpora: ``toy.json`` with the number of declared episodes and one ``.npz`` (t, x) per episode."""

import json
import os
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.model import Channel, Clock, Episode, Listing, Part, Ref, Role, Source, Stream, StreamDecl
from assay.reader import Probe, reader
from assay.sheet import Sheet

INDEX = "toy.json"


def probe(path: Path) -> Probe:
    """Looks for the index."""
    return Probe(1.0, "has toy.json") if (path / INDEX).is_file() else Probe(0.0, "has no toy.json")


def discover(root: Path) -> Listing:
    """One episode per file, in order of their names."""
    with open_inside(root, INDEX) as file:
        index = json.load(file)
    names = sorted(p.stem for p in root.glob("*.npz"))
    refs = tuple(Ref(n, (Part("data", "toy", f"{n}.npz"),), index["frames"]) for n in names)
    channels = tuple(Channel(n) for n in index["channels"])
    streams = (StreamDecl("height", Role.OBJECT_POSE, channels, Fraction(index["fps"]), Clock.SENSOR),)
    facts = {"fps": float(index["fps"]), "format": "toy"}
    return Listing("toy", root, refs, index["declared"], facts, streams)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Read one file; $TOY_READER_RAISES names an episode at which this reader has a bug."""
    if os.environ.get("TOY_READER_RAISES") == ref.id:
        raise KeyError("a bug of the reader")
    path = ref.parts[0].path
    with open_inside(listing.root, path) as file:
        try:
            data = np.load(file, allow_pickle=False)
            t, x = data["t"], data["x"]
        except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
            raise UnreadableError("not a toy episode", where=path, found=type(error).__name__) from error
    decl = listing.streams[0]
    stream = Stream(decl.name, decl.role, t, x, decl.channels, decl.clock, decl.rate)
    return Episode(ref.id, (stream,), source=Source("toy", listing.root, (path,)), declared=listing.streams)


READER = reader(
    name="toy",
    version=1,
    title="toy .npz folders",
    probe=probe,
    discover=discover,
    open_=open_,
    doc=__doc__,
)
