"""Draw contact sheets of motion clips for labelling by eye: ``python tools/label_sheet.py DATA LABELS OUT``.

LABELS lists the clips (``tests/labels/segments.toml``). Its spans are not drawn, nor is anything that a rule
of Assay decided, nor a clip's name, which may say "walk": clips are numbered as they are listed.

Each becomes one SVG: a stick figure every 0.25 s (0.5 s beyond 10 s) seen from the side of the first frame's
heading and from above, following the pelvis, while the lines of a fixed grid of 0.5 m pass by; red is left,
blue right, green an object; below, the way of the pelvis over the whole clip.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.motion_clips import clips

from assay.embodiment.kinematics import link_poses
from assay.model import Episode, Role

CELL, SCALE = 150, 62  # px; px per metre
COLUMNS = 14
UP = {
    "hip": "pelvis", "knee": "hip", "ankle": "knee", "foot": "ankle", "spine1": "pelvis", "spine2": "spine1",
    "spine3": "spine2", "neck": "spine3", "head": "neck", "collar": "spine3", "shoulder": "collar",
    "elbow": "shoulder", "wrist": "elbow", "hand": "wrist",
}  # fmt: skip

Bones = list[tuple[int, int, str]]


def skeleton(ep: Episode) -> tuple[np.ndarray, np.ndarray, Bones]:
    """Times (n,) s, points (n, k, 3) m and bones (from, to, side) of the robot, else of the human."""
    body, joints = ep.embodiment, next(iter(ep.by_role(Role.JOINT_POSITION)), None)
    if body is not None and body.tree is not None and joints is not None:
        return robot(ep)
    for stream in ep.by_role(Role.HUMAN_BODY):
        names = [n[:-2] for n in stream.names[::3]]
        if stream.names[0].endswith(".x") and "left_knee" in names:
            bones = [
                (names.index(up), i, n.split("_")[0]) for i, n in enumerate(names) for up in above(n, names)
            ]
            return stream.t / 1e9, np.asarray(stream.x).reshape(len(stream), -1, 3), bones
    raise ValueError(f"{ep.id}: nothing to draw")


def above(name: str, names: list[str]) -> Iterator[str]:
    side, _, part = name.rpartition("_")
    up = UP.get(part)
    for candidate in (f"{side}_{up}", up):
        if candidate in names:
            yield str(candidate)
            return


def robot(ep: Episode) -> tuple[np.ndarray, np.ndarray, Bones]:
    body, stream = ep.embodiment, ep.by_role(Role.JOINT_POSITION)[0]
    assert body is not None
    assert body.tree is not None
    tree = body.tree
    at = body.resolve(stream.names)
    use = (at >= 0) & (at < len(tree.joints))
    q = np.zeros((len(stream), len(tree.joints)))
    q[:, at[use]] = np.asarray(stream.x)[:, use]
    base = next(iter(ep.by_role(Role.BASE_POSE)), None)
    pose = (None, None) if base is None else (np.asarray(base.x)[:, :3], np.asarray(base.x)[:, 3:7])
    p, _ = link_poses(tree, q, *pose)
    ends = {n for h in body.hands for n in (h.link, *h.ends)} | {s.link for s in body.soles}
    wanted = tree.ancestors(np.array([tree.index(n) for n in ends])) if ends else np.arange(len(tree.links))
    side = ["left" if n.startswith(("left", "l_")) else "right" if n.startswith(("right", "r_")) else ""
            for n in tree.links]  # fmt: skip
    return stream.t / 1e9, p, [(int(tree.parent[i]), int(i), side[i]) for i in wanted if tree.parent[i] >= 0]


def draw(ep: Episode, title: str) -> str:
    """The sheet of one clip as SVG."""
    t, p, bones = skeleton(ep)
    step = 0.25 if t[-1] <= 10 else 0.5
    frames = [int(np.abs(t - s).argmin()) for s in np.arange(0.0, min(t[-1], 40.0) + 1e-6, step)]
    thing = next(iter(ep.by_role(Role.OBJECT_POSE)), None)
    things = np.full((len(t), 3), np.nan) if thing is None else np.asarray(thing.x)[: len(t), :3]
    turn = ahead(p[0], bones)
    p, things = p @ turn.T, things @ turn.T
    words = f"{title}, {t[-1]:.1f} s, a figure every {step} s: from the side, from above"
    parts = [text(4, 14, 13, words)]
    for k, f in enumerate(frames):
        x, y = (k % COLUMNS) * CELL, 20 + (k // COLUMNS) * 2 * CELL
        parts += cell(p[f], bones, things[f], t[f], x, y, (0, 2))
        parts += cell(p[f], bones, things[f], t[f], x, y + CELL, (0, 1))
    top = 20 + -(-len(frames) // COLUMNS) * 2 * CELL
    parts += path(p[:, 0], t, top)
    size = f'width="{COLUMNS * CELL}" height="{top + 220}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return "".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"])


def ahead(p: np.ndarray, bones: Bones) -> np.ndarray:
    """The rotation that lets a figure look to the right of the sheet."""
    left, right = (p[[b[1] for b in bones if b[2] == side]].mean(axis=0) for side in ("left", "right"))
    yaw = np.arctan2(-(left - right)[0], (left - right)[1])
    return np.array([[np.cos(yaw), np.sin(yaw), 0], [-np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])


def cell(
    p: np.ndarray, bones: Bones, thing: np.ndarray, t: float, x: float, y: float, axes: tuple[int, int]
) -> list[str]:
    a, b = axes
    mid = p[0]
    floor = p[:, 2].min() if b == 2 else mid[b]
    low = y + (CELL - 10 if b == 2 else CELL / 2)

    def at(v: np.ndarray) -> tuple[float, float]:
        return x + CELL / 2 + (v[a] - mid[a]) * SCALE, low - (v[b] - floor) * SCALE

    out = [box(x, y, CELL, "#ccc", 1), text(x + 3, y + 11, 10, f"{t:.2f}")]
    for g in np.arange(np.ceil((mid[a] - 1.15) * 2) / 2, mid[a] + 1.15, 0.5):
        gx = x + CELL / 2 + (g - mid[a]) * SCALE
        out.append(line((gx, y + 14), (gx, y + CELL), "#999" if g % 2 == 0 else "#e4e4e4", 1))
    colours = {"left": "#c00", "right": "#04c"}
    out += [line(at(p[i]), at(p[j]), colours.get(side, "#222"), 2) for i, j, side in bones]
    if np.isfinite(thing).all():
        ox, oy = at(thing)
        out.append(box(ox - 6, oy - 6, 12, "#090", 2))
    return out


def path(p: np.ndarray, t: np.ndarray, top: float) -> list[str]:
    """The way of the pelvis over the ground, a dot each second."""
    span = max(float(np.ptp(p[:, :2], axis=0).max()), 1.0)
    xy = (p[:, :2] - p[:, :2].min(axis=0)) / span * 190 * [1, -1] + [10, top + 205]
    out = [text(4, top + 12, 11, f"way of the pelvis, {span:.2f} m wide, a dot a second")]
    out += [line(xy[i], xy[i + 1], "#222", 1) for i in range(len(xy) - 1)]
    for s in np.arange(0.0, t[-1], 1.0):
        a, b = xy[int(np.abs(t - s).argmin())]
        out += [box(a - 2, b - 2, 4, "#222", 2), text(a + 4, b - 3, 9, f"{s:.0f}")]
    return out


def line(a: Sequence[float], b: Sequence[float], colour: str, width: float) -> str:
    ends = f'x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def box(x: float, y: float, size: float, colour: str, width: float) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}"'
    return f'<rect {place} fill="none" stroke="{colour}" stroke-width="{width}"/>'


def text(x: float, y: float, size: float, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}">{words}</text>'


def main() -> None:
    data, labels, out = (Path(a) for a in sys.argv[1:4])
    listed = [(c["corpus"], c["episode"]) for c in tomllib.loads(labels.read_text("utf-8"))["clip"]]
    out.mkdir(parents=True, exist_ok=True)
    for name, ep in clips(data, *sorted({corpus for corpus, _ in listed})):
        if (name, ep.id) in listed:
            number = listed.index((name, ep.id)) + 1
            file = out / f"clip_{number:02}.svg"
            file.write_text(draw(ep, f"clip {number}"), encoding="utf-8")
            print(file)


if __name__ == "__main__":
    main()
