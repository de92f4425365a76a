"""The only code that prints: machine output to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, Final

import orjson

__all__ = ["lines", "say", "show"]

_TAME: Final = {c: f"\\u{c:04x}" for c in (7, 8, 27, *range(128, 160))}
"""Names come from strangers' files: what a terminal would obey is shown instead."""


def lines(text: Iterable[str]) -> None:
    """Print lines to stdout; whoever read may have read enough, as ``head`` does: the rest goes nowhere."""
    try:
        for line in text:
            print(line.translate(_TAME))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else it fails again at the exit


def show(value: Any, text: Iterable[str], as_json: bool) -> int:
    """For a machine or for a person."""
    lines([orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()] if as_json else text)
    return 0


def say(text: str) -> None:
    """Print one line to stderr."""
    with contextlib.suppress(OSError, AttributeError):  # nobody listens: the run goes on
        print(text.translate(_TAME), file=sys.stderr)
