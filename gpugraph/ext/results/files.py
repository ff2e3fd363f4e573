"""Result files: what ``-o`` writes and ``gpugraph verify`` reads back.

A name may end in .gz, .bz2, .xz or .zst as well.  Files appear whole or not at all.  Read back, a file gives a *claim*:
its arrays as it has them, not yet believed.  It holds the parts that its format has and no others: whatever is in it
will be checked.  This is what all problems share; see also ``vertex_files.py``.
"""

import io
import os
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compression import check_ratio, codec_of_content, strip_suffix, unpacked
from gpugraph.base.errors import (
    GraphFormatError,
    InputError,
    check_name,
    missing_packages_named,
    reading,
    unknown_name,
)
from gpugraph.base.files import atomic_write, check_ends
from gpugraph.base.host import require_memory
from gpugraph.base.quantities import counted
from gpugraph.ext.formats.npz_arrays import read_array
from gpugraph.ext.results.text import REMEDY, ZIP, PathLike, check_parts, titles_of
from gpugraph.graph.csr import CSRGraph
from gpugraph.measure.check import check
from gpugraph.problems.contract import METHODS, PROBLEMS, Problem, Result, Verdict, problem_called

Named = tuple[tuple[NDArray[np.int64], Any], ...]
"""Vertices and the names that a file gives them, (k,) each; the names as an array of NumPy's or texts of Arrow's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Claim:
    """What a file says of any result on a graph.

    Attributes:
        vertices: of the graph, or None where the file does not tell.
        digest: of the graph, or None where the file does not tell.
        named: the graph's own ids.
        first_line: where the rows of a file of text begin, 1-based.
    """

    vertices: int | None = None
    digest: str | None = None
    named: Named = ()
    first_line: int = 2


class MismatchError(Exception):
    """The result cannot be one of this input; the message names the first counter-example."""


# ------------------------------------------------------------------ any result, any file


class Files(Protocol):
    """How results of a problem are written and read; ``FILES`` of the module that is called as the problem."""

    noun: str
    """What a message calls a result, e.g. ``"a forest"``."""
    endings: tuple[str, ...]
    """Of the files that hold a result, compression aside."""

    @property
    def csv_columns(self) -> tuple[str, ...]:
        """The columns that a .csv file of a result always has; they distinguish the problems' files."""

    def write(self, result: Any, ending: str, stream: IO[bytes]) -> None:
        """Write a result in the format of one of ``endings``."""

    def read(self, content: bytes, path: PathLike) -> Any:
        """Return the claim of a file's content, nothing of it believed yet; None if it is of another problem.

        Raises GraphFormatError if it lacks a part, or has one too many; whatever else is thrown says that it is
        damaged.
        """

    def claim(self, result: Any) -> Any:
        """Return a result at hand as if a file had held it."""

    def claimed(self, data: Any, claim: Any, path: PathLike) -> Result:
        """Return the result of an input that a claim describes, to be checked.

        Raises MismatchError if it can be none of this input, and InputError if the file at ``path`` cannot be
        understood.
        """


def files_of(problem: str) -> Files:
    """Return how the results of a problem are written and read."""
    files: Files = import_module(f"gpugraph.ext.results.{problem}").FILES
    return files


def problem_of(result: object) -> Problem | None:
    """Return the problem that something is a result of, or None."""
    return next((problem for problem in map(problem_called, PROBLEMS) if isinstance(result, problem.result)), None)


def check_result_name(path: PathLike, problem: Problem) -> str:
    """Return the ending of a result file's name; raise InputError if the problem's results have no such format."""
    ending = ".csv" if path == "-" else os.path.splitext(strip_suffix(os.fspath(path)))[1].lower()
    files = files_of(problem.name)
    if ending in files.endings:
        return ending
    others = [other.noun for other in map(files_of, PROBLEMS) if ending in other.endings]
    if not others:
        error = unknown_name("ending of a result file", ending or os.fspath(path), files.endings)
        error.remedy = f"{error.remedy}; --save writes records, --export tables and pages"
        raise error
    what = f"a {ending} file holds {' or '.join(others)}, not {files.noun}"
    raise InputError(what, where=path, remedy=f"write {either(files.endings)}")


