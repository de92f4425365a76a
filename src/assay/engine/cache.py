"""Values made from pixels, kept by the content of their file: nothing is decoded twice."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assay.errors import UnreadableError
from assay.feature import Feature, Features
from assay.inside import path_inside
from assay.model import Clip
from assay.plan import Decode

__all__ = ["PixelCache"]


@dataclass(frozen=True, slots=True)
class PixelCache:
    """Pixel features of one run, one file each below ``folder`` (None: nothing is kept).

    The folder is private to this run or the caller's own, and never part of a corpus. Its pickles may name
    numpy's arrays and Assay's dataclasses and nothing else, so that none of them runs code; what is damaged
    or another feature's is decoded anew.
    """

    folder: Path | None
    decode: Decode

    def prepare(self, features: Features) -> None:
        """Fill in what is known without decoding: None with ``--decode none``, else kept values."""
        for feature in features.known.values():
            if not feature.pixels:
                continue
            if self.decode == "none":
                features.values[feature.name] = None
            elif self.folder is not None:
                self._through(features, feature, self.folder)

    def _through(self, features: Features, feature: Feature, folder: Path) -> None:
        key = _key(features, feature)
        path = folder / f"{feature.name}-{key}.pickle"
        with contextlib.suppress(Exception):  # absent, cut, of another kind: decoded anew
            with path.open("rb") as file:
                known, value = _Plain(file).load()
            if known == [feature.name, key]:
                features.values[feature.name] = value
                return
        with contextlib.suppress(Exception):  # whoever asks for the feature meets the error again
            value = features.get(feature.name)
            draft = path.with_suffix(f".{os.getpid()}.part")
            draft.write_bytes(pickle.dumps(([feature.name, key], value), protocol=5))
            draft.replace(path)


_NUMPY: Final = frozenset({"_frombuffer", "_reconstruct", "dtype", "ndarray", "scalar"})


class _Plain(pickle.Unpickler):
    """Reads pickles that name nothing but arrays and Assay's own dataclasses."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of that name.

        Raises:
            UnpicklingError: if it is neither.
        """
        if module.partition(".")[0] == "numpy" and name in _NUMPY:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module.startswith("assay.") else None
        if not (isinstance(found, type) and is_dataclass(found) and found.__module__.startswith("assay.")):
            raise pickle.UnpicklingError(f"{module}.{name} is not kept here")
        return found


def _key(features: Features, feature: Feature) -> str:
    digest = hashlib.sha256(f"{feature.name} {feature.version}".encode())
    for stream in features.ep.streams:
        if stream.clip is not None:
            clip = stream.clip
            about = clip.packets.about if clip.packets else ""
            place = f"{clip.first} {clip.count} {clip.last} {about}"
            digest.update(f"{stream.name} {_content(clip)} {place}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:24]


def _content(clip: Clip) -> str:
    try:
        path = path_inside(clip.root, clip.path)
        state = path.stat()
        return _hash(path, state.st_size, state.st_mtime_ns)
    except (OSError, UnreadableError) as error:
        return type(error).__name__


@lru_cache(maxsize=8)  # a packed file holds many episodes
def _hash(path: Path, _size: int, _time: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
