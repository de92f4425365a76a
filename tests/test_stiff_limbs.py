"""A whole arm or leg that holds one value throughout: real clips as they are, and with a limb stilled."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.power.motion_clips import opened_motion

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.model import Episode, Kind
from assay.signals.stiff_limbs import limbs
from assay.synth.reaches import reach


def stilled(ep: Episode, part: str, side: str) -> Episode:
    """Zero where ``side`` is left, the value of the first row where it is right."""
    group = Features(ep, plugs.features()).get("joint_groups")[0]
    stream = ep.stream(group.stream)
    assert stream is not None
    mine = {n for n, p, s in zip(group.names, group.part, group.side, strict=True) if (p, s) == (part, side)}
    x = np.array(stream.x)
    use = [i for i, n in enumerate(stream.names) if n in mine]
    x[:, use] = 0.0 if side == "left" else x[0, use]
    return ep.with_stream(replace(stream, x=x))


def failed(ep: Episode) -> set[str]:
    gate = plugs.gates()["ACT005"]
    return {f.channel for f in examine(gate, Features(ep, plugs.features()), gate.params(), "x").findings}


def test_no_real_limb_is_stiff_and_every_stilled_one_is_found(real_data: Path) -> None:
    bases = opened_motion(real_data)
    if not bases:
        pytest.skip("no motion clips here")
    for base in bases:
        assert failed(base.ep) == set(), base.set
        for part in ("arm", "leg"):
            for side in ("left", "right"):
                ep = stilled(base.ep.without_stream("velocities"), part, side)
                assert f"{side} {part}" in failed(ep), (base.set, base.number)
    legless = stilled(stilled(bases[0].ep, "leg", "left"), "leg", "right")
    assert {"left leg", "right leg"} <= failed(legless)


def test_locked_limbs_of_other_kinds_and_of_standing_bodies_are_no_finding() -> None:
    assert failed(reach()) == set()  # both legs stand, and so does the base
    joints = reach().stream("joints")
    assert joints is not None
    stiff = stilled(reach(), "arm", "left")
    assert failed(stiff) == {"left arm"}
    for kind in (Kind.TELEOPERATION, Kind.SIMULATION):
        assert failed(replace(stiff, kind=kind)) == set()


def test_joints_that_are_not_recorded_or_not_finite_are_no_stiff_limb() -> None:
    x = np.zeros((50, 8))
    x[:, 7] = np.linspace(0.0, 1.0, 50)
    part, side = np.array(["arm"] * 8), np.array(["left"] * 4 + ["right"] * 4)
    assert [one.travel for one in limbs(x, part, side, 1e-6, carried=True)] == [1.0, 0.0]
    assert limbs(x[:, 1:], part[1:], side[1:], 1e-6, carried=True)[0].name == "right arm"
    x[:, 0] = np.nan
    assert [one.travel for one in limbs(x, part, side, 1e-6, carried=True)] == [0.0, 0.0]
    assert limbs(x[:1], part, side, 1e-6, carried=True) == []
