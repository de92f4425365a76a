"""Feature: contact of hands, as far as any stream tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature
from assay.model import Episode, Role, Stream
from assay.signals.contact import Contact, by_distance, by_force, by_gripper, by_touch
from assay.signals.posture import Poses
from assay.units import si_factor

__all__ = ["contact"]

FORCES: Final = ("fx", "fy", "fz")
Side = Literal["left", "right", ""]


@feature(reads=(Role.FORCE_TORQUE, Role.TACTILE, Role.GRIPPER, Role.OBJECT_POSE))
def contact(ep: Episode, poses: Poses | None) -> tuple[Contact, ...]:
    """Three-valued contact, one `Contact` for each stream (and hand) that tells of it; empty without any.

    Force needs three channels in N; a gripper the values of closed and open (``[gripper]`` of the sheet); an
    object a hand in the same world, sampled together.
    """
    return tuple(_all(ep, poses))


def _all(ep: Episode, poses: Poses | None) -> Iterator[Contact]:
    for stream in ep.by_role(Role.FORCE_TORQUE):
        columns = [i for i, c in enumerate(stream.channels) if c.unit == "N"]
        if len(columns) == len(FORCES):
            yield Contact(stream.t, by_force(_values(stream, columns)), stream.side, "force", stream.name)
    for stream in ep.by_role(Role.TACTILE):
        cells = _values(stream, list(range(stream.x.shape[1])))
        yield Contact(stream.t, by_touch(cells), stream.side, "tactile", stream.name)
    closed, opened = ep.meta.get("gripper/closed"), ep.meta.get("gripper/open")
    for stream in ep.by_role(Role.GRIPPER):
        if closed is not None and opened is not None and closed != opened and stream.x.shape[1] == 1:
            state = by_gripper(stream.t, np.asarray(stream.x[:, 0], np.float64), closed, opened)
            yield Contact(stream.t, state, stream.side, "gripper", stream.name)
    yield from _objects(ep, poses)


def _objects(ep: Episode, poses: Poses | None) -> Iterator[Contact]:
    if poses is None or not poses.timed or ep.embodiment is None:
        return
    sides = {hand.link: hand.side for hand in ep.embodiment.hands}
    for stream in ep.by_role(Role.OBJECT_POSE):
        at = {name: i for i, name in enumerate(stream.names)}
        if stream.frame.startswith("unresolved") or len(stream) != len(poses.t) or not {*"xyz"} <= at.keys():
            continue
        thing = _values(stream, [at[e] for e in "xyz"])
        for link, (p, _) in poses.world.items():
            side: Side = sides.get(link, "")
            yield Contact(poses.t, by_distance(poses.t, p, thing), side, "distance", stream.name)


def _values(stream: Stream, columns: list[int]) -> NDArray[np.float64]:
    """Columns in SI; unknown units as they are. Rows that the data marks invalid are NaN."""
    units = [stream.channels[i].unit for i in columns] if stream.channels else []
    x = np.array(stream.x[:, columns], np.float64)
    x *= np.array([si_factor(u) for u in units] or [1.0])
    if stream.valid is not None:
        x[~stream.valid] = np.nan
    return x
