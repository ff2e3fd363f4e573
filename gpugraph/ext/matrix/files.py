"""Lists of vertices read, and tables of distances written."""

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.ext.formats.text.lines import data_lines
from gpugraph.ext.results.text import write_csv
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.input_file import Source
from gpugraph.problems.sources import is_whole, resolve_sources
from gpugraph.problems.sssp.arcs import unreached

Vertices = NDArray[np.int64]
REMEDY = "give the ids of vertices, one a line"


def read_list(path: str) -> list[tuple[int, str]]:
    """Return the lines of a file that are not blank, and their numbers; raise InputError if there is none."""
    with Source(path) as source:
        found = [(at, line.decode("utf-8", "replace").strip()) for at, line in data_lines(source.blocks(), b"")]
        if not found:
            raise source.error("lists no vertex", REMEDY)
    return found


def vertices_of(graph: CSRGraph, path: str, lines: list[tuple[int, str]]) -> Vertices:
    """Return the vertices that the lines of a file name; raise GraphFormatError for one that is none."""
    found: list[int] = []
    kind = "index" if graph.vertex_names is None else "name"
    for number, word in lines:
        try:
            if kind == "index" and not is_whole(word):
                raise InputError(f"'{word[:50]}' is no vertex number", remedy=REMEDY)
            found += resolve_sources(graph, {"source": f"{kind}:{word}"})
        except InputError as error:
            raise GraphFormatError(error.what, path=path, line=number, remedy=error.remedy) from None
    return np.array(found, np.int64)


def write_table(
    graph: CSRGraph, sources: Vertices, goals: Vertices, distance: NDArray[Any], ending: str, stream: IO[bytes]
) -> None:
    """Write (sources, goals) distances beside both lists to an ``.npz``, or a row for each pair."""
    names = graph.printed_names
    starts, ends = (vertices if names is None else names[vertices] for vertices in (sources, goals))
    if ending == ".npz":
        arrays: dict[str, Any] = {"from": starts, "to": ends, "distance": distance}
        np.savez(stream, vertices=graph.vertices, graph_digest=graph.digest, **arrays)
        return
    lengths = np.ma.masked_array(distance, distance == unreached(distance.dtype)).reshape(-1)
    columns = {"from": np.repeat(starts, len(ends)), "to": np.tile(ends, len(starts)), "distance": lengths}
    if ending == ".csv":
        write_csv(columns, stream)
        return
    import pyarrow as pa
    from pyarrow import parquet

    parts = {name: pa.array(np.ma.getdata(one), mask=np.ma.getmaskarray(one)) for name, one in columns.items()}
    parquet.write_table(pa.table(parts), stream)
