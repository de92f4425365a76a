"""What was decoded before is taken from a folder of the caller's own, and nothing in it is trusted."""

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.cache import PixelCache
from assay.errors import UsageError
from assay.feature import Features
from assay.model import Clip, Episode, Role
from assay.plugs import features
from assay.synth.episodes import teleop
from films import encode, numbered
from tiny_corpus import tiny_corpus


@pytest.fixture
def ep(tmp_path: Path) -> Episode:
    """Two seconds with one camera."""
    encode(tmp_path / "a.mp4", numbered())
    made = teleop(2.0)
    camera = made.by_role(Role.CAMERA)[0]
    return made.with_stream(replace(camera, clip=Clip(tmp_path, "a.mp4")))


def looked(ep: Episode, cache: Path) -> tuple[bool, int]:
    """Whether the pictures were there already, and how many they are."""
    found = Features(ep, features())
    PixelCache(cache, "auto").prepare(found)
    there = "pictures" in found.values
    (pictures,) = found.get("pictures").values()
    assert (np.diff(pictures.t) > 0).all()
    return there, len(pictures.t)


def test_what_was_decoded_is_kept(ep: Episode, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    assert looked(ep, cache)[1] == 60
    (kept,) = cache.iterdir()
    before = kept.stat().st_mtime_ns
    assert looked(ep, cache) == (True, 60)
    assert kept.stat().st_mtime_ns == before


class Command:
    """Runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.mark}",)


def ours(whole: bytes) -> Any:
    return pickle.loads(whole)  # noqa: S301 - written by the line before


SPOILT: dict[str, Callable[[bytes, Path], bytes]] = {
    "cut": lambda whole, mark: whole[: len(whole) // 2],
    "empty": lambda whole, mark: b"",
    "none": lambda whole, mark: pickle.dumps(None),
    "of another file": lambda whole, mark: pickle.dumps((["pictures", "0" * 24], ours(whole)[1])),
    "a command": lambda whole, mark: pickle.dumps((ours(whole)[0], Command(mark))),
    "a dotted name": lambda whole, mark: b"\x80\x04\x8c\x12assay.engine.cache\x8c\x09os.system\x93.",
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_spoilt_is_decoded_anew(ep: Episode, tmp_path: Path, how: str) -> None:
    cache, mark = tmp_path / "cache", tmp_path / "mark"
    cache.mkdir()
    looked(ep, cache)
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(SPOILT[how](whole, mark))
    assert looked(ep, cache)[1] == 60
    assert kept.read_bytes() == whole, "mended"
    assert not mark.exists()


def test_no_cache_lies_in_a_corpus(tmp_path: Path) -> None:
    root = tiny_corpus(tmp_path / "corpus")
    with pytest.raises(UsageError, match="the cache would lie inside the corpus"):
        assay.run(root, out=tmp_path / "run", cache=root / "cache")
    assert not (root / "cache").exists()
