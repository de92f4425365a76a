"""``python -m benchmarks.attribution``: faults of solver and body, named, for docs/power/attribution.md.

Needs the real clips (../shared/data, or $ASSAY_DATA) and ``pip install 'assay[physics]'``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.power.attributed import PLANTS, Faulty, features_of, grown, handled, mirrored
from benchmarks.power.clips import Base
from benchmarks.power.hands import learnt
from benchmarks.power.motion_clips import opened_motion

from assay.attribution import Attribution, attribute
from assay.attribution.finished import SAYS
from assay.features.hands import group_of
from assay.model import Episode, Role
from assay.synth.reaches import reach
from assay.synth.walks import walk

REPO: Final = Path(__file__).resolve().parents[1]
TIMES: Final = {
    "arm turned away, 3 to 8 cm at the hand": (20, 6),
    "leg turned away in stance, 4 to 10 cm at the foot": (16, 6),
    "target beyond the arm's length": (10, 5),
    "target beyond the arm's and waist's limits": (10, 5),
    "pelvis beyond the standing leg's length": (12, 4),
}
"""How often each is planted in real and in made-up clips."""
MOST_DRAWS: Final = 40
HEAD: Final = """\
<!-- written by `python -m benchmarks.attribution`; not by hand -->
# Whose fault a failing clip is

`assay attribute RUN` holds what RTG002, RTG003 and RTG004 found to a reference retargeter (mink with daqp, of
the extra `physics`): *the body cannot do this*, *this solver did not*, or *undecided*. Faults are planted
with fixed seeds in real clips (asap 0 to 10; holo 0 too for feet) and in made-up reaches and walks. A solver
at fault turns the joints of one limb away from a clip that is right, the witness that the body can. A
target counts as beyond the body when SciPy's bounded least squares, from several starts and with at least the
reference's freedom, stay 1.2 cm outside the limit (2 cm for hands, 3 cm for feet); the clip then holds
SciPy's best.

