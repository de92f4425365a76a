"""Where the limit sets of one body disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.embodiment.body import Embodiment

__all__ = ["Conflict", "conflicts"]

Quantity = Literal["lower", "upper", "speed", "effort"]
_QUANTITIES: tuple[Quantity, ...] = ("lower", "upper", "speed", "effort")


@dataclass(frozen=True, slots=True)
class Conflict:
    """One number of one joint on which sources disagree.

    Attributes:
        joint: its name; quantity: ``lower``, ``upper`` (joint unit), ``speed`` (joint unit/s) or ``effort``.
        values: (source with revision, value) of each set that knows it, in the body's order.
    """

    joint: str
    quantity: Quantity
    values: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """The largest difference between two sources, in the quantity's unit."""
        known = [value for _, value in self.values]
        return max(known) - min(known)


def conflicts(body: Embodiment, tolerance: float = 1e-4) -> tuple[Conflict, ...]:
    """Every limit on which two of a body's sets differ by more than ``tolerance``.

    Unknown contradicts nothing.

    Args:
        body: with several limit sets.
        tolerance: in the quantity's unit; 1e-4 rad is what rounding in model files amounts to.
    """
    names = [f"{s.source} ({s.revision})" if s.revision else s.source for s in body.limits]
    found = []
    for at, joint in enumerate(body.joints):
        for quantity in _QUANTITIES:
            said = [
                (name, float(getattr(s, quantity)[at])) for name, s in zip(names, body.limits, strict=True)
            ]
            known = tuple((name, value) for name, value in said if np.isfinite(value))
            if known and max(v for _, v in known) - min(v for _, v in known) > tolerance:
                found.append(Conflict(joint.name, quantity, known))
    return tuple(found)
