"""Whether an interrupted run may be continued: the same data, measured and judged in the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.amiss import amiss
from assay.errors import RunError
from assay.plan import Plan

__all__ = ["resumable"]


def resumable(folder: Path, plan: Plan) -> None:
    """Refuse to go on with a run that began otherwise or on other data; without a plan it is a new run.

    Raises:
        RunError: naming what changed.
    """
    stored = folder / "plan.json"
    if not stored.is_file():
        return
    try:
        old = json.loads(stored.read_text("utf-8"))
        known = old["measure_id"], old["judge_id"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunError("the plan of this run is damaged", where=str(stored), found=amiss(error),
                       remedy="choose another --out") from error  # fmt: skip
    now = plan.measure_id, plan.judge_id
    for was, is_, what in zip(known, now, ("what is measured", "limits or effects"), strict=True):
        if was != is_:
            raise RunError(f"{what} changed since this run began",
                           where=str(folder), found=is_, expected=was,
                           remedy="resume with the same corpus and options, or another --out")  # fmt: skip
    _untouched(old, plan)


def _untouched(old: Mapping[str, Any], plan: Plan) -> None:
    """Refuse files that were changed although they kept size and time; a copy is another matter.

    What ``stat`` calls the change of a file (ctime) cannot be set back. Renaming it or its rights counts too.
    """
    for corpus, was in zip(plan.corpora, old.get("touched", ()), strict=False):
        now = corpus.touched
        if now.folder == was.get("folder") and now.at > was.get("at", 0):
            raise RunError("a file of the corpus changed since this run began, or its name or rights did",
                           where=now.file, remedy="choose another --out")  # fmt: skip
