"""From verdicts to a decision, and from decisions to the counts of a run."""

from itertools import product
from typing import Any

import pytest

from assay.tally import Tally, decide

STATUSES = ("pass", "fail", "abstain", "n/a", "error")
EFFECTS = ("require", "reject", "flag", "report")


def verdict(status: str, effect: str, gate: str = "RTG001", **more: Any) -> dict[str, Any]:
    """One verdict row, as far as decisions look at it."""
    row = {
        "gate": gate,
        "status": status,
        "effect": effect,
        "findings": 0,
        "reason": "",
        "stream": "",
        "channel": "",
        "detail": "",
    }
    return row | more


def episode(*verdicts: dict[str, Any], seconds: float = 3600.0) -> dict[str, Any]:
    """One record of the ledger."""
    decision, reasons = decide(verdicts)
    return {"scope": "episode", "present": True, "frames": 10, "seconds": seconds, "decision": decision,
            "reasons": ",".join(reasons), "verdicts": verdicts}  # fmt: skip


def corpus(*verdicts: dict[str, Any]) -> dict[str, Any]:
    """The record about the corpus."""
    return {"scope": "corpus", "verdicts": verdicts}


def tally(*records: dict[str, Any]) -> dict[str, Any]:
    """The summary of some records."""
    counted = Tally()
    for record in records:
        counted.add(record)
    return counted.summary()


@pytest.mark.parametrize(("status", "effect"), list(product(STATUSES, EFFECTS)))
def test_one_gate_decides(status: str, effect: str) -> None:
    rejects = status == "fail" and effect in ("require", "reject")
    leaves_open = status in ("abstain", "error") and effect == "require"
    expected = "rejected" if rejects else "unmeasured" if leaves_open else "accepted"
    assert decide([verdict(status, effect)])[0] == expected


def test_a_failure_outweighs_an_abstention_and_only_it_is_named() -> None:
    verdicts = [verdict("abstain", "require", "SYN001"), verdict("fail", "reject", "ACT005"),
                verdict("pass", "require", "RTG001"), verdict("fail", "flag", "SYN006")]  # fmt: skip
    assert decide(verdicts) == ("rejected", ["ACT005"])


def test_nothing_measured_at_all_is_accepted_only_if_nothing_is_required() -> None:
    assert decide([]) == ("accepted", [])
    assert decide([verdict("n/a", "require")]) == ("accepted", [])


def test_counts_add_up() -> None:
    s = tally(
        episode(verdict("pass", "require")),
        episode(verdict("fail", "require", stream="state", channel="elbow", findings=2)),
        episode(verdict("fail", "require", stream="state", channel="elbow", findings=1)),
        episode(verdict("fail", "require", stream="state", channel="knee", findings=1)),
        episode(verdict("abstain", "require", reason="unknown-body"), seconds=7200.0),
        episode(verdict("error", "require")),
    )
    assert (s["episodes"], s["accepted"], s["rejected"], s["unmeasured"]) == (6, 1, 3, 2)
    assert (s["frames"], s["hours"], s["findings"], s["errors"]) == (60, 7.0, 4, 1)
    assert s["gates"] == {"RTG001": {"pass": 1, "fail": 3, "abstain": 1, "n/a": 0, "error": 1}}
    assert s["abstentions"] == {"unknown-body": 1}
    assert s["causes"] == [
        {"gate": "RTG001", "episodes": 3, "stream": "state", "channel": "elbow", "channels": 1, "there": 2}
    ]
    assert s["unlock"]["reason"] == "unknown-body"
    assert s["unlock"]["hours"] == 2.0


def test_a_cause_at_several_channels_names_their_number_and_none_of_them() -> None:
    record = episode(verdict("fail", "require", stream="state", channel="elbow", findings=3))
    found = [{"gate": "RTG001", "stream": "state", "channel": c} for c in ("elbow", "knee", "wrist", "elbow")]
    (cause,) = tally({**record, "findings": found})["causes"]
    assert (cause["stream"], cause["channel"], cause["channels"], cause["there"]) == ("state", "", 3, 1)


def test_causes_are_ranked_and_an_episode_counts_for_each_gate_that_rejected_it() -> None:
    both = episode(verdict("fail", "reject", "ACT005"), verdict("fail", "require", "RTG001"))
    s = tally(both, episode(verdict("fail", "require", "RTG001")))
    assert [(c["gate"], c["episodes"]) for c in s["causes"]] == [("RTG001", 2), ("ACT005", 1)]


def test_curing_one_of_two_reasons_unlocks_nothing() -> None:
    two = (verdict("abstain", "require", "SYN001", reason="nominal-clock"),
           verdict("abstain", "require", "RTG001", reason="unknown-body"))  # fmt: skip
    assert tally(episode(*two))["unlock"] is None
    assert tally(episode(*two), episode(two[0]))["unlock"]["reason"] == "nominal-clock"


