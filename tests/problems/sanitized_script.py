"""Run every kernel of the project once; under the sanitiser by ``test_gpu_algorithms_sanitized.py``.

Prints the kernels that were launched, a line each.  With the word ``all`` they also run on weights of 64 bits, and
with these on positions of 64 bits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
from gpugraph.ext.components.labels import Components
from gpugraph.ext.components.verify import Trees
from gpugraph.ext.components.verify import certify as certify_components
from gpugraph.ext.device_graphs.device_build import build_on_device
from gpugraph.ext.emulator.device import EmulatedDevice, EmulatedKernel
from gpugraph.ext.graph500 import generator as graph500
from gpugraph.ext.graph500.on_device import DeviceMachine
from gpugraph.ext.python.graph_batch import GraphBatch
from gpugraph.ext.python.mst_many import on_gpu as mst_many_on_gpu
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.components import boruvka_distributed
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.families import FAMILIES, find_family
from gpugraph.graph.generate import can_generate, generate
from gpugraph.graph.load import load_file
from gpugraph.graph.spec import parse_spec
from gpugraph.graph.symmetrize import symmetrize
from gpugraph.graph.view import GraphView, make_resident
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.mst.gpu_verify import certify
from gpugraph.problems.sssp import BATCHED
from gpugraph.problems.sssp.gpu_verify import certify as certify_distances
from tests.problems.gpu_cases import expected, run_on
from tests.problems.scan.scan_cases import scan_on
from tests.ranks.on_zoo import solved
from tests.zoo import directed, undirected, zoo

LAUNCHED: set[str] = set()
WIDE = "all" in sys.argv


def kept(runs: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield those whose graph is for this run of the script."""
    for run in runs:
        (graph,) = (part for part in run if isinstance(part, CSRGraph))
        if WIDE or graph.weights.itemsize < 8:
            yield run


class Device(EmulatedDevice):
    """The emulated device, which notes whatever is asked for to be launched."""

    def kernel(self, file: str, name: str, *args: Any, **more: Any) -> EmulatedKernel:
        """Return the kernel and note its name."""
        LAUNCHED.add(name)
        return super().kernel(file, name, *args, **more)


def hub_and_path() -> CSRGraph:
    """Return a graph with a row for a whole block, rows for a warp, and a long path."""
    n = 4400
    hub = [(0, i, (i * 7919) % 100) for i in range(1, n)]
    warp = [(1, i, (i * 104729) % 50) for i in range(2, 700)]
    path = [(i, i + 1, i % 17) for i in range(1, n - 1)]
    return undirected(n, hub + warp + path)


def check_forests(device: Device) -> None:
    """Run every algorithm for forests: narrow and wide, with a hub and without, with preparations and without."""
    every: dict[str, Any] = {"preparations": ("renumber", "sort-adjacency"), "index_bits": 64}
    runs: list[tuple[str, CSRGraph, dict[str, Any]]] = [
        ("boruvka", zoo("random-ties"), {}),
        ("boruvka", zoo("float64"), every),
        ("prim", zoo("random-ties"), {"options": {"threads": 8, "blocks": 3, "layout": "int2"}}),
        ("prim", zoo("float64"), {"index_bits": 64}),
        ("prim-naive", zoo("random-ties"), {}),
        ("prim-persistent", zoo("random-ties"), {}),
        ("prim-persistent", zoo("float64"), {"index_bits": 64, "options": {"blocks": 3}}),
        ("prim-persistent", hub_and_path(), {"options": {"on_chip": "nothing"}}),
        ("boruvka-scan", zoo("random-ties"), {}),
        ("boruvka-scan", zoo("float64"), every),
        ("boruvka-prim", zoo("random-ties"), {"options": {"switch-after": 1}}),
        ("boruvka-prim", zoo("float64"), {"index_bits": 64, "options": {"switch-after": 0}}),
        ("boruvka", zoo("random-ties"), {"preparations": ("compress",)}),
        ("boruvka-hybrid", zoo("random-ties"), {"preparations": ("compress",), "options": {"cpu-share": "0.5"}}),
        ("boruvka-hybrid", hub_and_path(), {}),
        ("boruvka-streamed", hub_and_path(), {"options": {"stream": "all", "chunk": 700}}),
        ("boruvka-streamed", zoo("float64"), {"index_bits": 64, "options": {"chunk": 30, "stream": "all"}}),
        ("filter-boruvka", zoo("random-ties"), {}),
        ("filter-boruvka", zoo("isolated-vertices"), {}),
        ("filter-boruvka", hub_and_path(), {}),
        ("filter-boruvka", zoo("float64"), {"index_bits": 64}),
    ]
    for name, graph, more in kept(runs):
        right = expected("mst", graph, ())
        found, _ = run_on(device, "mst", name, graph, **more)
        np.testing.assert_array_equal(found.edges, right.edges)


