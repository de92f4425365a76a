"""Features: the robot's hands and, beside them on one clock, those of the human that it follows.

And the Statistic that learns, over the clips of one subject and one robot, how the two map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Hand, Tree
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import rotate
from assay.feature import feature, statistic
from assay.model import Clock, Episode, Role, Stream
from assay.signals.contact import Contact
from assay.signals.feet import length, noise, stamps
from assay.signals.hand_map import OFFSETS, fit_fingers, fit_hands, fit_reach
from assay.signals.placing import placed
from assay.signals.posture import Poses, recorded
from assay.signals.reach import Grip, Grips, Sources, finger_gram, gram, size
from assay.signals.segmentation import resample

__all__ = ["grips", "group_of", "hand_map", "source_hands"]

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]

SIDES: Final = ("left", "right")
FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")
TOUCHING: Final = ("hand", "wrist", "palm", *FINGERS)
LEAST: Final = 0.03
"""m; a part of the arm shorter than this has no direction to speak of."""
NEAR_AXIS: Final = 0.97
"""Cosine of 14 degrees: a forearm this near to an axis of its link's frame lies along it."""
FEWEST: Final = 30
"""Frames of both hands and of contact below which a clip teaches nothing."""

_JOINTS: Final = {
    "wrist": ("wrist", "hand"),
    "elbow": ("elbow", "fore_arm", "lower_arm", "forearm"),
    "shoulder": ("arm", "upper_arm", "shoulder"),  # where an arm is named so, the shoulder is a collar
    "knuckle": ("middle1", "hand_middle1", "middle_1", "hand"),
}
_ROOT: Final = ("pelvis", "hips", "hip", "root")


@feature(reads=(Role.OBJECT_POSE,))
def grips(ep: Episode, poses: Poses | None) -> Grips | None:
    """The robot's hands in its world, see `Grips`; None without times, a base or a body with arms."""
    body = ep.embodiment
    if poses is None or body is None or not poses.timed or not poses.world or poses.trunk is None:
        return None
    assert poses.place is not None
    found: dict[str, Grip] = {}
    for hand in body.hands:
        p, quat = poses.world[hand.link]
        axis = rotate(quat, np.broadcast_to(_axis(body, hand), p.shape))
        found[hand.side or "left"] = Grip(p, quat, axis, _tips(poses, hand))
    part = poses.stream.rpartition("/")[0]
    own = [s for s in ep.by_role(Role.OBJECT_POSE) if s.name.rpartition("/")[0] == part]
    things = [x for s in own if (x := _place(s)) is not None and len(x) == len(poses.t)]
    thing = things[0] if len(things) == 1 else None  # of several objects nobody says which is held
    return Grips(found, poses.place[:, :3], poses.trunk, thing)


@feature(reads=(Role.HUMAN_BODY, Role.OBJECT_POSE, Role.EVENT))
def source_hands(ep: Episode, poses: Poses | None, contact: Sequence[Contact]) -> Sources | None:
    """The human's arms on the robot's clock, see `Sources`; None without a source whose wrists are known.

    None too where nobody says how the two clocks relate (see `assay.signals.placing.placed`). Between the
    source's samples places are interpolated. Touch is what the source's own labels say, else `contact`.
    """
    if poses is None or not poses.timed:
        return None
    for stream in ep.by_role(Role.HUMAN_BODY):
        names = {_spelt(n.rpartition(".")[0]): n.rpartition(".")[0] for n in stream.names}
        root = next((names[r] for r in _ROOT if r in names), None)
        arms = {k: {s: _named(names, s, k) for s in SIDES} for k in _JOINTS}
        at = _clock(ep, stream, poses) if _usable(stream) else None
        if (
            at is None
            or root is None
            or not all(arms["wrist"].values())
            or not all(arms["shoulder"].values())
        ):
            continue
        return _sources(ep, poses, contact, stream, at, root, arms, names)
    return None


