"""One gate on one episode, or on the corpus: measure, then judge. Whatever goes wrong is a verdict."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from assay.feature import Features
from assay.gate import Abstain, Gate, Outcome
from assay.judge import Judgement, fault, judge
from assay.model import Listing

__all__ = ["conclude", "described", "examine", "failed"]


def examine(gate: Gate, features: Features, params: Any, subject: str) -> Judgement:
    """Measure and judge one gate on one episode.

    A gate that does not apply (decided from kind, body and sheet alone) is n/a before it measures; an
    exception in a gate or feature becomes status ``error`` with type, message and line.
    """
    try:
        if gate.not_applicable is not None:
            rule = gate.not_applicable(features.ep, params)
            if rule is not None:
                return judge([rule], gate=gate.code, version=gate.version, subject=subject)
        values = [features.get(name) for name in gate.needs]
        outcomes = [_told(o, features.untaught) for o in gate.measure(features.ep, params, *values)]
        return judge(outcomes, gate=gate.code, version=gate.version, subject=subject)
    except Exception as error:  # noqa: BLE001 - our own fault costs one verdict, never the run
        return failed(gate, subject, described(error))


def _told(outcome: Outcome, untaught: str) -> Outcome:
    """A gate that misses what calibration learns cannot know that a foreign one was given; say so for it."""
    if untaught and isinstance(outcome, Abstain) and outcome.reason == "not-calibrated":
        return replace(outcome, detail=untaught)
    return outcome


def conclude(
    gate: Gate, listing: Listing, facts: Mapping[str, Mapping[str, Any]], params: Any, subject: str = "corpus"
) -> Judgement:
    """Judge what a gate concludes about the corpus as a whole from the facts it kept of each episode."""
    assert gate.conclude is not None
    try:
        outcomes = list(gate.conclude(listing, facts, params))
        return judge(outcomes, gate=gate.code, version=gate.version, subject=subject, scope="corpus")
    except Exception as error:  # noqa: BLE001 - as above
        return failed(gate, subject, described(error), scope="corpus")


def failed(gate: Gate, subject: str, detail: str, scope: str = "episode") -> Judgement:
    """A verdict of status ``error``: our own fault, with what went wrong."""
    return fault(detail, gate=gate.code, version=gate.version, subject=subject, scope=scope)


def described(error: Exception) -> str:
    """An exception of ours in a few words: type, message, file and line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({PurePath(last.filename).name}:{last.lineno})"
