"""What a format cannot declare keeps no episode from being accepted; what a vendor leaves out does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay import plugs
from assay.cases import judge_case
from assay.corpus import discover
from assay.gate import Case
from assay.judge import Verdict
from assay.model import Episode, Source
from assay.profile import profile_for
from assay.sheet import Sheet, apply
from assay.synth import recordings
from assay.synth.droid import write_droid
from assay.synth.episodes import teleop
from assay.synth.recordings import Message, Rig, jpeg, messages, write_bag, write_mcap
from assay.tally import decide
from tiny_corpus import tiny_corpus

METADATA = ("INT002", "INT004", "INT005", "INT006")


def verdicts(ep: Episode, *codes: str) -> list[Verdict]:
    return [judge_case(plugs.gates()[c], Case("", lambda: ep, "pass")).verdict for c in codes]


def statuses(ep: Episode, *codes: str) -> dict[str, str]:
    return {v.gate: v.status for v in verdicts(ep, *codes)}


def opened(name: str, path: Path) -> Episode:
    reader = plugs.readers()[name]
    listing = reader.discover(path)
    return reader.open(listing, listing.refs[0], None, Sheet())


def filmed(rig: Rig) -> list[Message]:
    """The rig's messages, each picture another one."""
    found = messages(rig)
    pictures = [m for m in found if m.topic.startswith("/camera")]
    seen = {id(m): np.frombuffer(jpeg(2 * i), np.uint8) for i, m in enumerate(pictures)}
    return [replace(m, value=replace(m.value, data=seen[id(m)])) if id(m) in seen else m for m in found]


@pytest.mark.parametrize("storage", ["mcap", "bag of sqlite3", "bag of mcap"])
def test_a_healthy_recording_is_accepted(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "messages", filmed)
    root = tmp_path / "in"
    root.mkdir()
    rig = Rig(seconds=4.0, rate=60, jitter=0.001)
    if storage == "mcap":
        write_mcap(root / "a.mcap", rig)
    else:
        write_bag(root / "a", rig, storage.rpartition(" ")[2])
    (root / "assay.toml").write_text('kind = "teleoperation"')
    corpus = discover(root)
    listing = corpus.listing
    ep = plugs.readers()[listing.reader].open(listing, listing.refs[0], None, corpus.sheet)
    effects = profile_for(corpus.kind).effects(plugs.gates(), listing.roles)
    decisive = [code for code, effect in effects.items() if effect in ("require", "reject")]
    rows = [
        {"gate": v.gate, "status": v.status, "effect": effects[v.gate], "reason": v.reason}
        for v in verdicts(apply(corpus.sheet, ep), *decisive)
    ]
    assert decide(rows, effects) == ("accepted", [])


def test_a_bag_declares_its_begin_and_length(tmp_path: Path) -> None:
    write_bag(tmp_path / "a", Rig(seconds=1.0))
    found = statuses(opened("rosbag2", tmp_path), *METADATA)
    assert found == {"INT002": "pass", "INT004": "n/a", "INT005": "pass", "INT006": "pass"}
    path = tmp_path / "a/metadata.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("nanoseconds_since_epoch: 17", "nanoseconds_since_epoch: 15"), "utf-8")
    assert statuses(opened("rosbag2", tmp_path), "INT005") == {"INT005": "fail"}
    path.write_text(text.replace("starting_time:", "begun:"), "utf-8")
    assert statuses(opened("rosbag2", tmp_path), "INT005") == {"INT005": "abstain"}


def test_a_droid_episode_declares_all_but_pointers(tmp_path: Path) -> None:
    write_droid(tmp_path / "a")
    found = statuses(opened("droid", tmp_path), *METADATA)
    assert found == {"INT002": "pass", "INT004": "n/a", "INT005": "pass", "INT006": "pass"}


def test_a_lerobot_set_must_still_declare(tmp_path: Path) -> None:
    ep = opened("lerobot", tiny_corpus(tmp_path))
    assert statuses(ep, *METADATA) == dict.fromkeys(METADATA, "pass")
    assert statuses(replace(ep, claims=()), *METADATA) == dict.fromkeys(METADATA, "abstain")


def test_whatever_is_claimed_after_all_is_judged() -> None:
    silent = Source("mcap", Path(), silent=("declared",))
    assert statuses(replace(teleop(), source=silent), "INT006", "INT002") == {
        "INT006": "n/a",
        "INT002": "abstain",
    }
    ep = judged_claim()
    assert statuses(replace(ep, source=silent), "INT006") == {"INT006": "fail"}


def judged_claim() -> Episode:
    """An episode about which something is declared that is not so."""
    case = next(c for c in plugs.gates()["INT006"].cases if c.expect == "fail" and c.listing is None)
    ep = case.episode()
    assert isinstance(ep, Episode)
    return ep