def _sources(
    ep: Episode, poses: Poses, contact: Sequence[Contact], stream: Stream, at: NDArray[np.int64], root: str,
    arms: Mapping[str, Mapping[str, str | None]], names: Mapping[str, str],
) -> Sources:  # fmt: skip
    ends = {s: {f: tip for f in FINGERS if (tip := _tip(names, s, f)) is not None} for s in SIDES}
    wanted = [root, *(j for sides in (*arms.values(), *ends.values()) for j in sides.values())]
    raw, known = _places(stream, [j for j in dict.fromkeys(wanted) if j is not None])
    laid = resample(at, raw.reshape(len(raw), -1), poses.t).reshape(len(poses.t), -1, 3)
    place = {joint: np.ascontiguousarray(laid[:, i]) for i, joint in enumerate(known)}
    none = np.full((len(poses.t), 3), np.nan)
    limbs = {k: {s: place.get(j or "", none) for s, j in sides.items()} for k, sides in arms.items()}
    tips = {s: {f: place[tip] for f, tip in mine.items() if tip in place} for s, mine in ends.items()}
    wrists = [raw[:, known.index(w)] for w in arms["wrist"].values() if w in known]
    part = stream.name.rpartition("/")[0]
    beside = [s for s in ep.streams if part and s.name.rpartition("/")[0] == part and len(s) == len(at)]
    things = [x for s in beside if s.role is Role.OBJECT_POSE and (x := _place(s)) is not None]
    thing = resample(at, things[0], poses.t) if len(things) == 1 else None
    touch = {s: _touch(s, contact, [b for b in beside if b.role is Role.EVENT], at, poses.t) for s in SIDES}
    return Sources(
        stream.name, place.get(root, none),
        limbs["shoulder"], limbs["elbow"], limbs["wrist"], limbs["knuckle"], tips,
        {s: f for s, f in touch.items() if f is not None}, thing,
        float(ep.meta.get(f"noise/{stream.name}") or 0.0),
        max(*(_jitter(x) for x in wrists), *(_wobble(limbs, s) for s in SIDES)),
    )  # fmt: skip


def group_of(ep: Episode) -> str:
    """Whose map an episode is judged by: the subject, where the sheet names the operator, and the robot."""
    body = ep.embodiment.name if ep.embodiment is not None else ""
    return f"{ep.meta.get('operator') or 'any subject'} on {body}"