def check_many_forests(device: Device) -> None:
    """Find the forests of several graphs in one launch."""
    batch = GraphBatch.of([zoo("random-ties"), zoo("isolated-vertices"), zoo("float64"), zoo("no-vertex")])
    for i, found in enumerate(mst_many_on_gpu(batch, device)):
        np.testing.assert_array_equal(found.edges, expected("mst", batch.graph(i), ()).edges)


def check_certificates(device: Device) -> None:
    """Check right and wrong forests, and right and wrong distances."""
    for graph, bits in kept(((zoo("random-ties"), 32), (zoo("float64"), 64))):
        view, _, _ = make_resident(GraphView.of(graph, index_bits=bits), device)
        forest = expected("mst", graph, ())
        assert certify(view, device, forest).passed
        assert not certify(view, device, Forest.of(graph, forest.edges[1:])).passed
    hub = undirected(2600, [(0, 1, 7), *((1, i, 0) for i in range(2, 2599)), (2, 2599, 0)])
    for graph, bits in kept(((hub, 32), (zoo("float64"), 64), (zoo("all-zero"), 64))):
        view, _, _ = make_resident(GraphView.of(graph, index_bits=bits), device)
        distances = expected("sssp", graph, (0,)).with_predecessors()
        assert certify_distances(view, device, 0, distances).passed
        raised = distances.raw.copy()
        raised[1] += 1
        assert not certify_distances(view, device, 0, replace(distances, raw=raised)).passed


def check_distances(device: Device) -> None:
    """Find distances that fit 32 bits and such as do not."""
    names = ("dijkstra", "u-hybrid-3", "u-gpu-2min", "u-gpu-plus", "matrix-u-gpu", "matrix-f-gpu", "harish-narayanan")
    for graph in (zoo("grid"), directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])):
        for name in names:  # the last is right here: a schedule without the race detector keeps look and write together
            found, _ = run_on(device, "sssp", name, graph, query=(0,))
            np.testing.assert_array_equal(found.raw, expected("sssp", graph, (0,)).raw)


def check_races_shown(device: Device) -> None:
    """Lower distances without atomics; on a path no two threads meet, so that nothing is lost."""
    for name in ("f-gpu-no-atomic", "matrix-f-gpu-no-atomic"):
        found, _ = run_on(device, "sssp", name, generate("path:40"), query=(0,))
        np.testing.assert_array_equal(found.raw, expected("sssp", generate("path:40"), (0,)).raw)


