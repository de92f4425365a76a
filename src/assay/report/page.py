"""The one self-contained page: data, style and script in one file that asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from assay.gate import Gate
from assay.report import sections
from assay.report.clocks import clock_rows
from assay.report.compact import embed
from assay.report.payload import payload
from assay.report.tables import Grid, RunTables
from assay.report.wording import count, hours, shell, visible

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]


def render(run: RunTables, docs: Mapping[str, Gate]) -> str:
    """The page as text.

    Args:
        run: the finished run.
        docs: gates by code, for their texts; a gate that is not there is shown by its code.
    """
    style, script = _asset("page.css"), _asset("page.js")
    return _environment().get_template("page.html.j2").render(
        **_content(run, docs),
        style=Markup(style),
        script=Markup(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )  # fmt: skip


def _content(run: RunTables, docs: Mapping[str, Gate]) -> dict[str, Any]:
    grid = Grid.of(run)
    gates = sections.gate_rows(run, grid, docs)
    corpora = run.summary.get("corpora") or []
    titles = {row["code"]: row["title"] for row in gates}
    data = payload(run, grid, titles)
    return {
        "summary": run.summary,
        "name": visible(", ".join(str(c["name"]) for c in corpora[:3]) or run.path.name),
        "corpora": corpora,
        "cover": sections.coverage(run, grid),
        "notices": sections.notices(run),
        "reasons": sections.reason_rows(run, grid),
        "open": sections.open_rows(run, grid),
        "unlock": sections.unlock(run),
        "gates": gates,
        "corpus_verdicts": sections.corpus_rows(run, grid),
        "cards": sections.card_rows(run, grid, docs, gates),
        "watch": sections.watch_rows(run, grid, gates),
        "near": sections.near_rows(run, grid),
        "clocks": clock_rows(run),
        "titles": titles,
        "run_path": str(run.path),
        "findings_shown": data["findings"]["shown"],
        "payload": embed(data),
    }


def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["count"] = count
    environment.filters["hours"] = hours
    environment.filters["shell"] = shell
    environment.filters["visible"] = visible
    return environment


def _asset(name: str) -> str:
    return files("assay.report").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    # The page's own policy admits exactly this style and this script, whatever a corpus may have smuggled in.
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
