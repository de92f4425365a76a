"""SYN008 frozen-stream: a camera or a joint vector stands still while the robot moves, or shows nothing.

What: Stretches of at least three real picture periods in which a camera shows no change while the arms
move; stretches of at least 100 ms in which all joints of a vector hold exactly while the other vector (the
command, or the state) moves.

Why: A driver that repeats its last sample looks like a robot at rest. The policy is taught that its
commands do nothing, or that what it sees does not matter.

Method: Pictures: thumbnails are equal if the largest 2 % of their local change stays under the camera's own
coding noise (measured on its re-coded repeats, 0.5 to 4 grey). A stretch counts in periods of the camera's
measured rate, so that a 15 Hz camera under 30 Hz is not accused of every repeat. Rows: exact equality of
all joint columns that move at all, over at least three of the stream's own update periods. Motion is the
root mean square speed of the arms, the least one over lags of 0 to 5 pictures or rows. Blank: the cells of
a thumbnail spread by less than one grey level, black, white or any other shade.

Source: METHODS 12, and own measurement. Untouched: 0 alarms in 32 real and simulated episodes (longest
natural stretch amid motion: 3 transitions of a 15 Hz camera under 30 Hz, where 6 are needed), no exact hold
of the joints in 43. Planted while arms moved, re-encoded in H.264 and AV1: 45 of 45 at 3 periods and more
on the G1, 3 of 6 at 3 and 34 of 34 beyond on the GR1, nearly all placed within two pictures; in these 20
re-encoded videos one stretch that was not planted; rows: every hold of 3 and more. D61: still scenes with
noise, locked joints and binary grippers are not frozen.

Blank: none in 10,973 pictures of 32
videos of a G1 and a GR1 (the plainest spreads by 26.8 grey) and in 10 of a moving wrist (14.7); every
picture of ten top cameras of franka_pickplace_sim_v30, which are one grey throughout.

Blind spots: Frozen while the robot rests. A camera that does not see the arms. A vector whose noise goes on.

Dose: length of the stretch, 2 to 30 samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.features.freshness import Freshness
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role, Stream
from assay.signals.frozen import blank
from assay.signals.intervals import period
from assay.signals.lasting import runs
from assay.signals.pictures import GREY, Pictures
from assay.signals.travel import Travel, arm_travel, joint_columns
from assay.synth import edit, teleop
from assay.synth.pictures import film

_CAMERA, _STATE = "observation.images.cam_0", "observation.state"
_VECTORS = (Role.JOINT_POSITION, Role.REQUEST)
_LAGS = 6  # rows by which the state may follow the command: 0 to 5


@dataclass(frozen=True, slots=True)
class Params:
    """Limits, and how fast is moving."""

    periods: float = param(
        3.0, "1", "picture periods; natural repeats amid motion reach half of it", judged=True
    )
    seconds: float = param(0.1, "s", "three rows at 30 Hz; untouched vectors never hold at all", judged=True)
    blank: float = param(
        3.0, "frame", "one or two are a cut, INT008's; real cameras never show nothing", judged=True
    )
    moving: float = param(0.05, "rad/s", "METHODS 12; below it natural stretches of pictures grow long")
    commanded: float = param(0.02, "rad/s", "numbers do not flicker: a slower command already tells")


def _hold(name: str, first: int, count: int) -> Episode:
    def held(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[first : first + count] = x[first - 1]
        return x

    return edit(teleop(), name, held)


def _locked() -> Episode:
    """A robot that is switched off: neither state nor command moves."""
    still = teleop()
    for name in (_STATE, "action"):
        still = edit(still, name, lambda x, names: np.repeat(x[:1], len(x), axis=0))
    return still


def _grippers() -> Episode:
    return edit(teleop(), _STATE, lambda x, names: np.concatenate((x[:, :14], np.rint(x[:, 14:])), axis=1))


def _shown(order: NDArray[np.intp], noise: float = 0.05) -> dict[str, object]:
    return {"pictures": {_CAMERA: film(len(order), order=order, noise=noise)}}


def _frozen(count: int, cadence: int = 1) -> dict[str, object]:
    order = np.arange(300) // cadence * cadence
    order[150 : 150 + count] = order[149]
    return _shown(order, noise=0.0 if cadence > 1 else 0.05)


def _blanked(count: int, shade: int = 16) -> dict[str, object]:
    seen = film(300)
    thumbs = seen.thumbs.copy()
    noise = np.random.default_rng(7).normal(0.0, 0.3, thumbs[:count].shape)
    thumbs[150 : 150 + count] = np.rint((shade + noise) * GREY)
    return {"pictures": {_CAMERA: replace(seen, thumbs=thumbs)}}


def _working() -> dict[str, object]:
    return _shown(np.arange(300))


def _undeclared() -> Episode:
    """A camera and nothing else, neither there nor declared."""
    ep = teleop().without_stream(_STATE).without_stream("action")
    return replace(ep, declared=ep.declares(Role.CAMERA))


CASES = (
    Case("nothing frozen", teleop, "pass", features=_working),
    Case("two pictures without change", teleop, "pass", features=lambda: _frozen(2)),
    Case(
        "four pictures without change", teleop, "fail", at=(4.9, 5.2), channel="pictures",
        features=lambda: _frozen(4),
    ),
    Case("a 15 Hz camera under 30 Hz", teleop, "pass", features=lambda: _frozen(0, cadence=2)),
    Case(
        "a 15 Hz camera under 30 Hz, eight pictures without change", teleop, "fail", at=(4.85, 5.4),
        channel="pictures", features=lambda: _frozen(8, cadence=2),
    ),
    Case(
        "frozen throughout, coded with noise, arms move", teleop, "fail", at=(0.0, 10.0), channel="pictures",
        features=lambda: _shown(np.zeros(300, np.intp), noise=0.05),
    ),
    Case(
        "still scene, locked joints", _locked, "pass",
        features=lambda: _shown(np.zeros(300, np.intp), noise=0.05),
    ),
    Case(
        "frozen, and no joints to tell", _undeclared, "abstain", reason="no-reference",
        features=lambda: _shown(np.zeros(300, np.intp), noise=0.0),
    ),
    Case("two black pictures", teleop, "pass", features=lambda: _blanked(2)),
    Case(
        "three black pictures", teleop, "fail", at=(4.97, 5.1), channel="blank", features=lambda: _blanked(3),
    ),
    Case(
        "three white pictures, locked joints", _locked, "fail", at=(4.97, 5.1), channel="blank",
        features=lambda: _blanked(3, 235),
    ),
    Case("binary grippers", _grippers, "pass", features=_working),
    Case("the state holds two rows", lambda: _hold(_STATE, 150, 2), "pass", features=_working),
    Case(
        "the state holds four rows", lambda: _hold(_STATE, 150, 4), "fail", at=(4.9, 5.2), channel="joints",
        features=_working,
    ),
    Case(
        "the state holds for a second", lambda: _hold(_STATE, 150, 30), "fail", at=(4.9, 6.05),
        channel="joints", features=_working,
    ),
    Case(
        "the command holds for a second", lambda: _hold("action", 150, 30), "fail", at=(4.9, 6.05),
        channel="joints", features=_working,
    ),
    Case(
        "not decoded", teleop, "abstain", reason="not-decoded",
        features=lambda: {"pictures": None},
    ),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: {"pictures": {}},
    ),
)  # fmt: skip


@gate(code="SYN008", name="frozen-stream", version=2, reads=[Role.CAMERA, *_VECTORS])
def frozen_stream(
    ep: Episode, p: Params, pictures: Mapping[str, Pictures] | None, freshness: Mapping[str, Freshness]
) -> Iterator[Outcome]:
    """Look for frozen vectors, then for frozen and blank pictures."""
    vectors = [s for s in ep.by_role(*_VECTORS) if len(joint_columns(s))]
    paths = {s.name: arm_travel(s) for s in vectors}
    for stream in vectors:
        others = [o for o in vectors if o.role is not stream.role]
        yield _vector(stream, [path for o in others if (path := paths[o.name])], p)
    for declared in ep.missing(Role.CAMERA, *_VECTORS):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    unitless = bool(paths) and not any(paths.values())
    reason = "unresolved-unit" if unitless else "no-reference"
    for camera in ep.by_role(Role.CAMERA):
        if camera.name in freshness:
            yield _camera(camera, freshness[camera.name], reason, p)
        if pictures and camera.name in pictures:
            yield from _blank(camera, pictures[camera.name], p)
        if camera.name not in freshness:
            undecoded = pictures is None or camera.clip is None
            yield Abstain("not-decoded" if undecoded else "unreadable", "", camera.name, "pictures")


def _vector(stream: Stream, others: list[Travel], p: Params) -> Outcome:
    """One sample per step: seconds of the exact hold that it belongs to, 0 where others rest as well."""
    if len(stream) < 2:
        return Abstain("too-short", f"{len(stream)} rows", stream.name, "joints")
    x = np.asarray(stream.x[:, joint_columns(stream)])
    step_by = np.diff(x, axis=0)
    blind = ~np.isfinite(step_by)
    same = (step_by == 0) | blind  # what is not a number cannot deny that the vector holds
    live = ~same.all(0)
    held = same[:, live].all(1) if live.any() else same.all(1)
    first, end = runs(held)
    long = end - first >= 3 * _update(held)
    first, end = first[long], end[long]
    t, step = stream.t, round(period(stream.t, float(stream.rate) if stream.rate else None))
    sign = -1 if stream.role is Role.JOINT_POSITION else 1  # the state follows the command
    moved = _fastest(others, t[first], t[end], sign * np.arange(_LAGS) * step)
    lasting = np.round((end - first) * step * 1e-9, 3)
    value = np.zeros(len(held))
    for a, b, seconds in zip(first, end, _counted(lasting, moved, p.commanded), strict=True):
        value[a:b] = np.nan if seconds and blind[a:b].any() else seconds
    return Evidence(
        value, t[:-1], t[1:], "s", p.seconds, limit_key="seconds", strict=False, stream=stream.name,
        channel="joints", reason="not-finite" if blind.any() else "no-reference",
    )  # fmt: skip


def _update(held: NDArray[np.bool_]) -> float:
    """Usual number of rows from one new vector to the next: a held 10 Hz command in 30 Hz rows has three."""
    gaps = np.diff(np.flatnonzero(~held))
    return float(np.median(gaps)) if len(gaps) else 1.0


def _camera(camera: Stream, seen: Freshness, reason: str, p: Params) -> Outcome:
    """One sample per transition: periods of the still stretch that it belongs to, 0 where arms rest."""
    if len(seen.t) < 2:
        return Abstain("too-short", f"{len(seen.t)} pictures", camera.name, "pictures")
    periods = _counted((seen.last - seen.first) / seen.usual, seen.speed, p.moving)
    value = np.zeros(len(seen.t) - 1)
    for a, b, size in zip(seen.first, seen.last, periods, strict=True):
        value[a:b] = size
    return Evidence(
        value, seen.t[:-1], seen.t[1:], "1", p.periods, limit_key="periods", strict=False,
        stream=camera.name, against="joints", channel="pictures", reason=reason,
        note=f"picture period {seen.usual * seen.step * 1e-6:.0f} ms",
    )  # fmt: skip


def _blank(camera: Stream, seen: Pictures, p: Params) -> Iterator[Outcome]:
    """One sample per picture: how many in a row show nothing, 0 where it shows something."""
    if not seen.decoded:
        return
    value = np.zeros(seen.decoded)
    for a, b in zip(*runs(blank(seen.thumbs)), strict=True):
        value[a:b] = b - a
    t = seen.t + (int(camera.t[0]) if len(camera) else 0)
    yield Evidence(
        value, t, np.append(t[1:], t[-1]), "frame", p.blank, limit_key="blank", strict=False,
        stream=camera.name, channel="blank",
    )  # fmt: skip


def _fastest(
    paths: list[Travel], t0: NDArray[np.int64], t1: NDArray[np.int64], lags: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(k,) speed of the fastest of several vectors, each at its slowest over the lags; NaN if none tells."""
    speed = np.full(len(t0), np.nan)
    for path in paths:
        speed = np.fmax(speed, path.speed_range(t0, t1, lags)[0])
    return speed


def _counted(size: NDArray[np.float64], moved: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """``size`` where it moved, 0 where it rested, NaN where nothing tells."""
    return np.where(np.isfinite(moved), np.where(moved > least, size, 0.0), np.nan)
