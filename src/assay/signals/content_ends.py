"""What content says of an episode's ends, as numbers with their place on the camera's clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_lag import Estimate
from assay.signals.onward import onward

__all__ = ["Ends", "ends_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Estimates of an episode's ends, or one of all of it.

    Attributes:
        value: (k,) s, how late the pictures are; NaN where content is silent.
        u: (k,) s, standard uncertainty, 0 where it is silent.
        t0, t1: (k,) int64 ns by the camera's clock.
        doubt: why an end is silent, else what each says.
    """

    value: NDArray[np.float64]
    u: NDArray[np.float64]
    t0: NDArray[np.int64]
    t1: NDArray[np.int64]
    doubt: str


def ends_of(
    found: Sequence[Estimate], t: NDArray[np.int64], offset: float = 0.0, offset_u: float = 0.0
) -> Ends:
    """Estimates on top of an offset ± u (s) that is declared, for a camera with the stamps t (ns)."""
    t = t[onward(t)]
    start, length = int(t[0]), int(t[-1] - t[0]) * 1e-9
    value = np.array([e.seconds for e in found]) + offset
    u = np.array([0.0 if e.why else float(np.hypot(e.u, offset_u)) for e in found])
    t0, t1 = np.array([(e.t0, e.t1 or length) for e in found]).T
    shown = ", ".join(f"{v * 1e3:+.0f} ± {e * 1e3:.0f} ms" for v, e in zip(value, u, strict=True))
    silent = "; ".join(e.detail or e.why for e in found if e.why)
    first, last = (start + np.rint(s * 1e9).astype(np.int64) for s in (t0, t1))
    return Ends(value, u, first, last, silent or shown)
