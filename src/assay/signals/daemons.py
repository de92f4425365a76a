"""What the logs of clock services say: ptp4l, phc2sys and chrony, line by line, nothing executed.

Layouts as linuxptp prints them (``master offset -12 s2 freq +5 path delay 1234``, the summary ``rms 12 max 34
freq ... delay 678``, phc2sys' ``phc offset``; nanoseconds, the local clock less the master) and as chronyd
writes ``tracking.log`` (UTC, seconds). Lines that are none of these are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONGEST", "ServiceLog", "read_chrony", "read_ptp"]

Floats = NDArray[np.float64]

LONGEST: Final = 1000
"""Characters of a line that are looked at."""

_DATE: Final = re.compile(r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:?\d\d)")
_OFFSET: Final = re.compile(r"(?:master|phc|sys) offset\s+(-?\d{1,18})\s+s[0-3]\b.*?\bdelay\s+(-?\d{1,18})")
_NO_DELAY: Final = re.compile(r"(?:master|phc|sys) offset\s+(-?\d{1,18})\s+s[0-3]\b")
_SUMMARY: Final = re.compile(r"\brms\s+(\d{1,18})\s+max\s+(\d{1,18})\s+freq\b(?:.*?\bdelay\s+(-?\d{1,18}))?")


@dataclass(frozen=True, slots=True, eq=False)
class ServiceLog:
    """What a clock service said of the clock that it disciplines, against its master.

    Attributes:
        t: (m,) s since 1970, NaN where a line carries no date (linuxptp's own seconds count from boot).
        offset: (m,) s, the clock less its master.
        error: (m,) s, standard uncertainty of what the service cannot see: half of the path delay as the
            bound of an asymmetric path (over the root of three), or half of chrony's maximum error.
    """

    t: Floats
    offset: Floats
    error: Floats

    def within(self, t0: float, t1: float) -> ServiceLog:
        """The part between two dates, s since 1970."""
        use = (self.t >= t0) & (self.t <= t1)
        return ServiceLog(self.t[use], self.offset[use], self.error[use])

    @property
    def dated(self) -> bool:
        """Whether every line has a date."""
        return bool(np.isfinite(self.t).all())


def read_ptp(lines: Iterable[str]) -> ServiceLog:
    """Offsets of ptp4l and phc2sys; a summary line counts as its root mean square on either side."""
    rows = [row for line in lines for row in _ptp(line[:LONGEST])]
    return _log(rows)


def _ptp(line: str) -> Iterator[tuple[float, float, float]]:
    found = _OFFSET.search(line) or _NO_DELAY.search(line)
    if found:
        delay = abs(int(found[2])) if found.re is _OFFSET else 0
        yield _dated(line), int(found[1]) * 1e-9, delay * 0.5e-9 / 3**0.5
    elif found := _SUMMARY.search(line):
        unseen = abs(int(found[3] or 0)) * 0.5e-9 / 3**0.5
        rms = int(found[1]) * 1e-9
        yield from ((_dated(line), sign * rms, unseen) for sign in (-1, 1))


def _dated(line: str) -> float:
    found = _DATE.match(line)
    if not found:
        return float("nan")
    zone = "+00:00" if found[3] == "Z" else found[3]
    second = found[2].replace(",", ".")
    whole, _, part = second.partition(".")
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{whole}{zone}").timestamp()
    except (ValueError, OverflowError):
        return float("nan")
    return moment + (float(f"0.{part}") if part else 0.0)


def read_chrony(lines: Iterable[str]) -> ServiceLog:
    """Offsets of chronyd's ``tracking.log``; before the first synchronisation (``?``) nothing is known."""
    rows = [row for line in lines if (row := _chrony(line[:LONGEST])) is not None]
    return _log(rows)


def _chrony(line: str) -> tuple[float, float, float] | None:
    cells = line.split()
    if len(cells) < 9 or cells[7] not in ("N", "+", "-"):
        return None
    try:
        moment = datetime.fromisoformat(f"{cells[0]}T{cells[1]}").replace(tzinfo=UTC).timestamp()
        numbers = [float(c) for c in (cells[6], *cells[9:14])]
    except (ValueError, OverflowError):
        return None
    unseen = numbers[5] / 2 if len(numbers) > 5 else numbers[1] if len(numbers) > 1 else float("nan")
    known = all(np.isfinite(v) for v in (numbers[0], unseen))
    return (moment, numbers[0], unseen) if known else None


def _log(rows: list[tuple[float, float, float]]) -> ServiceLog:
    table = np.array(rows, np.float64).reshape(-1, 3)
    return ServiceLog(table[:, 0], table[:, 1], table[:, 2])
