"""docs/architecture.md against the code: the imports between packages, and the files that it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gpugraph.problems import contract

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gpugraph"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for file in PACKAGE.rglob("*.py")
}
PROBLEMS = {name: PACKAGE.parent / module.replace(".", "/") for name, module in contract.PROBLEMS.items()}


def place(module: str) -> str:
    """Return a module's file as the page writes it: relative to the package."""
    return MODULES[module].relative_to(PACKAGE).as_posix()


def package_of(file: str) -> str:
    """Return the package that a file lies in: of an extension both folders, of a file beside the folders ``api``."""
    folder, _, rest = file.partition("/")
    if folder == "ext":
        return f"ext/{rest.partition('/')[0].removesuffix('.py')}"
    return folder if rest else "api"


@cache
def parsed(file: Path) -> ast.Module:
    """Return a file as Python reads it."""
    return ast.parse(file.read_text("utf-8"))


@cache
def imported(file: Path) -> tuple[str, ...]:
    """Return the modules of the package that a file imports anywhere, in functions or for its types alone too."""
    return tuple(target for node in ast.walk(parsed(file)) for target in targets_of(node))


def targets_of(node: ast.AST) -> Iterator[str]:
    """Yield the modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            if name in MODULES:
                yield name
            elif (node.module, alias.name) != ("gpugraph", "__version__"):
                yield node.module


def imports_by_time(file: Path) -> tuple[set[str], set[str]]:
    """Return what a file imports when it is imported itself, and what functions of it import when they are called."""
    at_once: set[str] = set()
    later: set[str] = set()

    def visit(node: ast.AST, found: set[str]) -> None:
        found |= set(targets_of(node))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            visit(child, later if isinstance(child, ast.FunctionDef) else found)

    visit(parsed(file), at_once)
    return at_once, later


def arrows() -> set[tuple[str, str]]:
    """Return (file, file) for every import that leaves a package."""
    pairs = {(place(module), place(target)) for module, file in MODULES.items() for target in imported(file)}
    return {(source, target) for source, target in pairs if package_of(source) != package_of(target)}


def circles(targets: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of names that reach each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        path.append(name)
        for target in targets[name]:
            if target not in index:
                visit(target)
            if target in path:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == index[name]:
            at = path.index(name)
            if len(path) > at + 1 or name in targets[name]:
                found.append(sorted(path[at:]))
            del path[at:]

    for name in targets:
        if name not in index:
            visit(name)
    return found


def rules() -> dict[str, list[str]]:
    """Return by package, or by a file's name, what it may import."""
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]*)\|$", PAGE, re.MULTILINE)
    return {name: re.findall(r"`([^`]+)`", targets) for name, targets in rows}


def still() -> set[tuple[str, str]]:
    """Return (file, package or file) of the list of what should not be."""
    part = PAGE.split("### Exceptions")[1].split("\n## ")[0]
    return {
        (source, target)
        for line in re.findall(r"^- (.+)$", part, re.MULTILINE)
        for sources, target in [line.replace("→ `", "→ ").removesuffix("`").split(" → ")]
        for source in re.findall(r"`([^`]+)`", sources)
    }


def allowed(source: str, target: str) -> bool:
    """Tell whether a row of the page allows an import: an extension may import all of the core and other extensions."""
    return source.startswith("ext/") or package_of(target) in rules()[package_of(source)]


def test_every_import_between_packages_is_an_arrow_of_the_page() -> None:
    known = still()
    wrong = {
        (source, target)
        for source, target in arrows()
        if not allowed(source, target) and not {(source, target), (source, package_of(target))} & known
    }
    assert not wrong, "docs/architecture.md allows none of these: " + ", ".join(
        f"{source} → {target}" for source, target in sorted(wrong)
    )


def test_what_should_not_be_leaves_the_list_when_it_is_mended() -> None:
    found = {pair for source, target in arrows() for pair in ((source, target), (source, package_of(target)))}
    assert not still() - found, "mended: take it off the list of docs/architecture.md"


def test_every_arrow_of_the_page_is_in_the_code() -> None:
    found = arrows()
    for home, targets in rules().items():
        for target in targets:
            pairs = ((package_of(source), package_of(there)) for source, there in found)
            assert (home, target) in pairs, f"nothing of {home} imports {target}"


def test_every_room_has_a_row() -> None:
    packages = {package_of(place(module)) for module in MODULES}
    assert packages - {"ext/__init__"} == rules().keys()


