"""Finding gates, features, statistics and readers: walk the packages, then the entry points. No registry.

A new file under ``assay/gates``, ``assay/features`` or ``assay/readers`` is found because it is there; a
third party's module is found through the entry-point groups ``assay.gates``, ``assay.features`` and
``assay.readers``, each entry naming a module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

from assay.errors import UsageError
from assay.feature import Feature, Statistic
from assay.gate import Gate
from assay.reader import Reader

__all__ = ["features", "gates", "readers", "statistics"]

Plug = TypeVar("Plug", Gate, Feature, Statistic, Reader)


@cache
def gates() -> dict[str, Gate]:
    """All gates by code, in order of their codes."""
    found: dict[str, Gate] = {}
    for gate in _plugs("gates", Gate):
        if gate.code in found and found[gate.code].module != gate.module:
            raise TypeError(f"gate {gate.code} stands in {found[gate.code].module} and in {gate.module}")
        found[gate.code] = gate
    return dict(sorted(found.items()))


@cache
def features() -> dict[str, Feature]:
    """All features by name."""
    return {f.name: f for f in _plugs("features", Feature)}


@cache
def statistics() -> dict[str, Statistic]:
    """All statistics by name."""
    return {s.name: s for s in _plugs("features", Statistic)}


@cache
def readers() -> dict[str, Reader]:
    """All readers by name."""
    return dict(sorted((r.name, r) for r in _plugs("readers", Reader)))


def _plugs(group: str, kind: type[Plug]) -> Iterator[Plug]:
    for module in _modules(group):
        for value in vars(module).values():
            if isinstance(value, kind):
                yield value


def _modules(group: str) -> Iterator[ModuleType]:
    package = importlib.import_module(f"assay.{group}")
    for found in pkgutil.walk_packages(package.__path__, f"assay.{group}."):
        yield _module(found.name)
    for entry in entry_points(group=f"assay.{group}"):
        yield _module(entry.value)


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise UsageError(
            "the plug cannot be loaded",
            where=name,
            found=f"{type(error).__name__}: {error}",
            remedy="mend the file, or remove it or the package that brings it",
        ) from error
