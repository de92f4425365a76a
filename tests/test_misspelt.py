"""What a misspelt name was meant to be."""

import pytest

from assay.embodiment import cards
from assay.misspelt import meant


@pytest.mark.parametrize(
    ("found", "known", "asked"),
    [
        ("grond", ("ground", "gripper", "fps"), "did you mean ground?"),
        ("Rad", ("rad", "deg"), "did you mean rad?"),
        ("radian", ("rad", "deg"), "did you mean rad?"),
        ("ntp", ("ptp", "clap"), None),
        ("colour", ("ground",), None),
        ("unitree_h2", cards(), "did you mean unitree_h1?"),
        ("unitree_g1", cards(), "did you mean unitree_g1_23 or unitree_g1_23_asap or unitree_g1_29?"),
        ("x", (), None),
    ],
)
def test_only_near_names_are_asked_for(found: str, known: tuple[str, ...], asked: str | None) -> None:
    assert meant(found, known) == asked
    assert meant(found, known, "see docs") == (f"{asked} see docs" if asked else "see docs")
