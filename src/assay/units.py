"""The closed set of units. Inside Assay everything is SI; readers convert once and say so."""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

from assay.errors import UsageError

__all__ = ["UNITS", "Unit", "si_factor", "si_unit"]

Unit = Literal[
    "1",
    "m",
    "cm",
    "mm",
    "rad",
    "deg",
    "s",
    "ms",
    "ns",
    "Hz",
    "m/s",
    "rad/s",
    "deg/s",
    "m/s^2",
    "N",
    "N*m",
    "A",
    "V",
    "kg",
    "K",
    "frame",
    "row",
    "byte",
    "grey",
    "ppm",
    "%",
    "tick",
    "unknown",
]
"""``1`` is a pure number (a share, a normalised drive range); ``grey`` is one of 256 levels of luma;
``unknown`` is a value whose unit nobody declared: gates that need the unit abstain."""

UNITS: Final[tuple[str, ...]] = get_args(Unit)

_TO_SI: Final[dict[str, tuple[Unit, float]]] = {
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "deg": ("rad", math.pi / 180.0),
    "deg/s": ("rad/s", math.pi / 180.0),
    "ms": ("s", 1e-3),
    "ns": ("s", 1e-9),
    "%": ("1", 1e-2),
    "ppm": ("1", 1e-6),
}


def si_unit(unit: str) -> Unit:
    """The SI unit that ``unit`` converts to (itself when it is one already).

    Raises:
        UsageError: if ``unit`` is not in the closed set.
    """
    if unit not in UNITS:
        raise UsageError("unknown unit", found=repr(unit), expected="one of " + ", ".join(UNITS))
    return _TO_SI[unit][0] if unit in _TO_SI else unit  # type: ignore[return-value]


def si_factor(unit: str) -> float:
    """The factor that turns a value in ``unit`` into ``si_unit(unit)``."""
    si_unit(unit)
    return _TO_SI[unit][1] if unit in _TO_SI else 1.0
