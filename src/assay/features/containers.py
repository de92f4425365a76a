"""Feature: the index of every camera's video file. Cheap: packets are listed, no picture is decoded."""

from __future__ import annotations

from assay.errors import UnreadableError
from assay.feature import feature
from assay.media import Container, contents
from assay.model import Clip, Episode, Role

__all__ = ["containers"]


@feature(reads=[Role.CAMERA, Role.DEPTH])
def containers(ep: Episode) -> dict[str, Container | UnreadableError]:
    """Camera → its file's `Container` (all pictures of the file, presentation order), or why there is none.

    Source: FFmpeg's demuxers through `assay.media.contents`. A camera whose file cannot be indexed stays in
    the dictionary, with its error; cameras without a `Clip` (pictures stored otherwise) are left out. Depth
    is a camera's as well.
    """
    cameras = ep.by_role(Role.CAMERA, Role.DEPTH)
    return {s.name: _index(s.clip) for s in cameras if s.clip is not None}


def _index(clip: Clip) -> Container | UnreadableError:
    try:
        return contents(clip)
    except UnreadableError as error:
        return error