| planted | in | times | right | undecided | wrong | size, cm | clip, cm | reference, cm |
|---|---|---|---|---|---|---|---|---|
"""


HUMANS: Final = """\
Whoever follows a wrong human rightly is off, and any reference follows her too: nobody is to blame.
Attribution says undecided where her trunk is 15 % larger or smaller than those that taught the map, where her
hands follow the robot's better with left and right exchanged, where RTG012 finds left and right of the clip
exchanged (of hands alone: a pelvis that leaves a foot behind may look so), and where RTG002 finds over the
corpus that she fits another clip. Planted in one clip at a time, all of it counted as manipulation, maps
learnt from the other clips as they are. A human who is late is not seen so."""
NOTE: Final = """\
All of each clip counts as manipulation. No finding of the three gates: no line. The one motion of sub3 is
held to maps that it taught itself, since there is no other clip of its subject; with its box, hands miss the
scaled human by design: that the reference reaches it says that the arms could, not that they should."""


def main() -> None:
    """Plant, attribute, write the page."""
    data = Path(os.environ.get("ASSAY_DATA") or REPO.parent / "shared" / "data")
    asap, holo = opened_motion(data, ("asap",)), opened_motion(data, ("holo",))
    pools = {"hands": (asap, _reaches()), "feet": ([*asap, *holo[:1]], _walks())}
    rows, total = [], dict.fromkeys(("right", "undecided", "wrong"), 0)
    for number, (name, (what, plant)) in enumerate(PLANTS.items()):
        for at, (pool, times) in enumerate(zip(pools[what], TIMES[name], strict=True)):
            rng = np.random.default_rng([404, number, at])
            made = [_one(fault) for fault in _drawn(pool, plant, times, rng)]
            row, counts = _row(name, "real" if at == 0 else "made up", made)
            rows.append(row)
            total = {k: n + counts[k] for k, n in total.items()}
            print(row, flush=True)
    n, decided = sum(total.values()), total["right"] + total["wrong"]
    said = ", ".join(f"{count} {name}" for name, count in total.items())
    text = (f"\nOf {n}: {said}. Of what is decided {100 * total['right'] / decided:.1f} % are right, of all "
            f"{100 * total['right'] / n:.1f} %. *Size*: of the fault; where the body is to blame, what SciPy "
            "misses by. Medians.\n")  # fmt: skip
    parts = ["", *_wrong_humans(asap), "", *_shown(asap, holo)]
    page = HEAD + "\n".join(rows) + "\n" + text + "\n".join(parts) + "\n"
    (REPO / "docs/power/attribution.md").write_text(page, "utf-8")


def _drawn(pool: Sequence[Base], plant: Any, times: int, rng: np.random.Generator) -> Iterator[Faulty]:
    left, draws = times, MOST_DRAWS * times
    while left and draws:
        fault, draws = plant(pool, rng), draws - 1
        if fault is not None:
            left -= 1
            yield fault


def _one(fault: Faulty) -> tuple[Faulty, Attribution | None]:
    made = attribute(features_of(fault.ep, fault.models), fault.ep.id, codes=(fault.gate,))
    mine = [a for a in made if a.channel == fault.channel]
    return fault, max(mine, key=lambda a: a.clip, default=None)


def _row(
    name: str, where: str, made: Sequence[tuple[Faulty, Attribution | None]]
) -> tuple[str, dict[str, int]]:
    said = [(fault, "undecided" if a is None else a.says) for fault, a in made]
    undecided = sum(says == "undecided" for _, says in said)
    right = sum(says == fault.blame for fault, says in said)
    counts = {"right": right, "undecided": undecided, "wrong": len(made) - right - undecided}
    known = [(f, a) for f, a in made if a is not None]
    figures = [
        np.nanmedian(x) * 100 for x in zip(*((f.size, a.clip, a.reference) for f, a in known), strict=True)
    ]
    cells = [name, where, len(made), *counts.values(), *(f"{x:.1f}" for x in figures)]
    return f"| {' | '.join(map(str, cells))} |", counts


def _reaches() -> list[Base]:
    return [Base("synth", reach(4.0, rate), number=i) for i, rate in enumerate((30, 50, 60))]


def _walks() -> list[Base]:
    return [Base("synth", walk(8.0, rate), number=i) for i, rate in enumerate((30, 50))]


def _wrong_humans(asap: Sequence[Base]) -> Iterator[str]:
    yield "## A human that is wrong"
    yield f"{HUMANS}\n"
    yield "| human | clips | findings | undecided | this solver did not | the body cannot |"
    yield "|---|---|---|---|---|---|"
    wrong = {
        "1.3 times as large": lambda ep: grown(ep, 1.3),
        "0.77 times as large": lambda ep: grown(ep, 1 / 1.3),
        "left and right exchanged": mirrored,
    }
    for name, change in wrong.items():
        made = [a for b in asap for a in attribute(
            features_of(change(handled(b.ep)), learnt("RTG002", b, asap)), b.ep.id)]  # fmt: skip
        says = [sum(a.says == one for a in made) for one in ("undecided", "solver", "body")]
        yield f"| {' | '.join(map(str, (name, len(asap), len(made), *says)))} |"


# ------------------------------------------------------------------------------------------- real clips


def _shown(asap: Sequence[Base], holo: Sequence[Base]) -> Iterator[str]:
    yield "## Real clips that fail"
    yield f"{NOTE}\n"
    yield "| clip | gate | channel | from, s | says | clip, cm | reference, cm | limit, cm | why |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for base in asap:
        yield from _lines(f"asap/{base.number}", handled(base.ep), learnt("RTG002", base, asap))
    yield from _boxes(holo)


def _boxes(holo: Sequence[Base]) -> Iterator[str]:
    """The one motion with and without its box, by the map that the clip without it teaches."""
    from benchmarks.power.hands import _calibrated

    full = _calibrated(tuple(holo))[""]
    known = {"hand_map": full}
    assert group_of(holo[0].ep) in full
    free, boxed = (handled(base.ep) for base in holo)
    yield from _lines("sub3_largebox_003 without object, its own map", free, known)
    yield from _lines("sub3_largebox_003 with object, hands to object", boxed, known)
    yield from _lines("sub3_largebox_003 with object, hands to the scaled human", _unboxed(boxed), known)


def _unboxed(ep: Episode) -> Episode:
    return replace(ep, streams=tuple(s for s in ep.streams if s.role is not Role.OBJECT_POSE))


def _lines(name: str, ep: Episode, known: dict[str, Any]) -> Iterator[str]:
    for a in attribute(features_of(ep, known), ep.id):
        found = f"{name} | {a.gate} | {a.channel} | {a.t0 / 1e9:.2f} | {SAYS[a.says]}"
        yield f"| {found} | {a.clip * 100:.1f} | {a.reference * 100:.1f} | {a.limit * 100:g} | {a.why} |"


if __name__ == "__main__":
    main()
