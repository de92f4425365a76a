"""Where the samples of another file lie on the robot's clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.model import Episode, Stream

__all__ = ["placed"]

Int64 = NDArray[np.int64]


def placed(ep: Episode, stream: Stream, t: Int64, on: Int64) -> Int64 | None:
    """The stamps t (m,) ns of a stream on the robot's clock; None where nobody says how the clocks relate.

    A stream of the robot's own file is on its clock. One of another part is placed if its offset is declared,
    or if both last equally long to a frame.

    Args:
        ep: whose ``meta`` holds the offsets of its parts.
        stream: of the part that its name begins with.
        t: its stamps in real nanoseconds.
        on: (n,) ns, the robot's clock.
    """
    part = stream.name.partition("/")[0]
    if f"parts/{part}/offset" not in ep.meta:
        return t
    offset = ep.meta[f"parts/{part}/offset"]
    if not len(t) or not len(on):
        return None
    if offset is not None:
        moved: Int64 = t - t[0] + on[0] + round(offset * 1e9)
        return moved
    steps = [int(np.median(np.diff(c))) for c in (t, on) if len(c) > 1]
    same = abs(int(t[-1] - t[0]) - int(on[-1] - on[0])) <= sum(steps)
    return t - t[0] + on[0] if same else None
