"""Feature: what one decoding pass keeps of every camera: thumbnails, digests, brightness, losses."""

from __future__ import annotations

from contextlib import suppress

from assay.errors import UnreadableError
from assay.feature import feature
from assay.media import Container, luma
from assay.model import Clip, Episode, Role
from assay.signals.pictures import Digests, Pictures, Thumbnails

__all__ = ["pictures"]


@feature(reads=[Role.CAMERA, Role.DEPTH], pixels=True)
def pictures(ep: Episode, containers: dict[str, Container | UnreadableError]) -> dict[str, Pictures]:
    """Camera → its `Pictures`; cameras whose container cannot be indexed are left out.

    Thumbnails are box means of the luma plane, about 80 x 60, in 1/256 grey (9.6 kB a picture); digests are
    of the whole plane. Times are nanoseconds since the clip's first picture, by the container.
    Source: FFmpeg's decoders through `assay.media.luma`; None instead of a dictionary where decoding is off.
    """
    clips = {s.name: s.clip for s in ep.by_role(Role.CAMERA, Role.DEPTH) if s.clip is not None}
    seen: dict[str, Pictures] = {}
    for name, found in containers.items():
        if isinstance(found, Container):
            with suppress(UnreadableError):  # a file that vanished or broke since it was indexed
                seen[name] = _pass(clips[name], found)
    return seen


def _pass(clip: Clip, found: Container) -> Pictures:
    thumbs, digests = Thumbnails(), Digests()
    done = luma(clip, (thumbs, digests), found)
    return Pictures(
        done.t,
        done.key,
        thumbs.mean(),
        digests.value(),
        thumbs.value(),
        done.asked,
        done.missing,
        done.error,
    )
