"""Damaged graph files: each is refused in words, or what it gives is a graph."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import resource
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow
import pyarrow.parquet

from gpugraph.base import host
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.formats.known import FORMATS
from gpugraph.ext.formats.text.number_lines import LineParser
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import ReadOptions
from gpugraph.graph.symmetrize import symmetrize
from tests.graph.formats.samples import egr, galois, gunrock, sg, written, wsg
from tests.hostile.trials import Part, Trial, refused
from tests.mutate import inner_mutants, mutants
from tests.zoo import directed, undirected, zoo

TEXTS = {
    "roads.gr": "c from the ninth challenge\np sp 4 4\na 1 2 5\na 2 1 5\na 1 3 7\na 3 1 7\n",
    "steiner.gr": "SECTION Graph\nNodes 4\nEdges 2\nE 1 2 5\nE 1 3 7\nEND\n",
    "pace.gr": "p tw 4 2\n1 2\n1 3\n",
    "general.mtx": "%%MatrixMarket matrix coordinate real general\n% about\n4 4 3\n1 2 0.5\n2 1 1e-3\n1 3 -7.25\n",
    "symmetric.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 1 5\n3 1 7\n",
    "pattern.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 1\n",
    "list.wel": "# from to weight\n10 20 5\n10 30 7\n20 30 18446744073709551615\n",
    "list.el": "0 1\n0 2\n2 1\n",
    "header.txt": "4 3\n0 1 5\n0 2 7\n1 2 1\n",
    "named.csv": "u,v,weight\n1,2,0.5\n1,3,7e3\n",
    "tabs.tsv": "1\t2\t5\r\n1\t3\t7\r\n",
    "weighted.graph": "% METIS\n4 2 001\n2 5 3 7\n1 5\n1 7\n\n",
    "words.csv": "from,to,km\nDelft,Gouda,31.5\nGouda,'s-Hertogenbosch,70\n",
    "quoted.csv": 'src,dst,weight\n"a, b",c,1\nc,"d ""e""",2\n',
    "attributes.edgelist": "1 2 {'weight': 3}\n2 3 {'weight': 4.5}\n",
    "roads.graphml": '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="d" for="edge" attr.name="weight" attr.type="int"/><graph edgedefault="undirected"><node id="a"/>'
    '<node id="b"/><edge source="a" target="b"><data key="d">5</data></edge></graph></graphml>',
    "roads.gml": 'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 weight 5 ] ]',
    "nested.graphml": '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:key id="d" attr.name="weight">'
    '<g:default>2.5</g:default></g:key><g:key id="n" for="node" attr.name="n"/><g:graph edgedefault="directed">'
    '<g:node id="1"><g:data key="n"><x>a</x></g:data><g:graph edgedefault="undirected"><g:node id="2"/></g:graph>'
    '</g:node><!-- <g:edge/> --><g:edge id="0" source="1" target="2" directed="false"/><g:edge source="2" target="1">'
    '<g:data key="d"><![CDATA[7]]></g:data></g:edge></g:graph></g:graphml>',
    "lists.gml": 'Creator "x"\ngraph [\n directed 1\n# about\n node [ id 0 graphics [ x 1.5 ] label "&#246;" ]\n'
    ' node [ id 1 ]\n edge [\n  source 0\n  target 1\n  weight "3.5"\n ]\n'
    " edge [ source 1 target 0 weight 1E-3 nums 1 nums 2 ]\n]\n",
    "net.dot": 'strict digraph "net" { edge [weight=2]; a -> b -> c [weight="0.5"];\n'
    "subgraph x { d [label=<<b>1</b>>] } b:n -> d }\n",
    "numpy.edgelist": "0 1 {'weight': np.float64(0.5)}\n1 2 {'weight': inf, 'on': np.True_}\n",
    "sizes.graph": "3 2 111 2\n1 4 5 2 9\n1 4 5 1 9 3 8\n1 4 5 2 8\n",
}


def parquet(codec: str) -> bytes:
    """Return a Parquet file of three columns."""
    table = pyarrow.table({"src": ["a", "b", "a"], "dst": ["b", "c", "c"], "weight": [1, 2, 2**60]})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression=codec)
    return bytes(sink.getvalue())


BYTES = {
    "columns.parquet": parquet("none"),
    "packed.parquet": parquet("snappy"),
    "gunrock.csr": gunrock(),
    "narrow.egr": egr(4),
    "bare.egr": egr(4, weighted=False),
    "wide.egr": egr(8),
    "one.gr": galois(1),
    "one-wide.gr": galois(1, 8),
    "two.gr": galois(2),
    "a.wsg": wsg(),
    "a.sg": sg(),
    "directed.sg": sg(directed=True),
}
WRITTEN = {
    "small": undirected(4, [(0, 1, 5), (0, 2, 7)]),
    "directed": directed(5, [(0, 1, 2**63), (1, 0, 3), (3, 2, 1)], "uint64"),
    "reals": undirected(6, [(0, 1, 0.1), (1, 2, 1e300), (4, 5, -2.5)], "float64"),
    "middling": zoo("grid-two-weights"),
}
SUFFIXES = ("", "", ".gz", ".bz2", ".xz", ".zst")
BACK = (".csr", ".npz", ".mtx", ".gr", ".graph", ".wel")
"""What a sound graph is now and then written to and read back from."""

