"""Commands that judge: run, demo, calibrate, verdicts, rejudge, report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from assay.cli.app import OUR_ERROR, REJECTED, UNMEASURED, app
from assay.cli.files import refuse_existing, write
from assay.cli.later import refuse_later
from assay.cli.options import (
    BodyOpt,
    CacheOpt,
    CorpusArg,
    DecodeOpt,
    GatesOpt,
    JobsOpt,
    JsonOpt,
    OutOpt,
    ProfileOpt,
    RunArg,
    SheetOpt,
    settings_of,
)
from assay.cli.progress import Bar
from assay.cli.say import lines, say, show
from assay.errors import UsageError
from assay.misspelt import meant

if TYPE_CHECKING:
    from assay.store import Run


@app.command("run")
def run_(  # noqa: PLR0913, PLR0917 - the options are the interface
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS...", help="One or more corpora.")],
    out: OutOpt = None,
    sheet: SheetOpt = None,
    embodiment: BodyOpt = None,
    profile: ProfileOpt = None,
    gates: GatesOpt = None,
    jobs: JobsOpt = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="local (ray: version 0.7).")
    ] = "local",
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", metavar="A", help="Version 0.7, with the [ray] extra.")
    ] = None,
    decode: DecodeOpt = "auto",
    hands: Annotated[
        str | None, typer.Option("--hands", metavar="HOW", help="Version 0.4, with the [hands] extra.")
    ] = None,
    canaries: Annotated[
        int | None, typer.Option("--canaries", metavar="N", help="Version 0.5: planted defects.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option("--calibration", metavar="F", help="From calibrate.")
    ] = None,
    cache: CacheOpt = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    allow_unmeasured: Annotated[
        bool, typer.Option("--allow-unmeasured", help="Exit 0 instead of 3.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List and plan; measure nothing.")] = False,
    as_json: JsonOpt = False,
) -> int:
    """Judge every episode: verdicts, tables and a report in one folder."""
    refuse_later(engine, ray_address=ray_address, hands=hands, canaries=canaries)
    if resume and out is None:
        raise UsageError("--resume needs the run to continue", remedy="name it with --out")
    settings = settings_of(sheet=sheet, embodiment=embodiment, profile=profile, gates=gates, jobs=jobs,
                         decode=decode, calibration=calibration, cache=cache)  # fmt: skip
    if dry_run:
        return _dry_run(corpora, settings, as_json)
    return _run(corpora, out, resume, settings, allow_unmeasured=allow_unmeasured, as_json=as_json)


def _run(
    corpora: Sequence[Path], out: Path | None, resume: bool, settings: dict[str, Any], *,
    allow_unmeasured: bool = False, as_json: bool = False,
) -> int:  # fmt: skip
    from assay.engine import run

    with Bar() as bar:
        done = run(*corpora, out=out, resume=resume, watch=bar.show, **settings)
    return _ended(done, as_json, allow_unmeasured=allow_unmeasured, proposals=_proposals(done))


def _proposals(done: Run) -> dict[str, list[str]]:
    """By corpus: lines of a sheet that would let more of it be measured, where something is unmeasured."""
    from assay.engine.again import corpora_again
    from assay.proposal import proposed

    if not done.summary["unmeasured"]:
        return {}
    try:
        wanted = done.summary["wanting"]
        made = {corpus.name: proposed(corpus, wanted) for corpus in corpora_again(done.plan)}
    except Exception:  # noqa: BLE001 - the run has ended and stands, whatever became of its corpus or reader
        return {}
    return {name: lines for name, lines in made.items() if lines}


def _ended(
    done: Run, as_json: bool, *, allow_unmeasured: bool = False, proposals: Mapping[str, list[str]] = {},
) -> int:  # fmt: skip
    from assay.report import write_report
    from assay.terminal import closing

    if done.summary.get("foreign_profile"):
        say(f"assay: {done.summary['foreign_profile']}")
    page = str(write_report(done, done.path / "report.html"))
    said = done.summary | {"run": str(done.path), "report": page}
    said |= {"proposed_sheets": proposals} if proposals else {}
    show(said, closing(done, page, proposals), as_json)
    return _exit_code(done.summary, allow_unmeasured=allow_unmeasured)


def _exit_code(summary: dict[str, Any], *, allow_unmeasured: bool = False) -> int:
    if summary["errors"]:
        return OUR_ERROR
    if summary["rejected"] or summary["corpus_failures"]:
        return REJECTED
    open_ = summary["unmeasured"] or not summary["episodes"]  # nothing judged is nothing accepted
    return UNMEASURED if open_ and not allow_unmeasured else 0


def _dry_run(corpora: Sequence[Path], settings: dict[str, Any], as_json: bool) -> int:
    from assay.engine import planned

    plan = orjson.loads(planned(*corpora, **settings).to_json())
    if as_json:
        return show(plan, (), as_json)
    for corpus in plan["corpora"]:
        about = f"{corpus['format']}, {corpus['episodes']} episodes, body {corpus['embodiment']}"
        lines([f"{corpus['name']}: {about}"])
    lines([f"{len(plan['gates'])} gates: {', '.join(plan['gates'])}", f"measure_id {plan['measure_id']}"])
    return 0


@app.command()
def demo(
    out: OutOpt = None,
    jobs: JobsOpt = None,
    as_json: JsonOpt = False,
) -> int:
    """Build a small corpus with known defects, judge it, and show the verdicts."""
    import tempfile

    from assay.synth import write_sample

    folder = Path(tempfile.mkdtemp(prefix="assay-demo-"))
    say(f"building the sample corpus in {folder / 'sample'}")
    write_sample(folder / "sample")
    target = out or Path("assay-runs", f"demo-{_stamp()}")
    code = _run([folder / "sample"], target, False, settings_of(jobs=jobs), as_json=as_json)
    lines([] if as_json else ["", *_demo_table(target)])
    return OUR_ERROR if code == OUR_ERROR else 0  # the sample's defects are the point, not a failure


def _demo_table(folder: Path) -> list[str]:
    from assay.report.formats import FORMATS
    from assay.store import Run

    return list(FORMATS["table"](Run(folder)))


@app.command()
def calibrate(
    corpus: CorpusArg,
    out: OutOpt = None,
    sheet: SheetOpt = None,
    embodiment: BodyOpt = None,
    jobs: JobsOpt = None,
    cache: CacheOpt = None,
    as_json: JsonOpt = False,
) -> int:
    """Learn from the whole corpus what gates compare an episode with."""
    from assay.engine import calibration_of

    target = out or Path("calibration.json")
    refuse_existing(target, "name a new one with --out")
    with Bar() as bar:
        settings = settings_of(sheet=sheet, embodiment=embodiment, jobs=jobs, cache=cache)
        learnt = calibration_of(corpus, watch=bar.show, **settings)
    write(target, learnt.to_json())
    names = ", ".join(learnt.models) or "nothing: no gate of this version asks for a fitted statistic"
    said = {"learnt": list(learnt.models), "calibration": str(target)}
    return show(said, [f"learnt {names}", f"wrote {target}"], as_json)


@app.command()
def verdicts(
    run: RunArg,
    format_: Annotated[
        str, typer.Option("--format", metavar="F", help="table, json, csv, junit, sarif or md.")
    ] = "table",
    as_json: JsonOpt = False,
) -> int:
    """Print the verdicts of a run; exits as the run did."""
    from assay.report.formats import FORMATS
    from assay.store import Run

    chosen = "json" if as_json else format_
    if chosen not in FORMATS:
        raise UsageError("unknown format", where="--format", found=chosen, expected=", ".join(FORMATS),
                         remedy=meant(chosen, FORMATS))  # fmt: skip
    done = Run(run)
    lines(FORMATS[chosen](done))
    return _exit_code(done.summary)


@app.command()
def rejudge(
    run: RunArg,
    profile: Annotated[Path, typer.Option("--profile", metavar="F", help="The other limits and effects.")],
    out: OutOpt = None,
    as_json: JsonOpt = False,
) -> int:
    """Make the verdicts again under other limits, without the data."""
    from assay.rejudge import rejudge_run
    from assay.store import Run

    beside = Path(f"{run if run.name else run.resolve()}-{profile.stem}")
    done = rejudge_run(Run(run), profile, out or beside)
    return _ended(done, as_json)


@app.command()
def report(run: RunArg, out: OutOpt = None, as_json: JsonOpt = False) -> int:
    """Write the HTML report of a run again."""
    from assay.report import write_report
    from assay.store import Run

    page = str(write_report(Run(run), out or run / "report.html"))
    return show({"report": page}, [page], as_json)


def _stamp() -> str:
    return time.strftime("%Y%m%d-%H%M%S")
