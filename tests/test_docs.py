"""Generated pages are in step with the code, and what README and the guide tell people to type works."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from assay import plugs
from assay.cli import app
from assay.docs import pages, write_pages
from assay.inject import parse_defect
from assay.profile import load_profile
from assay.sheet_file import parse_sheet

REPO = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """All pages, made anew."""
    return pages(REPO)


def test_generated_pages_are_in_step(generated: dict[str, str]) -> None:
    stale = [name for name, text in generated.items() if not same(REPO / name, text)]
    assert not stale, "run make docs and commit the pages"
    there = {str(p.relative_to(REPO)) for p in (REPO / "docs/gates").glob("*.md")}
    assert there <= set(generated), "pages that nothing generates"


def same(path: Path, text: str) -> bool:
    """Whether a page is there as it should be."""
    return path.is_file() and path.read_text("utf-8") == text


def test_every_gate_reader_and_command_has_its_page(generated: dict[str, str]) -> None:
    for code in plugs.gates():
        assert f"docs/gates/{code}.md" in generated
    for name in plugs.readers():
        assert f"## {name} " in generated["docs/readers.md"]
    for name in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        assert f"\n## assay {name}\n" in generated["docs/cli.md"]


def test_stale_and_orphaned_pages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.docs.run_cases", lambda gates: ())  # which takes long, and is tested above
    assert write_pages(tmp_path, check=False) == []
    assert write_pages(tmp_path, check=True) == []
    (tmp_path / "docs/cli.md").write_text("old")
    (tmp_path / "docs/gates/XXX999.md").write_text("old")
    assert write_pages(tmp_path, check=True) == ["docs/cli.md", "docs/gates/XXX999.md"]
    write_pages(tmp_path, check=False)
    assert not (tmp_path / "docs/gates/XXX999.md").exists()


# ------------------------------------------------------------------------------------ written by people


def blocks(name: str, language: str) -> list[str]:
    """Fenced blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", (REPO / name).read_text("utf-8"), re.M | re.S)


def typed() -> list[str]:
    """Commands that README and the guide tell people to type."""
    text = "".join((REPO / name).read_text("utf-8") for name in ("README.md", "docs/guide.md"))
    inline = re.findall(r"`(assay [^`]+)`", text)
    blocked = [
        line for block in blocks("README.md", "") for line in block.splitlines() if "bin/assay" in line
    ]
    return [*inline, *(line[line.index("assay ") :] for line in blocked)]


@pytest.mark.parametrize("command", sorted(set(typed())))
def test_commands_in_the_text_exist_with_their_options(command: str) -> None:
    _, name, *rest = shlex.split(command)
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
    assert {word for word in rest if word.startswith("--")} <= options
    for word in rest:
        if "=" in word:
            parse_defect(word)  # raises for a defect that is not there


def test_linked_pages_are_there() -> None:
    for name in ("README.md", "docs/guide.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", (REPO / name).read_text("utf-8")):
            assert (REPO / name).parent.joinpath(target).exists(), f"{name} links to {target}"


def test_the_guides_sheet_and_profile_are_valid(tmp_path: Path) -> None:
    sheet, clips, clocks, profile = blocks("docs/guide.md", "toml")
    assert parse_sheet(sheet, "guide")["kind"] == "teleoperation"
    assert parse_sheet(clips, "guide")["parts/human/fps"] == 30
    assert parse_sheet(clocks, "guide")["sync"] == "clap"
    (tmp_path / "p.toml").write_text(profile)
    assert load_profile(tmp_path / "p.toml").name == "our-intake"


def test_make_targets_in_the_text_exist() -> None:
    text = (REPO / "README.md").read_text("utf-8") + (REPO / "docs/guide.md").read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):", (REPO / "Makefile").read_text("utf-8"), re.M)
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.M)) <= set(targets)