@missing_packages_named()
def write_result(result: object, path: PathLike) -> None:
    """Write a result to a file, whole or not at all; raise InputError for no result, a bad name, or no such place."""
    problem = problem_of(result)
    if problem is None:
        remedy = "leave out -o, or take an algorithm that gives more than figures"
        raise InputError(f"a {type(result).__name__} is no result that a file could hold", where=path, remedy=remedy)
    ending = check_result_name(path, problem)
    with atomic_write(path, "wb") as stream:
        files_of(problem.name).write(result, ending, stream)


@missing_packages_named()
def read_claim(path: PathLike) -> tuple[Problem, Any]:
    """Return what a result file claims, compressed or not, and the problem, which its content tells.

    Raises InputError if there is no such file, or it may not be read, and GraphFormatError if it is no result file, or
    damaged.
    """
    check_ends(path)
    with reading(path, REMEDY):
        require_memory(2 * os.path.getsize(path), os.fspath(path), REMEDY)
        packed = Path(path).read_bytes()
        content = unpacked(io.BytesIO(packed), codec_of_content(packed[:16], path), path)
        head = set(titles_of(content))
        likely = sorted(PROBLEMS, key=lambda name: -len(head.intersection(files_of(name).csv_columns)))
        for name in likely:
            if (claim := files_of(name).read(content, path)) is not None:
                return problem_called(name), claim
        if content.startswith(ZIP):
            raise ValueError(f"the problem '{_problem_named(zipfile.ZipFile(io.BytesIO(content)), path)}' is not known")
        raise GraphFormatError("is no result file: its first line is none of ours", path=path, remedy=REMEDY)


def check_result(data: Any, result: Any, method: str = "auto") -> Verdict:
    """Return the verdict on a result.

    What a file claims is first brought onto the input, edge by edge and vertex by vertex; where that fails the
    verdict says so, and the oracle or the certificate never sees it.

    Args:
        data: the graph it is said to belong to; of a scan the array.
        result: what a problem's algorithm returned, or the path of a file that ``-o`` wrote.
        method: ``"auto"``, ``"reference"``, ``"certificate"`` or ``"both"``.

    Raises:
        InputError: the file cannot be read, there is no such method, or the input does not suit the problem.
    """
    check_name("verification method", method, METHODS)
    path, digest = "", None
    if isinstance(result, str | os.PathLike):
        path = os.fsdecode(result)
        problem, claim = read_claim(path)
        data, digest = problem.admit(data), claim.digest
    else:
        found = problem_of(result)
        if found is None:
            remedy = f"give what {either(list(PROBLEMS))} returned, one at a time, or the path of a file that -o wrote"
            raise InputError(f"a {type(result).__name__} is not a result", remedy=remedy)
        problem, data = found, found.admit(data)
        if result.graph is data or result.graph.digest == data.digest:
            return check(problem, data, problem.query_of(result), result, method)
        claim = files_of(problem.name).claim(result)
    try:
        claimed = files_of(problem.name).claimed(data, claim, path)
    except MismatchError as mismatch:
        return Verdict("failed", method, str(mismatch))
    verdict = check(problem, claimed.graph, problem.query_of(claimed), claimed, method)
    if verdict.passed and digest not in (None, data.digest):
        other = f"it holds, but the file gives another graph's digest: {digest}, not {data.digest}"
        return Verdict("failed", verdict.method, other)
    return verdict


def nodes_of(graph: CSRGraph) -> NDArray[Any]:
    """Return what NetworkX is to call the vertices, (n,): the very nodes, a file's own ids, or numbers."""
    return np.arange(graph.vertices) if graph.vertex_names is None else graph.vertex_names


