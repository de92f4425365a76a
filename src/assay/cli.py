"""The command line: arguments, bars and exit codes; no logic. The only module that prints.

Machine output goes to stdout, progress and errors to stderr. Exit codes, first that holds: 2 wrong use or no
reader; 4 our own error; 1 something was rejected; 3 nothing rejected but something required was not
measured; 0 everything accepted; 130 interrupted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, Self

import orjson
import typer

from assay.errors import AssayError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from assay.engine import Progress
    from assay.store import Run

app = typer.Typer(
    name="assay",
    help="Measure whether a humanoid robot's training data will train it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)

REJECTED: Final = 1
WRONG_USE: Final = 2
UNMEASURED: Final = 3
OUR_ERROR: Final = 4
INTERRUPTED: Final = 130

_TAME: Final = {c: f"\\u{c:04x}" for c in (7, 8, 27, *range(128, 160))}
"""Names come from strangers' files: what a terminal would obey is shown instead."""

CorpusArg = Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder (or file) of the corpus.")]
RunArg = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that assay run made.")]
SheetOpt = Annotated[
    Path | None, typer.Option("--sheet", metavar="F", help="Buyer's sheet, above assay.toml.")
]
BodyOpt = Annotated[
    str | None, typer.Option("--embodiment", metavar="NAME", help="The robot's body; see assay embodiments.")
]
ProfileOpt = Annotated[Path | None, typer.Option("--profile", metavar="F", help="Limits and effects.")]
GatesOpt = Annotated[
    str | None, typer.Option("--gates", metavar="CODES", help="Only these, as in INT*,RTG001.")
]
JobsOpt = Annotated[int | None, typer.Option("--jobs", min=1, metavar="N", help="Worker processes [cores].")]
DecodeOpt = Annotated[str, typer.Option("--decode", metavar="HOW", help="none, auto or full.")]
JsonOpt = Annotated[bool, typer.Option("--json", help="Machine output on stdout.")]
OutOpt = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to write.")]


def main() -> NoReturn:
    """Entry point: turns every outcome into an exit code and every error into one sentence."""
    for stream in (sys.stdout, sys.stderr):  # a stranger's names may be no text
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = app(standalone_mode=False, prog_name="assay")
    except AssayError as error:
        _say(f"assay: {error}")
        sys.exit(WRONG_USE)
    except (typer.Abort, KeyboardInterrupt) as stop:
        notes = getattr(stop.__cause__ or stop, "__notes__", ())
        _say("; ".join(("assay: interrupted", *notes)))
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - last resort; click's own usage errors come this way too
        sys.exit(_last_resort(error))
    if code == INTERRUPTED:  # typer's own answer to Ctrl-C where nothing was begun
        _say("assay: interrupted")
    sys.exit(code if isinstance(code, int) else 0)


def _last_resort(error: Exception) -> int:
    show = getattr(error, "show", None)
    if show is not None:  # a click.UsageError knows how to say itself
        show()
        return WRONG_USE
    if isinstance(error, BrokenPipeError):
        return 0
    import traceback

    traceback.print_exc()
    _say(f"assay: an error of Assay itself ({type(error).__name__}); please report it with the lines above")
    return OUR_ERROR


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
    decode: DecodeOpt = "auto",
    calibration: Annotated[
        Path | None, typer.Option("--calibration", metavar="F", help="From calibrate.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    allow_unmeasured: Annotated[
        bool, typer.Option("--allow-unmeasured", help="Exit 0 instead of 3.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List and plan; measure nothing.")] = False,
    as_json: JsonOpt = False,
) -> int:
    """Judge every episode: verdicts, tables and a report in one folder."""
    _only_local(engine)
    if resume and out is None:
        raise UsageError("--resume needs the run to continue", remedy="name it with --out")
    settings = _settings(sheet=sheet, embodiment=embodiment, profile=profile, gates=gates, jobs=jobs,
                         decode=decode, calibration=calibration)  # fmt: skip
    if dry_run:
        return _dry_run(corpora, settings, as_json)
    return _run(corpora, out, resume, settings, allow_unmeasured=allow_unmeasured, as_json=as_json)


def _run(
    corpora: Sequence[Path], out: Path | None, resume: bool, settings: dict[str, Any], *,
    allow_unmeasured: bool = False, as_json: bool = False,
) -> int:  # fmt: skip
    from assay.engine import run

    with _Bar() as bar:
        done = run(*corpora, out=out, resume=resume, watch=bar.show, **settings)
    return _ended(done, as_json, allow_unmeasured=allow_unmeasured)


def _ended(done: Run, as_json: bool, *, allow_unmeasured: bool = False) -> int:
    from assay.report import write_report
    from assay.terminal import closing

    page = str(write_report(done, done.path / "report.html"))
    _show(done.summary | {"run": str(done.path), "report": page}, closing(done, page), as_json)
    return _exit_code(done.summary, allow_unmeasured=allow_unmeasured)


