"""Episodes in which channels, limbs or whole bodies hold still: what ACT005's cases are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.model import Channel, Episode, Role, Stream
from assay.synth.episodes import ARM_NAMES, edit, teleop
from assay.synth.squats import squats

__all__ = [
    "alone",
    "anonymous",
    "barely",
    "creeping",
    "dead",
    "frozen",
    "hold",
    "locked",
    "noisy",
    "sparse",
    "stiff",
    "still",
    "velocity",
    "waiting",
]

Float = NDArray[np.float64]


def dead(name: str, *channels: str, since: float = 0.0, value: float = 0.0) -> Episode:
    """A clean episode in which some channels of a stream hold one value from ``since`` s on."""

    def kill(x: Float, names: tuple[str, ...]) -> Float:
        x[round(since * 30) :, [names.index(c) for c in channels]] = value
        return x

    return edit(teleop(), name, kill)


def locked() -> Episode:
    """The left wrist's yaw is locked: constant in state and request."""
    ep = dead("observation.state", "left_wrist_yaw")
    return edit(ep, "action", lambda x, names: np.where(np.array(names) == "left_wrist_yaw", 0.0, x))


def barely(travel: float) -> Episode:
    """The left wrist's yaw travels ``travel`` rad under a constant request."""
    ep = dead("action", "left_wrist_yaw")
    ramp = np.linspace(0.0, travel / 0.95, len(ep.streams[0].t))  # the first half second does not count
    return edit(
        ep, "observation.state",
        lambda x, names: np.where(np.array(names) == "left_wrist_yaw", ramp[:, None], x),
    )  # fmt: skip


def velocity(*, alive: bool) -> Episode:
    """A clean episode with a velocity stream: true, or all zero."""
    state = teleop().streams[0]
    arms = len(ARM_NAMES)
    v = np.gradient(np.asarray(state.x, np.float64)[:, :arms], axis=0) * 30.0 * alive
    channels = tuple(Channel(f"{n}.vel", "rad/s") for n in ARM_NAMES)
    stream = Stream(
        "observation.velocity", Role.JOINT_VELOCITY, state.t, v, channels, state.clock, state.rate
    )
    return teleop().with_stream(stream)


def still() -> Episode:
    """Every channel is constant on both sides."""
    ep = teleop()
    for name in ("observation.state", "action"):
        ep = edit(ep, name, lambda x, _: np.tile(x[:1], (len(x), 1)))
    return ep


def alone() -> Episode:
    """Squats with joints and base and nothing that was requested or measured beside them."""
    return squats().without_stream("velocities")


def frozen(start: float, end: float) -> Episode:
    """6 s of squats alone, in which joints and base hold one pose from ``start`` to ``end`` s."""
    ep = alone()
    for name in ("joints", "root"):
        ep = edit(ep, name, lambda x, _: hold(x, start, end))
    return ep


def noisy(ep: Episode, size: float) -> Episode:
    """The joints with uniform noise of at most ``size`` rad either way."""
    rng = np.random.default_rng(1)
    return edit(ep, "joints", lambda x, _: x + rng.uniform(-size, size, x.shape))


def creeping(start: float, end: float) -> Episode:
    """6 s of squats alone, whose joints go on by 1e-6 rad a row from ``start`` to ``end`` s."""

    def creep(x: Float, _: tuple[str, ...]) -> Float:
        first, last = round(start * 30), round(end * 30)
        x[first:last] = x[first] + 1e-6 * np.arange(last - first)[:, None]
        return x

    return edit(alone(), "joints", creep)


def stiff(*channels: str, moving: float = 1.0, base: float = 1.0) -> Episode:
    """Squats alone whose joints of these names are 0 throughout; the others and the base move less."""

    def zero(x: Float, names: tuple[str, ...]) -> Float:
        x = x[0] + moving * (x - x[0])
        x[:, [i for i, n in enumerate(names) if any(c in n for c in channels)]] = 0.0
        return x

    return edit(edit(alone(), "joints", zero), "root", lambda x, _: x[0] + base * (x - x[0]))


def waiting(*, slows: bool) -> Episode:
    """Teleoperation whose arms and fingers rest exactly from 4 to 7 s, after slowing down or amid a move."""

    def wait(x: Float, names: tuple[str, ...]) -> Float:
        t = np.arange(len(x)) / 30.0
        x = hold(x, 4.0, 7.0)
        if not slows:
            return x
        near = np.clip(np.maximum(4.0 - t, t - 7.0), 0.0, 1.0)[:, None]  # 0 at the rest, 1 from a second off
        eased: Float = x[120] + (x - x[120]) * near * near
        return eased

    return edit(edit(teleop(), "observation.state", wait), "action", wait)


def hold(x: Float, start: float, end: float) -> Float:
    """One row repeated from ``start`` to ``end`` s at 30 Hz, in place: the first, or that which follows."""
    first, last = round(start * 30), round(end * 30)
    x[first:last] = x[first] if first else x[last - 1]
    return x


def sparse(n: int) -> Episode:
    """Requests that rest beside joints that move, n samples of each stream over 2.5 s."""
    ep = edit(teleop(3.0), "action", lambda x, _: x * 0 + x[0])
    rows = np.linspace(0, 75, n).astype(int)
    return replace(ep, streams=tuple(replace(s, x=s.x[rows], t=s.t[rows]) for s in ep.streams))


def anonymous(ep: Episode) -> Episode:
    """The same columns called motor_0, motor_1... on an unknown body."""
    for name in ("observation.state", "action"):
        stream = ep.stream(name)
        assert stream is not None
        channels = tuple(Channel(f"motor_{i}", c.unit) for i, c in enumerate(stream.channels))
        ep = ep.with_stream(replace(stream, channels=channels))
    return replace(ep, embodiment=None)
