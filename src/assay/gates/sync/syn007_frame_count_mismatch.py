"""SYN007 frame-count-mismatch: a video has more or fewer pictures than its episode has rows.

What: For each camera, the number of pictures that belong to the episode against the number of its rows, and
pictures that are missing inside it although the number is right.

Why: A picture that the encoder dropped shifts every later one against the joints, and loaders fail or
repeat the last picture. Two of 72,649 pictures missing in one camera, or nine tasks that cannot be loaded,
are reports from the field.

Method: Pictures are the packets that the container shows (an edit list may hide some), from the episode's
first one to the end of the file where nothing else follows in it, else to the number that the metadata
gives. Pictures that could not be decoded are subtracted where the video was decoded. The header's own
number is not evidence: it may count hidden packets. The span runs from the first row that has no picture
of its own: where a picture's time leaves its row's by half a period, where one is undecodable, or where the
pictures end. *lost*: where the corpus has taught what joints predict of the pictures, the places where
the lag of what is shown steps by 1.4 pictures or more towards early, and by more than lags do by chance.

Source: huggingface/lerobot PR 4462 and 4699, droid-dataset/droid#54, OpenDriveLab/AgiBot-World#149
(counts differ); meta-pytorch/torchcodec#1502 (header 200, 187 can be shown and 187 rows: not a fault).
32 untouched videos of a real G1 and a simulated GR1 have exactly as many packets as rows. *lost*: own
measurement on 24 real episodes (docs/power/SYN001.md): none of the untouched ones, 99 % of two lost pictures.

Blind spots: Two dropped pictures and two repeated ones leave the number right; content sees them where arms
move in view. One lost picture is suspicion only, which SYN001 may turn into an abstention. Where episodes
share one file and pictures are missing amid it, only the last episode is short.

Dose: pictures removed from the end or the middle of a video, 1 to 20 % of the rows; 1 to 5 inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from assay.errors import UnreadableError
from assay.features.content import Content
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.media import Container
from assay.model import Episode, Role, Stream
from assay.signals.intervals import period
from assay.signals.lost_frames import Step
from assay.signals.pictures import Pictures
from assay.synth import teleop
from assay.synth.pictures import container, film

CAMERAS = (Role.CAMERA, Role.DEPTH)
_CAMERA = "observation.images.cam_0"


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(
        0.0, "frame", "a loader pairs picture i with row i, so one is already a shift", judged=True
    )
    lost: float = param(
        1.4, "frame", "untouched lags step by 1.02 pictures at most, and two lost ones by 1.5", judged=True
    )
    sure: float = param(2.5, "1", "standard errors of a step in 12 s; one more for ten times the length")
    near: float = param(0.5, "s", "places of two lost pictures are found within 2 rows, mostly")


def _stepped(*sizes: float) -> dict[str, object]:
    """Steps of the lag, in pictures, at 2 s, 4 s and so on; negative: pictures are missing."""
    steps = tuple(Step(2 * (i + 1) * 10**9, size / 30, 0.25 / 30) for i, size in enumerate(sizes))
    return {
        "containers": {_CAMERA: container(300)}, "pictures": None,
        "content": {_CAMERA: Content(steps=steps, seconds=10.0)},
    }  # fmt: skip


CASES = (
    Case(
        "300 pictures for 300 rows", teleop, "pass",
        features=lambda: {"containers": {_CAMERA: container(300)}, "pictures": {_CAMERA: film(300)}},
    ),
    Case(
        "299 pictures for 300 rows", teleop, "fail", at=(9.9, 10.0), channel="pictures",
        features=lambda: {"containers": {_CAMERA: container(299)}, "pictures": None},
    ),
    Case(
        "80 % of the pictures", teleop, "fail", at=(8.0, 10.0), channel="pictures",
        features=lambda: {"containers": {_CAMERA: container(240)}, "pictures": {_CAMERA: film(240)}},
    ),
    Case(
        "one picture more than rows", teleop, "fail", channel="pictures",
        features=lambda: {"containers": {_CAMERA: container(301)}, "pictures": None},
    ),
    Case(
        "300 packets, of which one cannot be decoded", teleop, "fail", channel="pictures",
        features=lambda: {
            "containers": {_CAMERA: container(300)}, "pictures": {_CAMERA: film(300, missing=(150,))},
        },
    ),
    Case(
        "13 hidden packets that the header counts", teleop, "pass",
        features=lambda: {"containers": {_CAMERA: container(300, hidden=13)}, "pictures": None},
    ),
    Case("the lag steps by one picture", teleop, "pass", features=lambda: _stepped(0.3, -1.0)),
    Case(
        "two pictures are missing inside", teleop, "fail", at=(3.4, 4.6), channel="lost",
        features=lambda: _stepped(0.3, -2.0),
    ),
    Case("from one place on, two pictures more", teleop, "pass", features=lambda: _stepped(2.0)),
    Case(
        "the file cannot be indexed", teleop, "abstain", reason="unreadable",
        features=lambda: {"containers": {_CAMERA: UnreadableError("cut")}, "pictures": {}},
    ),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: {"containers": {}, "pictures": {}},
    ),
    Case(
        "no camera at all", lambda: teleop(cameras=0), "abstain", reason="absent-stream",
        features=lambda: {"containers": {}, "pictures": {}},
    ),
)  # fmt: skip


@gate(code="SYN007", name="frame-count-mismatch", version=2, reads=CAMERAS)
def frame_count_mismatch(
    ep: Episode,
    p: Params,
    containers: Mapping[str, Container | UnreadableError],
    pictures: Mapping[str, Pictures] | None,
    content: Mapping[str, Content],
) -> Iterator[Outcome]:
    """Count the pictures of each camera against its rows, and look for those that are missing inside."""
    for declared in ep.missing(*CAMERAS):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    for camera in ep.by_role(*CAMERAS):
        found = containers.get(camera.name)
        if isinstance(found, Container):
            yield _difference(camera, found, (pictures or {}).get(camera.name), p)
            yield from _lost(camera, content.get(camera.name, Content()), p)
        else:
            reason = "unreadable" if found else "not-decoded"
            yield Abstain(reason, str(found or "no video file"), camera.name)


def _lost(camera: Stream, seen: Content, p: Params) -> Iterator[Evidence]:
    """One sample per place: pictures that are missing there, 0 where chance does as much."""
    if not seen.steps:
        return
    step = period(camera.t, float(camera.rate) if camera.rate else None) * 1e-9
    needed = p.sure + np.log10(max(seen.seconds / 12.0, 1.0))
    size = np.array([-s.seconds / step if -s.seconds >= needed * s.u else 0.0 for s in seen.steps])
    at, near = np.array([s.t for s in seen.steps], np.int64), round(p.near * 1e9)
    order = np.argsort(at)
    yield Evidence(
        size[order], at[order] - near, at[order] + near, "frame", p.lost, limit_key="lost", apart=True,
        stream=camera.name, against="joints", channel="lost", by="content",
        note=f"about {max(round(float(size.max())), 0)} missing here; later ones are early",
    )  # fmt: skip


def _difference(camera: Stream, found: Container, seen: Pictures | None, p: Params) -> Evidence:
    assert camera.clip is not None
    rows, there = len(camera), found.available(camera.clip)
    lost = len(seen.missing) if seen is not None else 0
    note = f"{there - lost} pictures, {rows} rows" + (f", {lost} of them undecodable" if lost else "")
    if found.header and found.header != len(found):
        note += f"; the header says {found.header}"
    first = _first_without(camera, found, seen, there) if there - lost < rows else 0
    t0, t1 = (int(camera.t[first]), int(camera.t[-1])) if rows else (0, 0)
    return Evidence.single(
        abs(there - lost - rows), t0, t1, unit="frame", limit=p.limit, stream=camera.name, against="rows",
        channel="pictures", note=note,
    )  # fmt: skip


def _first_without(camera: Stream, found: Container, seen: Pictures | None, there: int) -> int:
    """The first row without a picture of its own (rows outnumber pictures)."""
    assert camera.clip is not None
    t = found.t[camera.clip.first : camera.clip.first + there]
    n, half = len(t), 0.5e9 / float(camera.rate or 30)
    apart = np.abs((t - t[:1]) - (camera.t[:n] - camera.t[0])) > half if n else np.zeros(0, bool)
    undecoded = np.searchsorted(t, seen.missing[:1]) if seen is not None else np.zeros(0, int)
    first = min([n, *np.flatnonzero(apart)[:1].tolist(), *undecoded.tolist()])
    return min(int(first), len(camera) - 1)
