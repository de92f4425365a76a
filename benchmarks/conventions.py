"""One wrong convention at a time in real clips: ``python benchmarks/conventions.py DATA [--write]``.

Each clip is given to RTG012 as it is and with one convention wrong; right means one finding of the right kind
whose cure names what was done, wrong a finding of another kind or a pass that speaks of what is wrong. With
``--write`` the table goes to ``docs/power/RTG012.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.motion_clips import clips

from assay import plugs
from assay.embodiment.body import normalise
from assay.embodiment.rotation import compose
from assay.examine import examine
from assay.feature import Features
from assay.judge import Judgement
from assay.model import Episode, Role, Stream
from assay.signals.readings import breadth_first

PAGE = Path(__file__).resolve().parent.parent / "docs" / "power" / "RTG012.md"
CORPORA = ("kimodo", "g1moves", "asap", "holosoma")
SPOKEN = ("joint-order", "quaternion-order")

Array = np.ndarray
Wrong = Callable[[Episode], Episode]


@dataclass(frozen=True)
class Corruption:
    """What is done to a clip, the kind and cure that a finding should name, and REAL-CLIPS' counts of 43."""

    name: str
    make: Wrong
    kind: str
    cure: str
    before: tuple[int, int, int]


def joints(ep: Episode, change: Callable[[Array, list[str], Episode], Array]) -> Episode:
    """The clip with its joints' values changed; stored velocities go, as they would tell it at once."""
    for stream in ep.by_role(Role.JOINT_VELOCITY):
        ep = ep.without_stream(stream.name)
    stream = ep.by_role(Role.JOINT_POSITION)[0]
    names = [normalise(n) for n in stream.names]
    return ep.with_stream(replace(stream, x=change(np.array(stream.x, np.float64), names, ep)))


def base(ep: Episode, change: Callable[[Array, Array], tuple[Array, Array]]) -> Episode:
    """The clip with its base pose changed."""
    stream: Stream = ep.by_role(Role.BASE_POSE)[0]
    x = np.array(stream.x, np.float64)
    p, quat = change(x[:, :3], x[:, 3:7])
    return ep.with_stream(replace(stream, x=np.concatenate([p, quat], axis=1)))


def orders(names: list[str], ep: Episode) -> tuple[list[int], list[int]]:
    """Columns of the clip in depth-first and in breadth-first order of its body."""
    assert ep.embodiment is not None
    assert ep.embodiment.tree is not None
    mine = [normalise(n) for n in ep.embodiment.tree.joints]
    breadth = [names.index(mine[c]) for c in breadth_first(ep.embodiment.tree) if mine[c] in names]
    return [names.index(n) for n in mine if n in names], breadth


def to_breadth(x: Array, names: list[str], ep: Episode) -> Array:
    depth, breadth = orders(names, ep)
    out = x.copy()
    out[:, depth] = x[:, breadth]
    return out


def to_depth(x: Array, names: list[str], ep: Episode) -> Array:
    depth, breadth = orders(names, ep)
    out = x.copy()
    out[:, breadth] = x[:, depth]
    return out


def mirrored(*words: str) -> Callable[[Array, list[str], Episode], Array]:
    def change(x: Array, names: list[str], ep: Episode) -> Array:
        del ep
        twin = {n: n.replace("left", "?").replace("right", "left").replace("?", "right") for n in names}
        take = [names.index(twin[n]) if any(w in n for w in words) else i for i, n in enumerate(names)]
        return x[:, take]

    return change


def pitched(x: Array, names: list[str], ep: Episode) -> Array:
    del ep
    legs = [any(w in n for w in ("hip_pitch", "knee", "ankle_pitch")) for n in names]
    return np.where(legs, -x, x)


def y_up(p: Array, quat: Array) -> tuple[Array, Array]:
    half = np.sqrt(0.5)
    return np.stack([p[:, 0], p[:, 2], -p[:, 1]], axis=1), compose([half, -half, 0, 0], quat)


def percent(x: Array, names: list[str], ep: Episode) -> Array:
    assert ep.embodiment is not None
    limits, at = ep.embodiment.limits[0], ep.embodiment.resolve(names)
    lower, upper = limits.lower[at], limits.upper[at]
    return (x - (lower + upper) / 2) / ((upper - lower) / 2) * 100


def ticks(x: Array, names: list[str], ep: Episode) -> Array:
    del names, ep
    return np.rint(x * 4096 / (2 * np.pi))


