"""What to type for an optional library, however Assay was installed."""

import json
from types import SimpleNamespace

import pytest

from assay import extras
from assay.extras import install_line

INDEX = 'pip install "assay[ros]"'


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (None, INDEX),
        ({"url": "https://example.org/assay.whl", "archive_info": {}}, INDEX),
        (
            {"dir_info": {"editable": True}},
            'pip install -e ".[ros]" in the clone of Assay',
        ),
        ({"dir_info": {}}, 'pip install ".[ros]" in the clone of Assay'),
        ([], INDEX),
    ],
)
def test_the_line_fits_how_assay_was_installed_and_names_no_place(
    monkeypatch: pytest.MonkeyPatch, record: object, line: str
) -> None:
    text = None if record is None else json.dumps(record)
    monkeypatch.setattr(extras, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert install_line("ros") == line


def test_a_clone_that_nobody_installed_is_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> None:
        raise extras.PackageNotFoundError

    monkeypatch.setattr(extras, "distribution", absent)
    assert install_line("physics").startswith('pip install -e ".[physics]"')
