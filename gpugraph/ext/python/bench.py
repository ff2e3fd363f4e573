"""``gpugraph.bench``: several algorithms on several graphs in one call, measured in this process."""

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from gpugraph.base.errors import InputError, check_name, expect, shown, unknown_name
from gpugraph.base.quantities import parse_target
from gpugraph.bench.store import WAIT_S, Store
from gpugraph.cli.output import check_destination
from gpugraph.ext.peers import describe_peers
from gpugraph.ext.plugins.plugin import installed
from gpugraph.ext.python.call_profile import showing
from gpugraph.ext.python.records import Records
from gpugraph.ext.python.terms import in_python_terms
from gpugraph.measure.cell import Cell, check_counts
from gpugraph.measure.run_cell import Session
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.foreign import name_and_device
from gpugraph.problems.registry import algorithms
from gpugraph.records.record import Record

_PEER = "peer:"


@in_python_terms
def bench(
    graphs: object,
    problem: str = "mst",
    *,
    algo: str | Sequence[str] = "auto",
    peer: str | Sequence[str] = (),
    device: str = "auto",
    source: object = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    repeat: int = 20,
    target: float | str = 0.02,
    max_seconds: float = 5.0,
    verify: str = "auto",
    save: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Records:
    """Measure algorithms on graphs, their samples interleaved on each graph, every result verified.

    >>> import gpugraph
    >>> records = gpugraph.bench(["rmat:6", "path:50"], algo="boruvka,kruskal", device="cpu", max_seconds=0.1)
    >>> len(records), {record.verdict for record in records}
    (4, {'verified'})
    >>> best = min(records.where(graph_name="rmat:6"), key=lambda record: record.kernel_s)

    It runs in this process, which a crash ends; the command ``gpugraph bench`` has workers and limits.

    Args:
        graphs: an argument of ``gpugraph.load``, or a list of them; for ``"scan"`` of ``gpugraph.scan``.  A list of
            edges goes to ``gpugraph.from_edges`` first.
        problem: ``"mst"``, ``"sssp"``, ``"components"`` or ``"scan"``.
        algo: names from ``gpugraph algos``, or ``"./file.py:driver"``, in a list or with commas between; ``NAME@cpu``
            runs on that device.
        peer: peers to compare with, from ``gpugraph algos --peers``, e.g. ``"scipy,igraph"``.
        device: as for ``gpugraph.mst``.
        source: of shortest paths, as for ``gpugraph.sssp``.
        options: parameters by algorithm: ``{"delta-stepping": {"delta": 64}}``.
        repeat: least number of samples of each.
        target: precision at which sampling ends: half the 95 % interval over the median, 0.02 or
            ``"2%"``; a number from 1 on is one of per cent.
        max_seconds: time limit of the samples of each.
        verify: as for ``gpugraph.mst``.
        save: a file that the records are appended to, each as it ends.
        progress: whether to show the progress; None: in a notebook and on a terminal.

    Returns:
        The records, also of cells that failed or had a wrong result.

    Raises:
        InputError: an unknown name, or no cell could be measured at all.
    """
    expect(str, device=device, verify=verify)
    if source is not None and problem != "sssp":
        raise InputError("source is of shortest paths", remedy='leave source out, or solve "sssp"')
    if not isinstance(options, Mapping | None):
        remedy = 'give parameters by algorithm: {"delta-stepping": {"delta": 64}}'
        raise InputError(f"options is {shown(options)}", remedy=remedy)
    names = [*_listed("algo", algo), *(_PEER + name.removeprefix(_PEER) for name in _listed("peer", peer))]
    chosen = options or {}
    _check_names(problem, names, chosen)
    sampling = _sampling(repeat, target, max_seconds)
    found: list[Record] = []
    raised: list[Exception] = []

    def cell_of(graph: object, name: str) -> Cell:
        algorithm, own = name_and_device(name)
        if algorithm.startswith(_PEER) and not own:
            own = next((str(one["device"]) for one in describe_peers() if one["name"] == algorithm), "")
        given = chosen.get(algorithm, {})
        cell = Cell(problem, graph, algorithm, own or device, source, options=given, verify=verify, repeat=repeat)
        check_counts(cell)
        return cell

    with contextlib.ExitStack() as stack:
        if save is not None:
            check_destination(os.fspath(save), append=True)
        store = None if save is None else stack.enter_context(Store(save, resume=True, wait_s=WAIT_S))
        tell, session = stack.enter_context(showing(progress)), stack.enter_context(Session())

        def measured(cells: list[Cell]) -> list[Record]:
            ended: dict[int, Record] = {}

            def finished(i: int, record: Record) -> None:
                ended[i] = record
                if store is not None:
                    store.append(record)

            def failed(i: int, error: Exception) -> None:
                raised.append(error)
                finished(i, session.failed_record(cells[i], error))

            session.measure(cells, sampling, tell, finished, failed)
            return [ended[i] for i in range(len(cells))]

        for graph in graphs if isinstance(graphs, list) else [graphs]:
            found += measured([cell_of(graph, name) for name in names])
    if raised and not any(record.ok or record.status == "failed" for record in found):
        raise raised[0]
    return Records(found, _notices(found))


def _notices(records: Sequence[Record]) -> list[str]:
    """Return the notices of records, each once: with its graphs, unless it is one of all of several graphs."""
    graphs_of: dict[str, dict[str, None]] = {}
    for record in records:
        for notice in record.notices:
            graphs_of.setdefault(notice, {})[record.graph_name] = None
    measured = {record.graph_name for record in records}
    return [
        notice if len(graphs) == len(measured) > 1 else f"{', '.join(graphs)}: {notice}"
        for notice, graphs in graphs_of.items()
    ]


def _sampling(repeat: int, target: float | str, max_seconds: float) -> Sampling:
    """Return how to sample; raise InputError where one of them is no number that makes sense."""
    kinds: dict[str, tuple[object, Any]] = {
        "repeat": (repeat, Integral),
        "target": (target, Real | str),
        "max_seconds": (max_seconds, Real),
    }
    for name, (value, kind) in kinds.items():
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InputError(f"{name} is {shown(value)}", remedy="give a number")
    share, least, limit = parse_target("target", str(target)), int(repeat), float(max_seconds)
    return Sampling(share, min_samples=least, max_samples=max(least, 1000), time_limit_s=limit, together=True)


def _listed(what: str, names: str | Sequence[str]) -> list[str]:
    listed = [part.strip() for part in names.split(",") if part.strip()] if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        remedy = "give a name, names with commas between, or a list of them"
        raise InputError(f"{what} is {shown(names)}", remedy=remedy)
    return list(listed)


def _check_names(problem: str, names: Sequence[str], with_options: Iterable[str]) -> None:
    """Refuse algorithms or peers that do not exist, and options of one that is not asked for."""
    if not names:
        raise InputError("there is no algorithm to measure", remedy='name one, or leave algo at "auto"')
    known = {algorithm.name for algorithm in algorithms(problem)} | installed().keys() | {"auto"}
    asked = [name_and_device(name)[0] for name in names]
    for name in asked:
        if name.startswith(_PEER):
            peers = [str(one["name"]) for one in describe_peers()]
            if name not in peers:
                raise unknown_name("peer", name.removeprefix(_PEER), [one.removeprefix(_PEER) for one in peers])
        elif ":" not in name and not name.endswith(".py") and name not in known:
            raise unknown_name("algorithm", name, known)
    for name in with_options:
        check_name("algorithm with options", name, asked)
