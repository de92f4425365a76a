"""Pictures stored one a message: how they are coded, and fetching their bytes when a gate decodes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Packet
from assay.recording.decoding import decode
from assay.recording.files import opened
from assay.recording.layout import Piece

__all__ = ["StoredPictures", "codec_of", "key_pictures"]

_CODECS: Final = {
    "jpeg": "mjpeg", "jpg": "mjpeg", "png": "png", "webp": "webp", "h264": "h264", "h265": "hevc",
    "hevc": "hevc", "vp9": "vp9", "av1": "av1",
}  # fmt: skip
_RAW: Final = {"rgb8": "rgb24", "bgr8": "bgr24", "rgba8": "rgba", "bgra8": "bgra", "mono8": "gray",
               "8uc1": "gray", "8uc3": "bgr24"}  # fmt: skip
_INTRA: Final = ("mjpeg", "png", "webp")


def codec_of(form: str) -> str:
    """FFmpeg's name for how pictures are stored, ``raw:rgb24`` for plain pixels, empty where it is not known.

    ``format`` of ROS is free text such as ``bgr8; jpeg compressed bgr8``.
    """
    if form in _RAW:
        return f"raw:{_RAW[form]}"
    found = [_CODECS[word] for word in form.replace(";", " ").split() if word in _CODECS]
    return found[0] if found else ""


def key_pictures(codec: str, data: NDArray[np.uint8], blobs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(k,) whether decoding can start at each picture, from the first bytes of each."""
    if codec in _INTRA or codec.startswith("raw:"):
        return np.ones(len(blobs), np.bool_)
    if codec not in ("h264", "hevc"):
        return np.zeros(len(blobs), np.bool_)
    heads = (data[at : at + min(n, 256)].tobytes() for at, n in blobs.tolist())
    return np.array([_starts(codec, head) for head in heads], np.bool_)


def _starts(codec: str, head: bytes) -> bool:
    """Whether parameter sets or a picture coded on its own come first (Annex B)."""
    for unit in head.split(b"\x00\x00\x01")[1:]:
        if unit:
            kind = unit[0] & 31 if codec == "h264" else (unit[0] >> 1) & 63
            if kind in ((5, 7) if codec == "h264" else (16, 17, 18, 19, 20, 21, 32, 33)):
                return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class StoredPictures:
    """The pictures of one topic; see `assay.model.Packets`.

    Attributes:
        files: of the recording, in order; topic, type: which messages.
        codec: see `codec_of`.
        packed: whether each message is compressed on its own.
    """

    root: Path
    files: tuple[str, ...]
    topic: str
    type: str
    codec: str
    t: NDArray[np.int64]
    key: NDArray[np.bool_]
    packed: bool = False

    @property
    def about(self) -> str:
        """The topic, and its files with their sizes and times."""
        states = [(self.root / file).stat() for file in self.files[1:]]
        return f"{self.topic} {self.type} {[(s.st_size, s.st_mtime_ns) for s in states]}"

    def __iter__(self) -> Iterator[Packet]:
        """Each picture's bytes in order. Raises `UnreadableError` where the recording is broken."""
        for file in self.files:
            recording = opened(self.root, file, self.packed)
            mine = {t.id: t for t in recording.topics if (t.name, t.type) == (self.topic, self.type)}
            for batch in recording.batches(frozenset(mine)):
                found = [one for t in mine.values() for piece in decode(t, batch) for one in _places(piece)]
                for _, at, size, form in sorted(found):
                    yield Packet(batch.data[at : at + size].tobytes(), *form)


def _places(piece: Piece) -> Iterator[tuple[int, int, int, tuple[int, int, int]]]:
    """(row, first byte, bytes, (width, height, step)) of each picture."""
    blobs = piece.blobs.get("data")
    if blobs is None:
        return
    zero = np.zeros(len(piece.rows))
    sizes = np.stack([np.nan_to_num(piece.numbers.get(k, zero)) for k in ("width", "height", "step")], axis=1)
    sizes = np.clip(sizes.astype(np.float64), 0, 1 << 30).astype(np.int64)
    for row, (at, size), form in zip(piece.rows.tolist(), blobs.tolist(), sizes.tolist(), strict=True):
        yield row, at, size, tuple(form)
