"""Cell: what is asked of one measurement, as plain data; what its names refer to, its identity.

Two records with one ``cell_id`` measured the same thing, and need not be measured twice; it tells cells apart by the
content of their graphs, ``unopened_id`` by the words that name them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import METHODS_OF_A_RUN, TRANSFERS, TYPES_OF_SUMS, Input, Problem
from gpugraph.problems.foreign import is_file
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.json_text import jsonable


@dataclass(frozen=True)
class Cell:
    """One measurement asked for.

    Attributes:
        problem: ``"mst"``, ``"sssp"`` or ``"scan"``.
        graph: a path, a graph spec, or a CSRGraph.
        algorithm: a registered name, ``"auto"``, or ``"./file.py:driver"``.
        device: ``"auto"``, ``"cuda[:i]"``, ``"cpu"`` or ``"emulated[:seed]"``.
        source: of shortest paths: ``"17"``, ``"name:17"``, ``"index:17"``, ``"max-degree"`` or ``"random:K"``, or a
            node of a NetworkX graph.
        preparations: GraphView preparations, e.g. ``("sort-adjacency",)``.
        options: parameters of the algorithm, still as text or already typed.
        repeat: samples to take (per source); None: as many as a second has room for, up to 100.
        verify: ``"auto"``, ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        index_bits: 32 or 64 forces the width of arc indices; None chooses.
        read: how the graph is read; its seed is the cell's.
        predecessors: also return the canonical predecessors of shortest paths.
        sums: type in which shortest paths add float32 weights: None and ``"float64"``, or ``"float32"``, which rounds.
        phases: also time the algorithm's inner phases, in runs of their own.
        profile: wrap phases in NVTX ranges and run once.
        seed: of ``random:K`` sources and of ``uniform`` weights.
        axes: where the cell lies in its sweep, axis → value; noted in the record and nowhere used.
        series: the cells of one series differ in scale alone.
        transfers: ``"separate"`` tells the copy into pinned memory from the bus; ``"together"`` times the whole way.
    """

    problem: str
    graph: Any
    algorithm: str = "auto"
    device: str = "auto"
    source: Any = None
    preparations: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int | None = None
    warmup: int = 1
    verify: str = "auto"
    index_bits: int | None = None
    read: ReadOptions = AS_GIVEN
    predecessors: bool = False
    sums: str | None = None
    phases: bool = True
    profile: bool = False
    seed: int = 1
    axes: Mapping[str, Any] = field(default_factory=dict)
    sweep: str | None = None
    series: str | None = None
    transfers: str = "together"

    @property
    def input(self) -> Input:
        """What it is measured on."""
        seed = self.seed if self.read.random_weights else AS_GIVEN.seed
        return Input(self.problem, self.graph, replace(self.read, seed=seed))

    @property
    def input_key(self) -> tuple[object, ...]:
        """What tells one input from another; a file that has changed is another."""
        return self.input, tuple(self.input.stamp() or ())

    @property
    def device_key(self) -> tuple[str, bool]:
        """What tells one opened device from another."""
        return self.device.strip().lower(), self.profile


def check_counts(cell: Cell) -> None:
    """Raise InputError for a cell that takes no sample, or asks for a check or a timing that does not exist."""
    if cell.repeat is not None and not 1 <= cell.repeat < 2**63:
        raise InputError(f"--repeat {cell.repeat} is no number of samples", remedy="give 1 to 2^63 - 1")
    if cell.warmup < 0:
        raise InputError(f"--warmup {cell.warmup} is negative", remedy="give 0 or more")
    check_name("verification method", cell.verify, METHODS_OF_A_RUN)
    check_name("way to time transfers", cell.transfers, TRANSFERS)
    if cell.sums is not None:
        check_name("type of sums", cell.sums, TYPES_OF_SUMS)


def resolve_algorithm(cell: Cell, problem: Problem, graph: Any, device_kind: str) -> Algorithm:
    """Return the algorithm a cell names, or that ``auto`` chooses; errors as for ``find_algorithm``."""
    name = problem.auto(graph, device_kind) if cell.algorithm == "auto" else cell.algorithm
    return find_algorithm(problem.name, name, device_kind)


def parse_options(algorithm: Algorithm, given: Mapping[str, object], sums: str | None = None) -> dict[str, object]:
    """Return the algorithm's parameters: defaults, overridden by what was given; an InputError names a wrong one.

    ``sums`` is one of them, and refused if an algorithm of ours has no choice; other people's code adds as it does.
    """
    known = {option.name: option for option in algorithm.options}
    values = {name: option.default for name, option in known.items()}
    if sums is not None and "sums" in known:
        if given.get("sums", sums) != sums:
            raise InputError(f"sums are to be in {given['sums']} and in {sums}", remedy="leave out one of them")
        given = {**given, "sums": sums}
    elif sums not in (None, TYPES_OF_SUMS[0]) and not algorithm.foreign:
        what = f"algorithm '{algorithm.name}' does not sum in {sums}"
        raise InputError(what, remedy="leave out --sums, or name another algorithm for shortest paths")
    for name, value in given.items():
        if name not in known:
            if not known:
                raise InputError(f"algorithm '{algorithm.name}' has no options, so '{name}' cannot be set")
            raise unknown_name(f"option of '{algorithm.name}'", name, known)
        values[name] = known[name].parse(value)
    return values


def check_preparations(preparations: Sequence[str], algorithm: Algorithm) -> None:
    """Raise InputError for a preparation that the algorithm cannot work with."""
    for name in preparations:
        if name not in algorithm.preparations:
            remedy = f"it takes: {', '.join(algorithm.preparations) or 'none'}"
            raise InputError(f"algorithm '{algorithm.name}' cannot work with the preparation '{name}'", remedy=remedy)


def cell_id(
    cell: Cell,
    algorithm: Algorithm,
    options: Mapping[str, object],
    *,
    graph_digest: str,
    device: Mapping[str, object],
    cold: bool = False,
) -> str:
    """Return the SHA-256, as 64 hexadecimal digits, of what decides the time of a cell.

    That is the problem, the algorithm with its version, options and preparations, the graph's content and weights, the
    source, the width of indices, kind, name and threads of the device, and whether caches are cold.  How many samples
    are taken, how they are verified and where the cell lies in a sweep do not enter.  A user's own file enters with its
    content and the kernels'.  ``options`` have their defaults filled in (``parse_options``).
    """
    from gpugraph.graph.csr import printed

    source = None if cell.source is None else printed(cell.source)
    parts = {
        "problem": cell.problem,
        "algorithm": algorithm.name,
        "version": algorithm.version,
        "content": _content(cell.algorithm) if is_file(cell.algorithm) else None,
        "graph": graph_digest,
        "weights": cell.read.weights,
        "options": dict(options),
        "preparations": list(cell.preparations),
        "source": source,
        "seed": cell.seed if source is not None and source.startswith(("random", "wide")) else None,
        "index_bits": cell.index_bits,
        "device": [device.get("kind"), device.get("name"), device.get("threads")],
        "cold": cold,
    }
    text = json.dumps(jsonable(parts), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def unopened_id(cell: Cell, device: Mapping[str, object], cold: bool = False) -> str:
    """Return an id for a cell whose graph was never opened, from the words that name it, its sweep aside."""
    words = {**vars(cell.read), **vars(cell)}
    for name in ("axes", "series", "sweep", "graph", "transfers", "read"):
        del words[name]
    parts = [words, cell.input.describe(), device.get("kind"), device.get("name"), device.get("threads"), cold]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _content(name: str) -> str | None:
    """Return the digest of the file that ``./file.py:driver`` names and the kernels beside it, None without a file."""
    path = Path(f"{name.removesuffix('.py').partition('.py:')[0]}.py")
    try:
        kernels = sorted(one for one in path.parent.glob("*.cu*") if one.suffix in (".cu", ".cuh") and one.is_file())
        return hashlib.sha256(b"".join(one.read_bytes() for one in (path, *kernels))).hexdigest()
    except OSError:
        return None
