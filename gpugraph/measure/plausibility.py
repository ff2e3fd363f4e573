"""Is a stored record believable?  What has to hold before somebody else's record is shown beside ours.

A record is a text that anybody can edit.  The checks compare its fields with each other, with the limits of the
device, and with an answer that is computed here.  They find a changed field; they cannot find a careful invention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpugraph.graph.spec import is_spec
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import Record
from gpugraph.measure.run_cell import run_cell
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import command_of

CLOSE = 0.01
"""Quotients of rounded times may differ by so much."""

CORE_BYTES_PER_S = 1e11
"""More than a core reads from its second-level cache; so many times the threads bounds the time on a CPU."""

CACHED = 4.0
"""A GPU's second-level cache is read at less than so many times its memory's bandwidth."""

MOST_SOURCES = 4
"""Of a record with more sources the answers from so many are computed here."""

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_VERSIONED = re.compile(r".*\d+\.\d+")


@dataclass(frozen=True)
class Hardware:
    """What the vendor states of a GPU: compute capability, multiprocessors, memory in bytes, bytes per second."""

    capability: str
    multiprocessors: int
    memory_bytes: float
    bytes_per_s: float


GPUS = {
    "NVIDIA H200": Hardware("9.0", 132, 150e9, 4.8e12),
    "NVIDIA H100 80GB HBM3": Hardware("9.0", 132, 85e9, 3.35e12),
    "NVIDIA H100 PCIe": Hardware("9.0", 114, 85e9, 2.0e12),
    "NVIDIA A100-SXM4-80GB": Hardware("8.0", 108, 85e9, 2.04e12),
    "NVIDIA A100-SXM4-40GB": Hardware("8.0", 108, 42e9, 1.56e12),
    "NVIDIA L40S": Hardware("8.9", 142, 48e9, 0.864e12),
    "NVIDIA L4": Hardware("8.9", 58, 24e9, 0.3e12),
    "NVIDIA GeForce RTX 4090": Hardware("8.9", 128, 24e9, 1.01e12),
    "NVIDIA GeForce RTX 3090": Hardware("8.6", 82, 24e9, 0.936e12),
    "Tesla V100-SXM2-32GB": Hardware("7.0", 80, 32e9, 0.9e12),
    "Tesla T4": Hardware("7.5", 40, 16e9, 0.32e12),
}
"""GPUs by the name that the driver gives; a record of any other needs a line here, from its data sheet."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a record: the check that found it, ``"time"`` for instance, and a sentence."""

    kind: str
    what: str


def findings(record: Record, most_edges: int = 0) -> list[Finding]:
    """Return all that speaks against a record; with at most ``most_edges`` edges it is solved here and compared."""
    checks = {"commit": _commit}
    if record.data.get("outcome") == "ok":
        checks |= {"device": _device, "count": _counts, "time": _times, "peer": _peer, "verdict": _verdict}
        if (record.shape.graph.edges or 0) <= most_edges:
            checks["answer"] = _answer
    return [Finding(kind, what) for kind, check in checks.items() for what in check(record)]


def conflicts(records: Sequence[Record]) -> list[tuple[Record, Finding]]:
    """Return the records whose answer differs from that of an earlier one of the same query that is not wrong."""
    first: dict[tuple[Any, ...], Any] = {}
    found = []
    for record in filter(lambda one: one.ok, records):
        for result in record.shape.per_source or [record.shape.result]:
            source = result.get("source")
            if record.shape.graph.digest is None or _many(result):
                continue
            for field in _decided(record, result) & {"edges_sha256", "distances_sha256", "total_weight", "components"}:
                key = (record.problem, record.shape.graph.digest, source, field)
                if first.setdefault(key, result[field]) != result[field]:
                    what = f"{field} differs from that of another record of the graph"
                    found.append((record, Finding("answer", what)))
    return found


def _many(result: Mapping[str, object]) -> int:
    """Return how many queries a batch has answered together; 0 where the result is that of a single query."""
    sources = result.get("sources")
    return sources if isinstance(sources, int) and sources > 1 else 0


