"""``python -m benchmarks.rigs [--rigs N]``: render, estimate, write docs/power/rigs.md. Needs EGL."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.rigs.scene import CLASSES, rig
from benchmarks.rigs.tables import page
from benchmarks.rigs.trials import tried

REPO = Path(__file__).resolve().parents[2]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rigs", type=int, default=sum(CLASSES.values()))
    options.add_argument("--out", type=Path, default=REPO / "docs/power/rigs.md")
    given = options.parse_args()
    rows, started = [], time.perf_counter()
    for number in range(given.rigs):
        rows += tried(rig(number))
        print(f"{time.perf_counter() - started:5.0f} s  rig {number}", flush=True)
    given.out.write_text(page(rows), "utf-8")
    print(f"{given.out}, {time.process_time():.0f} s of processor time")


if __name__ == "__main__":
    main()
