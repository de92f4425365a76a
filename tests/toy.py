"""Toy plugs of a third party (``toy_site``) in this process and in those it starts, and toy corpora."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.store import Run

SITE = Path(__file__).resolve().parent / "toy_site"
TOY_GATES = "INT95*"
CACHES = (plugs.gates, plugs.features, plugs.statistics, plugs.readers)


def forget_plugs() -> None:
    """Make plugs be looked for again."""
    for cached in CACHES:
        cached.cache_clear()


@pytest.fixture(scope="module")
def toy_plugs() -> Iterator[None]:
    """The toy plugs are installed while the tests of a module run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SITE))
        patch.setenv("PYTHONPATH", str(SITE))
        forget_plugs()
        yield
    forget_plugs()


def toy_corpus(
    folder: Path,
    heights: Mapping[str, Any],
    *,
    declared: int | None = None,
    channels: tuple[str, ...] = ("z",),
) -> Path:
    """A corpus of one-second flights at 10 Hz; a height is a number or the heights of ten frames."""
    folder.mkdir(parents=True)
    index = {"declared": declared or len(heights), "frames": 10, "fps": 10, "channels": channels}
    (folder / "toy.json").write_text(json.dumps(index))
    for name, height in heights.items():
        x = np.broadcast_to(np.asarray(height, float), (10,))[:, None].repeat(len(channels), axis=1)
        np.savez(folder / f"{name}.npz", t=np.arange(10, dtype=np.int64) * 100_000_000, x=x)
    return folder


def flights(n: int) -> dict[str, float]:
    """Heights of n episodes: every third one too high."""
    return {f"ep_{i:03d}": 0.5 + 0.01 * i + (i % 3 == 2) for i in range(n)}


def digest(run: Run | Path) -> str:
    """Of the sorted verdict rows of a run."""
    rows = (run if isinstance(run, Run) else Run(run)).verdicts.to_pylist()
    lines = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def tree(folder: Path) -> dict[str, str]:
    """Every file of a folder with its content's digest, and every folder."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
        for p in sorted(folder.rglob("*"))
    }


def environment(**more: str) -> dict[str, str]:
    """An environment in which toy plugs are installed and nothing colours its output."""
    return {**os.environ, "PYTHONPATH": str(SITE), **more}


def assay(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with the toy plugs."""
    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def command(*arguments: object) -> list[str]:
    """The command line that starts assay in a process of its own."""
    return [sys.executable, "-m", "assay.cli", *map(str, arguments)]
