"""What is wrong with a file that could not be used, in plain words and not in Python's."""

from __future__ import annotations

import json

__all__ = ["amiss"]


def amiss(error: Exception) -> str:
    """What was found, as a clause, for an error of opening, decoding or reading the items of a file."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, UnicodeDecodeError):
        return "no text in UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON from line {error.lineno} on" if error.doc.strip() else "an empty file"
    if isinstance(error, KeyError):
        return f"no item {error.args[0]!r} in it"
    if isinstance(error, RecursionError):
        return "lists within lists without end"
    return "other contents"
