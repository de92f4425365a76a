"""``python -m benchmarks.power.claps``: how well claps and flashes are placed; docs/power/SYN003.md.

A few minutes of processor time; real files (../shared/data, or $ASSAY_DATA) for the false alarms.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.power.clips import SETS, opened
from benchmarks.power.trials import interval

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.features.claps import sought
from assay.gates.sync.syn003_missing_clap import recorded
from assay.signals.events import DOUBTFUL, Onsets, flashes, jolts, sounds
from assay.signals.hand_claps import hands
from assay.synth.claps import clap_film, clap_sound, flash_film, jolted

REPO: Final = Path(__file__).resolve().parents[2]
TIMES: Final = 40
Trial = Callable[[float, int], Onsets]

_HEAD: Final = f"""\
<!-- written by `python -m benchmarks.power.claps`; not by hand -->

Each row is {TIMES} events with fixed seeds at random instants, synthesised with the noise named; errors in
ms. *Doubtful*: nothing is found and the best peak stands out by {DOUBTFUL:g} to 1 of what is asked, so
that the gate abstains. *Missed*: nothing, and no doubt. *Not one*: more events than there are.

| event | found | doubtful | missed | not one | mean | RMSE | worst | within 2 u |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    lines = [_HEAD.rstrip()]
    for name, trial in _trials():
        lines.append(_row(name, trial))
        print(lines[-1], flush=True)
    lines += ["", *_verdicts(), "", *_untouched()]
    (REPO / "docs/power/SYN003.md").write_text("\n".join(lines) + "\n", "utf-8")


def _trials() -> Iterator[tuple[str, Trial]]:
    for rate in (48_000, 16_000):
        for db in (10, 13, 15, 20, 30, 40):
            yield f"clap in sound, {rate // 1000} kHz, {db} dB", lambda w, s, r=rate, d=db: _heard(w, s, r, d)
    yield "clap in sound, 48 kHz, 30 dB, a room that echoes", lambda w, s: _heard(w, s, 48_000, 30, echo=True)
    yield "clap in sound, 48 kHz, 30 dB, a motor's hum", lambda w, s: _heard(w, s, 48_000, 30, hum=30.0)
    for rate in (100, 200, 1000):
        for size in (10, 20, 40):
            yield f"blow, {rate} Hz, {size} times the noise", lambda w, s, r=rate, z=size: _felt(w, s, r, z)
    for fps in (15, 30, 60):
        for rise in (5, 10, 30):
            yield f"flash, {fps} Hz, {rise} grey", lambda w, s, f=fps, r=rise: _lit(w, s, f, r)
    for fps, repeat in ((30, 1), (60, 1), (30, 2)):
        for speed, bounce in ((50, 0.0), (100, 0.0), (100, 0.3), (100, 0.5), (160, 0.3)):
            shown = f"{fps} Hz" if repeat == 1 else "15 Hz in a file of 30"
            yield (
                f"hands, {shown}, {speed} cells/s, part at {bounce:g} of it",
                lambda w, s, f=fps, n=repeat, v=speed, b=bounce: _met(w, s, f, n, v, b),
            )
    yield "hands, 30 Hz, 100 cells/s, 3 grey of noise", lambda w, s: _met(w, s, 30, 1, 100, 0.3, noise=3.0)


def _heard(when: float, seed: int, rate: int, db: float, *, hum: float = 0.0, echo: bool = False) -> Onsets:
    x = clap_sound(3.0, (when,), rate, db, seed)
    t = np.arange(len(x)) / rate
    x += 1e-3 * hum * np.sin(2 * np.pi * 180 * t)
    for back, share in ((0.011, 0.5), (0.019, 0.4), (0.037, 0.3)) if echo else ():
        late = round(back * rate)
        x[late:] += share * x[:-late]
    return sounds(x, rate, 0)


def _felt(when: float, seed: int, rate: int, size: float) -> Onsets:
    t = np.arange(6 * rate) / rate
    return jolts(jolted(t, (when,), size, seed), np.rint(t * 1e9).astype(np.int64))