def test_what_most_episodes_lack_is_said() -> None:
    missing = [
        verdict("abstain", "require", reason="no-reference", detail=d) for d in ("rate", "cut", "rate")
    ]
    assert tally(*map(episode, missing))["unlock"]["detail"] == "rate"


def test_what_unmeasured_episodes_want_is_counted_by_episode() -> None:
    why = {"RTG001": "unknown-body", "RTG012": "unknown-body", "RTG013": "no-ground"}
    open_ = [verdict("abstain", "require", gate, reason=reason) for gate, reason in why.items()]
    s = tally(episode(*open_), episode(*open_[:2]), episode(verdict("pass", "require")))
    assert s["wanting"] == {"unknown-body": 2, "no-ground": 1}


def test_flagged_episodes_are_accepted_and_counted() -> None:
    flagged, reported = verdict("fail", "flag", "SYN006"), verdict("fail", "report", "RTG010")
    s = tally(episode(flagged, reported), episode(flagged), corpus(verdict("fail", "flag", "CHN010")))
    assert (s["accepted"], s["flagged"]) == (2, {"SYN006": 2})


def test_gates_that_told_nothing_of_accepted_episodes_are_counted() -> None:
    silent = [verdict("abstain", effect, gate) for effect, gate in
              (("flag", "ACT005"), ("reject", "RTG003"), ("report", "RTG010"))]  # fmt: skip
    s = tally(episode(*silent), episode(verdict("abstain", "require"), silent[0]))
    assert list(s["open"].items()) == [("RTG003", 1), ("ACT005", 1)]


def test_whichever_episode_was_finished_first_the_summary_is_the_same() -> None:
    records = [
        episode(verdict("abstain", "require", reason="no-reference", detail="its rate")),
        episode(verdict("abstain", "require", reason="no-reference", detail="its cut")),
        episode(verdict("fail", "flag", "SYN006")), episode(verdict("fail", "flag", "RTG008")),
        episode(verdict("fail", "require", "RTG003")), episode(verdict("fail", "require", "RTG001")),
    ]  # fmt: skip
    assert repr(tally(*records)) == repr(tally(*reversed(records)))


def test_an_error_of_ours_is_nothing_that_others_can_cure() -> None:
    assert tally(episode(verdict("error", "require", reason="error")))["unlock"] is None


def test_only_failures_of_the_corpus_count_as_such() -> None:
    s = tally(corpus(
        verdict("abstain", "require", "INT006"), verdict("fail", "reject", "INT007"),
        verdict("fail", "flag", "CHN010"), verdict("error", "report", "INT010"),
    ))  # fmt: skip
    assert s["corpus_failures"] == ["INT007"]
    assert (s["episodes"], s["errors"]) == (0, 1)
    assert tally(corpus(verdict("abstain", "require", "INT006")))["corpus_failures"] == []


def test_a_required_gate_that_was_not_run_leaves_the_episode_unmeasured() -> None:
    ran = [{"gate": "INT002", "status": "pass", "effect": "require", "reason": ""}]
    assert decide(ran, {"INT002": "require", "RTG001": "require", "SYN006": "flag"}) == (
        "unmeasured", ["RTG001"],
    )  # fmt: skip
    assert decide(ran, {"INT002": "require"}) == ("accepted", [])


def test_needs_data_is_open_whatever_its_effect() -> None:
    row = {"gate": "ACT001", "status": "abstain", "effect": "reject", "reason": "needs-data"}
    assert decide([row]) == ("unmeasured", ["ACT001"])
    assert decide([row | {"reason": "still"}]) == ("accepted", [])


def test_gates_that_were_left_out_are_named() -> None:
    left = ",".join(f"INT{n:03d}" for n in range(1, 11))
    unlock = tally(episode(verdict("pass", "require")) | {"decision": "unmeasured", "reasons": left})[
        "unlock"
    ]
    assert unlock["reason"] == "not-run"
    assert unlock["detail"].startswith("not run: INT001, INT002, ")
    assert unlock["detail"].endswith("INT008 and 2 more")


def test_a_wrong_convention_is_the_first_cause() -> None:
    """What follows from it is in as many episodes, or in more."""
    tally = Tally()
    for codes in (("RTG001", "RTG005", "RTG012"), ("RTG001",)):
        tally.add(episode(*(verdict("fail", "reject", code) for code in codes)))
    assert [(row["gate"], row["episodes"]) for row in tally.causes()] == [
        ("RTG012", 1), ("RTG001", 2), ("RTG005", 1),
    ]  # fmt: skip
