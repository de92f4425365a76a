"""Small episodes with known truth: a G1's arms and hands, teleoperated, clean unless edited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import load
from assay.model import Channel, Clip, Clock, Episode, Kind, Role, Stream, StreamDecl

__all__ = ["ARM_NAMES", "HAND_NAMES", "edit", "retime", "teleop"]

ARM_NAMES: Final = tuple(
    f"{side}_{joint}"
    for side in ("left", "right")
    for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch",
                  "wrist_yaw")
)  # fmt: skip
HAND_NAMES: Final = tuple(
    f"{side}_hand_{finger}"
    for side in ("left", "right")
    for finger in ("pinky", "ring", "middle", "index", "thumb_bend", "thumb_rotation")
)
_LAG: Final = 3  # state follows action by about 3 frames on the real G1 (REAL-VIDEO.md)


def teleop(
    seconds: float = 10.0, rate: int = 30, *, seed: int = 0, clock: Clock = Clock.NOMINAL, cameras: int = 1
) -> Episode:
    """A clean teleoperated episode: arms move smoothly well inside their limits, hands open and close.

    Args:
        seconds: length.
        rate: frames per second of every stream.
        seed: same seed, same episode.
        clock: who made the stamps; anything but nominal gets 0.3 ms of jitter.
        cameras: number of declared cameras (``observation.images.cam_0``…); their files do not exist, so a
            case gives the features of their pictures outright.

    Returns:
        Streams ``observation.state`` (26 columns: 14 rad, 12 shares of range), ``action`` (the same, three
        frames ahead) and the cameras, on the body ``unitree_g1_29+inspire``.
    """
    rng = np.random.default_rng(seed)
    n = round(seconds * rate)
    t = np.rint(np.arange(n) * 1e9 / rate).astype(np.int64)
    if clock is not Clock.NOMINAL:
        t = np.sort(t + rng.normal(0.0, 0.3e6, n).astype(np.int64))
    action = _motion(rng, n + _LAG, rate)
    state = action[:n] + rng.normal(0.0, 2e-4, (n, action.shape[1]))  # encoder noise
    state[:, len(ARM_NAMES) :] = np.clip(state[:, len(ARM_NAMES) :], 0.0, 1.0)
    channels = tuple(
        [Channel(a, "rad", Role.JOINT_POSITION) for a in ARM_NAMES]
        + [Channel(h, "1", Role.HAND_JOINTS) for h in HAND_NAMES]
    )
    body: dict[str, Any] = {"t": t, "channels": channels, "clock": clock, "rate": Fraction(rate)}
    streams = (
        Stream("observation.state", Role.JOINT_POSITION, x=state, **body),
        Stream("action", Role.REQUEST, x=action[_LAG:], **body),
        *(_camera(f"observation.images.cam_{i}", t, rate, clock) for i in range(cameras)),
    )
    declared = tuple(StreamDecl(s.name, s.role, s.channels, s.rate, s.clock) for s in streams)
    return Episode(
        id=f"synth_{seed}", streams=streams, embodiment=load("unitree_g1_29+inspire"),
        kind=Kind.TELEOPERATION, task="put the can on the plate", declared=declared,
    )  # fmt: skip


def edit(
    ep: Episode, name: str, change: Callable[[NDArray[np.float64], tuple[str, ...]], NDArray[Any]]
) -> Episode:
    """A copy in which ``change(x copy, channel names)`` gives the new values of stream ``name``."""
    stream = ep.stream(name)
    if stream is None:
        raise KeyError(name)
    x = change(np.array(stream.x, np.float64), stream.names)
    return ep.with_stream(replace(stream, x=x))


def retime(ep: Episode, name: str, change: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Episode:
    """A copy in which ``change(t copy)`` gives the new stamps (ns) of stream ``name``."""
    stream = ep.stream(name)
    if stream is None:
        raise KeyError(name)
    return ep.with_stream(replace(stream, t=change(stream.t.copy())))


def _camera(name: str, t: NDArray[np.int64], rate: int, clock: Clock) -> Stream:
    return Stream(
        name, Role.CAMERA, t=t, x=np.empty((len(t), 0)), clock=clock, rate=Fraction(rate),
        clip=Clip(Path("synth"), f"{name}.mp4"),
    )  # fmt: skip


def _motion(rng: np.random.Generator, n: int, rate: int) -> NDArray[np.float64]:
    """Band-limited (0.1 to 0.8 Hz) arm motion around a working pose, and hands that hold and change."""
    t = np.arange(n) / rate
    arms, hands = len(ARM_NAMES), len(HAND_NAMES)
    x = np.empty((n, arms + hands))
    x[:, :arms] = np.tile([-0.3, 0.25, 0.0, 0.6, 0.0, 0.0, 0.0, -0.3, -0.25, 0.0, 0.6, 0.0, 0.0, 0.0], (n, 1))
    for f in (0.13, 0.31, 0.47, 0.79):
        phase, size = rng.uniform(0, 2 * np.pi, arms), rng.uniform(0.02, 0.1, arms)
        x[:, :arms] += size * np.sin(2 * np.pi * f * t[:, None] + phase)
    for column in range(arms, arms + hands):
        start = rng.uniform(0.2, 0.6) * n / rate
        x[:, column] = 0.2 + 0.5 / (1 + np.exp(np.minimum(-(t - start) * 6, 700.0)))  # e^710 is infinite
    return x
