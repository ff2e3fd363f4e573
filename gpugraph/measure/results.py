"""Result files: what ``-o`` writes and ``gpugraph verify`` reads back.

========  ================================================================================================
``.npz``  mst: ``u``, ``v``, ``weight``, ``total_weight`` (text, exact), ``components``;
          sssp: ``distance``, ``source`` and, where asked for, ``predecessor``;
          both: ``problem``, ``vertices``, ``graph_digest`` and ``names`` where the graph had its own ids
``.csv``  mst: ``u,v,weight``; sssp: ``vertex,distance[,predecessor]``, ``inf`` where unreached; columns of
          names follow where the graph had its own ids
``.mtx``  mst: Matrix Market, coordinate, symmetric
``.npy``  scan: the sums; to ``.npz`` a scan goes as ``array`` and, for segments, ``index``
========  ================================================================================================

A name may end in .gz, .bz2, .xz or .zst as well.  Files appear whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from gpugraph.atomic import atomic_write
from gpugraph.compression import strip_suffix
from gpugraph.errors import InputError, unknown_name
from gpugraph.measure.csv_columns import write_csv
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.scan.scanned import Scanned
from gpugraph.problems.sssp.distances import Distances

SolvedProblem = Forest | Distances


def result_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending that decides a result file's format, compression aside."""
    return os.path.splitext(strip_suffix(os.fspath(path)))[1].lower()


def check_result_name(path: str | os.PathLike[str], problem: str) -> str:
    """Return the ending of a result file's name.

    Raises:
        InputError: no format has that ending, or none that holds the problem's result.
    """
    ending = result_ending(path)
    if problem == "scan":
        from gpugraph.problems.scan.scanned import check_scan_name

        return check_scan_name(path, ending)
    if ending not in _WRITERS:
        raise unknown_name("ending of a result file", ending or os.fspath(path), _WRITERS)
    if (problem, ending) == ("sssp", ".mtx"):
        raise InputError("a .mtx file holds a forest, not distances", where=path, remedy="write .npz or .csv")
    return ending


def write_result(result: SolvedProblem | Scanned, path: str | os.PathLike[str]) -> None:
    """Write a result to a file, whole or not at all.

    Raises:
        InputError: the name's ending is unknown, or the file cannot be written.
    """
    if not isinstance(result, Forest | Distances):
        from gpugraph.problems.scan.scanned import write_scan

        ending = check_result_name(path, "scan")
        with atomic_write(path, "wb") as stream:
            write_scan(result, ending, stream)
        return
    ending = check_result_name(path, "mst" if isinstance(result, Forest) else "sssp")
    with atomic_write(path, "wb") as stream:
        _WRITERS[ending](result, stream)


def _write_npz(result: SolvedProblem, stream: IO[bytes]) -> None:
    graph = result.graph
    arrays: dict[str, Any] = {"vertices": graph.vertices, "graph_digest": graph.digest}
    if isinstance(result, Forest):
        u, v = result.endpoints()
        arrays |= {"problem": "mst", "u": u, "v": v, "weight": graph.weights[result.edges]}
        arrays |= {"total_weight": str(result.total_weight), "components": result.components}
    else:
        arrays |= {"problem": "sssp", "source": result.source, "distance": result.distance}
        if result.predecessor is not None:
            arrays["predecessor"] = result.predecessor
    if graph.printed_names is not None:
        arrays["names"] = graph.printed_names
    np.savez(stream, **arrays)


def _write_csv(result: SolvedProblem, stream: IO[bytes]) -> None:
    names = result.graph.printed_names
    columns: dict[str, Any]
    if isinstance(result, Forest):
        u, v = result.endpoints()
        columns = {"u": u, "v": v, "weight": result.graph.weights[result.edges]}
        if names is not None:
            columns |= {"u_name": names[u], "v_name": names[v]}
    else:
        distance = np.ma.masked_array(result.distance, ~result.reached)
        columns = {"vertex": np.arange(len(distance)), "distance": distance}
        if result.predecessor is not None:
            columns["predecessor"] = result.predecessor
        if names is not None:
            columns["name"] = names
    write_csv(columns, stream)


def _write_mtx(result: SolvedProblem, stream: IO[bytes]) -> None:
    if not isinstance(result, Forest):
        raise TypeError("a .mtx file holds a forest")
    weights = result.graph.weights[result.edges]
    field = "real" if weights.dtype.kind == "f" else "integer"
    n, (u, v) = result.graph.vertices, result.endpoints()
    # A name may hold anything that a file's may, a new line too: a comment is one line.
    name = "".join(letter if letter.isprintable() else "?" for letter in result.graph.name)
    total = f"% minimum spanning forest of {name}, total weight {result.total_weight}"
    head = f"%%MatrixMarket matrix coordinate {field} symmetric\n{total}\n{n} {n} {len(u)}\n"
    stream.write(head.encode())
    write_csv({"row": v + 1, "column": u + 1, "weight": weights}, stream, separator=" ", header=False)


_WRITERS: dict[str, Callable[[SolvedProblem, IO[bytes]], None]] = {
    ".npz": _write_npz,
    ".csv": _write_csv,
    ".mtx": _write_mtx,
}
