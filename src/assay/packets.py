"""Decoding pictures that a recording stores one a message, and what all decoding shares.

Coded pictures go to FFmpeg's decoder one by one, without a container; plain pixels become pictures as they
are. Strict as `assay.media`: a damaged picture is an error and not a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import av
import numpy as np

from assay.model import Packet, Packets

__all__ = ["BROKEN", "MOST_PIXELS", "STRICT", "drained", "frames_of", "said"]

MOST_PIXELS: Final = 64_000_000
"""Pixels of a picture beyond which a file is refused: four times an 8K camera's."""

BROKEN: Final = (av.error.FFmpegError, ValueError, OSError, EOFError, OverflowError)
# A damaged picture is an error and not a guess painted over it.
STRICT: Final = {"err_detect": "crccheck+bitstream+buffer+explode", "max_pixels": str(MOST_PIXELS)}


def frames_of(stored: Packets, complaints: list[str]) -> Iterator[tuple[int, Any]]:
    """(position, frame) of pictures that lie in messages; after an error, on from the next key picture."""
    context, lost = _context(stored.codec, complaints), False
    if context is None and not stored.codec.startswith("raw:"):
        return
    position = -1
    for position, one in enumerate(stored):
        if lost and not stored.key[position]:
            continue
        try:
            if context is None:
                yield position, _raw(one, stored.codec.removeprefix("raw:"))
                continue
            packet = av.Packet(one.data)
            packet.pts = packet.dts = position
            ready, lost = context.decode(packet), False
        except BROKEN as error:
            complaints.append(said(error))
            ready, lost = drained(context) if context else [], True
            if context:
                context.flush_buffers()
        yield from ((position if frame.pts is None else frame.pts, frame) for frame in ready)
    if context is not None and position >= 0:
        yield from ((position if frame.pts is None else frame.pts, frame) for frame in drained(context))


def _context(codec: str, complaints: list[str]) -> Any:
    """A decoder, or None for plain pixels and where there is none."""
    if codec.startswith("raw:"):
        return None
    try:
        context: Any = av.CodecContext.create(codec, "r")
    except BROKEN as error:
        complaints.append(said(error))
        return None
    context.thread_count = 1
    context.options = dict(STRICT)
    return context


def _raw(one: Packet, form: str) -> Any:
    depth = {"gray": 1, "rgb24": 3, "bgr24": 3}.get(form, 4)
    step = one.step or one.width * depth
    if (
        not 0 < one.width * one.height <= MOST_PIXELS
        or step < one.width * depth
        or step * one.height > len(one.data)
    ):
        raise ValueError(f"{len(one.data)} bytes are no picture of {one.width} x {one.height} pixels")
    rows = np.frombuffer(one.data, np.uint8, step * one.height).reshape(one.height, step)
    pixels = np.ascontiguousarray(rows[:, : one.width * depth])
    return av.VideoFrame.from_ndarray(
        pixels if depth == 1 else pixels.reshape(one.height, one.width, depth), form
    )


def drained(context: Any) -> list[Any]:
    """Pictures that a decoder still holds."""
    try:
        return list(context.decode(None))
    except BROKEN:
        return []


def said(error: BaseException) -> str:
    """What the decoder said, without a full stop."""
    return str(getattr(error, "strerror", None) or error).rstrip(".")