def test_every_file_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:gpugraph|tests|docs|cuda_kernels)/[\w/]+\.\w+)`", PAGE)
    assert named
    assert not [name for name in named if not re.search("[A-Z]{2}", name) and not (ROOT / name).exists()]


def test_the_contract_of_devices_and_the_cpu_know_none_of_the_others() -> None:
    for module in ("gpugraph.devices.base", "gpugraph.devices.cpu"):
        assert not [target for target in imported(MODULES[module]) if target.startswith("gpugraph.devices")]


def test_what_the_page_is_asked_for_is_defined_where_it_says() -> None:
    asked = re.findall(r"^\| [^|`]+(?:`[^`|]+`)?[^|`]* \| `(gpugraph/[\w/]+\.py)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert len(asked) == 14
    for file, name in asked:
        defined = set()
        for node in ast.parse((ROOT / file).read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                defined |= {target.id for target in targets if isinstance(target, ast.Name)}
        assert name in defined, f"{file} has no {name}"


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles({module: set(imported(file)) for module, file in MODULES.items()}) == []


def test_an_import_inside_a_function_saves_loading_a_module() -> None:
    times = {module: imports_by_time(file) for module, file in MODULES.items()}

    def loaded_with(module: str, found: set[str]) -> set[str]:
        """Return a module and all that is loaded with it."""
        if module not in found:
            found.add(module)
            for target in times[module][0]:
                loaded_with(target, found)
        return found

    vain = {place(module): sorted(times[module][1] & loaded_with(module, set())) for module in times}
    assert {file: modules for file, modules in vain.items() if modules} == {}, "import these at the top of the file"


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}) == [["b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_no_array_is_written_by_what_looks_at_no_error() -> None:
    """``ndarray.tofile``, which ``np.save`` calls for a plain file, does not see that closing met a full disk."""
    unseen = re.compile(r"\.tofile\(|np\.save\((?!WrittenThrough\()")
    assert [str(path) for path in PACKAGE.rglob("*.py") if unseen.search(path.read_text())] == []


def test_the_json_of_a_record_is_read_in_two_files_alone() -> None:
    """Elsewhere its fields are those of ``Shape``, with their types; ``matrix`` is SciPy's."""
    read = re.compile(r"(?<!matrix)\.data(\[|\.get\(|\.items\()|= [\w.]+\.data *$|\bat\([\w.]*\.data\b", re.MULTILINE)
    homes = {"records/record.py", "records/record_shape.py"}
    others = {"ext/networkx/graph.py", "ext/python/matrices.py"}  # SciPy's and NetworkX's objects have a .data too
    folders = ("measure", "records", "report", "bench", "cli", "problems/**", "ext/**")
    files = {file.relative_to(PACKAGE).as_posix(): file for name in folders for file in PACKAGE.glob(f"{name}/*.py")}
    assert all(map(read.search, ("x = row.data", 'row.data["a"]', "row.data.get('a')", "at(cell.record.data, name)")))
    assert [
        name for name, file in files.items() if name not in homes | others and read.search(file.read_text("utf-8"))
    ] == []


JUDGES = sorted(
    module
    for module in MODULES
    if re.fullmatch(r"gpugraph\.(problems|ext)\.(\w+\.((gpu_)?verify|checked_arcs|rounded_sums)|oracle_sums)", module)
    or module in ("gpugraph.ext.matrix.check", "gpugraph.ext.python.certified")
)
"""Modules of certificates and references."""

GIVEN_TO_JUDGES = {
    "gpugraph.base.compiled": "makes machine code of a function, whatever it computes",
    "gpugraph.devices.base": "the device as such",
    "gpugraph.devices.kernel_file": "compiles and launches a kernel file, whatever it computes",
    "gpugraph.base.errors": "messages",
    "gpugraph.graph.chunks": "cuts rows into ranges for threads",
    "gpugraph.graph.csr": "the graph that is asked about",
    "gpugraph.graph.device_rows": "the same graph where it lies on a device",
    "gpugraph.graph.view": "the same graph where it lies on a device",
    "gpugraph.problems.contract": "the verdict",
    "gpugraph.ext.counter_examples.part": "draws what a verdict has found, after it",
    "gpugraph.ext.components.labels.Components": "the type of an answer",
    "gpugraph.problems.mst.forest.Forest": "the type of an answer",
    "gpugraph.ext.scan.array.ArrayInput": "the array that is asked about",
    "gpugraph.ext.scan.scanned.Scanned": "the type of an answer",
    "gpugraph.problems.sssp.distances.Distances": "the type of an answer",
    "gpugraph.problems.sssp.arcs": "the types of weights and distances, and the value that means not reached",
    "gpugraph.problems.sssp.gpu_tight_arcs.TightArcs": "checks distances, and never the predecessors that it finds",
}
"""All that a judge may import beside other judges, with the reason: no sum, no sort, no sets, no search."""

GIVEN_TO_RANKS = {
    "gpugraph.ext.ranks.comm": "carries arrays from rank to rank",
    "gpugraph.ext.ranks.part": "the rows that a rank holds of the graph that is asked about",
    "gpugraph.ext.ranks.transports": "carries arrays from rank to rank",
}
"""What the certificates of ranks may use beside that."""

SHARED_BY_JUDGES = {
    "components": {},
    "mst": {
        "check_ids": "tells whether an answer is edges of the graph at all",
        "ends_of": "reads arcs of the graph",
        "describe_edge": "words",
        "check_totals": "compares two numbers",
    },
    "scan": {
        "_check_bound": "reals whose sums are not exact have one check",
        "sums_are_exact": "tells whether they are",
        "shifted": "moves an array by one",
        "_shape_complaint": "tells whether an answer has the right shape",
    },
    "sssp": {
        "malformed": "tells whether an answer has the right shape",
        "describe_predecessor": "words",
        "_in_words": "words",
    },
}
"""Functions that both the certificate and the reference of a problem use, with the reason."""


def names_imported(module: str) -> Iterator[str]:
    """Yield each name of the package that a module imports, with its module."""
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "gpugraph")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gpugraph":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_judges_import_no_helper_of_those_whom_they_judge() -> None:
    assert len(JUDGES) >= 6
    strange = {
        f"{judge}: {name}"
        for judge in JUDGES
        for name in names_imported(judge)
        if not {name, name.rpartition(".")[0]} & {*GIVEN_TO_JUDGES, *JUDGES}
    }
    assert not strange, "a wrong helper would be wrong in the answer and its judge alike: write it again"


def test_each_thing_that_judges_are_given_is_used() -> None:
    used = {name for judge in JUDGES for name in names_imported(judge)}
    assert GIVEN_TO_JUDGES.keys() <= used | {name.rpartition(".")[0] for name in used}


def test_what_judges_are_given_knows_no_algorithm() -> None:
    """The base modules, and all that they import in turn, are neither algorithms nor answers nor exact sums."""
    seen, front = set(), {name for name in GIVEN_TO_JUDGES if name in MODULES}
    while front:
        seen |= front
        front = {found for module in front for found in imports_by_time(MODULES[module])[0]} - seen
    algorithms = re.compile(
        r"gpugraph\.(base\.exact|(problems|ext)\.\w+\.(cpu|gpu)_\w+|problems\.heap|ext\.ranks\.contraction)"
    )
    assert not {module for module in seen if algorithms.match(module)}


@pytest.mark.parametrize("problem", ["components", "mst", "sssp"])
def test_certificates_on_ranks_use_no_helper_of_those_whom_they_judge(problem: str) -> None:
    """Of ``on_ranks.py`` all that ``certify_part`` calls is meant: the rest gathers answers."""
    module = f"gpugraph.ext.ranks.{problem}.on_ranks"
    bodies = {node.name: node for node in ast.parse(MODULES[module].read_text("utf-8")).body if hasattr(node, "name")}
    behind = functions_behind({"certify_part"}, MODULES[module])
    used = {node.id for name in behind for node in ast.walk(bodies[name]) if isinstance(node, ast.Name)}
    given = {*GIVEN_TO_JUDGES, *GIVEN_TO_RANKS, *JUDGES}
    imported = {name for name in names_imported(module) if name.rpartition(".")[2] in used}
    assert {"Verdict", "GraphPart"} <= {name.rpartition(".")[2] for name in imported}
    assert not {name for name in imported if not {name, name.rpartition(".")[0]} & given}


def test_kernels_of_certificates_include_nothing_of_the_kernels_whom_they_judge() -> None:
    kernels = Path(__file__).parents[1] / "cuda_kernels"
    judges = [file for file in kernels.rglob("*.cu*") if file.name.startswith("verify_")]
    included = {name for file in judges for name in re.findall(r'#include "(.+)"', file.read_text("utf-8"))}
    assert len(judges) >= 3
    assert included == {"common.cuh", "csr.cuh"}


def functions_behind(names: set[str], file: Path) -> set[str]:
    """Return the functions of a file that those of these names call, or pass on, themselves among them."""
    bodies = {node.name: node for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
    seen: set[str] = set()
    front = names & bodies.keys()
    while front:
        seen |= front
        called = {node.id for name in front for node in ast.walk(bodies[name]) if isinstance(node, ast.Name)}
        front = (called & bodies.keys()) - seen
    return seen


def test_certificate_and_reference_share_words_and_shapes_alone() -> None:
    for problem, shared in SHARED_BY_JUDGES.items():
        file = PROBLEMS[problem] / "verify.py"
        on_gpu = f"gpugraph.problems.{problem}.gpu_verify"
        used = {name.rpartition(".")[2] for name in names_imported(on_gpu)} if on_gpu in MODULES else set()
        certificate = functions_behind({"check_certificate", "certify"} | used, file)
        both = certificate & functions_behind({"check_against_reference"}, file)
        assert both == set(shared), problem