def _fit(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Subject and robot → the map fitted over its clips, and how its objects are held."""
    groups: dict[str, Any] = {}
    for name in sorted({row["group"] for row in rows}):
        mine = [row for row in rows if row["group"] == name]
        hands = [h for row in mine for h in row["hands"]]
        model: dict[str, Any] = {"map": None, "held": fit_reach([h for row in mine for h in row["held"]])}
        sizes = [row["size"] for row in mine if np.isfinite(row["size"]).all()]
        model["size"] = np.median(sizes, axis=0).tolist() if sizes else []
        if hands:
            grams, means = (np.array([h[key] for h in hands]) for key in ("gram", "mean"))
            model["map"] = fit_hands(grams, means, sum(bool(row["hands"]) for row in mine))
            fingers: dict[str, list[Floats]] = {}
            for f, products in (item for h in hands for item in h["fingers"].items()):
                fingers.setdefault(f, []).append(np.array(products))
            model["map"]["fingers"] = fit_fingers(fingers)
        groups[name] = model
    return groups


@statistic(_fit, version=2)
def hand_map(ep: Episode, grips: Grips | None, source_hands: Sources | None) -> Mapping[str, Any] | None:
    """How the hands of one subject map to those of one robot, see `assay.signals.reach`.

    Learnt from every clip with a human source: the scales of body, trunk and arm, the offset from wrist to
    grip, a rise, and for each finger its scale and tip. A clip whose robot moves an object teaches only how
    far from it hands are held: objects keep their size, and a correct retarget misses the scaled hand there.
    Beside it: how large the human's trunk is, by which a source of another size is known. Source: METHODS 2;
    REAL-CLIPS (frozen scales and one constant along the forearm held up best).
    """
    if grips is None or source_hands is None:
        return None
    held = grips.thing is not None
    hands, kept = [], []
    for side in (s for s in SIDES if s in grips.hands):
        if held:
            kept.append(_held(grips, source_hands, side))
            continue
        products, mean = gram(source_hands, grips, side)
        if not np.isfinite(products).all():
            continue
        fingers = {
            f"{side} {f}": g.tolist()
            for f in source_hands.tips.get(side, {})
            if f in grips.hands[side].tips
            and np.isfinite(g := finger_gram(source_hands, grips, side, f)[0]).all()
        }
        hands.append({"gram": products.tolist(), "mean": mean.tolist(), "fingers": fingers})
    if not hands and not kept:
        return None
    return {"group": group_of(ep), "hands": hands, "held": kept, "size": list(size(source_hands))}


def _held(grips: Grips, source: Sources, side: str) -> list[float]:
    """Mean error of the hand's distance to the object while it touches, at each of `OFFSETS`, m."""
    hand, touch = grips.hands[side], source.touch.get(side)
    if grips.thing is None or source.thing is None or touch is None:
        return [float("nan")] * len(OFFSETS)
    wanted = length(source.wrist[side] - source.thing)
    use = (touch == 1) & np.isfinite(wanted) & np.isfinite(hand.p).all(axis=1)
    if np.count_nonzero(use) < FEWEST:
        return [float("nan")] * len(OFFSETS)
    grip = hand.p[use, None] + OFFSETS[:, None] * hand.axis[use, None]
    apart = length(grip - grips.thing[use, None])
    return np.abs(apart - wanted[use, None]).mean(axis=0).tolist()  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------- robot


@lru_cache(maxsize=32)
def _axis(body: Embodiment, hand: Hand) -> Floats:
    """(3,) unit vector in the hand link's frame along the forearm, towards what hangs on it at rest."""
    tree = body.tree
    assert tree is not None
    beyond = _seen_from(tree, hand.link, hand.ends)
    if len(beyond) and np.linalg.norm(beyond.mean(axis=0)) >= LEAST:
        way = beyond.mean(axis=0)
    else:
        above = tree.ancestors(np.array([tree.index(hand.link)]))[-2::-1]
        before = _seen_from(tree, hand.link, [tree.links[i] for i in above])
        way = next((-p for p in before if np.linalg.norm(p) >= LEAST), np.array([1.0, 0.0, 0.0]))
    way = way / np.linalg.norm(way)
    # Links are drawn along an axis of their frame, from which joints and palms lie some millimetres off.
    drawn = np.sign(way) * (np.abs(way) == np.abs(way).max())
    return np.asarray(drawn if way @ drawn >= NEAR_AXIS else way)


def _seen_from(tree: Tree, link: str, others: Sequence[str]) -> Floats:
    """Places (k, 3) m of other links in one link's frame, all joints at zero."""
    p, quat = link_poses(tree, np.zeros((1, len(tree.joints))), links=[link, *others])
    back = quat[0, 0] * np.array([1.0, -1.0, -1.0, -1.0])
    return rotate(np.broadcast_to(back, (len(others), 4)), p[0, 1:] - p[0, 0])


def _tips(poses: Poses, hand: Hand) -> dict[str, tuple[Floats, Floats]]:
    """Finger → pose of its last link in the world, as far as its joints are recorded."""
    assert poses.place is not None
    named = {f: end for end in hand.ends if (f := _finger(end)) and recorded(poses.tree, end, poses.known)}
    if not named:
        return {}
    p, quat = link_poses(poses.tree, poses.q, poses.place[:, :3], poses.place[:, 3:], list(named.values()))
    return {f: (p[:, i], quat[:, i]) for i, f in enumerate(named)}


def _finger(name: str) -> str:
    words = re.split(r"[^a-z]+", _spelt(name))
    return next((f for f in FINGERS if f in words or (f == "pinky" and "little" in words)), "")


# ------------------------------------------------------------------------------------------------- human


def _spelt(name: str) -> str:
    """``LeftForeArm`` and ``left_fore_arm`` alike."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")


def _named(names: Mapping[str, str], side: str, kind: str) -> str | None:
    words = (f"{s}_{w}" for w in _JOINTS[kind] for s in (side, side[0]))
    return next((names[w] for w in words if w in names), None)


def _tip(names: Mapping[str, str], side: str, finger: str) -> str | None:
    """The joint of a finger that is furthest out: its tip, else the one with the highest number."""
    mine = [
        n for n in names if _finger(re.sub(r"\d", "", n)) == finger and n.startswith((side, f"{side[0]}_"))
    ]
    return names[max(mine, key=lambda n: ("tip" in n or "end" in n, n))] if mine else None


def _usable(stream: Stream) -> bool:
    known = not stream.frame.startswith(("unresolved", "local")) and len(stream) > 2
    return known and all(c.unit == "m" for c in stream.channels)


def _clock(ep: Episode, stream: Stream, poses: Poses) -> NDArray[np.int64] | None:
    rate = float(stream.rate) if stream.rate else None
    t = stamps(stream.t, rate, nominal=stream.clock is Clock.NOMINAL)
    return None if t is None else placed(ep, stream, t, poses.t)


def _places(stream: Stream, joints: Sequence[str]) -> tuple[Floats, list[str]]:
    """(m, k, 3) m of those joints that have all three coordinates, and which these are."""
    columns = {name: i for i, name in enumerate(stream.names)}
    known = [j for j in joints if all(f"{j}.{e}" in columns for e in "xyz")]
    x = np.asarray(stream.x[:, [columns[f"{j}.{e}"] for j in known for e in "xyz"]], np.float64)
    if stream.valid is not None:
        x = np.where(stream.valid[:, None], x, np.nan)
    return x.reshape(len(x), len(known), 3), known


def _place(stream: Stream) -> Floats | None:
    at = {c.name: i for i, c in enumerate(stream.channels) if c.unit == "m"}
    if stream.frame.startswith("unresolved") or not {*"xyz"} <= at.keys():
        return None
    x = np.array(stream.x[:, [at[e] for e in "xyz"]], np.float64)
    if stream.valid is not None:
        x[~stream.valid] = np.nan
    return x


def _touch(
    side: str, contact: Sequence[Contact], labels: Sequence[Stream], at: NDArray[np.int64],
    on: NDArray[np.int64],
) -> Flags | None:  # fmt: skip
    """(n,) whether a hand touches something: by the source's labels, else by what the robot has."""
    for stream in labels:
        words = [_spelt(n) for n in stream.names]
        use = [i for i, n in enumerate(words) if n.startswith(side) and "contact" in n
               and any(w in n for w in TOUCHING)]  # fmt: skip
        if use:
            x = resample(at, np.asarray(stream.x[:, use], np.float64), on).max(axis=1)
            return np.where(np.isnan(x), -1, np.where(x > 0.5, 1, 0)).astype(np.int8)
    mine = [c.state for c in contact if c.side in (side, "") and len(c.t) == len(on)]
    return np.max(mine, axis=0).astype(np.int8) if mine else None


def _jitter(wrist: Floats) -> float:
    """White jitter of a wrist (m, 3) in m, in the slower half of its motion; 0 where nothing tells."""
    slow = np.concatenate(([np.nan], length(np.diff(wrist, axis=0))))
    if not np.isfinite(slow).any():
        return 0.0
    return float(np.nan_to_num(noise(wrist, slow <= np.nanmedian(slow))))


def _wobble(limbs: Mapping[str, Mapping[str, Floats]], side: str) -> float:
    """Standard deviation of an arm's bones, m: what is fitted joint by joint does not keep their lengths."""
    found = [length(limbs[a][side] - limbs[b][side]) for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))]
    spread = [float(np.nanstd(x)) for x in found if np.isfinite(x).any()]
    return max(spread, default=0.0)
