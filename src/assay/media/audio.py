"""A piece of a container's sound, sample by sample where its stamps say."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.media.opening import container
from assay.packets import BROKEN

__all__ = ["Sound", "sound"]

MOST_SAMPLES: Final = 50_000_000
"""Samples of sound in one piece: 17 minutes at 48 kHz."""


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A piece of sound.

    Attributes:
        t0: int64 ns of the first sample, on the container's time line (that of `Container.t`).
        rate: samples per second.
        x: (n,) float32, all channels averaged, full scale 1; NaN where nothing could be decoded.
    """

    t0: int
    rate: int
    x: NDArray[np.float32]


def sound(root: Path, path: str, t0: int, t1: int) -> Sound | None:
    """The first sound track of a file between two times of its time line, ns; None where it has none.

    At the rate at which it was recorded, so that no resampling moves an onset.

    Raises:
        UnreadableError: if the file is absent, outside ``root``, or no container that is read here.
    """
    with open_inside(root, path) as file, container(file, path) as source:
        if not source.streams.audio:
            return None
        stream = source.streams.audio[0]
        rate = int(stream.rate or 0)
        n = round(max(t1 - t0, 0) * rate * 1e-9)
        if not 1000 <= rate <= 768_000 or n > MOST_SAMPLES:
            raise UnreadableError(
                "the sound track is not one of a microphone", where=path, found=f"{rate} Hz, {n} samples"
            )
        stream.codec_context.thread_count = 1
        x = np.full(n, np.nan, np.float32)
        with suppress(*BROKEN):  # what could not be decoded stays NaN
            _fill(source, stream, x, t0, rate)
        return Sound(t0, rate, x)


def _fill(source: Any, stream: Any, x: NDArray[np.float32], t0: int, rate: int) -> None:
    """Put decoded frames where their presentation stamps say."""
    mono = av.AudioResampler(format="flt", layout="mono", rate=rate)
    source.seek(max(t0 // 1000 - 200_000, 0), backward=True)  # 0.2 s early: codecs need a run-up
    following = None
    for frame in source.decode(stream):
        if frame.pts is None:
            continue
        first = round(float(frame.pts * frame.time_base - Fraction(t0, 10**9)) * rate)
        if following is not None and abs(first - following) < rate // 400:
            first = following  # Matroska rounds stamps to whole milliseconds: the samples themselves go on
        if first >= len(x):
            return
        frame.pts = None
        part = np.concatenate(
            [f.to_ndarray().ravel() for f in mono.resample(frame)] or [np.empty(0, x.dtype)]
        )
        following = first + len(part)
        skip = min(max(-first, 0), len(part))
        kept = part[skip : max(len(x) - first, skip)]
        x[first + skip : first + skip + len(kept)] = kept
