"""The rows of all rigs summed up as one page of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
from benchmarks.power.trials import interval
from benchmarks.rigs.scene import CLASSES

__all__ = ["page"]

LIMIT: Final = 1 / 30
_LEFT_OUT: Final = 0.010  # s around the limit in which no verdict is wrong
Row = dict[str, Any]

_HEAD: Final = """\
<!-- written by `python -m benchmarks.rigs`; not by hand -->

# Content sync on {rigs} simulated rigs

MuJoCo renders of a Unitree G1's upper body in capsules (80 x 60, two moments per exposure), {rigs} rigs of
nine episodes: eight of 7 s, one of 28 s. In two rigs of three the arms go between the same five places in
every episode (*task*), else anywhere (*play*). 15 or 30 real pictures per second in files of 30, joints at
30, 50 or 100 Hz, stamps with 1 to 1.5 ms of jitter, a camera bias within 100 ms that is the rig's own. The
long episode, its first 14 and its first 8 s are judged by a map learnt from the other eight, with deviations
of 0, 20, 50, 67 and 100 ms in either direction. Verdicts are SYN001's for one picture by the usual lag
alone: what it leaves open besides, where a stretch speaks against that lag, is not counted here but in
docs/power/SYN001.md. Speeds and spectrum of the motion are those of 24 real episodes of a G1; smoother motion
(nothing above 1 Hz) tells nothing.
"""


def page(rows: Sequence[Row]) -> str:
    """All tables."""
    rigs = len({r["rig"] for r in rows})
    parts = [
        _HEAD.format(rigs=rigs),
        *_lags(rows),
        "",
        *_claims(rows),
        "",
        *_drifts(rows),
        "",
        *_losses(rows),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _lags(rows: Sequence[Row]) -> Iterable[str]:
    lags = [r for r in rows if r["what"] == "lag"]
    yield "## Deviation from the rig's median, by class\n"
    yield ("| class | rigs | trials | speaks | RMSE, ms | 95 % within, ms | within 2 u | passed | failed | "
           "undecided | wrong | unrelated accepted |")  # fmt: skip
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    foreign = [r for r in rows if r["what"] == "foreign"]
    for name, keep in _groups():
        mine = [r for r in lags if keep(r)]
        if mine:
            yield _lag_row(name, mine, [r for r in foreign if keep(r)])
    yield ""
    yield "Wrong: a verdict where the truth is not within 10 ms of the limit. *Undecided* includes silence."


def _groups() -> Iterable[tuple[str, Callable[[Row], bool]]]:
    for kind in CLASSES:
        yield kind, lambda r, kind=kind: r["kind"] == kind
    yield "**all**", lambda r: True
    yield "task", lambda r: r["task"]
    yield "play", lambda r: not r["task"]
    yield "15 Hz", lambda r: r["fps"] == 15
    yield "30 Hz", lambda r: r["fps"] == 30
    yield "8 s of episode", lambda r: r["length"] == 8
    yield "14 s of episode", lambda r: r["length"] == 14
    yield "28 s of episode", lambda r: r["length"] == 28
    yield "10 s of arm motion and more", lambda r: r["moving"] >= 10
    yield "20 s of arm motion and more", lambda r: r["moving"] >= 20


def _lag_row(name: str, mine: Sequence[Row], foreign: Sequence[Row]) -> str:
    spoke = [r for r in mine if not r["why"]]
    error = np.array([r["seconds"] - r["planted"] for r in spoke]) * 1e3
    u = np.array([r["u"] for r in spoke]) * 1e3
    passed, failed, wrong = _verdicts(spoke)
    figures = (
        f"{np.sqrt(np.mean(error**2)):.1f} | {np.quantile(np.abs(error), 0.95):.1f} | "
        f"{100 * np.mean(np.abs(error) <= 2 * u):.0f} %" if len(error) else "| |"
    )  # fmt: skip
    accepted = f"{sum(r['spoke'] for r in foreign)} of {len(foreign)}"
    share = 100 * len(spoke) / len(mine)
    return (f"| {name} | {len({r['rig'] for r in mine})} | {len(mine)} | {share:.0f} % | {figures} | "
            f"{passed} | {failed} | {len(mine) - passed - failed} | {wrong} | {accepted} |")  # fmt: skip


def _verdicts(spoke: Sequence[Row]) -> tuple[int, int, int]:
    passed = failed = wrong = 0
    for r in spoke:
        low, high = abs(r["seconds"]) - 2 * r["u"], abs(r["seconds"]) + 2 * r["u"]
        status = "pass" if high <= LIMIT else "fail" if low > LIMIT else ""
        truth = abs(r["planted"])
        passed, failed = passed + (status == "pass"), failed + (status == "fail")
        if status and abs(truth - LIMIT) > _LEFT_OUT:
            wrong += status != ("pass" if truth < LIMIT else "fail")
    return passed, failed, wrong


def _claims(rows: Sequence[Row]) -> Iterable[str]:
    """What the page promises, in sentences."""
    lags = [r for r in rows if r["what"] == "lag"]
    long = [r for r in lags if r["moving"] >= 20 and r["kind"] != "still" and r["planted"] == 0.0]
    spoke = sum(not r["why"] for r in long)
    low, high = interval(spoke, len(long)) if long else (0.0, 0.0)
    raw = np.array([r["raw"] for r in lags if not r["why"]]) * 1e3
    late = np.array([r["raw"] - (0.5 / 30 if r["fps"] == 15 else 0.0) for r in lags if not r["why"]]) * 1e3
    yield (f"Of the episodes with 20 s of arm motion and more, {spoke} of {len(long)} are told "
           f"({100 * low:.0f} to {100 * high:.0f} %).")  # fmt: skip
    if len(raw):
        yield (
            "Where a reference gives the rig's bias, the absolute offset is that bias and the deviation "
            "above, and as good. Without one, content alone is off by "
            f"{np.mean(raw):.1f} ms in the mean (sd {np.std(raw):.1f}); pictures shown twice count half a "
            f"picture of that, the rest is {np.mean(late):.1f} ms."
        )  # fmt: skip
    why: dict[str, int] = {}
    for r in lags:
        if r["why"]:
            why[r["why"]] = why.get(r["why"], 0) + 1
    yield "Silence: " + ", ".join(f"{code} {n}" for code, n in sorted(why.items())) + "."


def _drifts(rows: Sequence[Row]) -> Iterable[str]:
    found = [r for r in rows if r["what"] == "drift"]
    yield "## Drift\n"
    yield ("Three stretches of 9 s, at the start, in the middle and at the end of 1, 5, 15 or 40 minutes, "
           "are rendered; in between the robot rests. Found: over one picture by 2 u.\n")  # fmt: skip
    yield "| ppm | minutes | drifts by, ms | trials | speaks | RMSE, ppm | within 2 u | found |"
    yield "|---|---|---|---|---|---|---|---|"
    for ppm in sorted({r["ppm"] for r in found}):
        for minutes in sorted({r["minutes"] for r in found}):
            mine = [r for r in found if r["ppm"] == ppm and r["minutes"] == minutes]
            if mine:
                yield _drift_row(ppm, minutes, mine)
    grave = [r for r in found if _drifted(r) >= 2 * LIMIT]
    told = [r for r in grave if not r["why"]]
    small = [r for r in found if _drifted(r) <= LIMIT - _LEFT_OUT]
    yield ""
    yield (f"Of drifts of two pictures and more, {sum(map(_seen, grave))} of {len(grave)} are found, "
           f"{sum(map(_seen, told))} of the {len(told)} where it speaks; of those within the limit, "
           f"{sum(map(_seen, small))} of {len(small)} are called drift.")  # fmt: skip


def _drift_row(ppm: float, minutes: float, mine: Sequence[Row]) -> str:
    spoke = [r for r in mine if not r["why"]]
    error = np.array([r["found"] - ppm for r in spoke])
    u = np.array([r["u"] for r in spoke])
    held = 100 * np.mean(np.abs(error) <= 2 * u) if spoke else 0.0
    figures = f"{np.sqrt(np.mean(error**2)):.0f} | {held:.0f} %" if spoke else "|"
    return (f"| {ppm:g} | {minutes:g} | {_drifted(mine[0]) * 1e3:.0f} | {len(mine)} | {len(spoke)} | "
            f"{figures} | {sum(map(_seen, mine))} |")  # fmt: skip


def _drifted(r: Row) -> float:
    return float(r["ppm"] * 1e-6 * r["minutes"] * 60)


def _seen(r: Row) -> bool:
    return not r["why"] and (abs(r["found"]) - 2 * r["u"]) * 1e-6 * r["minutes"] * 60 > LIMIT


def _losses(rows: Sequence[Row]) -> Iterable[str]:
    found = [r for r in rows if r["what"] == "lost"]
    yield "## Pictures lost inside a file\n"
    yield ("The likeliest step of the lag in the 28 s episode, where the estimator speaks of it. Found: "
           "a step over 4 u and 1.5 pictures; placed: within 1 s.\n")  # fmt: skip
    yield "| lost | trials | found | of these placed | size within half a picture | found, all rigs |"
    yield "|---|---|---|---|---|---|"
    for count in sorted({r["count"] for r in found}):
        mine = [r for r in found if r["count"] == count]
        spoke = [r for r in mine if r["spoke"]]
        hit = [r for r in spoke if _stepped(r)]
        placed = sum(abs(r["place"] - r["at"]) <= 1.0 for r in hit)
        sized = sum(abs(r["step"] + count / 30) <= 0.5 / 30 for r in hit)
        where = f"{placed} | {sized}" if count else "|"
        yield (f"| {count} | {len(spoke)} | {len(hit)} | {where} | "
               f"{sum(map(_stepped, mine))} of {len(mine)} |")  # fmt: skip


def _stepped(r: Row) -> bool:
    return bool(abs(r["step"]) > max(4 * r["u"], 0.05))
