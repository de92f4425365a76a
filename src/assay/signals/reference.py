"""The reference retargeter: inverse kinematics of one body within its limits, by mink with daqp.

It answers one question about single frames: with the pelvis where the clip has it, give or take `SLACK`, and
every joint within its limits, how near can points of links come to where they should be? Each frame is solved
from several starts that know nothing of each other, so that a local minimum shows as starts that disagree.
mink and daqp come with the extra ``physics`` and are imported when first used.

The body goes to MuJoCo as a string made here from Assay's own tree: hinges, slides and their ranges, under
names of our own, without shapes. Its world is the clip's pelvis, frame by frame: that pose is given, not
solved for, but for three slides of `SLACK`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import compose, rotate
from assay.embodiment.tree import SLIDE, Tree
from assay.errors import MissingExtraError, UsageError
from assay.extras import install_line

__all__ = ["AGREE", "SLACK", "Goal", "Reached", "held", "reach", "require"]

Floats = NDArray[np.float64]

SLACK: Final = 0.05
"""m on each axis; the pelvis may be this far from where the clip has it: scaling puts it no better."""
AGREE: Final = 0.005
"""m; starts that end this near to each other in error ended in one minimum."""
NEAR: Final = 0.002
"""m; a goal this near is reached, whatever other starts would say."""
SETTLED: Final = 2e-4
"""m; a step that gains less than this on every goal is the last one."""
STEPS: Final = 30
STARTS: Final = 8
FAR: Final = 0.3
"""m; nearer than this the square of the distance damps a step, further off the distance itself."""
POSTURE: Final = 0.01
"""Weight of the clip's own posture beside a goal's 1 (1 rad as 1 cm): it costs a goal 0.1 mm."""
PELVIS: Final = 0.05
"""The same of the pelvis, so that it moves only for what joints alone do not reach."""
TURN: Final = 0.03
"""Weight of a goal's orientation (1 rad as 3 cm): it decides between postures, not about places."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """Where a point of a link should be.

    Attributes:
        link: its name; point: (3,) m in the link's frame.
        at: (n, 3) m in the world; NaN where nothing is asked of it.
        turn: (n, 4) wxyz that the link should keep, or None where its orientation is free.
        weight: how much 1 m counts beside 1 m of the others.
    """

    link: str
    point: Floats
    at: Floats
    turn: Floats | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """What the reference found, frame by frame.

    Attributes:
        q: (n, c) in the tree's columns; those that move no goal are the clip's own.
        place: (n, 7) m and wxyz, the base.
        error: (g, n) m, distance of each goal; NaN where nothing was asked.
        twice: (n,) whether the best end was reached from two starts, or every goal was.
    """

    q: Floats
    place: Floats
    error: Floats
    twice: NDArray[np.bool_]


def require() -> None:
    """Import what the reference needs.

    Raises:
        MissingExtraError: if mink, daqp or mujoco is not installed.
    """
    try:
        import daqp  # noqa: F401
        import mink  # noqa: F401
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the reference retargeter needs mink and daqp", found=f"no {error.name}",
                                remedy=install_line("physics")) from error  # fmt: skip


def reach(
    tree: Tree, lower: Floats, upper: Floats, q: Floats, place: Floats, goals: Sequence[Goal], seed: int = 0
) -> Reached:
    """The nearest that a body comes to its goals, in each of n frames.

    Args:
        tree: the body.
        lower: (c,) rad or m, limits of its columns, infinite where unknown.
        upper: (c,) likewise.
        q: (n, c) rad or m, the clip's posture and the first start.
        place: (n, 7) m and wxyz, the clip's pelvis.
        goals: g of them, finite in at least one frame.
        seed: of the starts that are drawn.

    Raises:
        MissingExtraError: if mink, daqp or mujoco is not installed.
        UsageError: if one joint's value moves several links on the way to a goal.
    """
    require()
    solver = _Solver(tree, lower, upper, goals)
    rng = np.random.default_rng(seed)
    found, shift = np.array(q), np.zeros((len(q), 3))
    error, twice = np.full((len(goals), len(q)), np.nan), np.zeros(len(q), bool)
    last = None
    for k in range(len(q)):
        own = solver.start(q[k])
        solver.aim(goals, k, place[k], own)
        x, error[:, k], twice[k] = solver.best([own if last is None else last, solver.middle, own], rng)
        found[k], shift[k], last = solver.columns(x, q[k]), x[:3], x
    moved = np.concatenate([place[:, :3] + rotate(place[:, 3:], shift), place[:, 3:]], axis=1)
    return Reached(found, moved, error, twice)


class _Solver:
    """MuJoCo's model of what moves the goals, with mink's tasks and limits on it."""

    def __init__(self, tree: Tree, lower: Floats, upper: Floats, goals: Sequence[Goal]) -> None:
        import mink
        import mujoco

        self.tree = tree
        links = _depth_first(tree, tree.ancestors(np.array([tree.index(g.link) for g in goals])))
        self.moved = np.array([i for i in links if i and tree.column[i] >= 0], np.int64)
        column = tree.column[self.moved]
        if len(np.unique(column)) < len(column):
            raise UsageError("joints that move each other lie on the way to what should be reached",
                             found=", ".join(tree.joints[c] for c in np.unique(column)[:3]))  # fmt: skip
        ends = np.stack([tree.gain[self.moved] * side[column] + tree.offset[self.moved]
                         for side in (lower, upper)])  # fmt: skip
        bound = np.full(3, SLACK)
        self.lower = np.concatenate([-bound, ends.min(axis=0)])
        self.upper = np.concatenate([bound, ends.max(axis=0)])
        low, high = _bounded(self.lower, self.upper)
        self.middle = np.clip(0.5 * (low + high), self.lower, self.upper)
        text = _mjcf(tree, links, self.lower, self.upper, goals)
        self.configuration = mink.Configuration(mujoco.MjModel.from_xml_string(text))
        self.limit = mink.ConfigurationLimit(self.configuration.model, gain=1.0)
        self.posture = mink.PostureTask(
            self.configuration.model, cost=np.array([PELVIS] * 3 + [POSTURE] * len(column))
        )
        self.tasks = [
            mink.FrameTask(f"g{i}", "site", goal.weight, TURN * goal.weight * (goal.turn is not None))
            for i, goal in enumerate(goals)
        ]  # fmt: skip

    def start(self, q: Floats) -> Floats:
        """The clip's own posture (c,), brought within the limits."""
        own = self.tree.gain[self.moved] * q[self.tree.column[self.moved]] + self.tree.offset[self.moved]
        return np.asarray(np.clip(np.concatenate([np.zeros(3), own]), self.lower, self.upper))

    def columns(self, x: Floats, q: Floats) -> Floats:
        """A solution as the tree's columns, the rest as in q."""
        made = np.array(q)
        made[self.tree.column[self.moved]] = (x[3:] - self.tree.offset[self.moved]) / self.tree.gain[
            self.moved
        ]
        return made

    def aim(self, goals: Sequence[Goal], k: int, place: Floats, own: Floats) -> None:
        """Set what frame k asks for, seen from its pelvis."""
        back = place[3:] * np.array([1.0, -1.0, -1.0, -1.0])
        self.at = np.stack([rotate(back, goal.at[k] - place[:3]) for goal in goals])
        self.turn = [None if goal.turn is None else compose(back, goal.turn[k]) for goal in goals]
        self.asked: NDArray[np.bool_] = np.asarray(np.isfinite(self.at).all(axis=1))
        self.weight = np.array([goal.weight for goal in goals])
        self.posture.set_target(own)

    def best(self, starts: Sequence[Floats], rng: np.random.Generator) -> tuple[Floats, Floats, bool]:
        """Solution, errors (g,) m, and whether two starts ended as well; a few are drawn if they do not."""
        ends: list[tuple[float, Floats, Floats]] = []
        for i in range(STARTS):
            x, error = self.solve(starts[i] if i < len(starts) else self.drawn(rng))
            cost = float(np.linalg.norm(np.nan_to_num(error) * self.weight))
            ends.append((cost, x, error))
            ends.sort(key=lambda end: end[0])
            if ends[0][0] <= NEAR or (len(ends) > 1 and ends[1][0] - ends[0][0] <= AGREE):
                return ends[0][1], ends[0][2], True
        return ends[0][1], ends[0][2], False

    def drawn(self, rng: np.random.Generator) -> Floats:
        """A posture anywhere within the limits."""
        return np.asarray(rng.uniform(*_bounded(self.lower, self.upper)))

    def solve(self, start: Floats) -> tuple[Floats, Floats]:
        """Where one start ends, and the errors (g,) m there."""
        import mink

        self.configuration.update(start)
        tasks = [task for task, asked in zip(self.tasks, self.asked.tolist(), strict=True) if asked]
        error = self._errors()
        for _ in range(STEPS):
            try:
                v = mink.solve_ik(self.configuration, [*tasks, self.posture], 1.0, "daqp",
                                  damping=1e-6, limits=[self.limit])  # fmt: skip
            except mink.NoSolutionFound:
                break
            self.configuration.integrate_inplace(v, 1.0)
            before, error = error, self._errors()
            if np.nanmax(np.abs(before - error), initial=0.0) < SETTLED:
                break
        x = np.clip(self.configuration.q, self.lower, self.upper)
        return x, error

    def _errors(self) -> Floats:
        """(g,) m; the tasks' targets are set on the way."""
        import mink

        error = np.full(len(self.tasks), np.nan)
        for i in np.flatnonzero(self.asked):
            pose = self.configuration.get_transform_frame_to_world(f"g{i}", "site")
            # A pose error mixes place and orientation: what has no orientation to keep keeps the one it has.
            turn = self.turn[i]
            kept = pose.rotation() if turn is None else mink.SO3(np.asarray(turn))
            self.tasks[i].set_target(mink.SE3.from_rotation_and_translation(kept, self.at[i]))
            error[i] = np.linalg.norm(pose.translation() - self.at[i])
            self.tasks[i].lm_damping = min(1.0, FAR / max(float(error[i]), FAR))
        return error