def _lit(when: float, seed: int, fps: int, rise: float) -> Onsets:
    film = flash_film(3.5, (when,), fps, rise=rise, seed=seed)
    return flashes(film.thumbs, film.t)


def _met(
    when: float, seed: int, fps: int, repeat: int, speed: float, bounce: float, noise: float = 1.0
) -> Onsets:
    film = clap_film(3.5, when, fps, repeat=repeat, speed=speed, bounce=bounce, noise=noise, seed=seed)
    return hands(film.thumbs, film.key, film.t)


def _row(name: str, trial: Trial) -> str:
    off: list[float] = []
    held = doubtful = missed = many = 0
    for seed in range(TIMES):
        when = 1.4 + float(np.random.default_rng([seed, 19]).uniform(0, 0.5))
        found = trial(when, seed)
        if len(found) == 1:
            off.append(float(found.t[0] * 1e-9 - when) * 1e3)
            held += abs(off[-1]) <= 2e3 * found.u[0]
        many += len(found) > 1
        doubtful += not len(found) and found.margin > DOUBTFUL
        missed += not len(found) and found.margin <= DOUBTFUL
    e = np.array(off)
    figures = "| | |" if not off else (
        f"{e.mean():.2f} | {np.sqrt(np.mean(e**2)):.2f} | {np.abs(e).max():.2f} | {100 * held / len(e):.0f} %"
    )  # fmt: skip
    return f"| {name} | {len(off)} | {doubtful} | {missed} | {many} | {figures} |"


def _verdicts() -> Iterator[str]:
    """What the gate says of promised claps that are there or not, in sound over noise."""
    gate = plugs.gates()["SYN003"]
    yield f"**Verdicts** on a microphone with claps promised at both ends, {TIMES} episodes each:\n"
    yield "| claps | loudness | passed | abstained | failed, 95 % |"
    yield "|---|---|---|---|---|"
    for kept, name in ((2, "both"), (1, "one forgotten"), (0, "none")):
        for db in (10, 13, 15, 20, 30) if kept else (0,):
            count = {"pass": 0, "abstain": 0, "fail": 0}
            for seed in range(TIMES):
                rng = np.random.default_rng([seed, 20])
                when = (float(rng.uniform(1, 5)), float(rng.uniform(7, 11)))
                kept_ones = [when[i] for i in sorted(rng.permutation(2)[:kept].tolist())]
                ep = recorded(*kept_ones, db=db, seed=seed)
                features = Features(ep, plugs.features(), {}, {"pictures": {}, "containers": {}})
                count[examine(gate, features, gate.params(), ep.id).verdict.status] += 1
            low, high = interval(count["fail"], TIMES)
            loud = f"{db} dB" if kept else ""
            yield (f"| {name} | {loud} | {count['pass']} | {count['abstain']} | {count['fail']} "
                   f"({100 * low:.0f} to {100 * high:.0f} %) |")  # fmt: skip


def _untouched() -> Iterator[str]:
    """Events in real files in which nobody clapped, looked for as if a clap were promised."""
    data = Path(os.environ.get("ASSAY_DATA") or REPO.parent / "shared" / "data")
    yield "**Untouched real files**, looked at as if a clap or a flash were promised:\n"
    counts: dict[tuple[str, str], list[int]] = {}
    for base in opened(data, tuple(SETS)):
        for sign in ("clap", "flash"):
            ep: Any = replace(base.ep, meta={**base.ep.meta, "clap/sign": sign})
            found = sought(ep, base.pictures, {})
            for look in (x for x in found.looks if not x.blind and (sign == "clap" or x.way == "flash")):
                count = counts.setdefault((base.set, look.way), [0, 0, 0])
                count[0] += 1
                count[1] += len(look.onsets) > 0
                count[2] += DOUBTFUL < look.onsets.margin < 1
    for (short, way), (ends, seen, unsure) in sorted(counts.items()):
        named = {"jolt": "joint speeds"}.get(way, way)
        yield f"- {short}, {named}: {ends} ends, {seen} with an event, {unsure} doubtful"
    yield "\nNo real recording of sound, of an accelerometer or with a clap was at hand."


if __name__ == "__main__":
    main()
