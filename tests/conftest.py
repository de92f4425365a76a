"""What every test may use: real files where they are, and property tests that repeat exactly."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

REPO = Path(__file__).resolve().parent.parent

settings.register_profile("assay", derandomize=True, deadline=None)
settings.load_profile("assay")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files: $ASSAY_DATA, or ../shared/data beside the repository; skips where absent."""
    named = os.environ.get("ASSAY_DATA")
    folder = Path(named) if named else REPO.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here: real-data tests skipped")
    return folder
