"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.errors import UsageError
from assay.misspelt import meant

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
CacheOpt = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="A folder of your own: decoded pictures, kept for later."),
]
JsonOpt = Annotated[bool, typer.Option("--json", help="Machine output on stdout.")]
OutOpt = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to write.")]


def settings_of(**options: Any) -> dict[str, Any]:
    """The options that were given, checked, as `assay.engine.run` takes them."""
    if options.get("decode", "auto") not in ("none", "auto", "full"):
        raise UsageError("unknown way to decode", where="--decode", found=options["decode"],
                         expected="none, auto or full",
                         remedy=meant(options["decode"], ("none", "auto", "full")))  # fmt: skip
    return {name: value for name, value in options.items() if value is not None}
