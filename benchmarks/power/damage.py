"""Faults of bytes, in real files: tables and videos cut short, and videos overwritten in the middle."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.power.clips import Base
from benchmarks.power.films import truth
from benchmarks.power.rows import pick
from benchmarks.power.trials import Planted, Rng

from assay import plugs
from assay.corpus import Corpus, discover
from assay.errors import UnreadableError
from assay.feature import Features
from assay.model import Claim, Clip, Episode
from assay.synth.movies import Part, join

__all__ = ["cut_table", "cut_video", "overwritten"]

_PICTURES = 40


def cut_table(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The last ``dose`` per cent of a table's bytes are gone; opened as the engine opens it."""
    base = pick(bases, rng)
    assert base.ep.source is not None
    root, name = base.ep.source.root, base.ep.source.files[0]
    corpus = _listed(root)
    with TemporaryDirectory() as folder:
        shutil.copytree(root / "meta", Path(folder, "meta"))
        short = Path(folder, name)
        short.parent.mkdir(parents=True)
        whole = (root / name).read_bytes()
        short.write_bytes(whole[: int(len(whole) * (1 - dose / 100))])
        ref = next(r for r in corpus.listing.refs if r.id == base.ep.id)
        there = replace(corpus.listing, root=Path(folder))
        try:
            ep = plugs.readers()[there.reader].open(there, ref, None, corpus.sheet)
        except UnreadableError as error:
            claim = Claim("readable", "data", "a readable file", str(error), 1.0, where=name)
            ep = Episode(base.ep.id, claims=(claim,))
    return Planted(ep, 0, 0, channels=("data",))


@cache
def _listed(root: Path) -> Corpus:
    return discover(root)


def cut_video(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The last ``dose`` per cent of a video's bytes are gone."""
    base = pick(bases, rng)
    return _changed(base, lambda data: data[: int(len(data) * (1 - dose / 100))])


def overwritten(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` bytes of coded pictures are overwritten at random; AV1 videos are shortened to 40 pictures."""
    base = pick(bases, rng)

    def scratch(data: bytes) -> bytes:
        box = data.index(b"mdat")
        size = int.from_bytes(data[box - 4 : box], "big") or len(data) - box
        a = int(rng.integers(box + 16, min(box + size, len(data)) - 4 - round(dose)))
        return data[:a] + rng.bytes(round(dose)) + data[a + round(dose) :]

    return _changed(base, scratch, short=base.set != "gr1")


def _changed(base: Base, change: Callable[[bytes], bytes], *, short: bool = False) -> Planted:
    camera = base.ep.stream(base.camera)
    assert camera is not None
    assert camera.clip is not None
    assert camera.rate is not None
    with TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        source = camera.clip.root / camera.clip.path
        if short:
            join(path, [Part(source, 0, _PICTURES)], camera.rate)
            source, n = path, _PICTURES
        else:
            n = base.rows
        path.write_bytes(change(source.read_bytes()))
        cut = replace(camera, clip=Clip(Path(folder), path.name), t=camera.t[:n], x=camera.x[:n])
        ep = base.ep.with_stream(cut)
        features = Features(ep, plugs.features(), {}, {})
        given = {name: features.get(name) for name in ("containers", "pictures")}
    return replace(truth(base, 0, n - 1, "pictures", **given), ep=ep, channels=("container", "pictures"))
