"""Names that are nearly one of those that are known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

__all__ = ["meant"]

_NEAR: Final = 0.7
_AS_NEAR: Final = 0.05
_BEGUN: Final = 0.9
"""Shares of alike letters: from which a name may be a misspelt one, within which two are as likely, and that
of a name that was not written to its end."""


def meant(found: str, known: Iterable[str], otherwise: str = "") -> str | None:
    """A remedy that asks for the nearest of the known names, where one is near, followed by ``otherwise``."""
    alike = {name: _alike(found.lower(), name.lower()) for name in known}
    best = max(alike.values(), default=0.0)
    near = sorted(name for name, share in alike.items() if share >= max(best - _AS_NEAR, _NEAR))
    asked = f"did you mean {' or '.join(near[:3])}?" if near else ""
    return " ".join(filter(None, (asked, otherwise))) or None


def _alike(a: str, b: str) -> float:
    short, long = sorted((a, b), key=len)
    return _BEGUN if len(short) > 2 and long.startswith(short) else SequenceMatcher(None, a, b).ratio()
