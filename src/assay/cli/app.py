"""The application object, its exit codes, and the entry point that turns every outcome into one."""

from __future__ import annotations

import sys
from typing import Annotated, Final, NoReturn

import typer

from assay.cli.say import lines, say
from assay.errors import AssayError

__all__ = ["INTERRUPTED", "OUR_ERROR", "REJECTED", "UNMEASURED", "WRONG_USE", "app", "main"]

app = typer.Typer(
    name="assay",
    help="Measure whether a humanoid robot's training data will train it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as version_of

        lines([f"assay {version_of('assay')}"])
        raise typer.Exit


@app.callback(help=app.info.help)
def _before(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What stands before a command."""


REJECTED: Final = 1
WRONG_USE: Final = 2
UNMEASURED: Final = 3
OUR_ERROR: Final = 4
INTERRUPTED: Final = 130


def main() -> NoReturn:
    """Entry point: turns every outcome into an exit code and every error into one sentence."""
    for stream in (sys.stdout, sys.stderr):  # a stranger's names may be no text
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = app(standalone_mode=False, prog_name="assay")
    except AssayError as error:
        say(f"assay: {error}")
        sys.exit(WRONG_USE)
    except (typer.Abort, KeyboardInterrupt) as stop:
        notes = getattr(stop.__cause__ or stop, "__notes__", ())
        say("; ".join(("assay: interrupted", *notes)))
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - last resort; click's own usage errors come this way too
        sys.exit(_last_resort(error))
    if code == INTERRUPTED:  # typer's own answer to Ctrl-C where nothing was begun
        say("assay: interrupted")
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
    say(f"assay: an error of Assay itself ({type(error).__name__}); please report it with the lines above")
    return OUR_ERROR