def _exit_code(summary: dict[str, Any], *, allow_unmeasured: bool = False) -> int:
    if summary["errors"]:
        return OUR_ERROR
    if summary["rejected"] or summary["corpus_failures"]:
        return REJECTED
    return UNMEASURED if summary["unmeasured"] and not allow_unmeasured else 0


def _dry_run(corpora: Sequence[Path], settings: dict[str, Any], as_json: bool) -> int:
    from assay.engine import planned

    plan = orjson.loads(planned(*corpora, **settings).to_json())
    if as_json:
        return _show(plan, (), as_json)
    for corpus in plan["corpora"]:
        about = f"{corpus['format']}, {corpus['episodes']} episodes, body {corpus['embodiment']}"
        _lines([f"{corpus['name']}: {about}"])
    _lines([f"{len(plan['gates'])} gates: {', '.join(plan['gates'])}", f"measure_id {plan['measure_id']}"])
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
    _say(f"building the sample corpus in {folder / 'sample'}")
    write_sample(folder / "sample")
    target = out or Path("assay-runs", f"demo-{_stamp()}")
    code = _run([folder / "sample"], target, False, _settings(jobs=jobs), as_json=as_json)
    _lines([] if as_json else ["", *_demo_table(target)])
    return OUR_ERROR if code == OUR_ERROR else 0  # the sample's defects are the point, not a failure


def _demo_table(folder: Path) -> list[str]:
    from assay.report.formats import FORMATS
    from assay.store import Run

    return list(FORMATS["table"](Run(folder)))


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
        _refuse_existing(write_sheet, "name a new one")
        _write(write_sheet, inspection.draft_sheet(found))
        _say(f"wrote {write_sheet}")
    return _show(lines, inspected(lines), as_json)


@app.command()
def calibrate(
    corpus: CorpusArg,
    out: OutOpt = None,
    sheet: SheetOpt = None,
    embodiment: BodyOpt = None,
    jobs: JobsOpt = None,
    as_json: JsonOpt = False,
) -> int:
    """Learn from the whole corpus what gates compare an episode with."""
    from assay.engine import calibration_of

    target = out or Path("calibration.json")
    _refuse_existing(target, "name a new one with --out")
    with _Bar() as bar:
        settings = _settings(sheet=sheet, embodiment=embodiment, jobs=jobs)
        learnt = calibration_of(corpus, watch=bar.show, **settings)
    _write(target, learnt.to_json())
    names = ", ".join(learnt.models) or "nothing: no gate of this version asks for a fitted statistic"
    said = {"learnt": list(learnt.models), "calibration": str(target)}
    return _show(said, [f"learnt {names}", f"wrote {target}"], as_json)


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
        raise UsageError("unknown format", where="--format", found=chosen, expected=", ".join(FORMATS))
    done = Run(run)
    _lines(FORMATS[chosen](done))
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
    return _show({"report": page}, [page], as_json)


@app.command()
def inject(
    corpus: CorpusArg,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The copy; must not exist.")],
    defect: Annotated[list[str], typer.Option("--defect", metavar="NAME=SIZE", help="May be repeated.")],
    episode: Annotated[
        str | None, typer.Option("--episode", metavar="ID", help="Which one [by seed].")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same place.")] = 0,
    as_json: JsonOpt = False,
) -> int:
    """Copy a corpus with a defect of known size planted in one episode."""
    from assay.inject import inject as plant
    from assay.inject import parse_defect

    planted = plant(corpus, to, [parse_defect(d) for d in defect], episode=episode, seed=seed)
    return _show(planted, map(str, planted), as_json)


@app.command("gates")
def gates_(as_json: JsonOpt = False) -> int:
    """List the gates with their published limits."""
    from assay import plugs
    from assay.terminal import columns, limit_of

    known = plugs.gates().values()
    said = [{"code": g.code, "name": g.name, "version": g.version, "limit": limit_of(g)} for g in known]
    return _show(said, columns([(g.code, limit_of(g), g.title) for g in known]), as_json)


@app.command("readers")
def readers_(as_json: JsonOpt = False) -> int:
    """List the formats that can be read."""
    from assay import plugs
    from assay.terminal import columns

    known = plugs.readers().values()
    said = [{"name": r.name, "version": r.version, "title": r.title} for r in known]
    return _show(said, columns([(r.name, r.title) for r in known]), as_json)


@app.command()
def embodiments(as_json: JsonOpt = False) -> int:
    """List the packaged bodies; several are joined by +."""
    from assay.embodiment import cards, load
    from assay.terminal import columns

    bodies = [load(name) for name in cards()]
    rows = [(b.name, f"{len(b.joints)} joints", f"{b.source} ({b.licence})") for b in bodies]
    said = [
        {"name": b.name, "joints": len(b.joints), "source": b.source, "licence": b.licence} for b in bodies
    ]
    return _show(said, columns(rows), as_json)


@app.command()
def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="As in RTG001.")], as_json: JsonOpt = False
) -> int:
    """Explain a gate: what it measures, why, how, its limits and blind spots."""
    from assay import plugs
    from assay.terminal import explained, limit_of

    known = plugs.gates()
    if code.upper() not in known:
        raise UsageError("no gate has this code", found=code, expected=", ".join(known))
    gate = known[code.upper()]
    head = {"code": gate.code, "name": gate.name, "version": gate.version, "limit": limit_of(gate)}
    return _show(head | {name.lower(): text for name, text in gate.doc.items()}, explained(gate), as_json)


