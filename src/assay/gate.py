"""The contract of a gate: it measures and never judges.

A gate is one file: a docstring with fixed sections, `Params`, `CASES` that bracket the limit, and one short
function under `@gate` that yields `Evidence` (numbers with a bound, an uncertainty and a scope), `Abstain`
or `NotApplicable`. `assay.judge` turns these into a `Verdict`.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.feature import asked
from assay.model import Episode, Listing, Role
from assay.units import UNITS

__all__ = [
    "IN",
    "OUT",
    "REASONS",
    "SECTIONS",
    "UNKNOWN",
    "Abstain",
    "Case",
    "Evidence",
    "Fact",
    "Gate",
    "NotApplicable",
    "Outcome",
    "gate",
    "param",
]

OUT: Final = np.int8(0)
IN: Final = np.int8(1)
UNKNOWN: Final = np.int8(-1)

REASONS: Final[dict[str, str]] = {
    "absent-stream": "deliver the stream that the gate looks at",
    "not-declared": "state the item in the metadata, or in the sheet where docs/sheet.md has it",
    "unreadable": "deliver a readable file",
    "not-finite": "mend the values that are no numbers: INT003 names them",
    "nominal-clock": "deliver capture stamps, or pictures and motion that decide by content",
    "unknown-body": "name the body: --embodiment NAME, or embodiment = in assay.toml; see assay embodiments",
    "unresolved-names": "name each column after a joint of the body, in the sheet or the metadata",
    "unresolved-unit": "declare the unit of each channel in assay.toml",
    "too-short": "deliver a longer episode",
    "still": "an episode in which the robot moves while the pictures change",
    "no-reference": "deliver the reference that the gate compares with",
    "no-ground": 'say in assay.toml how high the floor is in the frame of the base: ground = "z=0", or m',
    "reference-noisy": "deliver a less noisy reference",
    "scope-unknown": "deliver what tells when the gate applies",
    "limits-conflict": "choose limit_set = in assay.toml, a source that assay embodiments BODY names",
    "claimed-body": "say as the buyer which body holds: --embodiment NAME or FILE, or limit_set = in --sheet",
    "not-calibrated": (
        "run assay calibrate on more: other episodes of this rig, or other motions of this robot and its "
        "human; then assay run --calibration"
    ),
    "not-decoded": "run with --decode auto or full",
    "not-run": "run every gate that the profile requires (leave out --gates)",
    "needs-data": "run again on the data with these limits",
    "undecided": "less uncertainty: a longer episode or a better reference",
    "scope-empty": "nothing: the gate measured that no part of the episode is its subject",
}
"""Why a gate could not decide (a closed list), and what would decide it."""

SECTIONS: Final = ("What", "Why", "Method", "Source", "Blind spots", "Dose")
"""Sections that a gate's docstring must have. *Dose* names the axis of its graded injections."""

Sense = Literal["above", "below"]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """n samples of one measured quantity against its bound; a sample is an interval of time.

    Attributes:
        value: (n,) what was measured, in ``unit``; NaN could not be evaluated.
        t0, t1: (n,) int64 ns, the interval of each sample.
        unit: of value, u and limit.
        limit: the published bound (or a profile's).
        u: standard uncertainty, scalar or (n,).
        scope: (n,) of IN, OUT, UNKNOWN; None means all in.
        stream, against, channel: what was measured, against what, in which column.
        which, channels: per sample, the index into ``channels`` that was worst there.
        sense: beyond means above or below the limit.
        strict: whether a value equal to the limit is still good.
        quota: share of samples that may be beyond; inclusive.
        min_run: seconds; shorter runs beyond the limit do not count.
        limit_key, quota_key: names of the gate's params that these came from, for rejudging.
        reason: code used if this evidence cannot be decided.
        apart: whether every sample is a finding of its own (claims) instead of part of a stretch of time.
        note: a few words that help whoever reads the finding (a likely cure, an estimate).
        doubt: a few words for whoever reads an abstention (two limits that disagree, what scatters).
        by: the evidence it rests on where a gate has several (``stamps``, ``claps``, ``content``).
        decides: whether it takes part in the verdict; a figure that is only reported does not.
    """

    value: NDArray[np.floating[Any]]
    t0: NDArray[np.int64]
    t1: NDArray[np.int64]
    unit: str
    limit: float
    u: float | NDArray[np.floating[Any]] = 0.0
    scope: NDArray[np.int8] | None = None
    stream: str = ""
    against: str = ""
    channel: str = ""
    which: NDArray[np.intp] | None = None
    channels: tuple[str, ...] = ()
    sense: Sense = "above"
    strict: bool = True
    quota: float = 0.0
    min_run: float = 0.0
    limit_key: str = "limit"
    quota_key: str = "quota"
    reason: str = "undecided"
    apart: bool = False
    note: str = ""
    doubt: str = ""
    by: str = ""
    decides: bool = True

    def __post_init__(self) -> None:
        n = len(self.value)
        if len(self.t0) != n or len(self.t1) != n or (self.scope is not None and len(self.scope) != n):
            raise ValueError("value, t0, t1 and scope of an Evidence differ in length")
        if self.unit not in UNITS or self.reason not in REASONS:
            raise ValueError(f"unit {self.unit!r} or reason {self.reason!r} is not in its closed list")

    @classmethod
    def single(cls, value: float, t0: int, t1: int, **rest: Any) -> Evidence:
        """One number about a whole interval (a lag, a share, a count)."""
        times = np.array([t0], np.int64), np.array([t1], np.int64)
        return cls(np.array([value], np.float64), *times, **rest)