def at_rate(times: float) -> Wrong:
    """The clip declared at another rate."""

    def change(ep: Episode) -> Episode:
        for s in ep.streams:
            rate = None if s.rate is None else s.rate * Fraction(times).limit_denominator(1000)
            ep = ep.with_stream(replace(s, t=np.rint(s.t / times).astype(np.int64), rate=rate))
        return ep

    return change


def longer(times: float) -> Wrong:
    """The clip with its base position in another unit."""
    return lambda ep: base(ep, lambda p, quat: (p * times, quat))


def raised(height: float) -> Wrong:
    """The clip on an upper floor, which no convention explains."""
    return lambda ep: base(ep, lambda p, quat: (p + np.array([0.0, 0.0, height]), quat))


RAISED = {f"as declared, {h} m up (right: passes)": float(h) for h in (2, 6)}
NEW = (-1, -1, -1)  # not among REAL-CLIPS' figures
LEGS, ARMS = ("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist")
CORRUPTIONS = (
    Corruption("joints stored breadth-first, declared depth-first", lambda e: joints(e, to_breadth),
               "joint-order", "breadth-first", (43, 0, 0)),
    Corruption("joints stored depth-first, declared breadth-first", lambda e: joints(e, to_depth),
               "joint-order", "depth-first", (43, 0, 0)),
    Corruption("xyzw declared wxyz", lambda e: base(e, lambda p, q: (p, q[:, [1, 2, 3, 0]])),
               "quaternion-order", "xyzw", (42, 1, 0)),
    Corruption("wxyz declared xyzw", lambda e: base(e, lambda p, q: (p, q[:, [3, 0, 1, 2]])),
               "quaternion-order", "wxyz", (42, 1, 0)),
    Corruption("inverse quaternion", lambda e: base(e, lambda p, q: (p, q * [1, -1, -1, -1])),
               "inverse-quaternion", "of the world", (39, 4, 0)),
    Corruption("degrees declared radians", lambda e: joints(e, lambda x, n, ep: np.degrees(x)),
               "unit", "degrees", (43, 0, 0)),
    Corruption("radians declared degrees", lambda e: joints(e, lambda x, n, ep: np.radians(x)),
               "unit", "radians", NEW),
    Corruption("pitch signs of the legs", lambda e: joints(e, pitched), "sign", "pitch", (43, 0, 0)),
    Corruption("y up, position and rotation", lambda e: base(e, y_up), "up-axis", "y up", (43, 0, 0)),
    Corruption("left for right, all", lambda e: joints(e, mirrored(*LEGS, *ARMS)),
               "left-right", "all", (28, 15, 0)),
    Corruption("left for right, legs", lambda e: joints(e, mirrored(*LEGS)),
               "left-right", "legs", (27, 16, 0)),
    Corruption("left for right, arms", lambda e: joints(e, mirrored(*ARMS)),
               "left-right", "arms", (13, 30, 0)),
    Corruption("ticks of 4096 declared radians", lambda e: joints(e, ticks), "unit", "ticks", NEW),
    Corruption("percent of the range declared radians", lambda e: joints(e, percent), "unit", "percent", NEW),
    Corruption("base in centimetres declared metres", longer(100), "length-unit", "centimetres", NEW),
    Corruption("base in millimetres declared metres", longer(1000), "length-unit", "millimetres", NEW),
    Corruption("base in inches declared metres", longer(1 / 0.0254), "length-unit", "inches", NEW),
    Corruption("base in feet declared metres", longer(1 / 0.3048), "length-unit", "feet", NEW),
    Corruption("twice the rate declared", at_rate(2.0), "rate", "Hz", NEW),
    Corruption("half the rate declared", at_rate(0.5), "rate", "Hz", NEW),
)  # fmt: skip
BY_NAME = {c.name: c for c in CORRUPTIONS}
TWO = (
    ("pitch signs of the legs", "xyzw declared wxyz"),
    ("left for right, all", "joints stored breadth-first, declared depth-first"),
    ("joints stored breadth-first, declared depth-first", "xyzw declared wxyz"),
    ("joints stored breadth-first, declared depth-first", "degrees declared radians"),
    ("y up, position and rotation", "xyzw declared wxyz"),
    ("degrees declared radians", "xyzw declared wxyz"),
    ("degrees declared radians", "y up, position and rotation"),
    ("joints stored breadth-first, declared depth-first", "y up, position and rotation"),
    ("pitch signs of the legs", "degrees declared radians"),
    ("inverse quaternion", "joints stored breadth-first, declared depth-first"),
    ("base in centimetres declared metres", "y up, position and rotation"),
    ("base in centimetres declared metres", "degrees declared radians"),
    ("base in millimetres declared metres", "xyzw declared wxyz"),
)
"""Done in this order; a cure is looked for that names both."""


