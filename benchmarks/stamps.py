"""What the gates of time cost on stamps, beside reading the same columns: ``python benchmarks/stamps.py``.

Processor time of one thread, microseconds per row of the joints, best of several runs. *rig*: joints, their
command and two cameras at 30 Hz, each with a sensor's clock of its own and the log's stamps besides, so that
a row holds four frames and eight stamps; *table*: the same streams with one stamp a row, as a table has.
Nothing is decoded. Aim: 5 us per frame for the gates together. The hand's speed, which the table
of timings multiplies lags by, is kinematics and stands apart.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.model import Clock, Episode
from assay.synth.episodes import teleop

SECONDS: Final = (10.0, 60.0, 600.0)
FEATURES: Final = ("ticks", "held", "apart", "outside")
GATES: Final = ("SYN002", "SYN004", "SYN005", "SYN006")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--json", action="store_true")
    found = [measure(recorded(seconds)) for seconds in SECONDS]
    table = [together(teleop(seconds, 30, clock=Clock.SENSOR, cameras=2)) for seconds in SECONDS]
    if options.parse_args().json:
        print(json.dumps({"rig": found, "table": table}))
        return
    print(f"{'rig, microseconds per row':<34}" + "".join(f"{f['frames']:>9,}" for f in found) + "  rows")
    for name in found[0]["each"]:
        print(f"  {name:<32}" + "".join(f"{f['each'][name]:>9.2f}" for f in found))
    for name in ("together", "reading", "hand_speed"):
        print(f"{name.replace('_', ' '):<34}" + "".join(f"{f[name]:>9.2f}" for f in found))
    frames = [f["together"] / 4 for f in found]
    print(f"{'rig, together, per frame (aim 5)':<34}" + "".join(f"{v:>9.2f}" for v in frames))
    print(f"{'table, together, per row (aim 5)':<34}" + "".join(f"{v:>9.2f}" for v in table))


def recorded(seconds: float) -> Episode:
    """Joints, command and two cameras, each with a clock of its own and the recorder's."""
    ep = teleop(seconds, 30, clock=Clock.SENSOR, cameras=2)
    for i, stream in enumerate(ep.streams):
        rng = np.random.default_rng(i)
        t = np.sort(stream.t + rng.normal(0, 2e5, len(stream)).astype(np.int64))
        logged = t + np.rint(rng.exponential(4e6, len(t)) + 1e6).astype(np.int64)
        ep = ep.with_stream(replace(stream, t=t, stamps={Clock.LOG: logged}))
    return ep


def together(ep: Episode) -> float:
    """Microseconds per row of all gates with what they need."""
    rows = len(ep.streams[0])
    return _best(lambda: _all(ep), max(5, min(60, 60_000 // rows))) / rows


def measure(ep: Episode) -> dict[str, Any]:
    """Microseconds per row of each feature and gate, of all together, and of reading the columns."""
    frames = len(ep.streams[0])
    repeats = max(5, min(60, 60_000 // frames))
    each: dict[str, float] = {}
    ready = _features(ep)
    for name in FEATURES:
        wanted = plugs.features()[name]
        needs = [ready.get(n) for n in wanted.needs]
        each[name] = _best(lambda f=wanted, n=needs: f.compute(ep, *n), repeats) / frames
        ready.get(name)
    for code in GATES:
        gate = plugs.gates()[code]
        each[code] = _best(lambda g=gate: examine(g, ready, g.params(), ep.id), repeats) / frames
    timing = plugs.features()["timing"]
    needs = [ready.get(n) for n in timing.needs]
    return {
        "frames": frames, "each": each, "together": together(ep),
        "reading": _reading(ep, repeats) / frames,
        "hand_speed": _best(lambda: timing.compute(ep, *needs), repeats) / frames,
    }  # fmt: skip


def _features(ep: Episode) -> Features:
    """Without pictures, claps and content, and without the body that a hand's speed needs."""
    given = {"pictures": None, "containers": {}, "freshness": {}, "claps": None, "content": None}
    features = Features(ep, plugs.features(), {}, {**given, "pairs": (), "poses": None})
    features.get("timing")
    poses = Features(ep, plugs.features()).get("poses")
    features.values["poses"] = poses
    return features


def _all(ep: Episode) -> None:
    given = {"pictures": None, "containers": {}, "freshness": {}, "claps": None, "content": None}
    features = Features(ep, plugs.features(), {}, {**given, "pairs": (), "poses": None})
    for code in GATES:
        gate = plugs.gates()[code]
        examine(gate, features, gate.params(), ep.id)


def _reading(ep: Episode, repeats: int) -> float:
    """The joints, the command and every stamp from one parquet file."""
    columns: dict[str, Any] = {}
    for s in ep.streams:
        if s.x.size:
            flat = np.ascontiguousarray(s.x, np.float32)
            columns[s.name] = pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), flat.shape[1])
        for name, t in (("t", s.t), *((str(c), t) for c, t in s.stamps.items())):
            columns[f"{s.name}.{name}"] = pa.array(t)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "episode.parquet")
        pq.write_table(pa.table(columns), path)
        return _best(lambda: pq.read_table(path, use_threads=False), repeats)


def _best(call: Callable[[], object], repeats: int) -> float:
    """Microseconds of processor time of the quickest call."""
    call()
    quickest = np.inf
    for _ in range(repeats):
        start = time.process_time_ns()
        call()
        quickest = min(quickest, time.process_time_ns() - start)
    return float(quickest) / 1e3


if __name__ == "__main__":
    main()
