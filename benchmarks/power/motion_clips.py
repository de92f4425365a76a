"""Real retargeted clips as the study's bases: with their human source and on a declared ground."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.trials import Rng, look

from assay import plugs
from assay.corpus import discover
from assay.feature import Features
from assay.model import Episode, Role, Stream
from assay.parts import open_episode
from assay.signals.ground import Ground
from assay.signals.posture import Poses
from assay.signals.stance import Stance

__all__ = ["MOTION", "clean", "invented_motion", "joined_motion", "opened_motion", "seen"]

MOTION: Final = ("kimodo", "moves", "asap", "holo")
"""Short names of the sets."""
_HUMAN: Final = """
[parts.human]
path = "human/sub3_largebox_003.pt"
offset = 0.0
[streams."human/body_pos"]
rate = 30
"""
_SETS: Final = {
    "kimodo": ("g1_kimodo_generated", "unitree_g1_29", "fps = 30\n"),
    "moves": ("g1_29dof_g1moves", "unitree_g1_29", "fps = 60\n"),
    "asap": ("g1_23dof_asap", "unitree_g1_23_asap", ""),
    "holo": ("g1_29dof_holosoma", "unitree_g1_29", _HUMAN),
}
_ZERO: Final = 'ground = "z=0"\n'
"""Our declaration, not the makers': gates on heights have something to be held to."""


def opened_motion(data: Path, sets: Sequence[str] = MOTION) -> list[Base]:
    """Every clip of the sets, numbered in order; none where the folder is not here."""
    if not (data / "motion").is_dir():
        return []
    return [
        Base(name, ep, number=i)
        for name in sets
        for i, ep in enumerate(_opened(data / "motion", *_SETS[name]))
    ]


def _opened(motion: Path, folder: str, body: str, sheet: str) -> Iterator[Episode]:
    with tempfile.TemporaryDirectory() as held:
        home = Path(held)
        (home / "sheet.toml").write_text(_ZERO + sheet)
        corpora = [motion / folder]
        if "parts.human" in sheet:  # a part must lie in its corpus, hence the copies
            shutil.copytree(motion / folder, home / "clips")
            (home / "clips/human").mkdir()
            shutil.copy(motion / "human_src_holosoma/OMOMO_new/sub3_largebox_003.pt", home / "clips/human")
            corpora = sorted((home / "clips").glob("*.npz"))
        for path in corpora:
            corpus = discover(path, embodiment=body, sheet_file=home / "sheet.toml")
            for ref in corpus.listing.refs:
                yield _held(open_episode(corpus.listing, ref, None, corpus.sheet))


def _held(ep: Episode) -> Episode:
    """With all values in memory: the files that they lie in are about to go."""
    return replace(ep, streams=tuple(replace(s, x=np.array(s.x)) for s in ep.streams))


def invented_motion() -> list[Base]:
    """Synthetic walks, where real clips are not here."""
    from assay.synth.laundered import followed_by
    from assay.synth.walks import walk

    made = (walk(12.0, 30), walk(10.0, 60), followed_by(seconds=12.0))
    return [Base("synth", ep, number=i) for i, ep in enumerate(made)]


@lru_cache(maxsize=128)
def clean(base: Base, code: str) -> bool:
    """Whether the gate passes the clip as it is: faults are planted in no other."""
    return look(plugs.gates()[code], base.ep, {}).verdict.status == "pass"


@lru_cache(maxsize=128)
def seen(base: Base) -> tuple[Poses, Stance | None, Ground | None]:
    """Where the feet are, when the source stands, and where the soles rest."""
    features = Features(base.ep, plugs.features())
    return features.get("poses"), features.get("stance"), features.get("ground")


def joined_motion(bases: Sequence[Base], code: str, rows: int, rng: Rng) -> Base | None:
    """Clean clips of one set and rate in random order, end to end, at least ``rows`` long."""
    fit = [b for b in bases if clean(b, code)]
    first = fit[int(rng.integers(len(fit)))]
    alike = [b for b in fit if _like(b, first)]
    order: list[Base] = []
    while sum(b.rows for b in order) < rows:
        order += [alike[i] for i in rng.permutation(len(alike))]
    n = sum(b.rows for b in order)
    t = np.rint(np.arange(n) * 1e9 / float(first.state.rate or 30)).astype(np.int64)
    streams = [
        replace(s, t=t, x=np.concatenate([np.asarray(_named(b, s.name).x) for b in order]))
        for s in _body(first)
    ]
    return Base(first.set, replace(first.ep, streams=tuple(streams), declared=()), number=first.number)


def _body(base: Base) -> list[Stream]:
    """What the gates on motion look at, as far as it has a row for each of the joints'."""
    roles = (Role.JOINT_POSITION, Role.BASE_POSE, Role.HUMAN_BODY)
    return [s for s in base.ep.by_role(*roles) if len(s) == base.rows]


def _like(one: Base, other: Base) -> bool:
    shapes = [{s.name: s.x.shape[1] for s in _body(b)} for b in (one, other)]
    return one.set == other.set and one.state.rate == other.state.rate and shapes[0] == shapes[1]


def _named(base: Base, name: str) -> Stream:
    found = base.ep.stream(name)
    assert found is not None
    return found