ROOM = 300_000_000
"""Bytes of memory that readers are told there are.  They refuse what takes more, and take no more."""
SLACK = 200_000_000
"""Bytes that a process may grow by besides: what libraries hold back."""


@cache
def samples() -> tuple[tuple[str, bytes], ...]:
    """Return whole files of every format, with their names."""
    made = {name: text.encode() for name, text in TEXTS.items()} | BYTES
    for form in FORMATS:
        for name, graph in WRITTEN.items() if form.write else ():
            for extension in sorted(form.extensions):
                try:
                    made[f"{name}{extension}"] = written(graph, form.name, extension)
                except InputError:  # the format does not hold such a graph
                    continue
    return tuple(made.items())


def pack(data: bytes, suffix: str) -> bytes:
    """Compress, quickly rather than well."""
    if suffix == ".gz":
        return gzip.compress(data, 1, mtime=0)
    if suffix == ".bz2":
        return bz2.compress(data, 1)
    if suffix == ".xz":
        return lzma.compress(data, preset=0)
    return bytes(pyarrow.compress(data, "zstd", asbytes=True)) if suffix == ".zst" else data


@cache
def _packed(name: str, suffix: str) -> bytes:
    return pack(dict(samples())[name], suffix)


def damaged(trial: Trial) -> tuple[str, bytes]:
    """Return a damaged graph file with its name: damaged before it was packed, thereafter, or in one of two packs."""
    draw = trial.draw
    name, data = draw.choice(samples())
    suffix, where = draw.choice(SUFFIXES), draw.random()
    seed = draw.getrandbits(60)
    if suffix and where < 0.4:
        made = next(mutants(_packed(name, suffix), seed, 1))[1]
    elif suffix and where < 0.6:
        cut = draw.randrange(len(data) + 1)
        packs = [pack(data[:cut], suffix), pack(data[cut:], suffix)]
        spoilt = draw.randrange(2)
        packs[spoilt] = next(mutants(packs[spoilt], seed, 1))[1]
        made = b"".join(packs)
    else:
        inner = name.endswith(".npz") and draw.random() < 0.6
        made = pack(next(inner_mutants(data, seed, 1) if inner else mutants(data, seed, 1))[1], suffix)
    if draw.random() < 0.1:
        name = draw.choice(("nameless", "a.txt", Path(draw.choice(samples())[0]).name))
    return name + suffix * (draw.random() < 0.9), made


def try_graph(trial: Trial) -> str:
    """Load a damaged file; raises unless it is refused in words or gives a graph."""
    draw = trial.draw
    name, data = damaged(trial)
    path = trial.folder / name
    path.write_bytes(data)
    both_ways = draw.random() < 0.1
    keep_ids = draw.random() < 0.1
    input_format = draw.choice(FORMATS).name if draw.random() < 0.05 else None
    options: dict[str, Any] = {"options": ReadOptions(input_format, keep_ids)}
    with little_memory():
        how, found, graph = _loaded(path, both_ways, options)
        if draw.random() < 0.3:
            with mock.patch.multiple(LineParser, part=lambda *_: None, block=lambda *_: None):
                slow = _loaded(path, both_ways, options)[:2]
            assert slow == (how, found), f"compiled code and Python read different things: {(how, found)} and {slow}"
        if graph is not None and draw.random() < 0.02:
            _there_and_back(trial, graph)
    return how


def _loaded(path: Path, both_ways: bool, options: dict[str, Any]) -> tuple[str, object, CSRGraph | None]:
    """Return how loading ended, what was read or said, and the graph if there is one."""
    try:
        graph = load_file(path, **options)
        graph = symmetrize(graph) if both_ways else graph
    except OutOfMemory:
        return "too large", None, None
    except InputError as error:
        return refused(error, path), str(error), None
    check_structure(graph)
    names = None if graph.vertex_names is None else graph.vertex_names.tolist()
    return "graphs", (graph.digest, names, graph.notes), graph


def _there_and_back(trial: Trial, graph: CSRGraph) -> None:
    """What is read is written, and read once more as the same."""
    path = trial.folder / f"back{trial.draw.choice(BACK)}{trial.draw.choice(SUFFIXES)}"
    try:
        save_file(graph, path)
    except InputError:  # the format does not hold such a graph
        return
    again = load_file(path)
    if path.name.startswith("back.wel"):  # lists edges, so that ids may be others
        assert again.arcs == graph.arcs
    elif graph.weights.dtype == again.weights.dtype and graph.directed == again.directed:
        assert again.digest == graph.digest, f"{path.name} gives another graph than was written"


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Tell readers that there is little memory, and raise if they take more all the same."""
    told, host.available_memory = host.available_memory, lambda: ROOM
    before = _most_memory()
    try:
        yield
    finally:
        host.available_memory = told
    grown = _most_memory() - before
    assert grown < ROOM + SLACK, f"took {grown / 1e6:.0f} MB where {ROOM / 1e6:.0f} were to be had"


def _most_memory() -> int:
    """Return the most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


PART = Part("graphs", "damaged graph files of every format, plain and compressed", 1_000_000, try_graph, 1000, 60.0)
