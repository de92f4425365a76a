"""``python -m benchmarks.rigs [--rigs N]``: render, estimate, write docs/power/rigs.md. Needs EGL.

About 15 minutes of processor time for the pictures and 20 for the estimates. Both are kept per rig in the
folder for temporary files, the estimates until the estimator changes, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any, Final

from benchmarks.rigs.scene import CLASSES, Rig, rig
from benchmarks.rigs.tables import page
from benchmarks.rigs.trials import tried

REPO: Final = Path(__file__).resolve().parents[2]
_SIGNALS: Final = ("content_lag", "content_map", "lag_curve", "flow", "lost_frames")
_DECIDE: Final = (
    *(f"src/assay/signals/{name}.py" for name in _SIGNALS),
    *(f"benchmarks/rigs/{name}.py" for name in ("clocks", "motion", "render", "scene", "trials")),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rigs", type=int, default=sum(CLASSES.values()))
    options.add_argument("--out", type=Path, default=REPO / "docs/power/rigs.md")
    given = options.parse_args()
    stamp = zlib.crc32(b"".join((REPO / name).read_bytes() for name in _DECIDE))
    rows, started = [], time.perf_counter()
    for number in range(given.rigs):
        rows += _kept(rig(number), stamp)
        print(f"{time.perf_counter() - started:5.0f} s  rig {number}", flush=True)
    given.out.write_text(page(rows), "utf-8")
    print(f"{given.out}, {time.process_time():.0f} s of processor time")


def _kept(one: Rig, stamp: int) -> list[dict[str, Any]]:
    """The rows of a rig, from an earlier run with the same sources where there was one."""
    kept = Path(tempfile.gettempdir(), "assay-rigs", f"{one.number:03d}-{stamp:08x}.json")
    if not kept.is_file():
        text = json.dumps(tried(one), default=float)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(text, "utf-8")
    found: list[dict[str, Any]] = json.loads(kept.read_text("utf-8"))
    return found


if __name__ == "__main__":
    main()
