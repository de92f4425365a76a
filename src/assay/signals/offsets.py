"""How far two streams are apart in time, as an estimate with its error, its place and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["BELIEVED", "Offset", "offsets_of"]

BELIEVED: Final = 0.12
"""Seconds by which a camera's declared offset and the lag of its pictures after the joints may differ:
content runs 83 ms after a real G1's joints, give or take a picture (docs/power/SYN001.md)."""


@dataclass(frozen=True, slots=True)
class Offset:
    """One estimate of how much later one stream is than another.

    Attributes:
        stream: the one that is late where ``seconds`` is positive; against: the other.
        t0, t1: int64 ns, the stretch of the episode that the estimate speaks for.
        seconds: the offset; u: its standard uncertainty, bias of the method included.
        by: what it rests on: ``stamps``, ``claps``, ``content``, ``trigger`` or ``log``.
        reference: ``absolute``, or ``deviation`` from the rig's median over the corpus.
        end: which end of the episode, or ``whole``.
    """

    stream: str
    against: str
    t0: int
    t1: int
    seconds: float
    u: float
    by: Literal["stamps", "claps", "content", "trigger", "log"]
    reference: Literal["absolute", "deviation"] = "absolute"
    end: Literal["start", "end", "whole"] = "whole"


def offsets_of(found: Any) -> tuple[Offset, ...]:
    """The offsets that a feature found: nothing, what holds ``offsets``, or several of these."""
    if found is None:
        return ()
    if isinstance(found, Offset):
        return (found,)
    if isinstance(found, Mapping):
        found = tuple(found.values())
    inner = getattr(found, "offsets", found)
    return tuple(o for one in inner for o in offsets_of(one)) if isinstance(inner, Iterable) else ()
