"""What the design promises and a later version or extra brings: each says so, none pretends."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any, Final

from assay.cli.app import app
from assay.errors import MissingExtraError, UsageError
from assay.misspelt import meant

__all__ = ["refuse_later", "register"]

_OPTIONS: Final = {
    "hands": ("--hands", "0.4, with the [hands] extra"),
    "canaries": ("--canaries", "0.5"),
    "ray_address": ("--ray-address", "0.7, with the [ray] extra"),
}


def refuse_later(engine: str, **options: Any) -> None:
    """Refuse options of later versions in one sentence that names the version.

    Raises:
        MissingExtraError: for the ray engine, and options that come with it or with other extras.
        UsageError: for an unknown engine.
    """
    if engine == "ray":
        raise MissingExtraError("the ray engine arrives with version 0.7", remedy="use --engine local")
    if engine != "local":
        raise UsageError("unknown engine", where="--engine", found=engine, expected="local",
                         remedy=meant(engine, ("local",)))  # fmt: skip
    for name, value in options.items():
        if value is not None:
            option, version = _OPTIONS[name]
            raise MissingExtraError(f"{option} arrives with version {version}", remedy="leave it out")


_COMMANDS: Final = (
    ("audit", "Hold a corpus to its target mixture", "0.5"),
    ("accept", "Decide a delivery under a policy", "0.6"),
    ("verify", "Check a certificate against a corpus", "0.6"),
    ("export", "Write accepted episodes out", "0.6"),
    ("plan", "Estimate time and disk of a run", "0.7"),
    ("watch", "Judge episodes as they arrive", "0.7"),
    ("catalogue", "Keep a list of known corpora", "0.5"),
    ("transfer", "Measure the sim-to-real gap", "0.6"),
)


def register() -> None:
    """Add the commands of later versions, last in the list of help."""
    for name, what, version in _COMMANDS:
        _add(name, what, version)


def _add(name: str, what: str, version: str) -> None:
    @app.command(
        name,
        help=f"{what} (arrives with version {version}).",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def absent() -> int:
        raise UsageError(
            f"assay {name} arrives with version {version}", found=f"version {version_of('assay')}"
        )
