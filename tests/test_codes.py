"""Codes are given out once: every gate has the code and name of the register, or one from the free range."""

import tomllib
from importlib.resources import files

import pytest

from assay import plugs
from assay.gate import Gate

REGISTER = tomllib.loads(files("assay.gates").joinpath("CODES.toml").read_text("utf-8"))
CODES, FREE = REGISTER["codes"], REGISTER["free"]


def lawful(code: str, name: str) -> bool:
    """Whether a gate may have this code and name."""
    family, number = code[:3], int(code[3:])
    free = FREE[0] <= number <= FREE[1]
    return CODES.get(code) == name or (free and family in REGISTER["families"])


@pytest.mark.parametrize("gate", plugs.gates().values(), ids=lambda g: g.code)
def test_gate_has_its_registered_name(gate: Gate) -> None:
    assert lawful(gate.code, gate.name)
    assert gate.module.split(".")[-1] == f"{gate.code.lower()}_{gate.name.replace('-', '_')}"


def test_register_is_consistent() -> None:
    assert len(set(CODES.values())) == len(CODES)
    assert {code[:3] for code in CODES} == set(REGISTER["families"])
    assert not any(FREE[0] <= int(code[3:]) <= FREE[1] for code in CODES)


@pytest.mark.parametrize(
    ("code", "name", "fits"),
    [("RTG001", "joint-limit-violation", True), ("RTG001", "mine", False), ("RTG014", "mine", False),
     ("RTG900", "mine", True), ("XYZ900", "mine", False)],
)  # fmt: skip
def test_register_refuses(code: str, name: str, fits: bool) -> None:
    assert lawful(code, name) is fits
