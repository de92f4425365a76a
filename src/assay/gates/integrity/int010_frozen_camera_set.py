"""INT010 frozen-camera-set: a camera that shows one picture for a whole episode, or the same film in several.

What: Per episode and camera, the number of different pictures. Over the corpus, whether a camera never
changes in any episode, and how many files hold the very same sequence of pictures as another.

Why: A camera that was never updated, or whose file was copied into every episode, passes every test of one
file by itself: it decodes, has the right length and the right rate.

Method: A digest of every decoded luma plane. One different picture in more than 30 is a frozen camera: a
sensor's own noise, and every key picture, would change it. Sequences are equal if all their digests are.

Source: franka_pickplace_sim_v30, whose top camera holds 68 identical pictures in each of 10 byte-identical
files; D61 (a still person, 1,433 similar and no identical pictures, is not frozen).

Blind spots: A frozen camera that was encoded with several key pictures has several different pictures
(SYN008 finds it if joints move). Copies that were encoded anew. Episodes whose metadata point at one
place of one file are INT005's, and counted once here.

Dose: number of different pictures in an episode; share of episodes that a file was copied into.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.gate import Abstain, Case, Evidence, Fact, Outcome, gate, param
from assay.model import Episode, Listing, Role
from assay.signals.intervals import span
from assay.signals.pictures import Pictures
from assay.synth import teleop
from assay.synth.pictures import film

_CAMERA = "observation.images.cam_0"


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    least: float = param(30.0, "frame", "a second of pictures at 30 Hz before stillness means anything")
    distinct: float = param(
        1.0, "frame", "a live camera never gives one picture for a whole episode", judged=True
    )
    frozen: float = param(
        1.0, "1", "share of episodes: frozen in every one is the set's fault, else an episode's", judged=True
    )
    copies: float = param(0.0, "1", "files; no two takes give the very same pictures", judged=True)


def _film(**rest: Any) -> dict[str, object]:
    return {"pictures": {_CAMERA: film(**rest)}}


CASES = (
    Case("a camera that works", teleop, "pass", features=lambda: _film(n=300)),
    Case(
        "one picture, 300 times", teleop, "fail", at=(0.0, 10.0), channel="pictures",
        features=lambda: _film(n=300, order=np.zeros(300, np.intp), noise=0.0),
    ),
    Case(
        "two different pictures", teleop, "pass",
        features=lambda: _film(n=300, order=np.repeat([0, 1], 150), noise=0.0),
    ),
    Case(
        "a still scene with a sensor's noise", teleop, "pass",
        features=lambda: _film(n=300, order=np.zeros(300, np.intp), noise=0.6),
    ),
    Case(
        "thirty equal pictures", teleop, "abstain", reason="too-short",
        features=lambda: _film(n=30, order=np.zeros(30, np.intp), noise=0.0),
    ),
    Case(
        "a corpus whose camera never changes", teleop, "fail", channel="unchanging",
        features=lambda: _film(n=300, order=np.zeros(300, np.intp), noise=0.0),
        listing=lambda: Listing("synth", Path("synth"), ()),
    ),
    Case(
        "a corpus whose camera works", teleop, "pass", features=lambda: _film(n=300),
        listing=lambda: Listing("synth", Path("synth"), ()),
    ),
    Case("not decoded", teleop, "abstain", reason="not-decoded", features=lambda: {"pictures": None}),
    Case("undecodable", teleop, "abstain", reason="unreadable", features=lambda: {"pictures": {}}),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: {"pictures": {}},
    ),
)  # fmt: skip


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """Over all episodes: cameras that never change, and sequences that stand in several episodes."""
    cameras = sorted({name for mine in facts.values() for name in mine})
    for declared in (d for d in listing.streams if d.role is Role.CAMERA and d.name not in cameras):
        yield Abstain("absent-stream", "no episode's pictures were decoded", declared.name)
    for camera in cameras:
        seen = [mine[camera] for mine in facts.values() if camera in mine]
        long = [one for one in seen if one["pictures"] > p.least]
        copied = _copies(long)
        if not long:
            yield Abstain("too-short", "no episode has enough pictures", camera)
            continue
        still = float(np.mean([one["distinct"] <= p.distinct for one in long]))
        yield Evidence.single(
            still, 0, 0, unit="1", limit=p.frozen, limit_key="frozen", strict=False, stream=camera,
            channel="unchanging", note=f"one picture throughout in {still:.0%} of {len(long)} episodes",
        )  # fmt: skip
        yield Evidence.single(
            copied, 0, 0, unit="1", limit=p.copies, limit_key="copies", stream=camera,
            channel="copies", note=f"{copied} files of pictures equal another's, {len(long)} episodes",
        )  # fmt: skip
    if not cameras and not listing.streams:
        yield Abstain("absent-stream", "no camera is declared")


def _copies(seen: list[Mapping[str, Any]]) -> int:
    """Files whose pictures equal another file's; two episodes that point at one place are INT005's."""
    places = {one["place"]: one["digest"] for one in seen}
    return sum(n for n in Counter(places.values()).values() if n > 1)


@gate(code="INT010", name="frozen-camera-set", reads=[Role.CAMERA], conclude=conclude)
def frozen_camera_set(ep: Episode, p: Params, pictures: Mapping[str, Pictures] | None) -> Iterator[Outcome]:
    """Count the different pictures of each camera, and keep a digest of their sequence."""
    for declared in ep.missing(Role.CAMERA):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    for camera in ep.by_role(Role.CAMERA):
        seen = None if pictures is None else pictures.get(camera.name)
        if seen is None:
            undecoded = pictures is None or camera.clip is None
            yield Abstain("not-decoded" if undecoded else "unreadable", stream=camera.name)
            continue
        distinct = len(np.unique(seen.digest))
        sequence = f"{zlib.crc32(seen.digest.tobytes()):08x}-{seen.decoded}"
        place = f"{camera.clip.path}:{camera.clip.first}" if camera.clip else ep.id
        yield Fact(
            camera.name,
            {"digest": sequence, "distinct": distinct, "pictures": seen.decoded, "place": place},
        )
        if seen.decoded <= p.least:
            yield Abstain("too-short", f"{seen.decoded} pictures", camera.name)
            continue
        yield Evidence.single(
            distinct, *span(camera.t), unit="frame", limit=p.distinct, limit_key="distinct", sense="below",
            strict=False, stream=camera.name, channel="pictures",
            note=f"{distinct} different pictures of {seen.decoded}",
        )  # fmt: skip
