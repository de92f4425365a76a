"""The shape of src/assay, held by reading its sources: tiers, import direction, names, output and sizes.

Every check takes modules and returns sentences, so that each is also shown to fail on a small made-up tree.
"""

import ast
import math
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parent.parent / "src"

# Lowest first. A new module directly under assay is declared here, in the tier it belongs to.
TIERS = {
    "base": {
        *{"errors", "units", "model", "inside", "sheet", "sheet_file", "embodiment", "signals", "media"},
        *{"unpickle", "arrays", "torch_archive", "motion", "recording", "hdf5", "packets", "extras"},
        *{"misspelt", "amiss"},
    },
    "contracts": {
        "feature",
        "gate",
        "counts",
        "judge",
        "examine",
        "cases",
        "reader",
        "synth",
        "plugs",
        "unmet",
    },
    "plugs": {"features", "gates", "readers"},
    "decide": {
        *{"corpus", "calibrate", "plan", "store", "engine", "profile", "audit", "transfer", "accept"},
        *{"record", "inject", "tables", "parts", "tally", "rejudge", "inspection", "attribution"},
        *{"proposal", "remedy", "unmatched"},
    },
    "present": {"cli", "terminal", "report", "view", "export", "docs"},
}
TOP = {"", "__init__", "__main__"}  # assay itself and `python -m assay` may import everything
VAGUE = {"util", "utils", "core", "base", "common", "helper", "helpers", "misc"} | {
    *{"manager", "managers", "factory", "factories", "service", "services"},
}
HEAVY = {"av", "numba", "pyarrow", "scipy", "jinja2", "rich", "typer", "pydantic", "click"}
ECHOING = {"print", "sys.stdout", "sys.stderr", "Console", "rich.print", "rich.console.Console"} | {
    *{"typer.echo", "typer.secho", "click.echo", "click.secho", "pprint.pprint"},
}
FILE_P90, FILE_MOST = 300, 500
FUNCTION_P90, FUNCTION_MOST = 25, 60
ENOUGH = 40  # with fewer, the 90th percentile is set by three or four files
IMPORT_SECONDS = 0.3
REASON = re.compile(r"#\s*long:\s*\S+")


# ---------------------------------------------------------------------------------------------- reading


def below(name: str) -> str:
    """The part of a dotted name right below assay; empty for assay itself."""
    return [*name.split("."), ""][1]


@dataclass(frozen=True)
class Module:
    """One source file, by its dotted name (a package is named without __init__)."""

    name: str
    path: Path
    lines: list[str]
    tree: ast.Module

    @property
    def top(self) -> str:
        """The part right below assay, which decides the tier."""
        return below(self.name)


@dataclass(frozen=True)
class Import:
    """One module of assay named by an import statement; at_start tells whether importing the file runs it."""

    target: str
    line: int
    at_start: bool


def read(src: Path) -> list[Module]:
    """All modules of assay under src."""
    found = []
    for path in sorted((src / "assay").rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, path, text.splitlines(), ast.parse(text, str(path))))
    return found


def statements(node: ast.AST, at_start: bool = True) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import statement, with whether it runs when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_start
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from statements(child, at_start=False)
        elif isinstance(child, ast.If) and dotted(child.test).endswith("TYPE_CHECKING"):
            for part in child.body:
                yield from statements(ast.Module([part], []), at_start=False)
            for part in child.orelse:
                yield from statements(ast.Module([part], []), at_start)
        else:
            yield from statements(child, at_start)