def check_delta_stepping(device: Device) -> None:
    """Step locally, a warp or a part of one for a row, and widely; relax hubs, pull, push again, use wider words."""
    path = [(i, i + 1, 2**31) for i in range(300)]
    runs: list[tuple[CSRGraph, int]] = [
        (zoo("grid"), 32),
        (zoo("float64"), 64),
        (hub_and_path(), 32),
        (generate("complete:120"), 32),
        (generate("ssca2:7,clique=50,w=1..255"), 32),
        (generate("rmat:10,ef=16,w=1..255"), 32),
        (directed(900, [(i, (i * 7 + j) % 900, (i * j) % 97) for i in range(900) for j in range(20)]), 32),
        (undirected(301, path), 32),
        (directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)]), 32),
    ]
    for graph, bits in kept(runs):
        for source in (0, graph.vertices // 2):
            found, _ = run_on(device, "sssp", "delta-stepping", graph, query=(source,), index_bits=bits)
            np.testing.assert_array_equal(found.raw, expected("sssp", graph, (source,)).raw)


def check_batches(device: Device) -> None:
    """Search from several sources together: cut rows, lists, floats, wider words, groups, one by one, side by side."""
    hub = undirected(540, [(0, i, i % 100) for i in range(1, 540)])
    path = undirected(5, [(i, i + 1, 2**31) for i in range(4)])
    runs = ((hub, 32, (0, 7)), (generate("complete:20"), 32, (0, 1)), (path, 32, (0, 4)), (zoo("float64"), 64, (0, 1)))
    many = ((zoo("star"), 32, tuple(range(9)) * 8), (generate("path:300,w=1..9"), 32, (0, 9)))
    for graph, bits, sources in kept((*runs, *many, (zoo("directed-random"), 32, (0, 1)))):
        for groups in (0, 2):
            how = {"index_bits": bits, "options": {"groups": groups}}
            found, _ = run_on(device, "sssp", BATCHED, graph, query=(sources,), **how)
            for row in found:
                np.testing.assert_array_equal(row.raw, expected("sssp", graph, (row.source,)).raw)


def check_components(device: Device) -> None:
    """Find components with a row for a block, rows for warps, a giant and crumbs; check right labels and wrong ones."""
    crumbs = [(9500, i, 1) for i in range(9501, 19_000)]
    hub = undirected(19_000, [(i, i + 1, 1) for i in range(9000)] + crumbs)
    for graph, bits in ((hub, 32), (zoo("many-tiny"), 64), (hub_and_path(), 64)):
        found, _ = run_on(device, "components", "hook", graph, index_bits=bits)
        view, _, _ = make_resident(GraphView.of(graph, index_bits=bits), device)
        assert certify_components(view, device, found).passed
        wrong = Components.of(graph, found.labels * 0)
        assert certify_components(view, device, wrong).passed == (found.components == 1)


def check_graphs(device: Device) -> None:
    """Make graphs of every family, rows of lists, and undirected graphs of directed ones; check and look them up."""
    texts = ["rmat:6,w=-9..9", "ssca2:6,w=0.0..1.0", "random:n=64,m=100", "random:n=64,m=100,hub=yes", "grid:9x7"]
    texts += ["rmat:6,order=shuffled,w=1..9", "ssca2:6,order=degree,w=1..9"]
    texts += ["regular:n=50,in=7", "road:9x7,dtype=float64", "knn:n=90,k=4", "complete:30,w=1..9", "star:90"]
    texts += ["dense:n=30,density=0.5", "path:90,shuffled=yes", "caterpillar:90"]
    assert {text.partition(":")[0] for text in texts} == {
        name for name in FAMILIES if can_generate(parse_spec(find_family(name).example))
    }
    for text in texts:
        made = generate(text, device=device)
        assert made.digest == generate(text).digest
        assert made.has_negative_weight == generate(text).has_negative_weight
    rng = np.random.default_rng(1)
    for dtype in (None, *WEIGHT_DTYPES):
        tails, heads = rng.integers(0, 40, (2, 3000))
        weights = None if dtype is None else rng.integers(0, 9, 3000).astype(dtype)
        arcs = ArcList(tails, heads, weights, 40, directed=True)
        assert symmetrize(build_on_device(arcs, device)).digest == symmetrize(build(arcs)).digest
    for bits in (32, 64):
        graph = zoo("random-ties")
        offsets = device.upload(graph.offsets.astype(np.int64))
        held = narrow_offsets(device, offsets, graph.arcs) if bits == 32 else offsets
        rows = DeviceRows(device, held, device.upload(graph.targets), device.upload(graph.weights), lambda: zoo("grid"))
        at = rng.permutation(graph.arcs)
        ids = rows.canonical_ids(at)
        assert rows.sorted_ids(ids).tolist() == sorted(ids.tolist())
        assert rows.ends_and_weights(at)[1].tolist() == graph.targets[at].tolist()
        assert np.concatenate(list(rows.pairs(at)))[:, 1].tolist() == graph.targets[at].tolist()
        assert rows.total(at) == sum(graph.weights.tolist())


def check_graph500(device: Device) -> None:
    """Make Graph500's edge list, its rows, and searches, one of which hangs vertices on equally far ones."""
    made, right = graph500.generate(7, device), graph500.generate(7, None)
    np.testing.assert_array_equal(made.edges, right.edges)
    np.testing.assert_array_equal(made.weights, right.weights)
    zeros = graph500.Tuples(np.array([0, 1, 0, 1, 2, 0, 0, 2, 0], np.uint32), np.zeros(3, np.float32))
    for tuples in (made, zeros):
        machine = DeviceMachine(tuples, device)
        machine.construct()
        machine.search(2)
        assert machine.validate(2).fault is None


def check_texts(device: Device) -> None:
    """Build the rows of files of text whose vertices have names, or are counted from 1."""
    texts = {"names.wel": "7 9 3\n9 7 3\n9 30 1\n30 9 1\n", "roads.gr": "p sp 3 2\na 1 2 7\na 2 1 7\n"}
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.write_text(text)
            made = load_file(path, device=device)
            assert made.on_device is not None
            assert made.digest == load_file(path).digest


def check_drivers_of_ranks(device: Device) -> None:
    """Run the drivers that share a graph, as the only rank there is."""
    for (graph,) in kept((zoo(name),) for name in ("random-ties", "float64", "grid", "two-components")):
        for problem in ("mst", "components", "sssp"):
            _, verdict, _ = solved(LoneComm(), device, problem, graph)
            assert verdict.passed
    merge = boruvka_distributed.FILE.kernels(device)
    ends = np.array([0, 0, 1, 3, 3], np.int32), np.array([0, 1, 2, 2, 3], np.int32)
    label, others = (device.upload(array) for array in ends)
    changed = device.full(2, 0, np.uint32)
    merge["join"](1, 64, (np.int32(5), others, label))
    for step in range(2):
        merge["follow"](1, 64, (np.int32(step), np.int32(5), label, changed))
    assert label.tolist() == [0, 0, 0, 0, 0]
    trees = Trees(GraphPart.of(generate("path:5")).rows_on(device), device, np.zeros(5, np.int64))
    trees.wrong_label()
    trees.join(others)
    assert trees.count() == 2
    star = undirected(1200, [(0, i, i % 7) for i in range(1, 1200)])  # its row is cut into pieces
    assert solved(LoneComm(), device, "sssp", star)[1].passed


def check_scans(device: Device) -> None:
    """Scan sums by every scheme and network, and minima with both kinds of flags."""
    schemes = ("reduce-then-scan", "reduce-then-scan-multilevel", "scan-then-propagate", "look-back", "brent-kung")
    for name in (*schemes, "sklansky", "kogge-stone"):
        assert scan_on(device, name, "array:n=9001").passed
    for name in ("reduce-then-scan", "look-back"):
        assert scan_on(device, name, "array:n=5000,dtype=float64,exclusive=yes").passed
    assert scan_on(device, "segmented-min", "array:n=9001,segments=70", flags="bytes").passed
    assert scan_on(device, "segmented-min", "array:n=5000,segments=3,dtype=uint64", flags="top-bit").passed


def check_tools(device: Device) -> None:
    """Launch the fills and the probes."""
    for width in (2, 4, 8):
        word = np.dtype(f"u{width}").type
        cells = device.empty(1000, word)
        device.kernel("fill.cu", f"fill_{width}_bytes")(3, 64, (cells, word(7), np.int64(1000)))
        assert (cells == 7).all()
    source = device.upload(np.arange(4000, dtype=np.uint32))
    target, sink = device.empty(4000, np.uint32), device.full(1, 0, np.uint32)
    device.kernel("probe.cu", "probe_nothing")(2, 32, ())
    device.kernel("probe.cu", "probe_wait")(1, 1, (np.uint64(1000),))
    device.kernel("probe.cu", "probe_add_one")(1, 1, (sink, np.uint32(6)))
    assert sink[0] == 7
    device.fill(sink, 0)
    device.kernel("probe.cu", "probe_copy")(3, 64, (target, source, np.int64(1000)))
    device.kernel("probe.cu", "probe_read")(3, 64, (sink, source, np.int64(1000)))
    np.testing.assert_array_equal(target, source)
    assert sink[0] == np.bitwise_xor.reduce(source)


def main() -> None:
    """Run everything under a shuffled schedule, the filter forced to work on small graphs."""
    filter_boruvka.FILTER_ARCS, filter_boruvka.LIGHT_ARCS = 512, 1.0
    device = Device(seed=1)
    assert device.build == "sanitize"
    for check in (
        check_forests,
        check_many_forests,
        check_certificates,
        check_distances,
        check_races_shown,
        check_delta_stepping,
        check_batches,
        check_components,
        check_graphs,
        check_graph500,
        check_texts,
        check_drivers_of_ranks,
        check_scans,
        check_tools,
    ):
        check(device)
    print("\n".join(sorted(LAUNCHED)))


if __name__ == "__main__":
    main()
