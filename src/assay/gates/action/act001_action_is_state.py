"""The action is a copy of the measured state.

What: on how many moving rows a requested joint equals the measured one exactly: of the same row, the next,
or the one before.

Why: a policy trained on copies learns to ask for what already is; the robot hangs still. A next-state label
may be meant, but then it says nothing about what the controller was asked to do.

Method: per channel that both streams name, the share of rows on which the state moves (by more than 1e-4)
and the action equals the state of row t, t+1 or t-1 within 1e-6. Rows at rest are left out, since pauses
make honest equality. Not applicable where the sheet declares the action to be the resulting state.

Source: METHODS 7 (leak); FAULTS D17. Real teleoperation: at most 0.08 % on arms, 5.6 % on one finger (43
episodes); copies read 100 %.

Blind spots: a copy that was filtered, delayed by more than a row or rounded; deltas made from states.

Dose: share of rows copied (%).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.pairs import Pair
from assay.gate import IN, OUT, Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.intervals import span
from assay.synth.episodes import edit, teleop

STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
RESULT = ("next-state", "result")
SHIFTS = {0: "the same row", 1: "the next row", -1: "the row before"}


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of ACT001."""

    limit: float = param(0.5, "1", "real sets reach 0.056, copies 1.0: half is far from both", judged=True)
    equal: float = param(1e-6, "unknown", "float32 rounding of values of a few radians")
    moving: float = param(1e-4, "unknown", "a hundred times the equality, so that pauses do not count")
    rows: float = param(10.0, "row", "fewer moving rows say nothing about a column")


def copied(share: float, shift: int = 0, **meta: str) -> Episode:
    """A clean episode in which the first ``share`` of the action is the state ``shift`` rows on."""
    ep = teleop()
    state = ep.streams[0].x

    def copy(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        end = round(share * len(x))
        x[:end] = np.roll(state, -shift, axis=0)[:end]
        return x

    return replace(edit(ep, "action", copy), meta={f"action/{k}": v for k, v in meta.items()})


def one_arm() -> Episode:
    """Only the left elbow's action is a copy."""
    ep = teleop()
    state = ep.streams[0].x

    def copy(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[:, names.index("left_elbow")] = state[:, names.index("left_elbow")]
        return x

    return edit(ep, "action", copy)


def pausing() -> Episode:
    """State and action rest on the same value for 60 % of the episode: honest equality."""
    ep = teleop()
    for name in ("observation.state", "action"):
        ep = edit(ep, name, lambda x, _: np.concatenate([np.zeros((180, x.shape[1])), x[180:]]))
    return ep


def still() -> Episode:
    """Nothing moves, so nothing can be told."""
    ep = teleop()
    for name in ("observation.state", "action"):
        ep = edit(ep, name, lambda x, _: np.zeros_like(x))
    return ep


CASES = (
    Case("clean", teleop, "pass"),
    Case("copied in 60 % of the rows", lambda: copied(0.6), "fail", at=(0.0, 10.0)),
    Case("copied in 40 % of the rows", lambda: copied(0.4), "pass"),
    Case("next state under the name of an action", lambda: copied(1.0, 1), "fail"),
    Case("next state, declared", lambda: copied(1.0, 1, meaning="next-state"), "n/a"),
    Case("one joint copied", one_arm, "fail", channel="left_elbow"),
    Case("equal only while at rest", pausing, "pass"),
    Case("nothing moves", still, "abstain", reason="still"),
    Case("no action", lambda: teleop().without_stream("action"), "abstain", reason="absent-stream"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
)  # fmt: skip


def declared(ep: Episode, p: Params) -> NotApplicable | None:
    """N/a where the sheet says that the action is the state that resulted."""
    meaning = ep.meta.get("action/meaning")
    return NotApplicable(f"action/meaning = {meaning}", "sheet") if meaning in RESULT else None


@gate(code="ACT001", name="action-is-state", reads=(*STATES, Role.REQUEST), not_applicable=declared)
def measure(ep: Episode, p: Params, pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Share of moving rows that are copies, per channel."""
    missing = ep.missing(*STATES, Role.REQUEST)
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in missing)
    requests = [pair for pair in pairs if pair.role is Role.REQUEST]
    if not ep.by_role(Role.REQUEST) or not ep.by_role(*STATES):
        yield Abstain("absent-stream", "needs a request and a state")
    elif not requests:
        yield Abstain("unresolved-names", "request and state share no channel name")
    for pair in requests:
        yield _copies(pair, p)


def _copies(pair: Pair, p: Params) -> Outcome:
    if not pair.one_clock:
        return Abstain("no-reference", f"{pair.stream} and {pair.state} have different stamps", pair.stream)
    if len(pair.t) < 3:
        return Abstain("too-short", "", pair.stream)
    a, s = pair.a[1:-1], pair.s
    moving = (np.abs(s[1:-1] - s[:-2]) > p.moving) & np.isfinite(a)
    n = moving.sum(axis=0)
    shares = np.array([
        ((np.abs(a - s[1 + k : len(s) - 1 + k]) <= p.equal) & moving).sum(axis=0) for k in SHIFTS
    ]) / np.maximum(n, 1)  # fmt: skip
    value = shares.max(axis=0)
    holes = np.isnan(pair.a).any(axis=0) | np.isnan(s).any(axis=0)
    scope = np.where((n >= p.rows) | holes, IN, OUT).astype(np.int8)
    value[holes & (n < p.rows)] = np.nan  # what is missing may have moved
    if not scope.any():
        return Abstain("still", f"no channel moves on {p.rows:.0f} rows", pair.stream)
    t0, t1 = span(pair.t)
    best = list(SHIFTS)[int(shares[:, int(np.nanargmax(value))].argmax())] if np.isfinite(value).any() else 0
    c = len(pair.names)
    return Evidence(
        value, np.full(c, t0), np.full(c, t1), "1", p.limit, scope=scope, stream=pair.stream,
        against=pair.state, which=np.arange(c), channels=pair.names, apart=True,
        note=f"equals the state of {SHIFTS[best]}",
    )  # fmt: skip
