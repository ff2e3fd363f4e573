"""Arrays longer or shorter than they say, and offsets and indices that are none, by every way in from Python.

Each is refused in words, or gives the answer of a graph that is put together entry by entry; a process never dies.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph as scipys

import gpugraph
from gpugraph import csgraph
from gpugraph.base.errors import InputError
from tests.hostile.trials import Part, Trial

FORMS = ("csr", "csc", "coo", "bsr", "rows")
DAMAGES = (
    *("longer indices", "longer data", "both longer", "shorter indices", "shorter data", "shorter offsets"),
    *("longer offsets", "an index beyond", "a negative index", "offsets that fall", "a first offset", "a last offset"),
    *("a huge offset", "scipy's overwrite"),
)


def drawn(draw: random.Random) -> Any:
    """Return a matrix of CSR with whole weights, no two alike, so that there is one forest."""
    n = draw.choice((1, 2, 5, 30, 300))
    dense = np.zeros((n, n))
    for weight in range(1, 1 + draw.randrange(3 * n)):
        dense[draw.randrange(n), draw.randrange(n)] = weight
    np.fill_diagonal(dense, 0)
    return sparse.csr_array(dense)


def damaged(draw: random.Random, form: str, matrix: Any) -> Any:
    """Return a matrix with an array that is not what it says; its constructor has looked at the whole one."""
    kind = draw.choice(DAMAGES)
    if kind == "scipy's overwrite":
        matrix = matrix.copy()
        scipys.minimum_spanning_tree(matrix, overwrite=True)
        return matrix
    made = matrix.tobsr(blocksize=(1, 1)) if form == "bsr" else matrix.asformat("csr" if form == "rows" else form)
    made = made.copy()
    first, second = ("row", "col") if form == "coo" else ("indptr", "indices")
    if form == "coo":
        made.coords = tuple(np.array(part) for part in made.coords)
    arrays = {name: np.array(getattr(made, name)) for name in (first, second, "data")}

    def grown(name: str) -> None:
        extra = np.resize(arrays[name], (draw.choice((1, 7, 5000)), *arrays[name].shape[1:]))
        arrays[name] = np.concatenate((arrays[name], extra))

    if kind in ("longer indices", "both longer"):
        grown(second)
    if kind in ("longer data", "both longer"):
        grown("data")
    if kind == "longer offsets":
        grown(first)
    for name, shorter in ((second, "shorter indices"), ("data", "shorter data"), (first, "shorter offsets")):
        if kind == shorter:
            arrays[name] = arrays[name][: len(arrays[name]) // 2]
    if len(arrays[second]) and kind in ("an index beyond", "a negative index"):
        at = draw.randrange(len(arrays[second]))
        arrays[second][at] = (
            draw.choice((-1, -(2**31))) if "negative" in kind else matrix.shape[0] + draw.choice((0, 9**9))
        )
    if len(arrays[first]) and kind in ("offsets that fall", "a first offset", "a last offset", "a huge offset"):
        at = {"a first offset": 0, "a last offset": -1}.get(kind, draw.randrange(len(arrays[first])))
        arrays[first][at] = draw.choice((-1, 3, 10**6)) if kind != "a huge offset" else 2**31 - 1
    if form == "rows":
        return tuple(arrays.values())
    if form == "coo":
        made.coords, made.data = (arrays["row"], arrays["col"]), arrays["data"]
        return made
    for name, array in arrays.items():
        setattr(made, name, array)
    return made


def expected(form: str, source: Any) -> Any:
    """Return the graph that a matrix stands for, entry by entry, as a dense matrix; None where it stands for none."""
    if form == "rows":
        (first, second, data), n = source, len(source[0]) - 1
        cut = len(second)
        if len(data) != cut:
            return None
    else:
        first, second = (source.row, source.col) if source.format == "coo" else (source.indptr, source.indices)
        data, n = source.data.reshape(-1), source.shape[0]
        cut = len(data) if source.format == "coo" or not len(first) else int(first[-1])
    if form != "coo" or (form != "rows" and source.format != "coo"):
        if (
            len(first) != n + 1
            or n < 0
            or first[0] != 0
            or first[-1] != cut
            or (np.diff(first.astype(object)) < 0).any()
        ):
            return None
        if min(len(second), len(data)) < cut:
            return None
        first = np.repeat(np.arange(n), np.diff(first))
    elif not len(first) == len(second) == len(data):
        return None
    dense = np.zeros((n, n))
    for i, j, weight in zip(first.tolist(), second[:cut].tolist(), data[:cut].tolist(), strict=True):
        if not (0 <= i < n and 0 <= j < n):
            return None
        place = (j, i) if form == "csc" and source.format == "csc" else (i, j)
        met = dense[place]  # SciPy's matrices add entries of one place up; of parallel arcs the lightest stays
        dense[place] = weight + met if form != "rows" or not met else min(weight, met)
    return dense


def _held(source: Any) -> float:
    with gpugraph.on(source, device="cpu") as held:
        return float(held.mst().total_weight)


DOORS: dict[str, Callable[[Any], float]] = {
    "load": lambda source: float(gpugraph.mst(gpugraph.load(source), device="cpu").total_weight),
    "mst": lambda source: float(gpugraph.mst(source, device="cpu").total_weight),
    "on": _held,
    "mst_many": lambda source: float(gpugraph.mst_many([source, source], device="cpu").weights.sum() / 2),
    "csgraph": lambda source: float(csgraph.minimum_spanning_tree(source).sum()),
    "components": lambda source: float(gpugraph.components(source, device="cpu").components),
    "csgraph components": lambda source: float(csgraph.connected_components(source, return_labels=False)),
    "csgraph dijkstra": lambda source: float(np.nansum(_finite(csgraph.dijkstra(source, indices=0)))),
    "sssp": lambda source: float(_finite(gpugraph.sssp(source, 0, device="cpu").raw.astype(float)).sum()),
}


def _finite(distance: Any) -> Any:
    return np.where(np.isfinite(distance), distance, 0)


def right(door: str, dense: Any) -> float:
    """Return the number that a way in should lead to, by SciPy."""
    if "components" in door:
        return float(scipys.connected_components(dense, return_labels=False))
    if "dijkstra" in door or door == "sssp":
        return float(_finite(scipys.dijkstra(dense, indices=0)).sum())
    return float(scipys.minimum_spanning_tree(dense).sum())


def try_lengths(trial: Trial) -> str:
    """Bring a damaged matrix in by one way; raises unless it is refused in words or understood."""
    draw = trial.draw
    form = draw.choice(FORMS)
    source = damaged(draw, form, drawn(draw))
    door = draw.choice([name for name in DOORS if not (isinstance(source, tuple) and "csgraph" in name)])
    dense = expected("csr" if form == "rows" and not isinstance(source, tuple) else form, source)
    try:
        found = DOORS[door](source)
    except (InputError, ValueError) as error:
        why = str(error)
    else:
        assert dense is not None, f"{door} takes {form} that is no matrix, and finds {found}"
        assert found == right(door, dense), f"{door} finds {found} of {form}, not {right(door, dense)}"
        return "understood"
    nowhere = door == "sssp" and dense is not None and not len(dense)  # no vertex to start from
    assert dense is None or nowhere, f"{door} refuses {form}: {why}"
    return "refused"


PART = Part(
    "lengths", "arrays longer or shorter than they say, by every way in from Python", 20_000, try_lengths, 200, 60.0
)
