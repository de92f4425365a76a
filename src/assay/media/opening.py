"""Opening a stranger's container: a closed list of formats, nothing but the file itself, bounded tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import av

from assay.errors import UnreadableError
from assay.packets import BROKEN, MOST_PIXELS, STRICT, said

__all__ = ["container", "opened"]

# Only what is in the file itself: no other protocol, no external data references.
_OPTIONS: Final = {"protocol_whitelist": "none", "enable_drefs": "0", "use_absolute_path": "0"}


@contextmanager
def opened(file: BinaryIO, path: str) -> Iterator[tuple[Any, Any]]:
    """The container of an open file (``path`` for errors) and its first video stream, closed afterwards."""
    with container(file, path) as source:
        yield source, _video_stream(source, path)


@contextmanager
def container(file: BinaryIO, path: str) -> Iterator[Any]:
    """The container of an open file (``path`` for errors), closed afterwards."""
    kind = _container_format(file, path)
    try:
        source: Any = av.open(file, format=kind, options=dict(_OPTIONS), buffer_size=1 << 18)
    except BROKEN as error:
        raise UnreadableError(
            "the video cannot be opened", where=path, found=_complaint(file, kind, error),
            remedy="deliver the whole file",
        ) from error  # fmt: skip
    with source:
        yield source


def _video_stream(source: Any, path: str) -> Any:
    if not source.streams.video:
        raise UnreadableError("the file holds no video stream", where=path)
    stream = source.streams.video[0]
    context = stream.codec_context
    if context is None or not context.width or not context.height:
        raise UnreadableError("the video's codec or size is unknown", where=path)
    if context.width * context.height > MOST_PIXELS:
        raise UnreadableError(
            "the video's pictures are too large", where=path, found=f"{context.width} x {context.height}",
            expected=f"at most {MOST_PIXELS // 1_000_000} million pixels",
        )  # fmt: skip
    context.thread_count = 1
    context.options = dict(STRICT)
    return stream


def _container_format(file: BinaryIO, path: str) -> str:
    """FFmpeg's name of the format by the first bytes: a closed list, none of which refers to other files."""
    head = file.read(16)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip", b"pnot"):
        _refuse_bomb(file, path)
        kind = "mp4"
    elif head[:4] == b"\x1aE\xdf\xa3":
        kind = "matroska"
    elif head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        kind = "avi"
    elif head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        kind = "wav"
    else:
        raise UnreadableError(
            "the file is not a video", where=path, found="an empty file" if not head else repr(head[:8]),
            expected="MP4, MOV, MKV, WebM or AVI (sound: WAV)",
        )  # fmt: skip
    file.seek(0)
    return kind


def _boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, body start and end of the boxes between two places of an MP4 file, nested tables included."""
    while start + 8 <= end:
        file.seek(start)
        head = file.read(16)
        size, name = int.from_bytes(head[:4], "big"), head[4:8]
        body = 8
        if size == 1 and len(head) == 16:
            size, body = int.from_bytes(head[8:], "big"), 16
        size = end - start if size == 0 else size
        if size < body:
            return
        yield name, start + body, min(start + size, end)
        if name in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
            yield from _boxes(file, start + body, min(start + size, end))
        start += size


def _refuse_bomb(file: BinaryIO, path: str) -> None:
    # FFmpeg makes room for every sample that a table of equal sizes promises, without looking for its bytes.
    total = file.seek(0, os.SEEK_END)
    for name, start, _ in _boxes(file, 0, total):
        if name == b"stsz":
            file.seek(start + 8)
            count = int.from_bytes(file.read(4), "big")
            if count > total:
                raise UnreadableError(
                    "the video promises more pictures than the file has bytes", where=path,
                    found=f"{count} in {total} bytes",
                )  # fmt: skip


def _complaint(file: BinaryIO, kind: str, error: BaseException) -> str:
    if kind == "mp4":
        names = [name for name, _, _ in _boxes(file, 0, file.seek(0, os.SEEK_END))]
        if b"moov" not in names and b"moof" not in names:
            return "no index (moov): the file was cut, or its recording never ended"
    return said(error)