def judged(ep: Episode) -> Judgement:
    gate = plugs.gates()["RTG012"]
    return examine(gate, Features(ep, plugs.features()), gate.params(), ep.id)


def of_two(found: Judgement, one: Corruption, other: Corruption) -> str:
    """The same for two at once; a finding that names one of them is no answer yet, and no wrong one."""
    if found.verdict.status != "fail":
        spoken = {one.kind, other.kind} & set(SPOKEN)
        return "wrong" if spoken and found.verdict.status == "pass" else "abstain"
    said = found.findings[0].note.partition(": ")[2].partition(";")[0].split(" or ")
    both = [text for text in said if one.cure in text and other.cure in text]
    if len(said) == 1:
        return "right" if both else "abstain" if one.cure in said[0] or other.cure in said[0] else "wrong"
    return "abstain" if both or any(one.cure in t or other.cure in t for t in said) else "wrong"


def outcome(found: Judgement, kind: str, cure: str) -> str:
    """right, abstain or wrong about a corruption of this kind; for ``kind`` "" about an untouched clip."""
    verdict = found.verdict
    if verdict.status == "fail":
        row = found.findings[0]
        if kind and row.channel == kind and cure in row.note:
            return "right"
        # A finding that leaves the kind open accuses the clip rightly and names no cure.
        return "abstain" if kind and row.channel == "convention" and cure in row.note else "wrong"
    if not kind:
        return "right" if verdict.status == "pass" else "abstain"
    return "wrong" if kind in SPOKEN and verdict.status == "pass" else "abstain"


def confusion(data: Path, names: tuple[str, ...] = CORPORA) -> tuple[dict[str, Counter[str]], int, list[str]]:
    """Counts by corruption ("" for untouched), the number of clips, and what was wrong."""
    rows: dict[str, Counter[str]] = {n: Counter() for n in ("", *RAISED, *(c.name for c in CORRUPTIONS))}
    rows |= {f"{a}; {b}": Counter() for a, b in TWO}
    wrong, count = [], 0
    for corpus, ep in clips(data, *names):
        count += 1
        for name, made, kind, cure in tried(ep):
            got = judged(made)
            result = outcome(got, kind, cure)
            rows[name][result] += 1
            if result == "wrong":
                wrong.append(
                    f"{corpus} {ep.id}, {name or 'untouched'}: {got.verdict.status} {got.verdict.channel} "
                    + " ".join(f.note for f in got.findings)[:160]
                )
        for a, b in TWO:
            got = judged(BY_NAME[b].make(BY_NAME[a].make(ep)))
            result = of_two(got, BY_NAME[a], BY_NAME[b])
            rows[f"{a}; {b}"][result] += 1
            if result == "wrong":
                said = got.findings[0].note if got.findings else ""
                wrong.append(f"{corpus} {ep.id}, {a}; {b}: {got.verdict.status} {said[:120]}")
    return rows, count, wrong


def tried(ep: Episode) -> Iterator[tuple[str, Episode, str, str]]:
    yield "", ep, "", ""
    for name, height in RAISED.items():
        yield name, raised(height)(ep), "", ""
    for c in CORRUPTIONS:
        yield c.name, c.make(ep), c.kind, c.cure


def page(rows: dict[str, Counter[str]], count: int, wrong: list[str]) -> str:
    lines = [
        "<!-- written by `python benchmarks/conventions.py DATA --write`; not by hand -->",
        "",
        f"One wrong convention at a time in {count} real G1 clips (kimodo, g1-moves, ASAP, holosoma), given",
        "to the gate as declared data. *Right*: one finding of its kind whose cure names what was done.",
        "*Abstain*: no finding and no pass that speaks of it (a pass speaks of joint order and quaternion",
        "order, not of the other kinds), or a finding that leaves the kind open. *Before*: what an",
        "independent implementation did on 43 clips.",
        "",
        "| convention | right | abstain | wrong | before, of 43 |",
        "|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        before = next((c.before for c in CORRUPTIONS if c.name == name), (-1,))
        told = "/".join(map(str, before)) if min(before) >= 0 else ""
        cells = (name or "**untouched** (right: passes)", row["right"], row["abstain"], row["wrong"], told)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", *(["**Wrong**", "", *(f"- {w}" for w in wrong)] if wrong else ["Wrong: none."])]
    return "\n".join([*lines, ""])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    text = page(*confusion(given.data))
    print(text)
    if given.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
