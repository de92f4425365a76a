"""Feature: how far streams without pictures are apart by what they hold: hands and arms, sound and force."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.feature import feature
from assay.media import sound
from assay.model import Episode, Role, Stream
from assay.signals.offsets import Offset
from assay.signals.pair_lag import PairLag, Track, knocks, pair_lag, path
from assay.signals.travel import joint_columns
from assay.signals.wrists import SIDES, arm_columns

__all__ = ["Compared", "PairLags", "pair_lags"]

_HANDS: Final = (Role.HUMAN_BODY, Role.HAND_LANDMARKS)
_AXES: Final = ("x", "y", "z")
_LONGEST: Final = 600 * 10**9  # ns of sound that is read


@dataclass(frozen=True, slots=True)
class Compared:
    """Two streams, what is compared (``left hand``, ``sound``), and what came of it."""

    stream: str
    against: str
    what: str
    lag: PairLag


@dataclass(frozen=True, slots=True)
class PairLags:
    """All pairs that could be compared.

    Attributes:
        compared: one for each hand and each pair of sound and force.
        offsets: of those that speak: absolute, ``by="content"``, on the episode's time line.
    """

    compared: tuple[Compared, ...] = ()
    offsets: tuple[Offset, ...] = ()


@feature(reads=[Role.JOINT_POSITION, Role.AUDIO, Role.FORCE_TORQUE, *_HANDS])
def pair_lags(ep: Episode) -> PairLags:
    """`PairLags` of each tracked hand against its arm's joints, and of each sound against each force.

    Paths of the wrist (m) and of the arm's joints (rad) are compared at 100 Hz, knocks at 200 Hz, each
    within a second. Source: own method after METHODS 4, see `assay.signals.pair_lag`.
    """
    found = (*_hands(ep), *_contacts(ep))
    return PairLags(found, tuple(_offset(c) for c in found if not c.lag.why))


def _offset(c: Compared) -> Offset:
    return Offset(c.stream, c.against, c.lag.t0, c.lag.t1, c.lag.seconds, c.lag.u, "content")


def _hands(ep: Episode) -> Iterator[Compared]:
    arms: dict[str, tuple[Stream, NDArray[np.intp]]] = {}
    for joints in ep.by_role(Role.JOINT_POSITION):
        columns = joint_columns(joints)
        found = arm_columns(tuple(joints.channels[i].name for i in columns.tolist()), ep.embodiment)
        arms |= {side: (joints, columns[c]) for side, c in found.items() if len(c) and side not in arms}
    for hand in ep.by_role(*_HANDS):
        for side in SIDES:
            place = _wrist(hand, side)
            if place is None or side not in arms:
                continue
            joints, columns = arms[side]
            arm = path(joints.t, joints.x[:, columns])
            yield Compared(hand.name, joints.name, f"{side} hand", pair_lag(path(hand.t, place), arm))


def _wrist(hand: Stream, side: str) -> NDArray[np.float64] | None:
    """(n, 3) the place of one wrist, by the names of its three columns."""
    at: dict[str, int] = {}
    for i, channel in enumerate(hand.channels):
        name, _, axis = channel.name.replace("_", ".").lower().rpartition(".")
        words = re.findall(r"[a-z]+", name)
        mine = side in words or (hand.side == side and not set(SIDES) & set(words))
        if axis in _AXES and mine and "wrist" in words:
            at.setdefault(axis, i)
    return np.asarray(hand.x[:, [at[a] for a in _AXES]], np.float64) if len(at) == 3 else None


def _contacts(ep: Episode) -> Iterator[Compared]:
    forces = [s for s in ep.by_role(Role.FORCE_TORQUE) if len(s) > 1 and s.x.shape[1]]
    for audio in ep.by_role(Role.AUDIO) if forces else ():
        heard = _heard(audio)
        if heard is None:
            continue
        for force in forces:
            lag = pair_lag(heard, knocks(force.t, force.x), step=0.005, smooth=0.015)
            yield Compared(audio.name, force.name, "sound", lag)


def _heard(audio: Stream) -> Track | None:
    """Knocks in samples, or in the file that holds the sound; None where nothing can be read."""
    if audio.clip is None:
        return knocks(audio.t, audio.x) if len(audio) > 1 and audio.x.shape[1] else None
    first, long = (int(audio.t[0]), int(np.ptp(audio.t))) if len(audio) > 1 else (0, _LONGEST)
    try:
        track = sound(audio.clip.root, audio.clip.path, 0, min(long, _LONGEST))
    except UnreadableError:
        return None
    if track is None:
        return None
    t = first + np.rint(np.arange(len(track.x)) * 1e9 / track.rate).astype(np.int64)
    return knocks(t, np.asarray(track.x))
