"""INT001 unreadable: a file, or a stretch of a video, cannot be read.

What: Tables and metadata that the reader could not read, videos without a usable index, and the pictures
of each video that cannot be decoded, with their places.

Why: Loaders open files lazily: a cut video or a damaged stretch shows up as a crash, or as the wrong
pictures, in the middle of a training run. An episode that cannot be read stays in the denominator.

Method: What the reader reports (claims of topic ``readable``). Each video's container is indexed; with
decoding on, every picture is decoded once and its presentation stamp ticked off, with the decoder told to
stop at damage and not to paint over it; decoding goes on at the next key picture. Every picture that was
promised and not shown is one unreadable sample.

Source: meta-pytorch/torchcodec#505 and #165 (a damaged picture makes the rest unreachable),
huggingface/lerobot#2163 (a set that opens on a truncated file), AgiBot-World (6 corrupt MP4 files).

Blind spots: Damage that decodes without complaint to wrong pictures. Without decoding only the container
is read, and the gate abstains.

Dose: bytes cut from a file's end, 1 to 60 %; bytes overwritten amid a video.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import UnreadableError
from assay.features.claims import claimed
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.media import Container
from assay.model import Claim, Episode, Listing, Ref, Role, Stream
from assay.signals.intervals import span
from assay.signals.pictures import Pictures
from assay.synth import teleop
from assay.synth.pictures import container, film

CAMERAS = (Role.CAMERA, Role.DEPTH)
_CAMERA = "observation.images.cam_0"


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(
        0.0, "frame", "one picture or file that cannot be read already breaks a loader", judged=True
    )


def _claimed(size: float) -> Episode:
    claim = Claim("readable", "data/episode.parquet", "a table", "cut at 60 %", size)
    return replace(teleop(cameras=0), claims=(claim,))


def _listed(size: float) -> Listing:
    """A corpus of one episode, one of whose tables can be read (0) or not."""
    claim = Claim("readable", "tasks.jsonl", "JSON", "cut", size)
    return Listing("synth", Path("synth"), (Ref("episode", ()),), claims=(claim,) if size else ())


CASES = (
    Case(
        "a video that decodes whole", teleop, "pass",
        features=lambda: {"containers": {_CAMERA: container(300)}, "pictures": {_CAMERA: film(300)}},
    ),
    Case(
        "one picture of 300 cannot be decoded", teleop, "fail", at=(4.99, 5.04), channel="pictures",
        features=lambda: {
            "containers": {_CAMERA: container(300)},
            "pictures": {_CAMERA: film(300, missing=(150,), error="Invalid data found")},
        },
    ),
    Case(
        "a video cut at 60 % of its bytes", teleop, "fail", at=(0.0, 10.0), channel="container",
        features=lambda: {"containers": {_CAMERA: UnreadableError("no index (moov)")}, "pictures": {}},
    ),
    Case(
        "indexed, not decoded", teleop, "abstain", reason="not-decoded",
        features=lambda: {"containers": {_CAMERA: container(300)}, "pictures": None},
    ),
    Case(
        "a table that cannot be read", lambda: _claimed(1.0), "fail", channel="data/episode.parquet",
        features=lambda: {"containers": {}, "pictures": {}},
    ),
    Case(
        "a table about which the reader agrees", lambda: _claimed(0.0), "pass",
        features=lambda: {"containers": {}, "pictures": {}},
    ),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: {"containers": {}, "pictures": {}},
    ),
    Case(
        "nothing delivered", lambda: Episode("empty"), "abstain", reason="absent-stream",
        features=lambda: {"containers": {}, "pictures": {}},
    ),
    Case("tables of the corpus are read", list, "pass", listing=lambda: _listed(0.0)),
    Case("a table of the corpus is cut", list, "fail", channel="tasks.jsonl", listing=lambda: _listed(1.0)),
    Case(
        "nothing is listed", list, "abstain", reason="not-declared",
        listing=lambda: Listing("synth", Path("synth"), ()),
    ),
)  # fmt: skip


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """Tables of the corpus that could not be read while listing it; readers claim none that could."""
    read = Claim("readable", "metadata", "readable", "read", 0.0)
    yield from claimed("readable", (*listing.claims, *((read,) if listing.refs else ())))


@gate(code="INT001", name="unreadable", reads=CAMERAS, conclude=conclude)
def unreadable(
    ep: Episode,
    p: Params,
    containers: Mapping[str, Container | UnreadableError],
    pictures: Mapping[str, Pictures] | None,
) -> Iterator[Outcome]:
    """Read everything that is there."""
    yield from _tables(ep, p)
    for declared in ep.missing(*CAMERAS):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    for camera in ep.by_role(*CAMERAS):
        yield _camera(camera, containers.get(camera.name), pictures, p)


def _tables(ep: Episode, p: Params) -> Iterator[Outcome]:
    t0, t1 = span(*(s.t for s in ep.streams))
    claims = [c for c in ep.claims if c.topic == "readable"]
    for claim in claims:
        yield Evidence.single(
            claim.size, t0, t1, unit="1", limit=p.limit, stream=claim.stream, channel=claim.about,
            note=f"declared {claim.declared}, found {claim.found}",
        )  # fmt: skip
    rows = [s for s in ep.streams if s.role not in CAMERAS]
    if rows and not claims:
        yield Evidence.single(0.0, t0, t1, unit="1", limit=p.limit, channel="tables")
    elif not ep.streams and not claims:
        yield Abstain("absent-stream", "nothing was delivered of this episode")


def _camera(
    camera: Stream,
    found: Container | UnreadableError | None,
    pictures: Mapping[str, Pictures] | None,
    p: Params,
) -> Outcome:
    if isinstance(found, UnreadableError) and found.found == "absent":
        return Abstain("absent-stream", str(found), camera.name)  # INT002 names the file
    if found is None:
        return Abstain("not-decoded", "its pictures are not in a video file", camera.name)
    if not isinstance(found, Container):
        t0, t1 = span(camera.t)
        return Evidence.single(
            1.0, t0, t1, unit="frame", limit=p.limit, stream=camera.name, channel="container",
            note=str(found),
        )  # fmt: skip
    seen = (pictures or {}).get(camera.name)
    if pictures is None or (seen is None and camera.role is Role.DEPTH):  # no brightness in the pixel format
        return Abstain("not-decoded", "the container is sound; its pictures were not decoded", camera.name)
    if seen is None or not seen.asked:
        return Evidence.single(
            float(max(len(camera), 1)), *span(camera.t), unit="frame", limit=p.limit, stream=camera.name,
            channel="pictures", note="no picture of this episode could be read from the file",
        )  # fmt: skip
    return _losses(camera, found, seen, p)


def _losses(camera: Stream, found: Container, seen: Pictures, p: Params) -> Evidence:
    """One sample per picture that the file promises: 1 where it cannot be decoded."""
    at = np.concatenate((seen.t, seen.missing))
    order = np.argsort(at, kind="stable")
    lost = np.concatenate((np.zeros(len(seen.t)), np.ones(len(seen.missing))))[order]
    t0 = at[order] + (int(camera.t[0]) if len(camera) else 0)
    note = seen.error or found.error or ("pictures are missing without complaint" if lost.any() else "")
    step = round(1e9 / float(found.rate)) if found.rate else 0
    return Evidence(
        lost, t0, np.append(t0[1:], t0[-1] + step), "frame", p.limit, stream=camera.name, channel="pictures",
        note=note,
    )  # fmt: skip