def _bounded(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Limits with half a turn in place of none."""
    return np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)


def _depth_first(tree: Tree, links: NDArray[np.int64]) -> list[int]:
    """The links in the order in which MuJoCo will number them."""
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack.extend(int(i) for i in links[::-1] if tree.parent[i] == order[-1])
    return order


def _mjcf(tree: Tree, links: Sequence[int], lower: Floats, upper: Floats, goals: Sequence[Goal]) -> str:
    """The tree as MJCF: names are numbers, since those of strangers' files are no XML.

    ``lower`` and ``upper`` are those of the three slides, then of the moved links in the order of ``links``.
    """
    sites: dict[int, str] = {}
    for n, goal in enumerate(goals):
        i = tree.index(goal.link)
        sites[i] = f'{sites.get(i, "")}<site name="g{n}" pos="{_row(goal.point)}"/>'
    slides = "".join(_joint(axis, "slide", lower[k], upper[k]) for k, axis in enumerate(np.eye(3)))
    text, open_, k = f"<body>{slides}{_MASS}{sites.get(0, '')}", [0], 3
    for i in links[1:]:
        while open_[-1] != tree.parent[i]:
            text, _ = f"{text}</body>", open_.pop()
        text += f'<body pos="{_row(tree.p[i])}" quat="{_row(tree.quat[i])}">'
        if tree.column[i] >= 0:
            kind = "slide" if tree.kind[i] == SLIDE else "hinge"
            text, k = text + _joint(tree.axis[i], kind, lower[k], upper[k]), k + 1
        text += f"{_MASS}{sites.get(i, '')}"
        open_.append(i)
    text += "</body>" * len(open_)
    return f'<mujoco><compiler angle="radian" autolimits="false"/><worldbody>{text}</worldbody></mujoco>'


_MASS: Final = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def _joint(axis: Floats, kind: str, lower: float, upper: float) -> str:
    # MuJoCo knows no half-open range; 100 rad or m is none.
    low, high = max(lower, -100.0), min(upper, 100.0)
    return f'<joint type="{kind}" axis="{_row(axis)}" limited="true" range="{low:.17g} {high:.17g}"/>'


def _row(values: Any) -> str:
    return " ".join(f"{v:.17g}" for v in np.asarray(values, np.float64))


def held(tree: Tree, q: Floats, place: Floats, links: Sequence[str]) -> list[Goal]:
    """Goals that keep links where they are, with their orientation."""
    p, quat = link_poses(tree, q, place[:, :3], place[:, 3:], links)
    return [Goal(link, np.zeros(3), p[:, i], quat[:, i], 3.0) for i, link in enumerate(links)]
