"""Draw contact sheets of motion clips for labelling by eye: ``python tools/label_sheet.py DATA LABELS OUT``.

LABELS lists the clips (``tests/labels/segments.toml``; its spans are not drawn, nor is anything that a rule
of Assay decided). Each clip becomes one SVG: a stick figure every 0.25 s (0.5 s beyond 10 s) seen from the
side of the first frame's heading and from above, following the pelvis, while the lines of a fixed grid of
0.5 m pass by; red is left, blue right, green an object; below, the path of the pelvis over the whole clip.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
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
    assert body is not None and body.tree is not None
    tree = body.tree
    at = body.resolve(stream.names)
    use = (at >= 0) & (at < len(tree.joints))
    q = np.zeros((len(stream), len(tree.joints)))
    q[:, at[use]] = np.asarray(stream.x)[:, use]
    base = next(iter(ep.by_role(Role.BASE_POSE)), None)
    pose = (None, None) if base is None else (np.asarray(base.x)[:, :3], np.asarray(base.x)[:, 3:7])
    p, _ = link_poses(tree, q, *pose)
    ends = {h.link for h in body.hands} | {s.link for s in body.soles}
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
    object_p = None if thing is None or len(thing) != len(t) else np.asarray(thing.x)[:, :3]
    across = p[0, [b[1] for b in bones if b[2] == "left"]].mean(0) - p[
        0, [b[1] for b in bones if b[2] == "right"]
    ].mean(0)
    yaw = np.arctan2(-across[0], across[1])
    turn = np.array([[np.cos(yaw), np.sin(yaw), 0], [-np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])
    p = p @ turn.T
    object_p = None if object_p is None else object_p @ turn.T
    rows = -(-len(frames) // COLUMNS)
    parts = [
        f'<text x="4" y="14" font-size="13">{title}, {t[-1]:.1f} s, a figure every {step} s: side view, view from above</text>'
    ]
    for k, f in enumerate(frames):
        x, y = (k % COLUMNS) * CELL, 20 + (k // COLUMNS) * 2 * CELL
        thing_p = None if object_p is None else object_p[f]
        parts += cell(p[f], bones, thing_p, t[f], x, y, (0, 2))
        parts += cell(p[f], bones, thing_p, t[f], x, y + CELL, (0, 1))
    top = 20 + rows * 2 * CELL
    parts += path(p[:, 0], t, top)
    size = f'width="{COLUMNS * CELL}" height="{top + 220}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'


def cell(
    p: np.ndarray, bones: Bones, thing: np.ndarray | None, t: float, x: float, y: float, axes: tuple[int, int]
) -> list[str]:
    a, b = axes
    mid = p[0]
    floor = p[:, 2].min() if b == 2 else mid[b]
    low = y + (CELL - 10 if b == 2 else CELL / 2)

    def at(v: np.ndarray) -> tuple[float, float]:
        return x + CELL / 2 + (v[a] - mid[a]) * SCALE, low - (v[b] - floor) * SCALE

    out = [f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="none" stroke="#ccc"/>',
           f'<text x="{x + 3}" y="{y + 11}" font-size="10">{t:.2f}</text>']  # fmt: skip
    for g in np.arange(np.ceil((mid[a] - 1.15) * 2) / 2, mid[a] + 1.15, 0.5):
        gx = x + CELL / 2 + (g - mid[a]) * SCALE
        out.append(
            f'<line x1="{gx:.1f}" y1="{y + 14}" x2="{gx:.1f}" y2="{y + CELL}" stroke="{"#999" if g % 2 == 0 else "#e4e4e4"}"/>'
        )
    for i, j, side in bones:
        (x1, y1), (x2, y2) = at(p[i]), at(p[j])
        colour = {"left": "#c00", "right": "#04c"}.get(side, "#222")
        out.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="2"/>'
        )
    if thing is not None:
        ox, oy = at(thing)
        out.append(
            f'<rect x="{ox - 6:.1f}" y="{oy - 6:.1f}" width="12" height="12" fill="none" stroke="#090" stroke-width="2"/>'
        )
    return out


def path(p: np.ndarray, t: np.ndarray, top: float) -> list[str]:
    """The pelvis over the ground, a dot each second, and its distance gone along time."""
    span = max(float(np.ptp(p[:, :2], axis=0).max()), 1.0)
    xy = (p[:, :2] - p[:, :2].min(0)) / span * 190
    line = " ".join(f"{a + 10:.1f},{top + 205 - b:.1f}" for a, b in xy)
    out = [f'<polyline points="{line}" fill="none" stroke="#222"/>',
           f'<text x="4" y="{top + 12}" font-size="11">path of the pelvis, {span:.2f} m wide, a dot a second</text>']  # fmt: skip
    for s in np.arange(0.0, t[-1], 1.0):
        a, b = xy[int(np.abs(t - s).argmin())]
        out.append(
            f'<circle cx="{a + 10:.1f}" cy="{top + 205 - b:.1f}" r="3"/><text x="{a + 13:.1f}" y="{top + 203 - b:.1f}" font-size="9">{s:.0f}</text>'
        )
    return out


def main() -> None:
    data, labels, out = (Path(a) for a in sys.argv[1:4])
    wanted = {(c["corpus"], c["episode"]) for c in tomllib.loads(labels.read_text("utf-8"))["clip"]}
    out.mkdir(parents=True, exist_ok=True)
    for name, ep in clips(data, *sorted({c for c, _ in wanted})):
        if (name, ep.id) in wanted:
            file = out / f"{name}-{ep.id.replace('/', '_')}.svg"
            file.write_text(draw(ep, f"{name} {ep.id}"), encoding="utf-8")
            print(file)


if __name__ == "__main__":
    main()
