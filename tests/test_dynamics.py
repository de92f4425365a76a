"""Inverse dynamics against Pinocchio, support against a textbook solver, and what standing bodies ask for."""

import numpy as np
import pytest

from assay.embodiment import load
from assay.embodiment.rotation import about
from assay.signals.dynamics import GRAVITY, fall, mass_known, motion, smooth, supported, torques

RATE = 1000.0


def waving() -> tuple[np.ndarray, np.ndarray]:
    """(q, place) of a G1 that moves every joint and its pelvis at once, 0.4 s at 1 kHz."""
    rng = np.random.default_rng(0)
    t = np.arange(400)[:, None] / RATE
    q = rng.uniform(0.05, 0.4, 29) * np.sin(2 * np.pi * rng.uniform(0.3, 2, 29) * t + rng.uniform(0, 6, 29))
    place = np.zeros((len(t), 7))
    place[:, :3] = 0.1 * np.sin(2 * np.pi * 0.7 * t + np.arange(3)) + [0, 0, 0.8]
    place[:, 3:] = about([0.6, 0.0, 0.8], 0.5 * np.sin(2 * np.pi * 0.6 * t[:, 0]))
    return q, place


def test_torque_and_root_wrench_are_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    body = load("unitree_g1_29")
    tree = body.tree
    assert tree is not None
    model = pin.Model()
    root = pin.JointModelFreeFlyer()
    ids = [model.addJoint(0, root, pin.SE3.Identity(), "root")]
    carried = [(ids[0], pin.SE3.Identity())]
    inertia = lambda i: pin.Inertia(float(tree.mass[i]), tree.com[i], tree.inertia[i])  # noqa: E731
    model.appendBodyToJoint(1, inertia(0), pin.SE3.Identity())
    for i in range(1, len(tree.links)):
        w, x, y, z = tree.quat[i]
        up, at = carried[tree.parent[i]]
        here = at * pin.SE3(pin.Quaternion(w, x, y, z).matrix(), tree.p[i])
        if tree.column[i] >= 0:
            up = model.addJoint(up, pin.JointModelRevoluteUnaligned(tree.axis[i]), here, tree.carrier[i])
            here = pin.SE3.Identity()
        carried.append((up, here))
        if np.isfinite(tree.mass[i]):
            model.appendBodyToJoint(up, inertia(i), here)
    data = model.createData()
    q, place = waving()
    asked = motion(tree, q, place, RATE, cut=1e9)
    tau, wrench = torques(tree, asked), asked.wrench(asked.p[:, 0])
    joint = [model.getJointId(name) for name in tree.joints]

    def state(t: int) -> np.ndarray:
        out = pin.neutral(model)
        out[:3], out[3:6], out[6] = place[t, :3], place[t, 4:], place[t, 3]
        out[[model.joints[j].idx_q for j in joint]] = q[t]
        return out

    for t in (50, 200, 350):
        before = pin.difference(model, state(t - 1), state(t)) * RATE
        after = pin.difference(model, state(t), state(t + 1)) * RATE
        said = pin.rnea(model, data, state(t), (before + after) / 2, (after - before) * RATE)
        np.testing.assert_allclose(tau[t], said[[model.joints[j].idx_v for j in joint]], atol=1e-2)
        w, x, y, z = place[t, 3:]
        turn = pin.Quaternion(w, x, y, z).matrix()
        np.testing.assert_allclose(wrench[t, :3], turn @ said[:3], atol=0.05)
        np.testing.assert_allclose(wrench[t, 3:], turn @ said[3:6], atol=0.05)


def test_support_is_the_nearest_push_of_the_cones() -> None:
    from scipy.optimize import nnls

    rng = np.random.default_rng(1)
    arm = rng.normal(0, 0.1, (12, 6, 3)) - [0, 0, 0.7]
    wrench = np.concatenate([rng.normal([0, 0, 300], 40, (12, 3)), rng.normal(0, 30, (12, 3))], axis=1)
    active = rng.random((12, 6)) < 0.8
    push, rest = supported(wrench, arm, active, 0.7, 0.8)
    angle = np.arange(4) * np.pi / 2 + np.pi / 4
    edges = np.stack([0.8 * np.cos(angle), 0.8 * np.sin(angle), np.ones(4)], axis=1)
    scale = np.array([1, 1, 1, 1 / 0.7, 1 / 0.7, 1 / 0.7])
    for t in range(12):
        columns = [
            np.concatenate([e, np.cross(arm[t, k], e)]) * scale
            for k in np.flatnonzero(active[t])
            for e in edges
        ]
        _, best = nnls(np.array(columns).T, wrench[t] * scale)
        assert np.linalg.norm(rest[t] * scale) == pytest.approx(best, abs=3.0 + 0.02 * best)
        assert not push[t][~active[t]].any()
        given = np.concatenate([push[t].sum(axis=0), np.cross(arm[t], push[t]).sum(axis=0)])
        np.testing.assert_allclose(given + rest[t], wrench[t], atol=1e-6)


def test_a_body_in_free_fall_asks_for_nothing() -> None:
    tree = load("unitree_g1_29").tree
    assert tree is not None
    t = np.arange(100) / 200
    place = np.tile([0.0, 0, 2, 1, 0, 0, 0], (100, 1))
    place[:, 2] -= GRAVITY / 2 * t**2
    asked = motion(tree, np.zeros((100, 29)), place, 200.0, cut=1e9)
    assert np.abs(asked.wrench(asked.centre)).max() < 1e-6
    assert np.abs(torques(tree, asked)).max() < 1e-6


def test_a_body_that_hangs_still_asks_for_its_weight() -> None:
    tree = load("unitree_g1_29").tree
    assert tree is not None
    place = np.tile([0.0, 0, 2, 1, 0, 0, 0], (40, 1))
    asked = motion(tree, np.zeros((40, 29)), place, 50.0)
    np.testing.assert_allclose(asked.wrench(asked.centre)[:, 2], np.nansum(tree.mass) * GRAVITY, rtol=1e-9)


def test_jitter_becomes_as_much_acceleration_as_is_said() -> None:
    rng = np.random.default_rng(2)
    for rate in (50.0, 200.0):
        x = smooth(rng.normal(0, 1e-3, (20000, 1)), rate)
        seen = np.diff(x, 2, axis=0).std() * rate**2 / GRAVITY
        assert seen == pytest.approx(fall(1e-3, rate), rel=0.35)


def test_masses_are_known_of_the_g1_and_not_of_a_body_of_limits() -> None:
    from dataclasses import replace

    tree = load("unitree_g1_29").tree
    assert tree is not None
    assert mass_known(tree)
    blank = tree.mass.copy()
    blank[tree.index("left_ankle_roll_link")] = np.nan
    assert not mass_known(replace(tree, mass=blank))