def _decided(record: Record, result: Mapping[str, object]) -> set[str]:
    """Return the fields of a result that are the same for every correct algorithm; peers choose among equal edges."""
    return set(result) - {"edges_sha256" if record.algorithm.startswith("peer:") else ""}


def _commit(record: Record) -> Iterator[str]:
    commit = record.shape.environment.get("git_commit")
    if commit is None:
        yield "it names no commit of gpugraph"
    elif not _COMMIT.fullmatch(str(commit)):
        yield f"the commit '{commit}' is not a clean one: files were changed"


def _device(record: Record) -> Iterator[str]:
    device = record.data.get("device") or {}
    kind, ranks = device.get("kind"), device.get("ranks") or 1
    if kind == "cpu":
        threads, cores = device.get("threads"), record.shape.environment.get("cores")
        if not isinstance(threads, int) or threads < 1:
            yield "it does not say how many threads the CPU had"
        elif isinstance(cores, int) and threads > cores * ranks:
            yield f"{threads} threads are more than the machine's {cores} processors"
        processor = record.shape.environment.get("processor")
        if ranks == 1 and processor and device.get("name") != processor:
            yield f"the device is '{device.get('name')}', the machine has '{processor}'"
    elif kind == "cuda":
        yield from _gpu(record, device, ranks)
    else:
        yield f"times on '{kind}' are no performance"


def _gpu(record: Record, device: dict[str, object], ranks: int) -> Iterator[str]:
    name = str(device.get("name")).removeprefix(f"{ranks} × ")
    seen = (record.shape.environment.get("gpu") or {}).get("name")
    if seen is not None and seen != name:
        yield f"the device is '{name}', the driver has reported '{seen}'"
    known = GPUS.get(name)
    if known is None:
        yield f"the limits of '{name}' are not known: add it to GPUS in measure/plausibility.py"
        return
    for field, stated in (("compute_capability", known.capability), ("multiprocessors", known.multiprocessors)):
        if (value := device.get(field)) is not None and value != stated:
            yield f"its {field} is {value}, that of an {name} is {stated}"
    memory = device.get("memory_bytes")
    if isinstance(memory, int | float) and not 0.9 < memory / known.memory_bytes < 1.1:
        yield f"its memory has {memory:.4g} bytes, that of an {name} {known.memory_bytes:.4g}"


def _counts(record: Record) -> Iterator[str]:
    graph, rates, kernel = record.shape.graph, record.shape.mteps, record.shape.phases_s.get("kernel")
    if graph.vertices is None or graph.arcs is None or graph.edges is None:
        yield "the size of its graph is missing"
        return
    array = record.problem in PROBLEMS and not command_of(record.problem).on_graph  # an element is an arc and an edge
    once = array or (record.data.get("graph") or {}).get("directed")
    if graph.arcs != graph.edges * (1 if once else 2):
        yield f"{graph.edges} edges are not {graph.arcs} arcs"
    counts = rates.count if isinstance(rates.count, list) else [rates.count]
    for count in counts:
        if count is not None and count > graph.arcs * (_many(record.shape.result) or 1):
            yield f"it counts {count} edges of a graph that has {graph.edges}"
    if rates.counted == "undirected edges" and rates.count not in (None, graph.edges):
        yield f"it counts {rates.count} edges of a graph that has {graph.edges}"
    if rates.kernel and kernel and len(counts) == 1 and counts[0] is not None:
        expected = counts[0] / kernel / 1e6
        if abs(rates.kernel / expected - 1) > CLOSE:
            yield f"{rates.kernel:.4g} MTEPS are not {counts[0]} edges in {kernel:.4g} s"
    tree, parts = record.shape.result.get("tree_edges"), record.shape.result.get("components")
    if isinstance(tree, int) and isinstance(parts, int) and tree + parts != graph.vertices:
        yield f"{tree} tree edges and {parts} components do not make {graph.vertices} vertices"


