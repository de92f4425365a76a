"""Whose fault a failing clip is: of the body, which cannot do it, or of the solver, which did not.

Gates measure and do not know their verdict, so this comes after judging and only where it is asked for. What
RTG002, RTG003 and RTG004 found is held to a reference retargeter (`assay.signals.reference`) that solves the
same stretch of the same human motion on the same body, by the same frozen map, with the pelvis where the clip
has it, give or take 5 cm:

* ``solver``: the reference keeps within the limit what the clip does not;
* ``body``: from two independent starts a frame, the reference misses the limit as well;
* ``undecided``: it lies within twice its uncertainty of the limit, its starts disagree, a standing foot had
  to move, what it needs is not here, or the human source is doubtful: her left and right are exchanged, her
  trunk is of another size than those that taught the map, or she moves like another clip's robot.

Blind spots: whether postures follow each other smoothly, whether links collide, whether the robot would fall;
a pelvis that the clip's solver put more than 5 cm wrong counts as the body's; a human whose trunk is right
and whose arms are too long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from assay import plugs
from assay.attribution.doubt import doubt
from assay.attribution.feet import drift, skate
from assay.attribution.hands import hands
from assay.attribution.rule import Attribution, blank
from assay.errors import UsageError
from assay.examine import examine
from assay.feature import Features

__all__ = ["GATES", "Attribution", "attribute"]

GATES: Final = ("RTG002", "RTG003", "RTG004")
EACH: Final = 3
"""Findings of one gate and clip that are attributed, the worst ones: one solver made them all."""


def attribute(
    features: Features, subject: str, params: Mapping[str, Any] | None = None, codes: Sequence[str] = GATES,
    doubted: str = "",
) -> tuple[Attribution, ...]:  # fmt: skip
    """The worst findings of the three gates on one episode, each with whose fault it is.

    Args:
        features: the episode's, with the fitted models that may judge it.
        subject: the episode's id.
        params: of the gates, by code; the published ones where there are none.
        codes: which of the three gates to look at.
        doubted: why the whole corpus makes the episode's human source doubtful; empty where it does not.

    Returns:
        Empty where none of the gates fails; all undecided where the human source is doubtful or the extra
        ``physics`` is not installed.
    """
    known = params or {}
    made: list[Attribution] = []
    for code in codes:
        gate = plugs.gates()[code]
        p = known.get(code) or gate.params()
        found = [blank(f) for f in examine(gate, features, p, subject).findings[:EACH]]
        wrong = (doubted or doubt(features, code, known.get("RTG012"))) if found else ""
        if wrong:
            made += [replace(one, why=wrong) for one in found]
            continue
        try:
            made += _held_to_reference(code, found, features, p)
        except UsageError as error:  # the extra is not here, or joints that the reference cannot move
            made += [replace(one, why=str(error)) for one in found]
    return tuple(made)


def _held_to_reference(code: str, found: list[Attribution], features: Features, p: Any) -> list[Attribution]:
    if code == "RTG002":
        return hands(found, features, p)
    return [(skate if code == "RTG003" else drift)(one, features) for one in found]
