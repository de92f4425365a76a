"""INT008 leaked-take: a video holds pictures of another take.

What: Pictures beyond the episode's rows at the video's end, and hard cuts anywhere in it.

Why: When an episode is recorded again, staged pictures of the discarded take may be encoded behind it; in
one team's collection 235 of 758 episodes had such tails. The policy then sees a scene that its rows do not
describe, or the wrong start.

Method: Surplus = pictures that belong to the episode less its rows. Cut = a transition whose change (mean
over 5 x 5 thumbnail cells of the mean change) is more than three times the largest within 15 transitions
on either side, its neighbours left out, with over a tenth of the cells changing by more than 8 grey; two
such changes of like size within the 15, as a few foreign pictures make them, do not hide each other. The
jump that ends a stretch in which the camera stood still while the arms moved is SYN008's; where they may
have moved a little, such a jump leaves the gate undecided, and so does one over undecodable pictures.

Source: huggingface/lerobot#4109, PR 4104 and 3683, #4025. Measured: 0 cuts in 33 real and simulated videos
and 10 moving wrist views (their largest ratios 2.0 and 2.95); tails of 3, 5, 10 and 30 pictures of another
episode of the same rig and scene found in 99, 100, 100 and 100 % of 150 each; one first picture
of another episode in 570 of 572; 1 to 20 such pictures amid an episode in 1191 of 1200.

Blind spots: A leaked take that goes on from the same pose. A camera that is moved by hand within 1/30 s
looks like a cut. The ratio to the usual change, or a histogram distance, does not separate (natural 6.8 to
9.8, and 0.03 against 0.015 to 0.23).

Dose: length of the leaked tail, 3 to 80 pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import UnreadableError
from assay.features.freshness import Freshness
from assay.gate import IN, OUT, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.media import Container
from assay.model import Episode, Role, Stream
from assay.signals.cuts import cut_ratio
from assay.signals.frozen import blank
from assay.signals.lasting import runs
from assay.signals.pictures import GREY, Pictures
from assay.synth import teleop
from assay.synth.pictures import container, film

_BLANK = 3  # pictures that show nothing, from which on they are SYN008's
_CAMERA = "observation.images.cam_0"


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    surplus: float = param(
        5.0,
        "frame",
        "recorders stop a few pictures apart; SYN007 reports those",
        judged=True,
    )
    cut: float = param(
        3.0,
        "1",
        "natural motion stays below 2.95 times its surroundings, splices exceed it",
        judged=True,
    )
    drifting: float = param(0.02, "rad/s", "arms that may have moved make a jump after stillness ambiguous")
    moving: float = param(0.05, "rad/s", "a camera that thaws while arms move jumps as well; as in SYN008")


def _pair(n: int, cut_at: int | None = None) -> dict[str, object]:
    scene = np.zeros(n, np.intp)
    if cut_at is not None:
        scene[cut_at:] = 1
    return {"containers": {_CAMERA: container(n)}, "pictures": {_CAMERA: film(n, scene=scene)}}


def _strange(first: int, count: int) -> dict[str, object]:
    scene = np.zeros(300, np.intp)
    scene[first : first + count] = 1
    return {"containers": {_CAMERA: container(300)}, "pictures": {_CAMERA: film(300, scene=scene)}}


def _blackened(first: int, count: int) -> dict[str, object]:
    seen = film(300)
    thumbs = seen.thumbs.copy()
    thumbs[first : first + count] = 16 * GREY
    return {
        "containers": {_CAMERA: container(300)}, "pictures": {_CAMERA: replace(seen, thumbs=thumbs)},
    }  # fmt: skip


CASES = (
    Case("one take", teleop, "pass", features=lambda: _pair(300)),
    Case(
        "80 pictures of another take behind 180 rows", lambda: teleop(6.0), "fail", at=(5.9, 8.7),
        channel="surplus", features=lambda: {"containers": {_CAMERA: container(260)}, "pictures": None},
    ),
    Case(
        "five pictures more than rows", lambda: teleop(6.0), "pass",
        features=lambda: {"containers": {_CAMERA: container(185)}, "pictures": {_CAMERA: film(185)}},
    ),
    Case(
        "a hard cut at picture 220 of 300", teleop, "fail", at=(7.28, 7.38), channel="cut",
        features=lambda: _pair(300, 220),
    ),
    Case(
        "the first picture is of another take", teleop, "fail", at=(0.0, 0.04), channel="cut",
        features=lambda: _strange(0, 1),
    ),
    Case(
        "three pictures of another take amid this one", teleop, "fail", at=(4.9, 5.2), channel="cut",
        features=lambda: _strange(150, 3),
    ),
    Case("three black pictures amid it", teleop, "pass", features=lambda: _blackened(150, 3)),
    Case("two black pictures amid it", teleop, "fail", at=(4.9, 5.2), channel="cut",
         features=lambda: _blackened(150, 2)),
    Case(
        "the jump that ends a freeze amid motion", teleop, "pass",
        features=lambda: {
            "containers": {_CAMERA: container(300)},
            "pictures": {_CAMERA: film(300, order=np.r_[0:150, np.full(40, 149), 190:300])},
        },
    ),
    Case(
        "a jump over pictures that cannot be decoded", teleop, "abstain", reason="scope-unknown",
        features=lambda: {
            "containers": {_CAMERA: container(300)},
            "pictures": {_CAMERA: film(300, missing=tuple(range(150, 180)))},
        },
    ),
    Case(
        "not decoded", teleop, "abstain", reason="not-decoded",
        features=lambda: {"containers": {_CAMERA: container(300)}, "pictures": None},
    ),
    Case(
        "the file cannot be indexed", teleop, "abstain", reason="unreadable",
        features=lambda: {"containers": {_CAMERA: UnreadableError("cut")}, "pictures": {}},
    ),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: {"containers": {}, "pictures": {}},
    ),
)  # fmt: skip


@gate(code="INT008", name="leaked-take", version=2, reads=[Role.CAMERA])
def leaked_take(
    ep: Episode,
    p: Params,
    containers: Mapping[str, Container | UnreadableError],
    pictures: Mapping[str, Pictures] | None,
    freshness: Mapping[str, Freshness],
) -> Iterator[Outcome]:
    """Look for surplus pictures and hard cuts in each camera."""
    for declared in ep.missing(Role.CAMERA):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    for camera in ep.by_role(Role.CAMERA):
        found = containers.get(camera.name)
        if not isinstance(found, Container):
            reason = "unreadable" if found else "not-decoded"
            yield Abstain(reason, str(found or "no video file"), camera.name)
            continue
        yield _surplus(camera, found, p)
        seen = None if pictures is None else pictures.get(camera.name)
        if seen is None:
            reason = "not-decoded" if pictures is None else "unreadable"
            yield Abstain(reason, "a hard cut shows in pictures only", camera.name, "cut")
        else:
            yield _cut(camera, seen, freshness[camera.name], p)


def _surplus(camera: Stream, found: Container, p: Params) -> Evidence:
    assert camera.clip is not None
    beyond = found.available(camera.clip) - len(camera)
    rate = float(camera.rate or found.rate or 1)
    end = int(camera.t[-1]) if len(camera) else 0
    return Evidence.single(
        max(beyond, 0), end, end + round(max(beyond, 0) * 1e9 / rate), unit="frame", limit=p.surplus,
        limit_key="surplus", stream=camera.name, against="rows", channel="surplus",
    )  # fmt: skip


def _cut(camera: Stream, seen: Pictures, when: Freshness, p: Params) -> Evidence:
    """One sample per transition; those that end a freeze while arms moved are out of scope (SYN008's)."""
    change, scope = cut_ratio(seen.thumbs), np.full(len(when.t), IN)
    for later in range(int(when.usual)):  # coding blurs the end of a stretch within one real period
        end = np.minimum(when.last + later, len(scope) - 1)
        scope[end[when.most > p.drifting]] = UNKNOWN
        scope[end[when.speed > p.moving]] = OUT
    for a, b in zip(*runs(blank(seen.thumbs)), strict=True):
        if b - a >= _BLANK:
            scope[[max(a - 1, 0), b - 1]] = OUT
    scope[:-1][np.diff(when.t) > 1.5 * when.step] = UNKNOWN  # over pictures that cannot be decoded (INT001)
    return Evidence(
        change, when.t[:-1], when.t[1:], "1", p.cut, limit_key="cut", scope=scope[: len(change)],
        stream=camera.name, channel="cut", reason="scope-unknown",
    )  # fmt: skip
