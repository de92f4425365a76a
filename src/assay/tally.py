"""From verdicts to decisions, and from decisions to the counts of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from assay.gate import REASONS

__all__ = ["Decision", "Tally", "decide"]

Decision = Literal["accepted", "rejected", "unmeasured"]
_STATUSES: Final = ("pass", "fail", "abstain", "n/a", "error")

_FIRST: Final = ("RTG012",)
_NAMED: Final = 8
"""Gates named where several were not run."""

_OPENS: Final[Mapping[str, tuple[str, ...]]] = defaultdict(
    lambda: ("require",),
    {
        "needs-data": ("require", "reject"),  # judged again without the data: nobody knows whether it fails
        "claimed-body": ("require", "reject"),  # a vendor's own model must not spare an episode its failure
    },
)


def decide(
    verdicts: Iterable[Mapping[str, Any]], effects: Mapping[str, str] | None = None
) -> tuple[Decision, list[str]]:
    """The decision about one episode and the gates that made it.

    Rejected if a gate with effect require or reject fails; unmeasured if a required one abstains, errs, or
    was not run; else accepted.

    Args:
        verdicts: rows with gate, status and effect.
        effects: of every gate there is, run or not (none: only those that were run count).
    """
    failed, open_, unrun = [], [], {g for g, effect in (effects or {}).items() if effect == "require"}
    for verdict in verdicts:
        unrun.discard(verdict["gate"])
        if verdict["status"] == "fail" and verdict["effect"] in ("require", "reject"):
            failed.append(verdict["gate"])
        elif verdict["status"] in ("abstain", "error") and verdict["effect"] in _OPENS[verdict["reason"]]:
            open_.append(verdict["gate"])
    if failed:
        return "rejected", failed
    open_ += sorted(unrun)
    return ("unmeasured", open_) if open_ else ("accepted", [])


@dataclass(slots=True)
class Tally:
    """Counts of a run, added up one record at a time (memory does not grow with the corpus)."""

    episodes: int = 0
    present: int = 0
    frames: int = 0
    seconds: float = 0.0
    errors: int = 0
    findings: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    gates: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    abstentions: Counter[str] = field(default_factory=Counter)
    corpus_failures: list[str] = field(default_factory=list)
    flagged: Counter[str] = field(default_factory=Counter)
    wanting: Counter[str] = field(default_factory=Counter)
    open: Counter[tuple[bool, str]] = field(default_factory=Counter)
    _causes: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    _several: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _unlock: Counter[str] = field(default_factory=Counter)
    _wants: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the record of one episode, or of the corpus."""
        for verdict in record["verdicts"]:
            self.gates[verdict["gate"]][verdict["status"]] += 1
            if verdict["status"] == "abstain":
                self.abstentions[verdict["reason"]] += 1
            self.findings += verdict["findings"]
        self.errors += any(v["status"] == "error" for v in record["verdicts"])
        if record["scope"] == "corpus":
            decision, gates = decide(record["verdicts"])
            self.corpus_failures += gates if decision == "rejected" else []
            return
        self.episodes += 1
        self.present += record["present"]
        self.frames += record["frames"]
        self.seconds += record["seconds"]
        self.decisions[record["decision"]] += 1
        self.flagged.update(
            v["gate"] for v in record["verdicts"] if (v["status"], v["effect"]) == ("fail", "flag")
        )
        if record["decision"] == "accepted":
            self.open.update(
                (v["effect"] == "flag", v["gate"])  # what rejects before what flags
                for v in record["verdicts"]
                if v["status"] == "abstain" and v["effect"] != "report"
            )
        self._count_causes(record)

    def _count_causes(self, record: Mapping[str, Any]) -> None:
        decisive = [v for v in record["verdicts"] if v["gate"] in record["reasons"].split(",")]
        if record["decision"] == "rejected":
            for verdict in decisive:
                self._causes[verdict["gate"]][self._place(verdict, record)] += 1
        elif record["decision"] == "unmeasured":
            unrun = set(record["reasons"].split(",")) - {v["gate"] for v in decisive}
            reasons = {v["reason"] for v in decisive} | ({"not-run"} if unrun else set())
            self.wanting.update(sorted(reasons & REASONS.keys()))
            # Of several reasons, curing one alone would not measure it; nobody but us can cure an error.
            if len(reasons) == 1 and reasons <= REASONS.keys():
                reason = reasons.pop()
                self._unlock[reason] += max(record["seconds"], 1e-9)
                self._wants[reason].update({v["detail"] for v in decisive} - {""})
                self._wants[reason].update([_named(sorted(unrun))] if unrun else [])

    def _place(self, verdict: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[str, str]:
        """Stream and channel of a failure; no channel where it has several, which are remembered."""
        gate, stream = verdict["gate"], verdict["stream"]
        channels = {
            f["channel"] for f in record.get("findings", ()) if (f["gate"], f["stream"]) == (gate, stream)
        }
        if len(channels) < 2:
            return stream, verdict["channel"]
        self._several[gate, stream] |= channels
        return stream, ""

    def causes(self) -> list[dict[str, Any]]:
        """What rejected the most episodes, each with the stream and channel where it clusters.

        A wrong convention comes first: other causes may follow from it.

        Where verdicts have several channels, ``channel`` is empty and ``channels`` their number.
        """
        ranked = sorted(
            self._causes.items(), key=lambda item: (item[0] not in _FIRST, -item[1].total(), item[0])
        )
        rows = []
        for gate, places in ranked:
            (stream, channel), n = _ranked(places)[0]
            several = 1 if channel else max(len(self._several[gate, stream]), 1)
            rows.append({"gate": gate, "episodes": places.total(), "stream": stream, "channel": channel,
                         "channels": several, "there": n})  # fmt: skip
        return rows

    def unlock(self) -> dict[str, Any] | None:
        """The one reason whose cure would measure the most hours, what most episodes lack, and the cure."""
        if not self._unlock:
            return None
        reason, seconds = _ranked(self._unlock)[0]
        wants = _ranked(self._wants[reason])
        return {"reason": reason, "detail": wants[0][0] if wants else "", "remedy": REASONS.get(reason, ""),
                "hours": seconds / 3600.0}  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """The counts as ``summary.json`` holds them."""
        return {
            "present": self.present,
            "episodes": self.episodes,
            **{name: self.decisions[name] for name in ("accepted", "rejected", "unmeasured")},
            "errors": self.errors,
            "frames": self.frames,
            "hours": self.seconds / 3600.0,
            "findings": self.findings,
            "gates": {code: {s: counts[s] for s in _STATUSES} for code, counts in sorted(self.gates.items())},
            "abstentions": dict(_ranked(self.abstentions)),
            "causes": self.causes(),
            "unlock": self.unlock(),
            "wanting": dict(_ranked(self.wanting)),
            "corpus_failures": self.corpus_failures,
            "flagged": dict(_ranked(self.flagged)),
            "open": {gate: n for (_, gate), n in sorted(self.open.items())},
        }


def _ranked(counts: Counter[Any]) -> list[tuple[Any, int]]:
    """The commonest first, equally common ones by name: which was finished first is chance."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _named(codes: list[str]) -> str:
    more = f" and {len(codes) - _NAMED} more" if len(codes) > _NAMED else ""
    return f"not run: {', '.join(codes[:_NAMED])}{more}"
