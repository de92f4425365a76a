"""``python -m benchmarks.power [GATE...]``: plant graded faults in real clips, write docs/power/<CODE>.md.

Needs the real clips (../shared/data, or $ASSAY_DATA). The same seeds give the same pages, byte for byte.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

from benchmarks.power.clips import Base, halved, opened
from benchmarks.power.content import content_page
from benchmarks.power.ladders import LADDERS
from benchmarks.power.lies import lies
from benchmarks.power.motion_clips import opened_motion
from benchmarks.power.notes import NOTES
from benchmarks.power.page import claims_page, page
from benchmarks.power.trials import Count, Ladder, tried
from benchmarks.power.untouched import MOVING, halves, untouched

REPO = Path(__file__).resolve().parents[2]
CONTENT = "SYN001"
CLAIMS = ("INT002", "INT004", "INT005", "INT006")
BASES: list[Base] = []
"""The clips: filled before the workers are forked, so that they share them."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("gates", nargs="*", help="codes; all, if none are named")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    started = time.perf_counter()
    data = Path(os.environ.get("ASSAY_DATA") or REPO.parent / "shared" / "data")
    BASES.extend(opened_motion(data))
    if not given.gates or not set(given.gates) <= set(MOVING):
        BASES.extend(opened(data))
        BASES.extend([halved(b) for b in BASES if b.pictures and b.set != "gr1"])
    print(f"{len(BASES)} clips opened and decoded, {time.perf_counter() - started:.0f} s", flush=True)
    wanted = [*dict.fromkeys(ladder.gate for ladder in LADDERS), *CLAIMS, CONTENT]
    for code in (c for c in wanted if not given.gates or c in given.gates):
        if code == CONTENT:
            put(code, content_page(BASES))
            continue
        clean = untouched(code, BASES)
        if code in CLAIMS:
            put(code, claims_page(lies(code, data), clean))
        else:
            put(
                code,
                page(
                    counted(code, given.jobs, started),
                    clean,
                    [f"{halves(code, BASES)} {NOTES.get(code, '')}".strip()],
                ),
            )
    print(f"done, {time.perf_counter() - started:.0f} s")


def counted(code: str, jobs: int, started: float) -> list[tuple[Ladder, list[Count]]]:
    """Every ladder of a gate with the counts of its doses."""
    mine = [(i, ladder) for i, ladder in enumerate(LADDERS) if ladder.gate == code]
    tasks = [(i, at) for i, ladder in mine for at in range(len(ladder.doses))]
    found: dict[int, list[Count]] = {i: [] for i, _ in mine}
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for (number, _), count in zip(tasks, pool.imap(_one, tasks), strict=True):
            found[number].append(count)
            said = f"{count.found} found, {count.abstained} abstained, {count.missed} missed"
            axis, spent = LADDERS[number].axis, time.perf_counter() - started
            print(f"{spent:5.0f} s  {code} {axis}, {count.dose:.4g}: {said}", flush=True)
    return [(ladder, found[i]) for i, ladder in mine]


def _one(task: tuple[int, int]) -> Count:
    return tried(LADDERS[task[0]], task[1], BASES)


def put(code: str, text: str) -> None:
    """Write one page."""
    folder = REPO / "docs/power"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{code}.md").write_text(text, "utf-8")
    lines = text.count("\n")
    print(f"docs/power/{code}.md: {lines} lines" + (" (over 60)" if lines > 60 else ""))


if __name__ == "__main__":
    main()
