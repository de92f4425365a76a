"""Commands that look: inspect, view, attribute, gates, readers, embodiments, explain, selftest; inject."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.app import OUR_ERROR, app
from assay.cli.files import refuse_existing, write
from assay.cli.options import BodyOpt, CorpusArg, JsonOpt, RunArg, SheetOpt
from assay.cli.say import say, show
from assay.errors import UsageError
from assay.misspelt import meant


@app.command()
def inspect(
    corpus: CorpusArg,
    write_sheet: Annotated[
        Path | None, typer.Option("--write-sheet", metavar="F", help="Draft the sheet.")
    ] = None,
    sheet: SheetOpt = None,
    embodiment: BodyOpt = None,
    as_json: JsonOpt = False,
) -> int:
    """Tell what is declared, inferred and unresolved, before anything is measured."""
    from assay import inspection
    from assay.corpus import discover
    from assay.terminal import inspected

    found = discover(corpus, sheet_file=sheet, embodiment=embodiment)
    lines = inspection.inspect(found)
    if write_sheet is not None:
        refuse_existing(write_sheet, "name a new one")
        write(write_sheet, inspection.draft_sheet(found))
        say(f"wrote {write_sheet}")
        lines = [line for line in lines if line.known != "proposed"]  # the draft holds them in their places
    return show(lines, inspected(lines), as_json)


@app.command()
def view(
    run: RunArg,
    episode: Annotated[str, typer.Argument(metavar="EPISODE", help="As in assay verdicts.")],
    at: Annotated[
        float | None, typer.Option("--at", metavar="T", help="Seconds from its start [where it is worst].")
    ] = None,
    as_json: JsonOpt = False,
) -> int:
    """Show why an episode was decided so, and one moment of it measured again."""
    from assay.store import Run
    from assay.view import text_of, view_of

    seen = view_of(Run(run), episode, at)
    return show(seen, text_of(seen), as_json)


@app.command()
def attribute(
    run: RunArg,
    episode: Annotated[
        str | None, typer.Argument(metavar="[EPISODE]", help="As in assay verdicts [all that fail].")
    ] = None,
    as_json: JsonOpt = False,
) -> int:
    """Tell whether the body cannot do what hands and feet miss, or the solver did not."""
    from dataclasses import asdict

    from assay.attribution.finished import attributed, keep, lines
    from assay.report.tables import begins
    from assay.store import Run

    finished = Run(run)
    made = list(attributed(finished, episode))
    keep(finished, made)
    text = list(lines(made, begins(finished))) or [
        "neither hands nor feet fail anywhere: nothing to attribute"
    ]
    return show([asdict(one) for one in made], text, as_json)


@app.command()
def inject(
    corpus: CorpusArg,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The copy; must not exist.")],
    defect: Annotated[list[str], typer.Option("--defect", metavar="NAME=SIZE", help="May be repeated.")],
    episode: Annotated[
        str | None, typer.Option("--episode", metavar="ID", help="Which one [by seed].")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same place.")] = 0,
    layout: Annotated[str | None, typer.Option("--as", metavar="V", help="v2.1 or v3.0 [as it is].")] = None,
    as_json: JsonOpt = False,
) -> int:
    """Copy a LeRobot set with defects of known size planted in one episode.

    Other formats are not written. NAME is one of clip-at-limit, over-limit, nan, frozen-state,
    timestamp-rate, timestamp-gap, clock-step, video-shift, video-cut, video-short, video-freeze,
    video-reencode, dead-channel, action-copy, duplicate-column, stale-statistics, wrong-length,
    wrong-pointer, missing-file, count-lie, split-lie, leaked-take, label.
    """
    from assay.inject import inject as plant
    from assay.inject import parse_defect
    from assay.terminal import planted

    truths = plant(corpus, to, [parse_defect(d) for d in defect], episode=episode, seed=seed,
                    layout=_layout(layout))  # fmt: skip
    return show(truths, planted(truths), as_json)


def _layout(name: str | None) -> Any:
    if name not in (None, "v2.1", "v3.0"):
        raise UsageError("unknown layout", where="--as", found=name, expected="v2.1 or v3.0",
                         remedy=meant(name, ("v2.1", "v3.0")))  # fmt: skip
    return name


@app.command("gates")
def gates_(as_json: JsonOpt = False) -> int:
    """List the gates with their published limits."""
    from assay import plugs
    from assay.terminal import columns, limit_of

    known = plugs.gates().values()
    said = [{"code": g.code, "name": g.name, "version": g.version, "limit": limit_of(g)} for g in known]
    return show(said, columns([(g.code, limit_of(g), g.title) for g in known]), as_json)


@app.command("readers")
def readers_(as_json: JsonOpt = False) -> int:
    """List the formats that can be read."""
    from assay import plugs
    from assay.terminal import columns

    known = plugs.readers().values()
    said = [{"name": r.name, "version": r.version, "title": r.title} for r in known]
    return show(said, columns([(r.name, r.title) for r in known]), as_json)


@app.command()
def embodiments(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One body: where sources disagree.")
    ] = None,
    as_json: JsonOpt = False,
) -> int:
    """List the packaged bodies (several are joined by +), or show one and where its sources disagree."""
    from assay.embodiment import cards, conflicts, find_body, load
    from assay.terminal import body_lines, columns

    if name is not None:
        body = find_body(name)
        rows = conflicts(body)
        said = {"name": body.name, "joints": [j.name for j in body.joints], "conflicts": rows,
                "sources": [f"{s.source} {s.revision}".strip() for s in body.limits]}  # fmt: skip
        return show(said, body_lines(body, rows), as_json)
    bodies = [load(card) for card in cards()]
    listed = [(b.name, f"{len(b.joints)} joints", f"{b.source} ({b.licence})") for b in bodies]
    known = [
        {"name": b.name, "joints": len(b.joints), "source": b.source, "licence": b.licence} for b in bodies
    ]
    return show(known, columns(listed), as_json)


@app.command()
def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="As in RTG001.")], as_json: JsonOpt = False
) -> int:
    """Explain a gate: what it measures, why, how, its limits and blind spots."""
    from assay import plugs
    from assay.terminal import explained, limit_of

    known = plugs.gates()
    if code.upper() not in known:
        raise UsageError("no gate has this code", found=code,
                         remedy=meant(code.upper(), known, "assay gates lists them"))  # fmt: skip
    gate = known[code.upper()]
    head = {"code": gate.code, "name": gate.name, "version": gate.version, "limit": limit_of(gate)}
    return show(head | {name.lower(): text for name, text in gate.doc.items()}, explained(gate), as_json)


@app.command()
def selftest(as_json: JsonOpt = False) -> int:
    """Run every gate's own cases on this machine."""
    from assay.cases import run_cases
    from assay.embodiment.kinematics import warm

    ready = warm()
    results = list(run_cases())
    wrong = [r for r in results if r.problem]
    right, gates = f"{len(results) - len(wrong)} of {len(results)}", len({r.gate for r in results})
    lines = [*(f"{r.gate} {r.case}: {r.problem}" for r in wrong), f"{right} cases right, {gates} gates"]
    made = "compiled" if ready.compiled else "loaded from its cache"
    lines.append(f"kinematics {made} in {ready.seconds:.1f} s, kept in {ready.kept}")
    show({"cases": len(results), "wrong": wrong, "kinematics": ready}, lines, as_json)
    return OUR_ERROR if wrong else 0
