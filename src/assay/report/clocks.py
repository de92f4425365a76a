"""Whether streams share one time: measured, bounded or assumed, pair by pair, for a page and as text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from assay.counts import COVERAGE
from assay.report.tables import RunTables
from assay.report.wording import number, visible

__all__ = ["SETTLED", "clock_rows", "clock_text", "said_of"]

SETTLED: Final = ("assumed", "bounded", "measured")
"""From the least known to the best."""

_USUAL: Final = 1 / 30
"""Seconds by which an assumed pair is taken to be out where the price of a lag is shown."""

Row = Mapping[str, Any]


def said_of(row: Row) -> str:
    """``measured to ± 2.4 ms by claps``; ± is two standard uncertainties.

    By content it is the usual lag: what lasts for less than a second or two does not change it.
    """
    if row["settled"] == "assumed" or row["u"] is None:
        return str(row["settled"])
    spread = number(_rounded(1e3 * COVERAGE * row["u"]))
    usual = ", the usual lag over windows of 3 s" if row["by"] == "content" else ""
    return f"{row['settled']} to ± {spread} ms by {row['by']}{usual}"


def lag_of(row: Row) -> str:
    """``24 ms late``, ``3.1 ms early``, with ``0.6 cm at the hand`` where the body is known."""
    if row["seconds"] is None:
        return _price(row)
    later, whose = row["seconds"] >= 0, ""
    side = "late" if later else "early"
    if row["reference"] == "deviation":
        side, whose = "later" if later else "earlier", " than the rig's usual"
    said = f"{number(_rounded(abs(row['seconds']) * 1e3))} ms {side}{whose}"
    return said if row["hand"] is None else f"{said}, {number(_rounded(row['hand'] * 100))} cm at the hand"


def _price(row: Row) -> str:
    """What one picture period would cost."""
    if row["hand_speed"] is None:
        return ""
    return f"each 33 ms would be {number(_rounded(100 * _USUAL * row['hand_speed']))} cm at the hand"


def drift_of(row: Row) -> str:
    """``212 ± 6 ppm``."""
    if row["ppm"] is None:
        return ""
    return f"{number(_rounded(row['ppm']))} ± {number(_rounded(COVERAGE * row['ppm_u']))} ppm"


def _rhythm(row: Row) -> str:
    """``29.98 Hz, jitter 0.31 ms``."""
    if row["rate"] is None:
        return ""
    return f"{number(row['rate'])} Hz, jitter {number(_rounded(1e3 * row['jitter']))} ms"


def clock_text(rows: Sequence[Row], width: int) -> Iterator[str]:
    """The rows of one episode, or of one pair each, as lines of ``width``."""
    import textwrap

    for row in rows:
        head = f"{visible(row['stream'])} against {visible(row['against'])}: {said_of(row)}"
        drifts = f"drift {drift_of(row)}" if drift_of(row) else ""
        cure = f"would measure it: {row['cure']}" if row["cure"] else ""
        rest = (lag_of(row), drifts, _rhythm(row), visible(row["detail"]), cure)
        yield from textwrap.wrap(head, width, subsequent_indent="  ", break_on_hyphens=False)
        for part in filter(None, rest):
            yield from textwrap.wrap(
                part, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
            )


def clock_rows(run: RunTables) -> list[dict[str, Any]]:
    """One row per pair of streams of the corpus: counts of each kind, the usual and the worst lag."""
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in run.timing.to_pylist():
        pairs[row["stream"], row["against"]].append(row)
    found = [_pair(key, rows) for key, rows in pairs.items()]
    return sorted(found, key=lambda row: (SETTLED.index(row["settled"]), row["stream"]))


def _pair(key: tuple[str, str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    counts = Counter(row["settled"] for row in rows)
    least = next(s for s in SETTLED if counts[s])  # a pair is known as well as it is in its worst episode
    mine = [row for row in rows if row["settled"] == least]
    known = [row for row in rows if row["seconds"] is not None]
    lags = [abs(row["seconds"]) * 1e3 for row in known]
    return {
        "stream": visible(key[0]), "against": visible(key[1]), "settled": least,
        "counts": {s: counts[s] for s in reversed(SETTLED) if counts[s]}, "episodes": len(rows),
        "by": ", ".join(f"{by} × {n:,}" for by, n in Counter(r["by"] for r in rows if r["by"]).most_common()),
        "within": _middle([1e3 * COVERAGE * r["u"] for r in known if r["u"] is not None], "ms"),
        "lag": _middle(lags, "ms"), "worst": _shown(max(lags), "ms") if lags else "–",
        "ppm": _middle([abs(r["ppm"]) for r in rows if r["ppm"] is not None], "ppm"),
        "hand": _middle([100 * r["hand"] for r in rows if r["hand"] is not None], "cm"),
        "price": _middle([100 * _USUAL * r["hand_speed"] for r in rows if r["hand_speed"] is not None], "cm"),
        "detail": visible(Counter(r["detail"] for r in mine).most_common(1)[0][0]),
        "cure": Counter(r["cure"] for r in mine).most_common(1)[0][0],
    }  # fmt: skip


def _middle(values: list[float], unit: str) -> str:
    return _shown(median(values), unit) if values else "–"


def _shown(value: float, unit: str) -> str:
    return f"{number(_rounded(value))}\N{NO-BREAK SPACE}{unit}"


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")
