"""The benchmark of seven defects, built from the real set: the defect is there and nothing else changed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from assay.corpus import discover
from assay.inject import load
from assay.synth.movies import look
from assay.synth.takes import column

REPO = Path(__file__).resolve().parent.parent
CAMERA = "observation.images.cam_high"
LAYOUTS = ("v21", "v30")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("seven_defects", REPO / "tools/seven_defects.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["seven_defects"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(real_data: Path, tool: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("seven")
    tool.build(real_data / "lerobot/g1_inspire_teleop_v21_video", to, [v for v in tool.VARIANTS if v != "c3"])
    return to


def takes(folder: Path) -> list[dict[str, np.ndarray]]:
    data, ids = load(discover(folder))
    assert ids == tuple(f"episode_{i:06d}" for i in range(10))
    names = ("observation.state", "action", "timestamp", "index")
    return [{n: column(t.rows, n) for n in names} for t in data.takes]


@pytest.mark.real
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows(built: Path, layout: str) -> None:
    base = takes(built / f"base_{layout}")
    assert sum(len(t["index"]) for t in base) == 3441
    for variant in ("d1", "d2", "d3", "d4", "d5", "d6", "d6b"):
        made = takes(built / f"{variant}_{layout}")
        changed = {
            i for i, (a, b) in enumerate(zip(base, made, strict=True))
            for n in ("observation.state", "action", "timestamp") if not np.array_equal(a[n], b[n])
        }  # fmt: skip
        assert changed == (set() if variant.startswith("d6") else {3})
        assert np.array_equal(
            np.concatenate([t["index"] for t in made]), np.arange(sum(len(t["index"]) for t in made))
        )
        old, new = base[3], made[3]
        if variant == "d1":
            assert new["timestamp"][-1] / old["timestamp"][-1] == pytest.approx(1.002, abs=1e-6)
        if variant == "d2":
            assert (new["observation.state"][:, 10] == np.float32(2.0944)).sum() == 12
        if variant == "d3":
            assert np.array_equal(new["observation.state"], old["observation.state"][3:])
            assert np.array_equal(new["timestamp"], old["timestamp"][:-3])
        if variant == "d4":
            assert np.isnan(new["observation.state"]).sum() == 30
        if variant == "d5":
            assert np.all(np.diff(new["observation.state"], axis=0) == 0, axis=1).sum() == 29


@pytest.mark.real
def test_videos(built: Path) -> None:
    whole = (built / f"base_v21/videos/chunk-000/{CAMERA}/episode_000003.mp4").read_bytes()
    cut = (built / f"d6_v21/videos/chunk-000/{CAMERA}/episode_000003.mp4").read_bytes()
    assert cut == whole[: int(0.6 * len(whole))]
    counts = {"base": [3441], "d3": [3438], "d6": [1092, None, 1998], "d6b": [1092, 281, 1998]}
    for variant, wanted in counts.items():
        files = sorted((built / f"{variant}_v30").rglob("*.mp4"))
        tracks = [look(f) for f in files]
        assert [None if t is None else t.count for t in tracks] == wanted
        assert {t.codec for t in tracks if t is not None} == {"av1"}
    short = look(built / f"d6b_v21/videos/chunk-000/{CAMERA}/episode_000003.mp4")
    assert short is not None
    assert short.count == 281


@pytest.mark.real
@pytest.mark.parametrize("layout", LAYOUTS)
def test_metadata_agrees_with_the_files(built: Path, layout: str) -> None:
    for variant in ("base", "d3", "d6", "d6b"):
        claims = discover(built / f"{variant}_{layout}").listing.claims
        assert [c for c in claims if c.size != 0] == []
