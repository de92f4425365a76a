"""The toy flies at another height than the other toys do.

What: mean height of an episode against the mean of all.

Why: so that tests of Calibration have a gate that asks for a statistic.

Method: difference of means.

Source: made up.

Blind spots: everything else.

Dose: metres of difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.gate import Abstain, Case, Evidence, Fact, Outcome, gate, param
from assay.model import Episode, Role, Stream


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of INT951."""

    limit: float = param(2.0, "m", "made up for tests", judged=True)


def flight() -> Episode:
    """One second at 1 m."""
    t = np.arange(10, dtype=np.int64) * 100_000_000
    return Episode("toy", (Stream("height", Role.OBJECT_POSE, t, np.ones((10, 1))),))


CASES = (
    Case("3 m from the others", flight, "fail", models={"toy_centre": {"centre": 4.0, "saw": []}}),
    Case("1 m from the others", flight, "pass", models={"toy_centre": {"centre": 2.0, "saw": []}}),
    Case("nothing learnt", flight, "abstain", reason="not-calibrated"),
)


@gate(code="INT951", name="toy-off-centre")
def off_centre(
    ep: Episode, p: Params, toy_height: Stream | None, toy_centre: Mapping[str, Any] | None
) -> Iterator[Outcome]:
    """One number per episode; keeps whom the model was learnt from."""
    if toy_height is None:
        yield Abstain("absent-stream", stream="height")
        return
    if toy_centre is None:
        yield Abstain("not-calibrated")
        return
    yield Fact("saw", toy_centre["saw"])
    apart = abs(float(np.mean(toy_height.x)) - toy_centre["centre"])
    t0, t1 = int(toy_height.t[0]), int(toy_height.t[-1])
    yield Evidence.single(apart, t0, t1, unit="m", limit=p.limit, stream="height")
