"""Graphs and answers as objects of other libraries, and as files."""

import importlib
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.base.errors import GpuGraphWarning, InputError, installable_here, shown
from gpugraph.ext.components.labels import Components
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.ext.results.files import either, files_of, nodes_of, problem_of, write_result
from gpugraph.graph.build import arc_tails
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.sssp.distances import DistanceMatrix


@in_python_terms
def save(
    thing: object, path: str | bytes | os.PathLike[str], *, output_format: str | None = None, renumber: bool = False
) -> Path:
    """Write a graph, or an answer about one, to a file, whole or not at all; return its path.

    >>> import gpugraph
    >>> gpugraph.save(gpugraph.generate("grid:4x4"), "grid.gr.gz").name
    'grid.gr.gz'
    >>> forest = gpugraph.mst("grid:4x4", device="cpu")
    >>> gpugraph.verify("grid:4x4", gpugraph.save(forest, "forest.csv")).passed
    True

    Args:
        thing: a graph, or what ``mst``, ``sssp``, ``components`` or ``scan`` returned; the file is that of ``-o``.
        path: its ending sets the format; a name that ends in .gz, .bz2, .xz or .zst is compressed.
        output_format: the format of a graph, if the ending does not state it.
        renumber: drop the names of vertices in a format that cannot hold them.

    Raises:
        InputError: there is no such format, it cannot hold the graph, or the file cannot be written.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError(f"path is {shown(path)}", remedy="give the path of a file")
    path = os.fsdecode(path)
    if not isinstance(thing, CSRGraph):
        if output_format is not None or renumber:
            raise InputError("output_format and renumber are for graphs", remedy="leave them out")
        if problem_of(thing) is None:
            remedy = "give a graph or an answer; records have a method save"
            raise InputError(f"a {type(thing).__name__} is neither a graph nor an answer", remedy=remedy)
        write_result(thing, path)
        return Path(path)
    for notice in save_file(thing, path, output_format, renumber=renumber):
        warnings.warn(notice, GpuGraphWarning, stacklevel=2)
    return Path(path)


def to_scipy(thing: Any) -> Any:
    """Return what SciPy has in the place of a graph or an answer; see ``Convertible.to_scipy``."""
    from scipy import sparse

    if isinstance(thing, CSRGraph):
        return sparse.csr_array((thing.weights, thing.targets, thing.offsets), (thing.vertices, thing.vertices))
    if isinstance(thing, Forest):
        return sparse.csr_array((thing.weights, thing.endpoints()), (thing.graph.vertices, thing.graph.vertices))
    if isinstance(thing, Components):
        return thing.components, np.searchsorted(thing.roots, thing.labels).astype(np.int32)
    return np.where(thing.reached, thing.raw.astype(np.float64), np.inf)


def columns_of(thing: Any) -> Mapping[str, Any]:
    """Return the columns of a graph or an answer, (rows,) each, masked where there is nothing."""
    if not isinstance(thing, CSRGraph):
        problem = problem_of(thing)
        assert problem is not None
        table: Any = files_of(problem.name)
        return dict(table.table(thing))
    tails = arc_tails(thing)
    kept = np.ones(thing.arcs, bool) if thing.directed else tails < thing.targets
    u, v, names = tails[kept], thing.targets[kept], thing.printed_names
    own = {} if names is None else {"u_name": names[u], "v_name": names[v]}
    return {"u": u, "v": v, "weight": thing.weights[kept], **own}


def to_arrow(thing: Any) -> Any:
    """Return the columns as a ``pyarrow.Table``."""
    pyarrow = _library("pyarrow")
    return pyarrow.table(
        {
            name: pyarrow.array(np.ma.getdata(values), mask=np.ma.getmaskarray(values))
            for name, values in columns_of(thing).items()
        }
    )


def to_pandas(thing: Any) -> Any:
    """Return the columns as a ``pandas.DataFrame``; whole numbers that are masked are of pandas' own nullable type."""
    pandas = _library("pandas")
    columns = {}
    for name, values in columns_of(thing).items():
        if not np.ma.is_masked(values):
            columns[name] = np.ma.getdata(values)
        elif values.dtype.kind in "iu":
            columns[name] = pandas.arrays.IntegerArray(values.data, np.ma.getmaskarray(values))
        else:
            columns[name] = np.ma.filled(values, np.inf)
    return pandas.DataFrame(columns)


def to_networkx(thing: Any) -> Any:
    """Return a graph or an answer as a graph of NetworkX, as ``gpugraph.to_networkx`` describes it."""
    problem = None if isinstance(thing, CSRGraph) else problem_of(thing)
    if problem is None and not isinstance(thing, CSRGraph):
        given = f"give a graph, or what {either([one for one in PROBLEMS if one != 'scan'])} returned"
        remedy = "convert them one by one" if isinstance(thing, list | tuple) else given
        raise InputError(f"a {type(thing).__name__} is neither a graph nor an answer about one", remedy=remedy)
    networkx = _library("networkx")
    if problem is not None:
        files: Any = files_of(problem.name)
        if not hasattr(files, "to_networkx") or isinstance(thing, DistanceMatrix):
            raise InputError(f"a {type(thing).__name__} makes no graph", remedy="convert its rows one by one")
        return files.to_networkx(thing)
    names, columns = nodes_of(thing), columns_of(thing)
    made = networkx.DiGraph() if thing.directed else networkx.Graph()
    made.add_nodes_from(names.tolist())
    ends = names[columns["u"]].tolist(), names[columns["v"]].tolist()
    made.add_weighted_edges_from(zip(*ends, columns["weight"].tolist(), strict=True))
    return made


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        title = {"networkx": "NetworkX"}.get(name, name)
        raise InputError(f"{title} is not installed", remedy=installable_here(f"pip install {name}")) from None


def rows_as_arrow(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a ``pyarrow.Table``; a column of several types becomes one of texts."""
    pyarrow = _library("pyarrow")
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        try:
            columns[name] = pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            columns[name] = pyarrow.array([None if value is None else str(value) for value in values])
    return pyarrow.table(columns)
