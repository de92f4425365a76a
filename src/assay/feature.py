"""Features: named pure functions of an episode, computed at most once and shared by gates.

A gate or a feature asks for a feature by naming it as a parameter::

    @feature
    def joints(ep: Episode) -> Joints: ...

    @feature
    def speeds(ep: Episode, joints: Joints) -> Speeds: ...

A `Statistic` is what Calibration learns from many episodes. A gate asks for its fitted model the same way
and gets None where there is no calibration, upon which it abstains.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.model import Episode, Role

__all__ = ["Feature", "Features", "Statistic", "feature", "statistic"]

_GIVEN = ("ep", "p")


@dataclass(frozen=True, slots=True)
class Feature:
    """A named pure function of an episode.

    Attributes:
        name: the function's name, by which it is asked for.
        version: part of cache keys; rises when values change.
        compute: (ep, *needs) → any picklable value.
        needs: features it asks for itself.
        reads: roles of the streams it looks at.
        pixels: whether it decodes video; such values are cached by the content of the file.
    """

    name: str
    version: int
    compute: Callable[..., Any]
    needs: tuple[str, ...]
    reads: frozenset[Role]
    pixels: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Statistic:
    """What is learnt over many episodes: `summarise` sees one episode, `fit` sees the summaries of many.

    Both must be pure; a fitted model is plain JSON (dicts, lists, numbers, strings), so that it is stored,
    frozen and shown. It is never fitted on the episode that it helps to judge.
    """

    name: str
    version: int
    summarise: Callable[..., Mapping[str, Any] | None]
    fit: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
    needs: tuple[str, ...]
    pixels: bool
    doc: str


def asked(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the features that a function asks for: its parameters beyond ``ep`` and ``p``."""
    return tuple(n for n in inspect.signature(function).parameters if n not in _GIVEN)


def feature(
    *, reads: Sequence[Role], version: int = 1, pixels: bool = False
) -> Callable[[Callable[..., Any]], Feature]:
    """Make a function of an episode a `Feature`; refuses one without a docstring."""

    def wrap(compute: Callable[..., Any]) -> Feature:
        doc = inspect.getdoc(compute)
        if not doc:
            raise TypeError(f"feature {compute.__name__}: needs a docstring with shapes, units and source")
        return Feature(compute.__name__, version, compute, asked(compute), frozenset(reads), pixels, doc)

    return wrap


def statistic(
    fit: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]], *, version: int = 1, pixels: bool = False
) -> Callable[[Callable[..., Any]], Statistic]:
    """Make a per-episode summary a `Statistic` that Calibration fits with ``fit``."""

    def wrap(summarise: Callable[..., Any]) -> Statistic:
        doc = inspect.getdoc(summarise)
        if not doc:
            raise TypeError(f"statistic {summarise.__name__}: needs a docstring with method and source")
        return Statistic(summarise.__name__, version, summarise, fit, asked(summarise), pixels, doc)

    return wrap


@dataclass(slots=True)
class Features:
    """The features of one episode: computed when first asked for, freed with it.

    Attributes:
        ep: the episode.
        known: all features by name.
        models: fitted statistics by name (out-of-fold for this episode).
        untaught: why there are no models, where a calibration was given that is not for this episode.
        values: what was computed; may be filled beforehand (from the cache, or by a gate's case).
    """

    ep: Episode
    known: Mapping[str, Feature]
    models: Mapping[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    untaught: str = ""

    def get(self, name: str) -> Any:
        """The value of a feature, or the fitted model of a statistic (None if there is none)."""
        if name not in self.values:
            if name in self.known:
                wanted = self.known[name]
                self.values[name] = wanted.compute(self.ep, *(self.get(n) for n in wanted.needs))
            else:
                self.values[name] = self.models.get(name)
        return self.values[name]
