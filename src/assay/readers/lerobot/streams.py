"""The rows of an episode as numeric streams, with their annotations as spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Channel, Claim, Clock, Role, Span, Stream
from assay.readers.lerobot import checks
from assay.readers.lerobot.info import MOST_CHANNELS, Feature, Info
from assay.readers.lerobot.meaning import by_body, in_scale
from assay.readers.lerobot.parquet import column, innermost, is_numeric, values
from assay.readers.lerobot.rows import Data
from assay.readers.lerobot.stored import Statistics
from assay.units import si_unit

__all__ = ["Found", "annotated", "in_si", "instruction", "numbers"]

MOST_SPANS: Final = 10_000


@dataclass(slots=True)
class Found:
    """What opening gathers."""

    streams: list[Stream]
    claims: list[Claim]
    files: list[str]
    conversions: list[str]
    spans: list[Span]
    meta: dict[str, Any]


def numbers(info: Info, data: Data, t: NDArray[np.int64], want: frozenset[Role] | None, found: Found) -> None:
    """Every wanted numeric feature as a stream; rows that are not whole are NaN and a claim."""
    for feature in info.features:
        said = column(data.table, feature.name) if feature.kind == "numeric" else None
        if said is None:
            continue
        if not is_numeric(said.type):
            continue  # the claim about its type says so
        x, odd = values(said, feature.width)
        if x.shape[1] > MOST_CHANNELS:
            raise UnreadableError(
                "rows too long to be channels", where=feature.name, found=f"{x.shape[1]} numbers in a row",
                expected=f"at most {MOST_CHANNELS}",
            )  # fmt: skip
        text = f"{odd} rows null or of another length" if odd else "every row whole"
        found.claims.append(Claim("declared", "rows", "every row whole", text, float(odd), feature.name))
        if feature.width is not None and x.shape[1] != feature.width and len(x):
            size = float(abs(x.shape[1] - feature.width))
            found.claims.append(
                Claim("declared", "width", str(feature.width), str(x.shape[1]), size, feature.name)
            )
        if feature.name.rpartition(".")[2] in checks.FLAGS:
            found.claims.append(checks.last_flag(feature.name, x))
        if feature.name == "next.success" and len(x):
            found.meta["outcome"] = "success" if np.nan_to_num(x.astype(np.float64)).any() else "failure"
        if want is None or feature.role in want or any(c.role in want for c in feature.channels):
            found.streams.append(_stream(feature, x, t, info.fps, found))


def _stream(
    feature: Feature, x: NDArray[Any], t: NDArray[np.int64], rate: Fraction | None, found: Found
) -> Stream:
    channels = feature.channels
    if len(channels) != x.shape[1]:
        channels = tuple(Channel(f"{feature.name}[{i}]") for i in range(x.shape[1]))
    if not in_scale(channels, x):
        channels = tuple(replace(c, unit="unknown") if by_body(c.name) else c for c in channels)
        found.conversions.append(f"{feature.name}: values are beyond the units that the body's joints have")
    if feature.factors and len(feature.factors) == x.shape[1]:
        x = x * np.array(feature.factors)
        found.conversions.append(f"{feature.name}: to SI units")
        channels = tuple(replace(c, unit=si_unit(c.unit)) for c in channels)
    return Stream(feature.name, feature.role, t, x, channels, Clock.NOMINAL, rate, feature.side, feature.limb)


def in_si(info: Info, stored: Statistics) -> Statistics:
    """Stored statistics in the units of the streams."""
    factors = {f.name: np.array(f.factors) for f in info.features if f.factors}
    return {
        name: {
            k: v * factors[name] if name in factors and k != "count" and len(v) == len(factors[name]) else v
            for k, v in kinds.items()
        }
        for name, kinds in stored.items()
    } if factors else stored  # fmt: skip


def instruction(
    book: Mapping[str, NDArray[Any]], key: Mapping[str, Any], known: Mapping[int, str], found: Found
) -> str | None:
    """The instruction: the task texts that the rows point to, else those that the episode table lists."""
    indices = _distinct(book["task_index"]) if "task_index" in book else []
    texts = [known[i] for i in indices if known.get(i, "").strip()] or list(key.get("tasks") or ())
    task = "; ".join(dict.fromkeys(texts)) or None
    found.meta["task_index"] = tuple(indices)
    found.claims += checks.task_claims(key, indices, known, task)
    return task


def _distinct(x: NDArray[Any]) -> list[int]:
    """Whole numbers in order of first appearance; -1 for what is none."""
    seen, at = np.unique(np.nan_to_num(x, nan=-1.0), return_index=True)
    return [int(v) for v in seen[np.argsort(at)][:1000]]


def annotated(info: Info, data: Data, t: NDArray[np.int64], known: Mapping[int, str], found: Found) -> None:
    """Annotation columns hold an index into the task table, or words; spans where they change."""
    for feature in info.features:
        said = column(data.table, feature.name) if feature.kind == "annotation" else None
        if said is None or not data.table.num_rows:
            continue
        if pa.types.is_string(innermost(said.type)) and not said.type.num_fields:
            coded = said.combine_chunks().dictionary_encode()
            words = [str(w) for w in coded.dictionary.to_pylist()]
            x = coded.indices.to_numpy(zero_copy_only=False)
            text = dict(enumerate(words))
        elif is_numeric(said.type):
            x, text = values(said, 1)[0][:, 0], dict(known)
        else:
            continue
        found.meta[feature.name] = tuple(text.get(i, str(i)) for i in _distinct(x))
        edges = np.flatnonzero(x[1:] != x[:-1]) + 1
        if 0 < len(edges) < MOST_SPANS:
            begins = [0, *edges.tolist()]
            ends = [*(edges - 1).tolist(), len(x) - 1]
            for a, b in zip(begins, ends, strict=True):
                label = text.get(int(np.nan_to_num(x[a], nan=-1)), str(x[a]))
                found.spans.append(Span(f"{feature.name}: {label}", int(t[a]), int(t[b]), "declared"))
