"""Episodes as canonical JSON. As a script, it writes every ``episode.json`` anew: look at the diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.model import Channel, Claim, Clip, Episode, Listing, Span
from assay.readers.lerobot import READER
from assay.sheet import Sheet

HERE = Path(__file__).parent


def case(folder: Path) -> str:
    """Everything that the reader says about the set in ``folder/input``."""
    listing = READER.discover(folder / "input")
    opened = [plain(READER.open(listing, ref, None, Sheet())) for ref in listing.refs]
    text = json.dumps({"listing": plain(listing), "episodes": opened}, indent=1, sort_keys=True)
    return text.replace(json.dumps(str(folder / "input"))[1:-1], "input") + "\n"


WHOLE = {
    Listing: ("reader", "declared", "facts", "claims", "statistics", "streams", "refs"),
    Episode: ("id", "streams", "task", "outcome", "spans", "source", "claims", "statistics", "meta"),
    Clip: ("path", "first", "count", "last"),
}
LINES = (Claim, Channel, Span)


def plain(value: Any) -> Any:
    """A value as JSON: arrays as lists of 7 digits, NaN as text, claims, channels and spans as one line."""
    if isinstance(value, LINES):
        return " | ".join(str(plain(getattr(value, name))) for name in fields(value))
    if hasattr(value, "__dataclass_fields__"):
        shown = {name: getattr(value, name) for name in fields(value)}
        return {name: plain(v) for name, v in shown.items() if name != "stamps" or v}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float):
        return float(f"{value:.7g}") if np.isfinite(value) else str(value)
    return value if isinstance(value, bool | int | type(None)) else str(value)


def fields(value: Any) -> tuple[str, ...]:
    """Names of the fields that are shown."""
    return WHOLE.get(type(value)) or tuple(value.__dataclass_fields__)


if __name__ == "__main__":
    for make in sorted(HERE.glob("*/make.py")):
        (make.parent / "episode.json").write_text(case(make.parent), "utf-8")
