"""Joints and picture motion with known truth: a linear camera, any clocks, any lag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_map import Take
from assay.signals.flow import Flow

__all__ = ["Rig"]

_JOINTS, _CHANNELS = 7, 96


@dataclass(frozen=True)
class Rig:
    """A camera that sees ``joints`` move in a quarter of its blocks.

    Attributes:
        lag: s from joints to pictures, of every episode; fps, hz: of pictures and joints.
        noise: of the flow, as a share of its signal; every: pictures that are shown again under ``fps``.
        band: Hz of the joints' motion; seed: of the camera.
    """

    lag: float = 0.08
    fps: float = 30.0
    hz: float = 100.0
    noise: float = 1.0
    every: int = 1
    band: tuple[float, ...] = (0.17, 0.39, 0.61, 0.97, 1.3)
    seed: int = 0

    def take(self, seed: int, seconds: float = 12.0, late: float = 0.0, ppm: float = 0.0,
             lost: tuple[float, int] = (0.0, 0)) -> Take:  # fmt: skip
        """One episode.

        Args:
            seed: of its motion and noise.
            seconds: its length.
            late: s by which its pictures are later than usual.
            ppm: by which they become later.
            lost: (s, pictures) where how many are missing.
        """
        rng = np.random.default_rng((self.seed, seed))
        shape = (len(self.band), 1, _JOINTS)
        phase, size = rng.uniform(0, 2 * np.pi, shape), rng.uniform(0.05, 0.2, shape)
        turn = 2 * np.pi * np.array(self.band).reshape(-1, 1, 1) * rng.uniform(0.85, 1.15, shape)
        tq = np.arange(0.0, seconds + 1.0, 1 / self.hz)
        q = np.sum(size * np.sin(turn * tq[:, None] + phase), axis=0)
        tf = np.arange(1.0, seconds * self.fps - 1) / self.fps
        shown = np.floor(tf * self.fps / self.every) * self.every / self.fps
        away = late + ppm * 1e-6 * tf - lost[1] / self.fps * (tf >= lost[0])
        then = shown - self.lag - away
        dq = np.zeros((len(tf), _JOINTS))
        for s, w, p in zip(size, turn, phase, strict=True):
            dq += s * w * np.cos(w * then[:, None] + p)
        flow = dq @ self._camera()
        noisy = flow + rng.normal(0.0, self.noise * flow.std(), flow.shape)
        start = 5 * 10**9
        stamps = [start + np.rint(t * 1e9).astype(np.int64) for t in (tf, tq)]
        return Flow(stamps[0], noisy.astype(np.float32)), q + rng.normal(0, 1e-4, q.shape), stamps[1]

    def _camera(self) -> NDArray[np.float64]:
        rng = np.random.default_rng(1000 + self.seed)
        sees = rng.uniform(size=_CHANNELS) < 0.25
        return rng.normal(0.0, 3.0, (_JOINTS, _CHANNELS)) * sees
