"""What every test may use: real files where they are, and property tests that repeat exactly."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPO = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

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


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The system's Chromium, driven without a window; skips where there is none."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is here: browser tests skipped")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