def imports(module: Module, names: set[str]) -> list[Import]:
    """The modules of assay that one module imports; `from assay import x` means assay.x if that is one."""
    found = []
    for node, at_start in statements(module.tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            origin = absolute(node, module)
            whole = [f"{origin}.{alias.name}" for alias in node.names]
            targets = [name if name in names else origin for name in whole]
        mine = {name for name in targets if name.split(".")[0] == "assay"}
        found += [Import(name, node.lineno, at_start) for name in sorted(mine)]
    return found


def absolute(node: ast.ImportFrom, module: Module) -> str:
    """The module named after `from`, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    up = node.level - (1 if module.path.name == "__init__.py" else 0)
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def at(module: Module, line: int) -> str:
    """Where, for a sentence."""
    return f"{module.path}:{line}"


def tier(top: str) -> int | None:
    """The height of a module right below assay; None where no tier has it."""
    if top in TOP:
        return len(TIERS)
    return next((height for height, names in enumerate(TIERS.values()) if top in names), None)


# ----------------------------------------------------------------------------------------------- checks


def unplaced(modules: list[Module]) -> list[str]:
    """Modules that no tier has."""
    tops = sorted({module.top for module in modules if tier(module.top) is None})
    return [f"assay.{top} is in no tier: declare it in TIERS of tests/test_architecture.py" for top in tops]


def upward(modules: list[Module]) -> list[str]:
    """Imports that go from a lower tier to a higher one."""
    names = {module.name for module in modules}
    titles = [*TIERS, "top"]
    found = []
    for module in modules:
        mine = tier(module.top)
        for one in imports(module, names):
            theirs = tier(below(one.target))
            if mine is not None and theirs is not None and theirs > mine:
                found.append(
                    f"{at(module, one.line)}: {module.name} ({titles[mine]}) imports {one.target} "
                    f"({titles[theirs]}), but imports go downwards only"
                )
    return found


def plug(name: str) -> str:
    """The plug a module belongs to: a gate is one file in a family, a feature or reader may be a package."""
    parts = name.split(".")
    if len(parts) < 3 or parts[1] not in TIERS["plugs"]:
        return ""
    return name if parts[1] == "gates" else ".".join(parts[:3])


def entangled(modules: list[Module]) -> list[str]:
    """Plugs that import a sibling, and gates or features that import a reader."""
    names = {module.name for module in modules}
    found = []
    for module in filter(lambda one: plug(one.name), modules):
        for one in imports(module, names):
            top = below(one.target)
            if top == module.top and plug(one.target) != plug(module.name):
                found.append(f"{at(module, one.line)}: a plug imports its sibling {one.target}")
            if top == "readers" and module.top in {"gates", "features"}:
                found.append(f"{at(module, one.line)}: {module.name} imports the reader {one.target}")
    return found


def cycles(modules: list[Module]) -> list[str]:
    """Rings of imports that run when a module is imported."""
    names = {module.name for module in modules}
    after = {
        module.name: {one.target for one in imports(module, names) if one.at_start} & names
        for module in modules
    }
    reach = {name: reachable(name, after) for name in after}
    rings = {
        frozenset({name} | {other for other in reach[name] if name in reach[other]})
        for name in after
        if name in reach[name]
    }
    return [f"these modules import each other in a ring: {', '.join(sorted(ring))}" for ring in rings]


def reachable(start: str, after: dict[str, set[str]]) -> set[str]:
    """Every node that can be reached from start in one step or more."""
    seen: set[str] = set()
    ahead = list(after[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += after[name]
    return seen


def vague(modules: list[Module]) -> list[str]:
    """Modules and packages whose name says nothing."""
    return [
        f"{module.path}: {part!r} says nothing about what is inside: name the thing"
        for module in modules
        for part in [module.name.split(".")[-1]]
        if VAGUE & set(part.split("_"))
    ]


def talking(modules: list[Module]) -> list[str]:
    """Output to the console outside cli.py."""
    found = []
    for module in modules:
        if module.top == "cli":
            continue
        for node in ast.walk(module.tree):
            named = dotted(node.func) if isinstance(node, ast.Call) else dotted(node)
            if named in ECHOING and (isinstance(node, ast.Call) or named.startswith("sys.")):
                found.append(f"{at(module, node.lineno)}: {named} is used, but only assay.cli may print")
    return found


def p90(numbers: list[int]) -> int:
    """The smallest of the numbers that at least 90 % do not exceed; 0 where there are too few."""
    return sorted(numbers)[math.ceil(0.9 * len(numbers)) - 1] if len(numbers) >= ENOUGH else 0


def long_files(modules: list[Module]) -> list[str]:
    """Files beyond the limits; the first line may carry `# long: <reason>`."""
    found = [
        f"{module.path} has {len(module.lines)} lines, more than {FILE_MOST}: split it by what it is about"
        for module in modules
        if len(module.lines) > FILE_MOST and not REASON.search(module.lines[0])
    ]
    usual = p90([len(module.lines) for module in modules])
    if usual > FILE_P90:
        found.append(f"the 90th percentile of file lengths is {usual} lines, more than {FILE_P90}")
    return found


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from def to its end, docstring left out."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node, clean=False) is None:
        return lines
    text = node.body[0]
    return lines - ((text.end_lineno or text.lineno) - text.lineno + 1)


def long_functions(modules: list[Module]) -> list[str]:
    """Functions beyond the limits; the def line may carry `# long: <reason>`."""
    lengths, found = [], []
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            lengths.append(length(node))
            if lengths[-1] > FUNCTION_MOST and not REASON.search(module.lines[node.lineno - 1]):
                found.append(
                    f"{at(module, node.lineno)}: {node.name} has {lengths[-1]} lines, more than "
                    f"{FUNCTION_MOST}: split it, or give the reason as `# long: <reason>` on the def line"
                )
    if p90(lengths) > FUNCTION_P90:
        found.append(f"the 90th percentile of function lengths is {p90(lengths)}, more than {FUNCTION_P90}")
    return found


def start(src: Path) -> tuple[float, set[str]]:
    """Seconds that `import assay` takes in a fresh interpreter, and which heavy libraries it loaded."""
    code = (
        f"import sys, time; sys.path.insert(0, {str(src)!r}); t = time.perf_counter(); import assay; "
        "s = time.perf_counter() - t; print(s, *{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *loaded = done.stdout.split()
    return float(seconds), HEAVY & set(loaded)


def slow_start(src: Path, rounds: int = 6) -> list[str]:
    """`import assay` that loads heavy libraries, or whose median of three is too slow in every round."""
    loaded = sorted(start(src)[1])
    found = [f"`import assay` loads {name}: import it where it is used" for name in loaded]
    quickest = math.inf
    for _ in range(rounds):
        quickest = min(quickest, statistics.median(start(src)[0] for _ in range(3)))
        if quickest <= IMPORT_SECONDS:
            return found
    return [*found, f"`import assay` takes {quickest:.2f} s, more than {IMPORT_SECONDS} s"]


# ------------------------------------------------------------------------------------------ on this tree

Check = Callable[[list[Module]], list[str]]
CHECKS: list[Check] = [unplaced, upward, entangled, cycles, vague, talking, long_files, long_functions]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_tree(check: Check) -> None:
    found = check(read(SRC))
    assert not found, "\n" + "\n".join(found)


def test_import_is_light() -> None:
    if not (SRC / "assay" / "__init__.py").exists():
        pytest.skip("src/assay/__init__.py is not here: `import assay` not measured")
    found = slow_start(SRC)
    assert not found, "\n" + "\n".join(found)


# ------------------------------------------------------------------------------- each check is able to fail

LINES = "x = 1\n"
BODY = "    x = 1\n"
CLEAN = {
    "__init__": "from assay.model import Episode\n",
    "__main__": "from assay.cli import main\n",
    "model": '"""Text."""\nEpisode = 1\n',
    "gate": "from assay.model import Episode\n",
    "features/speed": "from assay import model\n",
    "gates/hands/jump": "import sys\nfrom assay.features import speed\nfrom assay.gate import Episode\n",
    "readers/bag/__init__": "from assay.readers.bag import cdr\nfrom . import cdr as same\n",
    "readers/bag/cdr": "import json\n",
    "engine/local": "from .ray import y\n",
    "engine/ray": "def f():\n    from assay.engine.local import y\n",
    "cli": "import sys\nprint(1)\nsys.stdout.write('x')\n",
}
LONG_FILES = {f"signals/s{i}": LINES * 301 for i in range(ENOUGH)}
LONG_FUNCTIONS = {f"signals/s{i}": "def f():\n" + 30 * BODY for i in range(ENOUGH)}
BROKEN: list[tuple[Check, dict[str, str], str]] = [
    (unplaced, {"odds": ""}, "assay.odds is in no tier: declare it in TIERS"),
    (unplaced, {"odds/ends": ""}, "assay.odds is in no tier"),
    (upward, {"units": "import assay.gate"}, "assay.units (base) imports assay.gate (contracts)"),
    (upward, {"units": "def f():\n    from assay import cli"}, "imports assay.cli (present)"),
    (upward, {"units": "if TYPE_CHECKING:\n    from .cli import x"}, "imports assay.cli (present)"),
    (upward, {"signals/lag": "from ..features import speed"}, "imports assay.features.speed (plugs)"),
    (upward, {"engine/other": "from assay import Run"}, "assay.engine.other (decide) imports assay (top)"),
    (upward, {"gates/hands/slow": "from assay.engine import x"}, "imports assay.engine (decide)"),
    (entangled, {"gates/hands/slow": "from assay.gates.hands import jump"}, "sibling assay.gates.hands.jump"),
    (
        entangled,
        {"gates/sync/slow": "from assay.gates.hands.jump import x"},
        "sibling assay.gates.hands.jump",
    ),
    (entangled, {"features/slow": "def f():\n    from . import speed"}, "sibling assay.features.speed"),
    (entangled, {"readers/h5": "import assay.readers.bag.cdr"}, "sibling assay.readers.bag.cdr"),
    (entangled, {"features/slow": "from assay.readers import bag"}, "imports the reader assay.readers.bag"),
    (entangled, {"gates/sync/slow": "import assay.readers"}, "imports the reader assay.readers"),
    (cycles, {"units": "import assay.sheet", "sheet": "from assay import units"}, "assay.sheet, assay.units"),
    (cycles, {"model": "from assay import Run"}, "ring: assay, assay.model"),
    (cycles, {"plan": "try:\n    from . import store\nfinally: ...", "store": "from .plan import x"}, "ring"),
    (vague, {"signals/utils": ""}, "'utils' says nothing"),
    (vague, {"gates/core/jump": "", "gates/core/__init__": ""}, "'core' says nothing"),
    (vague, {"engine/worker_manager": ""}, "'worker_manager' says nothing"),
    (talking, {"plan": "def f():\n    print(1)"}, "plan.py:2: print is used, but only assay.cli may print"),
    (talking, {"plan": "import sys\nsys.stdout.write('x')"}, "plan.py:2: sys.stdout is used"),
    (talking, {"plan": "import sys\nf(sys.stderr)"}, "plan.py:2: sys.stderr is used"),
    (talking, {"plan": "import typer\ntyper.echo('x')"}, "plan.py:2: typer.echo is used"),
    (long_files, {"plan": LINES * 501}, "has 501 lines, more than 500"),
    (long_files, LONG_FILES, "the 90th percentile of file lengths is 301"),
    (long_functions, {"plan": "def f():\n" + 60 * BODY}, "plan.py:1: f has 61 lines, more than 60"),
    (long_functions, LONG_FUNCTIONS, "the 90th percentile of function lengths is 31"),
]
FINE: list[tuple[Check, dict[str, str]]] = [
    *((check, {}) for check in CHECKS),
    (long_files, {"plan": "# long: one table from a standard\n" + LINES * 500}),
    (long_functions, {"plan": "def f():  # long: one table\n" + 60 * BODY + 19 * "def g(): ...\n"}),
    (long_functions, {"plan": 'def f():\n    """A.\n' + 70 * "\n" + '    """\n' + BODY}),
    (cycles, {"units": "if TYPE_CHECKING:\n    import assay.sheet", "sheet": "from assay import units"}),
    (talking, {"plan": "text.print = 1\nwords = 'print(1)'"}),
]


def make(folder: Path, files: dict[str, str]) -> Path:
    """A small source tree with the given modules."""
    for name, text in files.items():
        path = folder / "assay" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("check", "files", "says"), BROKEN, ids=[f"{i}-{c.__name__}" for i, (c, *_) in enumerate(BROKEN)]
)
def test_check_finds_what_is_broken(check: Check, files: dict[str, str], says: str, tmp_path: Path) -> None:
    found = check(read(make(tmp_path, CLEAN | files)))
    assert any(says in sentence for sentence in found), found


@pytest.mark.parametrize(("check", "files"), FINE, ids=[f"{i}-{c.__name__}" for i, (c, _) in enumerate(FINE)])
def test_check_passes_what_is_fine(check: Check, files: dict[str, str], tmp_path: Path) -> None:
    assert check(read(make(tmp_path, CLEAN | files))) == []


def test_slow_or_heavy_start_is_found(tmp_path: Path) -> None:
    make(tmp_path, {"__init__": "import av\nimport time\ntime.sleep(0.35)\n"})
    (tmp_path / "av.py").write_text("", encoding="utf-8")
    heavy, slow = slow_start(tmp_path, rounds=1)
    assert heavy == "`import assay` loads av: import it where it is used"
    assert slow.startswith("`import assay` takes 0.")


def test_light_start_is_accepted(tmp_path: Path) -> None:
    assert slow_start(make(tmp_path, {"__init__": ""})) == []
