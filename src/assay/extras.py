"""The one line that installs an optional library, worded as Assay itself was installed."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

__all__ = ["install_line"]


def install_line(extra: str) -> str:
    """What to type for an extra, e.g. ``ros``: whoever has a clone installs that clone again."""
    folder = _folder()
    if folder is None:
        return f'pip install "assay[{extra}]"'
    return f'pip install {"-e " if folder.get("editable") else ""}".[{extra}]" in the clone of Assay'


def _folder() -> dict[str, Any] | None:
    """How Assay was installed from a folder (PEP 610), None where it came from an index."""
    try:
        said = json.loads(distribution("assay").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return {"editable": True}  # run in a clone that nobody installed
    except (ValueError, OSError):
        return None
    folder = said.get("dir_info") if isinstance(said, dict) else None
    return folder if isinstance(folder, dict) else None
