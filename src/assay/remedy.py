"""What would decide an abstention, in the corpus that it was met in."""

from __future__ import annotations

from typing import Final

from assay.gate import REASONS

__all__ = ["by_sheet", "remedy"]

_SAID_BY_SHEET: Final = frozenset({
    "not-declared", "unknown-body", "unresolved-names", "unresolved-unit", "no-ground", "limits-conflict",
})  # fmt: skip
_BY_A_LINE: Final = _SAID_BY_SHEET | {"absent-stream", "nominal-clock", "no-reference", "scope-unknown"}
"""What a line of a sheet may cure: it states an item, names the file of a part, or says what a clock is."""


def by_sheet(reason: str) -> bool:
    """Whether a line of the corpus's sheet may decide what was left open for this reason.

    No line helps against too little data or certainty, where nothing was learnt, or for gates that were not
    run; nor does the vendor's word against his own model of a body.
    """
    return reason in _BY_A_LINE


def remedy(reason: str, *, refused: bool = False) -> str:
    """The remedy of a code of `assay.gate.REASONS`; empty for any other.

    ``refused``: whether the corpus's own sheet is ignored as a whole. What it may have said is then not asked
    for anew: the sheet is to be mended.
    """
    if refused and reason in _SAID_BY_SHEET:
        return "mend assay.toml, ignored as a whole, which may say it: assay inspect names what is wrong"
    return REASONS.get(reason, "")
