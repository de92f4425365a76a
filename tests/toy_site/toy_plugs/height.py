"""What toy gates look at, and what is learnt about it over many episodes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.feature import feature, statistic
from assay.model import Episode, Role, Stream


@feature(reads=[Role.OBJECT_POSE])
def toy_height(ep: Episode) -> Stream | None:
    """The stream ``height``, as stored."""
    return ep.stream("height")


def _fit(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"centre": float(np.mean([r["mean"] for r in rows])), "saw": sorted(r["id"] for r in rows)}


@statistic(_fit)
def toy_centre(ep: Episode, toy_height: Stream | None) -> Mapping[str, Any] | None:
    """Mean height over all episodes, and whom it was learnt from."""
    return None if toy_height is None else {"id": ep.id, "mean": float(np.mean(toy_height.x))}
