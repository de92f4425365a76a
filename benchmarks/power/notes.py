"""What else a page must say in words: measured facts that a table does not show."""

from __future__ import annotations

from typing import Final

__all__ = ["NOTES"]

NOTES: Final[dict[str, tuple[str, ...]]] = {}
