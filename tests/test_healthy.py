"""Real clips believed healthy (healthy.toml): no gate fails any of them."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.alarms import kept
from benchmarks.power.clips import SETS, Base, decoded, opened
from benchmarks.power.trials import look

from assay import plugs

HEALTHY = tomllib.loads((Path(__file__).parent / "healthy.toml").read_text("utf-8"))
CLIPS = HEALTHY["clip"]
SHORT = {folder: short for short, folder in SETS.items()}
UNLISTED = {
    *("SYN001", "SYN002", "SYN003", "CHN007"),  # need a calibration, real clocks, claps, wrist cameras
    *("RTG009", "RTG010", "RTG011"),  # report only: what they find is in docs/power/alarms.md
}
Clips = dict[str, list[Base]]
DECODED_HERE = 2  # videos decoded of each set; the study decodes all


def bad(bases: Clips, *, pictures: bool, decode: Callable[[Base], Base]) -> dict[str, set[str]]:
    """Gate → clips that it fails though they are listed."""
    failed, known = defaultdict(set), {}
    for clip in (c for c in CLIPS if c.get("pictures", False) is pictures):
        for base in (b for name in clip["sets"] for b in bases[SHORT[name]] if _listed(b, clip["episodes"])):
            if base.name not in known:
                known[base.name] = decode(base) if pictures else base
            seen = known[base.name]
            for code in clip["gates"]:
                given = {"containers": seen.containers, "pictures": seen.pictures}
                if look(plugs.gates()[code], seen.ep, given).verdict.status == "fail":
                    failed[code].add(base.name)
    return dict(failed)


def _listed(base: Base, episodes: str) -> bool:
    if episodes == "all":
        return True
    first, _, last = episodes.partition("-")
    return int(first) <= int(base.name.rpartition("/")[2]) <= int(last or first)


@pytest.fixture(scope="module")
def bases(real_data: Path) -> Clips:
    found = defaultdict(list)
    for base in opened(real_data, decode=False):
        found[base.set].append(base)
    return found


@pytest.mark.real
def test_no_gate_fails_healthy_rows(bases: Clips) -> None:
    assert bad(bases, pictures=False, decode=lambda b: b) == {}


@pytest.mark.real
def test_no_gate_fails_healthy_pictures(bases: Clips) -> None:
    few = {name: clips[:DECODED_HERE] for name, clips in bases.items()}
    assert bad(few, pictures=True, decode=decoded) == {}


@pytest.mark.real
@pytest.mark.study
def test_no_gate_fails_any_healthy_pictures(bases: Clips) -> None:
    assert bad(bases, pictures=True, decode=decoded) == {}


def test_no_motion_gate_fails_healthy_clips() -> None:
    """The verdicts themselves are held to the data in test_real_motion and test_hands."""
    said = kept()
    for entry in HEALTHY["motion"]:
        for code in set(entry["gates"]) & set(said):
            failed = said[code].failed("delivered") | said[code].failed("grounded")
            assert not failed & set(entry["clips"]), code


def test_every_gate_has_healthy_clips_and_says_how_that_was_seen() -> None:
    entries = [*CLIPS, *HEALTHY["motion"]]
    assert {code for entry in entries for code in entry["gates"]} | UNLISTED == set(plugs.gates())
    assert all(entry["why"] and entry["seen"] for entry in entries)
    assert all(set(clip["sets"]) <= set(SHORT) for clip in CLIPS)
