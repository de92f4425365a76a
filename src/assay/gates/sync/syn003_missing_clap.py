"""SYN003 missing-clap: the sheet promises a clap or a flash, and a stream that should show it does not.

What: How many of the promised claps (or flashes) are missing at each promised end, in every stream that
should show them.

Why: A clap at both ends is the one sign that dates sound, pictures and forces against each other without
trusting any clock. An episode whose clap was forgotten, or cut away by trimming, has lost its proof.

Method: Only where the sheet says ``sync = "clap"``; ``[clap]`` says at which ends (both), how many (one), by
hands or by light, and which streams show it (without a word: sound tracks and cameras; a flash: cameras).
Looked for within 10 s of each end. In sound: energy of the first difference in 1 ms blocks against the 100
ms before. In accelerations, forces and joint speeds: jerk. Flashes: the mean of the picture. Hands: their
closing motion, which ends from one picture to the next. Events are the peaks that stand out of all others
by a factor (10 in energy, 3 in jerk and light, 2 in closing motion). A peak that stands out by 25 % of it
leaves the stream undecided, and so does a picture in which much moves and nothing claps.

Source: METHODS 4; RocSync (arXiv 2511.14948) for claps and light as baselines of synchronisation.

Blind spots: Any bang is a clap to a microphone, any knock to a joint. A clap less than 15 dB over the noise
is taken for none or leaves it undecided. Hands that meet outside the picture, or take fewer than three
pictures to meet, are not seen; grippers of a simulation that stop dead look like a clap. A video's clap is
never called missing while things move in it.

Dose: loudness of the clap over the noise, dB; jolt over the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.features.claps import Claps, Look
from assay.gate import Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Channel, Clock, Episode, Role, Stream
from assay.signals.events import DOUBTFUL
from assay.synth import teleop
from assay.synth.claps import clap_sound

_SHOWS = {"clap": (Role.CAMERA, Role.AUDIO), "flash": (Role.CAMERA,)}
_MICROPHONE, _RATE = "microphone", 16_000


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(0.0, "1", "a promise of claps is kept or not", judged=True)


def recorded(*at: float, db: float = 40.0, seed: int = 3, **meta: Any) -> Episode:
    """A teleoperated episode with a microphone that hears claps at these seconds, ``db`` over the noise."""
    ep = teleop(12.0, clock=Clock.SENSOR, cameras=0)
    x = clap_sound(12.0, at, _RATE, db, seed)
    t = np.rint(np.arange(len(x)) * 1e9 / _RATE).astype(np.int64)
    heard = Stream(_MICROPHONE, Role.AUDIO, t, x[:, None], (Channel("left", "1"),), Clock.SENSOR)
    return replace(ep.with_stream(heard), sync="clap", meta={f"clap/{k}": v for k, v in meta.items()})


def _muffled() -> Episode:
    """The onset is loud enough to be noticed, and not to be sure of."""
    return recorded(2.0, 10.0, db=13.0)


_NO_FILES: dict[str, Any] = {"pictures": {}, "containers": {}}

CASES = (
    Case("a clap at both ends", lambda: recorded(2.0, 10.0), "pass", features=lambda: _NO_FILES),
    Case(
        "no clap at the end", lambda: recorded(2.0), "fail", at=(5.9, 12.0), channel="sound",
        features=lambda: _NO_FILES,
    ),
    Case(
        "no clap at all", recorded, "fail", at=(0.0, 12.0), channel="sound",
        features=lambda: _NO_FILES,
    ),
    Case(
        "only a clap at the start is promised", lambda: recorded(2.0, ends=["start"]), "pass",
        features=lambda: _NO_FILES,
    ),
    Case(
        "two of three", lambda: recorded(2.0, 2.7, ends=["start"], count=3), "fail", at=(0.0, 6.0),
        channel="sound", features=lambda: _NO_FILES,
    ),
    Case("20 dB over the noise", lambda: recorded(2.0, 10.0, db=20.0), "pass", features=lambda: _NO_FILES),
    Case("13 dB over the noise", _muffled, "abstain", reason="undecided", features=lambda: _NO_FILES),
    Case(
        "nobody promises a clap", lambda: replace(recorded(), sync="ptp"), "n/a", features=lambda: _NO_FILES
    ),
    Case(
        "the sheet cannot be read", lambda: replace(recorded(), sync="unreadable"), "abstain",
        reason="unreadable", features=lambda: _NO_FILES,
    ),
    Case(
        "nothing that could show it", lambda: recorded().without_stream(_MICROPHONE), "abstain",
        reason="absent-stream", features=lambda: _NO_FILES,
    ),
    Case(
        "the sheet names a stream that is not there", lambda: recorded(2.0, 10.0, streams=["head/audio"]),
        "abstain", reason="absent-stream", features=lambda: _NO_FILES,
    ),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """Nothing was promised."""
    return None if ep.sync in ("clap", "unreadable") else NotApplicable("no-clap-promised", "sheet: sync")


@gate(
    code="SYN003", name="missing-clap", reads=[Role.CAMERA, Role.AUDIO, Role.IMU, Role.FORCE_TORQUE],
    not_applicable=not_applicable,
)  # fmt: skip
def missing_clap(ep: Episode, p: Params, claps: Claps) -> Iterator[Outcome]:
    """Count the claps of each stream that should show them, at each promised end."""
    if ep.sync == "unreadable":
        yield Abstain("unreadable", "what the corpus's sheet promises")
        return
    sign = ep.meta.get("clap/sign") or "clap"
    named = ep.meta.get("clap/streams")
    yield from (
        Abstain("absent-stream", "declared, not delivered", d.name) for d in ep.missing(*_SHOWS[sign])
    )
    looks = [look for look in claps.looks if _shows(ep, look, sign, named)]
    for name in (
        {*(named or ())} - {look.stream for look in looks} - {d.name for d in ep.missing(*_SHOWS[sign])}
    ):
        yield Abstain("absent-stream", "the sheet says that it shows the clap", name)
    if not looks and not named:
        yield Abstain("absent-stream", f"no stream that could show a {sign}")
    for look in looks:
        if look.end in (ep.meta.get("clap/ends") or ("start", "end")):
            yield _missing(look, int(ep.meta.get("clap/count") or 1), p)


def _shows(ep: Episode, look: Look, sign: str, named: list[str] | None) -> bool:
    if named:
        return look.stream in named
    stream = ep.stream(look.stream)
    role = Role.AUDIO if stream is None else stream.role  # a sound track is no stream of its own
    return role in _SHOWS[sign]


def _missing(look: Look, count: int, p: Params) -> Outcome:
    if look.blind:
        return Abstain(look.blind, f"at the {look.end}", look.stream, look.way)
    found, margin = len(look.onsets), look.onsets.margin
    unsure = found < count and (DOUBTFUL < margin < 1.0 or (look.way == "hands" and margin > 0.0))
    note = f"{found} of {count} at the {look.end}"
    doubt = f"the best peak stands out by {margin:.2f} of what is asked" if unsure else ""
    return Evidence.single(
        np.nan if unsure else max(count - found, 0), look.t0, look.t1, unit="1", limit=p.limit,
        stream=look.stream, channel=look.way, note=note, doubt=doubt, by="claps",
    )  # fmt: skip