def least_bytes(record: Record) -> int:
    """Return the bytes that any algorithm moves at least: each counted weight once, and a word a vertex.

    A lower bound for every correct algorithm, far below what ours declare (``traffic.minimum_bytes``).
    """
    graph, rates = record.shape.graph, record.shape.mteps
    word = 8 if str((record.data.get("graph") or {}).get("weight_dtype")).endswith("64") else 4
    counts = rates.count if isinstance(rates.count, list) else [rates.count or 0]
    edges = min(count or 0 for count in counts) // (_many(record.shape.result) or 1)
    if "components" in record.shape.result and "total_weight" not in record.shape.result:
        edges = 0
    return edges * word + 4 * (graph.vertices or 0)


def _bytes_per_s(record: Record, needed: int) -> float | None:
    device = record.data.get("device") or {}
    ranks = device.get("ranks") or 1
    if device.get("kind") == "cpu":
        return CORE_BYTES_PER_S * (device.get("threads") or 1)
    known = GPUS.get(str(device.get("name")).removeprefix(f"{ranks} × "))
    if known is None:
        return None
    cached = needed <= 2 * ranks * (device.get("l2_bytes") or 2**26)
    return known.bytes_per_s * ranks * (CACHED if cached else 1.0)


def _times(record: Record) -> Iterator[str]:
    kernel, samples = record.shape.phases_s.get("kernel"), record.shape.samples_s.kernel or []
    if not kernel:
        yield "it has no time of the kernel"
        return
    queries = len(record.shape.per_source) or 1
    if samples and queries == 1 and not min(samples) * (1 - CLOSE) <= kernel <= max(samples) * (1 + CLOSE):
        yield f"the kernel's {kernel:.4g} s are outside of its samples"
    if (ends := record.shape.confidence_s.kernel) and not ends[0] * (1 - CLOSE) <= kernel <= ends[1] * (1 + CLOSE):
        yield f"the kernel's {kernel:.4g} s are outside of their own interval"
    needed = least_bytes(record)
    limit = _bytes_per_s(record, needed)
    if limit is not None and (fastest := min([kernel, *samples])) < needed / limit:
        yield f"{fastest:.4g} s is too short to move {needed} bytes: this device takes at least {needed / limit:.4g} s"
    total = record.shape.phases_s.get("total")
    parts = sum(seconds or 0.0 for name, seconds in record.shape.phases_s.items() if name != "total")
    if total is not None and parts > total * 1.03 + 1e-4:
        yield f"its phases add up to {parts:.4g} s, its total is {total:.4g} s"


def _peer(record: Record) -> Iterator[str]:
    if not record.algorithm.startswith("peer:"):
        return
    source = record.shape.algorithm_source
    if source.get("authors") == "external command":
        yield f"the version of the program '{record.algorithm}' is not recorded"
    elif not _VERSIONED.match(str(source.get("section", "")).split(",")[0]):
        yield f"the version of the library '{record.algorithm}' is not recorded"


def _verdict(record: Record) -> Iterator[str]:
    if record.verdict != "verified":
        yield f"its result is not verified ({record.verdict})"


def _answer(record: Record) -> Iterator[str]:
    """Make the graph from its spec, solve it on this machine's CPU, and compare what the record states."""
    results = record.shape.per_source[:MOST_SOURCES] or [record.shape.result]
    if not is_spec(record.graph_source) or _many(record.shape.result):
        return
    for result in results:
        ours = _solved(record, result.get("source"))
        stated, graph = record.shape.graph, ours.shape.graph
        if (graph.digest, graph.vertices, graph.arcs) != (stated.digest, stated.vertices, stated.arcs):
            what = f"{graph.vertices} vertices and {graph.arcs} arcs, digest {graph.digest}"
            yield f"'{record.graph_source}' is another graph when it is made here: {what}"
            return
        for field, value in ours.shape.result.items():
            if field in _decided(record, result) and result[field] != value:
                yield f"{field} is {result[field]}; computed here it is {value}"


def _solved(record: Record, source: object) -> Record:
    """Return a record of the same query, solved and verified here."""
    given = record.shape.cell.input or {}
    return run_cell(
        Cell(
            record.problem,
            record.graph_source,
            device="cpu",
            source=None if source is None else str(source),
            repeat=1,
            warmup=0,
            weights=given.get("weights") or "file",
            symmetrize=bool(given.get("symmetrize")),
            seed=given.get("seed") or 1,
        )
    )
