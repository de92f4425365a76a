"""The toy flies too high.

What: height over the ground.

Why: so that tests of the engine have something to judge.

Method: the stored height, times a scale.

Source: made up.

Blind spots: everything else.

Dose: metres above the limit.

$TOY_KILLS names an episode at which it kills its own process, $TOY_GATE_RAISES one at which it has a bug, and
$TOY_SLEEPS gives seconds to spend on each.
"""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role, Stream


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of INT950."""

    limit: float = param(1.0, "m", "made up for tests", judged=True)
    quota: float = param(0.1, "1", "made up for tests", judged=True)
    min_run: float = param(0.0, "s", "made up for tests", judged=True)
    scale: float = param(1.0, "1", "made up for tests")


def flight(height: float) -> Episode:
    """One second at a height."""
    t = np.arange(10, dtype=np.int64) * 100_000_000
    return Episode("toy", (Stream("height", Role.OBJECT_POSE, t, np.full((10, 1), height)),))


CASES = (
    Case("at 1.1 m", lambda: flight(1.1), "fail"),
    Case("at 0.9 m", lambda: flight(0.9), "pass"),
    Case("no height", lambda: Episode("toy"), "abstain", reason="absent-stream"),
)


@gate(code="INT950", name="toy-too-high")
def too_high(ep: Episode, p: Params, toy_height: Stream | None) -> Iterator[Outcome]:
    """Every sample of every channel against the limit."""
    time.sleep(float(os.environ.get("TOY_SLEEPS", "0")))
    if os.environ.get("TOY_KILLS") == ep.id:
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("TOY_GATE_RAISES") == ep.id:
        raise ZeroDivisionError("a bug of the gate")
    if toy_height is None:
        yield Abstain("absent-stream", stream="height")
        return
    for column, name in enumerate(toy_height.names or ("height",)):
        yield Evidence(
            toy_height.x[:, column] * p.scale,
            toy_height.t,
            toy_height.t + 100_000_000,
            "m",
            p.limit,
            quota=p.quota,
            min_run=p.min_run,
            stream="height",
            channel=name,
        )