@app.command()
def selftest(as_json: JsonOpt = False) -> int:
    """Run every gate's own cases on this machine."""
    from assay.cases import run_cases

    results = list(run_cases())
    wrong = [r for r in results if r.problem]
    right, gates = f"{len(results) - len(wrong)} of {len(results)}", len({r.gate for r in results})
    lines = [*(f"{r.gate} {r.case}: {r.problem}" for r in wrong), f"{right} cases right, {gates} gates"]
    _show({"cases": len(results), "wrong": wrong}, lines, as_json)
    return OUR_ERROR if wrong else 0


def _later(name: str, what: str, version: str) -> None:
    @app.command(name, help=f"{what} (arrives with version {version}).",
                 context_settings={"allow_extra_args": True, "ignore_unknown_options": True})  # fmt: skip
    def absent() -> int:
        raise UsageError(
            f"assay {name} arrives with version {version}", found=f"version {version_of('assay')}"
        )


for _name, _what, _version in (
    ("view", "Show a moment of an episode beside its measurements", "0.5, with the [view] extra"),
    ("audit", "Hold a corpus to its target mixture", "0.5"),
    ("accept", "Decide a delivery under a policy", "0.6"),
    ("verify", "Check a certificate against a corpus", "0.6"),
    ("export", "Write accepted episodes out", "0.6"),
    ("plan", "Estimate time and disk of a run", "0.7"),
    ("watch", "Judge episodes as they arrive", "0.7"),
    ("catalogue", "Keep a list of known corpora", "0.5"),
    ("transfer", "Measure the sim-to-real gap", "0.6"),
):
    _later(_name, _what, _version)


class _Bar:
    """Progress on stderr: a bar with time left on a terminal, else a line every ten seconds."""

    def __init__(self) -> None:
        self._live: Any = None
        self._task: Any = None
        self._stage = ""
        self._next = 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            shown = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
            self._live = Progress(*shown, console=Console(stderr=True), transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        if isinstance(error, KeyboardInterrupt):  # which typer would turn into an exit without a word
            raise typer.Abort from error

    def show(self, now: Progress) -> None:
        """Show how far it is."""
        from assay.terminal import spent

        left = f", {spent(now.left)} left" if now.left is not None else ""
        said = f"{now.done}/{now.total} episodes{left}"
        new, self._stage = now.stage != self._stage, now.stage
        if self._live is None:
            if new or now.seconds >= self._next:
                self._next = now.seconds + 10.0
                _say(f"{now.stage}: {said}")
            return
        if new:
            self._task = self._live.add_task(now.stage, total=max(now.frames_total, 1), said=said)
        self._live.update(self._task, completed=now.frames, said=said)


def _only_local(engine: str) -> None:
    if engine == "ray":
        raise MissingExtraError("the ray engine arrives with version 0.7", remedy="use --engine local")
    if engine != "local":
        raise UsageError("unknown engine", where="--engine", found=engine, expected="local")


def _settings(**options: Any) -> dict[str, Any]:
    if options.get("decode", "auto") not in ("none", "auto", "full"):
        raise UsageError("unknown way to decode", where="--decode", found=options["decode"],
                         expected="none, auto or full")  # fmt: skip
    return {name: value for name, value in options.items() if value is not None}


def _stamp() -> str:
    return time.strftime("%Y%m%d-%H%M%S")


def _refuse_existing(path: Path, remedy: str) -> None:
    if path.exists():
        raise UsageError("the file exists already", where=str(path), remedy=remedy)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError("the file cannot be written", where=str(path), found=error.strerror,
                         remedy="name another place") from error  # fmt: skip


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line.translate(_TAME))


def _show(value: Any, lines: Iterable[str], as_json: bool) -> int:
    """For a machine or for a person."""
    _lines([orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()] if as_json else lines)
    return 0


def _say(text: str) -> None:
    print(text.translate(_TAME), file=sys.stderr)


if __name__ == "__main__":
    main()