@dataclass(frozen=True, slots=True)
class Abstain:
    """The gate applies and cannot decide: a code from `REASONS` and the particulars."""

    reason: str
    detail: str = ""
    stream: str = ""
    channel: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a code of REASONS")


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The gate does not apply, decided from kind, body or profile alone: the rule and who declared it."""

    rule: str
    declared_by: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something small about one episode, kept for the gate's conclusion over the whole corpus."""

    name: str
    value: Any


Outcome = Evidence | Abstain | NotApplicable | Fact


@dataclass(frozen=True, slots=True)
class Case:
    """A small episode with known truth that a gate must get right.

    Attributes:
        name: says what is planted, e.g. ``elbow 1.2e-4 rad over for 0.6 % of frames``.
        episode: builds it (or, for a corpus gate, several).
        expect: the status; reason: the abstention's code.
        at: seconds within which the finding must lie; channel: the column it must name.
        features: values of features given outright (pictures need no file then).
        models: fitted statistics given outright.
    """

    name: str
    episode: Callable[[], Episode | Sequence[Episode]]
    expect: Literal["pass", "fail", "abstain", "n/a"]
    reason: str = ""
    at: tuple[float, float] | None = None
    channel: str = ""
    features: Callable[[], Mapping[str, Any]] | None = None
    models: Mapping[str, Any] = field(default_factory=dict)
    listing: Callable[[], Listing] | None = None


def param(default: float, unit: str, reason: str, *, judged: bool = False) -> Any:
    """A field of a gate's ``Params``: value, unit and why this value.

    Args:
        default: the published value.
        unit: from the closed set.
        reason: why this value, with its source; a bare number is refused.
        judged: a limit, quota or minimum run (may change without measuring again, except ``min_run``);
            otherwise a change means a new measurement.
    """
    if unit not in UNITS:
        raise TypeError(f"param unit {unit!r} is not in the closed set")
    if len(reason.split()) < 3:
        raise TypeError("a param needs a reason, not a bare number")
    return dataclasses.field(default=default, metadata={"unit": unit, "reason": reason, "judged": judged})


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate as the rest of Assay sees it. Made by `@gate`, never by hand."""

    code: str
    name: str
    version: int
    family: str
    measure: Callable[..., Iterable[Outcome]]
    conclude: Callable[[Listing, Mapping[str, Mapping[str, Any]], Any], Iterable[Outcome]] | None
    not_applicable: Callable[[Episode, Any], NotApplicable | None] | None
    needs: tuple[str, ...]
    reads: frozenset[Role]
    params: type[Any]
    cases: tuple[Case, ...]
    doc: Mapping[str, str]
    module: str

    @property
    def title(self) -> str:
        """The defect in words, e.g. ``joint limit violation``."""
        return self.name.replace("-", " ")


def gate(
    *,
    code: str,
    name: str,
    version: int = 1,
    reads: Sequence[Role] = (),
    conclude: Callable[[Listing, Mapping[str, Mapping[str, Any]], Any], Iterable[Outcome]] | None = None,
    not_applicable: Callable[[Episode, Any], NotApplicable | None] | None = None,
) -> Callable[[Callable[..., Iterable[Outcome]]], Gate]:
    """Make ``measure(ep, p, *features)`` a gate, with the Params, CASES and docstring of its file.

    Args:
        code: e.g. ``RTG001``; never reused.
        name: the defect, in kebab-case.
        version: rises when any number it yields changes.
        reads: roles of the streams that ``measure`` looks at itself (features say their own).
        conclude: (listing, facts of each episode, p) → outcomes about the corpus as a whole.
        not_applicable: decides from kind, body and sheet alone, before anything is read.

    Raises:
        TypeError: if a docstring section, Params, a reason, or a passing or failing case is missing.
    """

    def wrap(measure: Callable[..., Iterable[Outcome]]) -> Gate:
        home = sys.modules[measure.__module__]
        params, cases = getattr(home, "Params", None), tuple(getattr(home, "CASES", ()))
        doc = sections(home.__doc__ or "")
        _refuse(code, name, doc, params, cases)
        assert params is not None
        return Gate(
            code,
            name,
            version,
            code[:3],
            measure,
            conclude,
            not_applicable,
            asked(measure),
            frozenset(reads),
            params,
            cases,
            doc,
            measure.__module__,
        )

    return wrap


def sections(text: str) -> dict[str, str]:
    """Split a gate's docstring at its headings (``What: ...``); the first line is the title."""
    head, *parts = re.split(rf"^({'|'.join(SECTIONS)}):\s*", text, flags=re.M)
    found = {"Title": head.strip()}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        found[name] = re.sub(r"\s*\n\s*", " ", body).strip()
    return found


def _refuse(
    code: str, name: str, doc: Mapping[str, str], params: type[Any] | None, cases: tuple[Case, ...]
) -> None:
    missing = [s for s in SECTIONS if not doc.get(s)]
    if missing:
        raise TypeError(f"gate {code}: docstring lacks {', '.join(missing)}")
    if not re.fullmatch(r"[A-Z]{3}\d{3}", code) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise TypeError(f"gate {code} {name}: codes look like RTG001, names like joint-limit-violation")
    if params is None or not dataclasses.is_dataclass(params):
        raise TypeError(f"gate {code}: its file needs a dataclass Params")
    bare = [f.name for f in dataclasses.fields(params) if "reason" not in f.metadata]
    if bare:
        raise TypeError(f"gate {code}: bare limit {', '.join(bare)}; use param(value, unit, reason)")
    expected = {case.expect for case in cases}
    if not {"pass", "fail"} <= expected:
        raise TypeError(f"gate {code}: CASES need at least one pass and one fail, at both sides of the limit")