def either(words: Sequence[str]) -> str:
    """Return ``"a, b or c"``."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# ------------------------------------------------------------------ a claim on a graph


def check_size(graph: CSRGraph, claim: Claim) -> None:
    """Raise MismatchError for a claim on a graph of another size."""
    if claim.vertices not in (None, graph.vertices):
        raise MismatchError(f"the result is one of {counted(claim.vertices, 'vertex')}, the graph has {graph.vertices}")


def vertex_order(graph: CSRGraph, vertex: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of a claim in the order of their vertices; raise MismatchError unless it has each once."""
    n = graph.vertices
    if not np.array_equal(np.sort(vertex), np.arange(n)):
        raise MismatchError(f"the file does not hold each of the vertices 0 to {n - 1} once")
    return np.argsort(vertex)


def check_names(graph: CSRGraph, claim: Claim) -> None:
    """Raise MismatchError for the first of the graph's vertices that a file calls otherwise than the graph does."""
    printed = graph.printed_names
    if printed is None:
        return
    for vertices, names in claim.named:
        expected = printed[vertices]
        found = names if isinstance(names, np.ndarray) else np.array(names.to_pylist(), object)
        same = found == (expected if isinstance(names, np.ndarray) else expected.astype(str).astype(object))
        for k in np.flatnonzero(~np.asarray(same, bool))[:1]:
            raise MismatchError(f"vertex {vertices[k]} is called {expected[k]} in the graph, not {found[k]}")


# ------------------------------------------------------------------ .npz


def write_npz(stream: IO[bytes], problem: str, graph: CSRGraph, **arrays: object) -> None:
    """Write a result on a graph as an archive: its arrays, the problem, and what tells the graph."""
    facts: dict[str, Any] = {"vertices": graph.vertices, "graph_digest": graph.digest, "problem": problem, **arrays}
    if graph.printed_names is not None:
        facts["names"] = graph.printed_names
    np.savez(stream, **facts)


def read_npz(
    content: bytes, problem: str, due: Sequence[str], optional: Sequence[str], path: PathLike
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
    """Return the arrays of an archive and what it tells of the graph, for a Claim; None for another problem's.

    The arrays called as in ``due`` have to be there, those in ``optional`` may be.
    """
    if not content.startswith(ZIP):
        return None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = _arrays_in(archive)
        check_ratio(sum(member.file_size for member in archive.infolist()), len(content), path)
        if _problem_named(archive, path) != problem:
            return None
        check_parts("array", found, ("problem", "vertices", "graph_digest", *due), (*optional, "names"), path)
        arrays = {name: _native(read_array(archive, name)) for name in found}
    vertices = int(single(arrays["vertices"], "iu"))
    facts: dict[str, Any] = {"vertices": vertices, "digest": str(single(arrays["graph_digest"], "U"))}
    if "names" in arrays:
        names = arrays["names"]
        if names.shape != (vertices,):
            raise ValueError(f"{counted(names.size, 'name')} for {counted(vertices, 'vertex')}")
        if names.dtype.kind == "U" and (names.view(np.uint32) > sys.maxunicode).any():
            raise ValueError("a name holds what is no letter")
        facts["named"] = ((np.arange(vertices), names),)
    return arrays, facts


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the byte order of this machine."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _arrays_in(archive: zipfile.ZipFile) -> list[str]:
    return [name.removesuffix(".npy") for name in archive.namelist()]


def _problem_named(archive: zipfile.ZipFile, path: PathLike) -> str:
    if "problem" not in _arrays_in(archive):
        raise GraphFormatError("is no result file: it lacks the array 'problem'", path=path, remedy=REMEDY)
    return str(single(read_array(archive, "problem"), "U"))


def row(array: NDArray[Any], kinds: str) -> NDArray[Any]:
    """Return a one-dimensional array of the given kinds; integers as int64."""
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ValueError("an array is not one-dimensional or not of " + ("integers" if kinds == "i" else "numbers"))
    return array.astype(np.int64) if kinds == "i" else array


def single(array: NDArray[Any], kinds: str) -> Any:
    """Return the one item of an array without dimensions of the given kinds."""
    if array.ndim or array.dtype.kind not in kinds:
        raise ValueError("something that is one number or one text is not")
    return array.item()
