"""What would decide an abstention, in the corpus that it was met in."""

from __future__ import annotations

from typing import Final

from assay.gate import REASONS

__all__ = ["remedy"]

_SAID_BY_SHEET: Final = frozenset({
    "not-declared", "unknown-body", "unresolved-names", "unresolved-unit", "no-ground", "limits-conflict",
})  # fmt: skip


def remedy(reason: str, *, refused: bool = False) -> str:
    """The remedy of a code of `assay.gate.REASONS`; empty for any other.

    ``refused``: whether the corpus's own sheet is ignored as a whole. What it may have said is then not asked
    for anew: the sheet is to be mended.
    """
    if refused and reason in _SAID_BY_SHEET:
        return "mend assay.toml, ignored as a whole, which may say it: assay inspect names what is wrong"
    return REASONS.get(reason, "")
