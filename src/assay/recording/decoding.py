"""Messages of a topic to values by path, whatever their encoding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from assay.errors import UnreadableError
from assay.recording.cdr import cdr_walker
from assay.recording.jsons import json_pieces
from assay.recording.layout import Piece, pieces
from assay.recording.messages import Batch, Topic
from assay.recording.protobuf import protobuf_walker

__all__ = ["decode", "why_not"]

ENCODINGS: Final = ("cdr", "ros1", "protobuf", "json")


def decode(topic: Topic, batch: Batch) -> Iterator[Piece]:
    """The topic's messages of a batch, those laid out alike together; rows are places in the batch.

    Raises:
        UnreadableError: if the encoding or definition is not known, or a message does not fit it.
    """
    mine = np.flatnonzero(batch.topic == topic.id)
    start, size = batch.start[mine], batch.size[mine]
    if topic.encoding == "json":
        found = json_pieces(batch.data, start, size)
    elif topic.encoding == "protobuf":
        found = pieces(batch.data, start, size, protobuf_walker(topic.type, topic.definition))
    elif topic.encoding in ("cdr", "ros1"):
        ros1 = topic.encoding == "ros1"
        found = pieces(
            batch.data, start, size, cdr_walker(topic.type, topic.language, topic.definition, ros1)
        )
    else:
        raise UnreadableError("the encoding is not known", where=topic.name, found=topic.encoding[:40],
                              expected=", ".join(ENCODINGS))  # fmt: skip
    for piece in found:
        yield replace(piece, rows=mine[piece.rows])


def why_not(topic: Topic) -> str:
    """Why a topic's messages cannot be decoded at all: a limit of ours; empty where they can."""
    try:
        if topic.encoding in ("cdr", "ros1"):
            cdr_walker(topic.type, topic.language, topic.definition, topic.encoding == "ros1")
        elif topic.encoding == "protobuf":
            protobuf_walker(topic.type, topic.definition)
        elif topic.encoding != "json":
            return f"encoding {topic.encoding[:40]!r} is not known"
    except UnreadableError as error:
        return f"{error.what} ({error.found})" if error.found else error.what
    return ""
