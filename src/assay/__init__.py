"""Assay measures whether a humanoid robot's training data will train it.

Public names are imported when first used, so that ``import assay`` stays quick::

    import assay

    run = assay.run("path/to/corpus")
    run.verdicts                                  # one row per subject and gate
    run.episode("episode_000003").evidence("RTG001")

The contracts of plugs are the modules `assay.gate`, `assay.feature` and `assay.reader`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

__version__: Final = "0.1.0"

_HOMES: Final = {
    "Abstain": "gate", "AssayError": "errors", "Case": "gate", "Channel": "model", "Clock": "model",
    "Episode": "model", "Evidence": "gate", "NotApplicable": "gate", "Role": "model", "Run": "store",
    "Stream": "model", "run": "engine",
}  # fmt: skip

__all__ = [
    "Abstain", "AssayError", "Case", "Channel", "Clock", "Episode", "Evidence", "NotApplicable", "Role",
    "Run", "Stream", "run",
]  # fmt: skip

if TYPE_CHECKING:
    from assay.engine import run
    from assay.errors import AssayError
    from assay.gate import Abstain, Case, Evidence, NotApplicable
    from assay.model import Channel, Clock, Episode, Role, Stream
    from assay.store import Run


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
