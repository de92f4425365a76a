"""A view in words: lines of at most 80 columns."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay import plugs
from assay.report.clocks import clock_text
from assay.report.spans import place
from assay.report.wording import seconds, visible, with_unit
from assay.view.moment import Moment
from assay.view.seen import View

__all__ = ["text_of"]

PICTURES: Final = "Pictures beside it come with the [view] extra in version 0.5."

_WIDTH: Final = 80

Row = Mapping[str, Any]


def text_of(view: View) -> Iterator[str]:
    """The view in lines of at most 80 columns."""
    yield from _wrapped(f"{visible(view.subject)}: {view.decision}", 0)
    if view.verdicts:
        yield ""
    for row in view.verdicts:
        if row["status"] != "abstain":
            yield f"{row['status']:<8} {row['gate']} {row['title']} ({row['effect']})"
            yield from _wrapped(row["says"], 9)
    yield from _open(view.verdicts)
    if view.timing:
        yield from ("", "Whether the streams share one time (± two standard uncertainties):")
        yield from clock_text(view.timing, _WIDTH)
    yield ""
    if view.moment is not None:
        yield from _table(view.moment)
        yield ""
    else:
        yield from _wrapped(visible(view.missing), 0)
    yield PICTURES


def _open(rows: Sequence[Row]) -> Iterator[str]:
    """By reason: what would decide it, then what each gate is missing."""
    open_: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    cures = {row["reason"]: row["remedy"] for row in rows if row["status"] == "abstain"}
    for row in rows:
        if row["status"] == "abstain":
            at = f" ({place(row)})" if row["stream"] else ""
            open_[row["reason"]][f"{visible(row['detail'])}{at}"].append(row["gate"])
    for reason, missing in open_.items():
        yield from _wrapped(f"{reason}: {cures[reason]}", 9, "abstain")
        for detail, gates in missing.items():
            says = f": {detail.strip()}" if detail else ""
            yield from _wrapped(f"{' '.join(gates)}{says}", 11)


def _table(m: Moment) -> Iterator[str]:
    yield from _heading(m)
    letters = [chr(ord("a") + n) for n in range(len(m.columns))]
    for letter, column in zip(letters, m.columns, strict=True):
        yield from _wrapped(f"{letter}: {column.stream} {column.channel}, {column.unit}", 0)
    yield ""
    yield (f"{'seconds':>11}{'value':>13}  " + "".join(f"{letter:>13}" for letter in letters)).rstrip()
    here = max((n for n, s in enumerate(m.seconds) if s <= m.at), default=0)
    for n, start in enumerate(m.seconds):
        cells = "".join(f"{_shown(column.values[n]):>13}" for column in m.columns)
        mark = "*" if m.beyond[n] else " "
        yield f"{'>' if n == here else ' '}{start:>10.3f}{_shown(m.value[n]):>13} {mark}{cells}".rstrip()


def _heading(m: Moment) -> Iterator[str]:
    moment = f"{seconds(round(m.at * 1e9))} s"
    if not m.gate:
        yield from _wrapped(f"Nothing was measured in this episode; the data around {moment}", 0)
        return
    gate = plugs.gates().get(m.gate)
    what = f"{m.gate} {gate.title if gate else ''}".rstrip()
    where = place({"stream": m.stream, "channel": f"{m.channel} ({m.note})" if m.note else m.channel})
    head = f"{what} around" if m.fails else f"No gate fails here; {what} is nearest its limit, around"
    yield from _wrapped(f"{head} {moment}" + (f": {where}" if where else ""), 0)
    side = "beyond" if m.sense == "above" else "below"
    whole = "" if m.lasting is None else f"one sample of {m.lasting:.2f} s, "
    legend = f"value: {whole}measured again from the data; * {side} the limit of {with_unit(m.limit, m.unit)}"
    yield from _wrapped(legend, 0)


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.6g}"


def _wrapped(text: str, indent: int, head: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{head:<{indent}}", subsequent_indent=" " * indent,
                         break_on_hyphens=False)  # fmt: skip
