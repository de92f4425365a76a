"""Numbers, names and command lines as a report writes them."""

from __future__ import annotations

import math
import re
import shlex
from typing import Any, Final

__all__ = ["count", "hours", "number", "percent", "seconds", "shell", "view_line", "visible", "with_unit"]

_COUNTED: Final = ("frame", "row", "byte", "tick")
_HIDDEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """Control characters, line breaks and direction marks written out: a name cannot disguise itself."""
    return _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def count(value: Any) -> str:
    """``12,345``; an en dash where there is none."""
    return "–" if value is None else f"{int(value):,}"


def number(value: Any) -> str:
    """Four significant digits without an exponent where that stays short."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        return f"{float(f'{value:.4g}'):,.10f}".rstrip("0").rstrip(".")
    return f"{value:.3e}"


def with_unit(value: Any, unit: str) -> str:
    """``0.12 rad``, ``3 frames``; a pure number, or one of mixed units, stands alone."""
    text = number(value)
    if unit in ("1", "", "mixed") or text == "–":
        return text
    return f"{text}\N{NO-BREAK SPACE}{unit}{'s' if unit in _COUNTED and text != '1' else ''}"


def percent(value: float) -> str:
    """A share in per cent: three digits, and never 0 % or 100 % for what is not."""
    if not math.isfinite(value):
        return "–"
    if 0 < value < 1e-4:
        return "<\N{NO-BREAK SPACE}0.01\N{NO-BREAK SPACE}%"
    if 0.9995 <= value < 1:
        return ">\N{NO-BREAK SPACE}99.9\N{NO-BREAK SPACE}%"
    return f"{float(f'{100 * value:.3g}'):.10f}".rstrip("0").rstrip(".") + "\N{NO-BREAK SPACE}%"


def hours(value: float) -> str:
    """Hours; minutes or seconds where hours would read 0.0."""
    if value >= 1 or value == 0:
        return f"{value:,.1f}\N{NO-BREAK SPACE}h" if value else "0\N{NO-BREAK SPACE}h"
    minutes = value * 60
    return f"{minutes:.1f}\N{NO-BREAK SPACE}min" if minutes >= 1 else f"{minutes * 60:.1f}\N{NO-BREAK SPACE}s"


def seconds(nanoseconds: int) -> str:
    """Seconds from the episode's first sample (of ns since then), to the hundredth."""
    return f"{nanoseconds / 1e9:.2f}"


def shell(word: str) -> str:
    """One word of a POSIX command line; control characters escaped, so that pasting runs nothing."""
    if not _HIDDEN.search(word):
        return shlex.quote(word)
    inside = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", inside) + "'"


def view_line(run: str, episode: str, at: int) -> str:
    """The command that shows one moment of an episode."""
    return f"assay view {shell(run)} {shell(episode)} --at {seconds(at)}"
