"""What ``test_ranks.py`` runs on each of several ranks: searches and validations, against those of one processor."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.graph500.benchmark import Files, Place, draw_roots, run
from gpugraph.ext.graph500.generator import Tuples, generate
from gpugraph.ext.ranks.comm import HostComm
from gpugraph.ext.ranks.world import world
from tests.graph500.test_searches import Lines, Machine, dijkstra, listed, machine_on

ON_EQUALS: list[Lines] = [
    [(0, 1, 1.0), (1, 2, 1e-9), (2, 3, 0.0), (3, 1, 0.0), (3, 4, 1e-9), (4, 9, 0.0), (8, 9, 0.0), (5, 6, 0.5)],
    [(u, v, 0.0) for u in range(1, 12) for v in range(u)],
    [(7 - v, 8 - v, 0.0) for v in range(8)],
]
"""Vertices at equal distances, which hang on each other across ranks."""


def machine_of(comm: HostComm, whole: Tuples) -> Machine:
    """Return a rank's part of the benchmark on some tuples, kernel 1 done."""
    first, last = (len(whole) * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    share = Tuples(whole.edges[3 * first : 3 * last], whole.weights[first:last], first)
    made = Place(select_device("cpu")[0], comm).machine(share)
    made.construct()
    return made


def searches_are_those_of_one_processor(comm: HostComm) -> None:
    tuples = generate(8, None)
    alone, made = machine_on(select_device("cpu")[0], tuples), machine_of(comm, tuples)
    assert (made.vertices, made.arcs) == (alone.vertices, alone.arcs)
    roots = draw_roots(8, alone, 2)
    assert draw_roots(8, made, 2) == roots
    for root in roots:
        made.search(root)
        alone.search(root)
        np.testing.assert_array_equal(made.result()[1], alone.result()[1])
        found = made.validate(root)
        alone.parent[:] = made.parent
        assert found.fault is None
        assert found == alone.validate(root)


def vertices_at_equal_distances_hang_on_the_root(comm: HostComm, lines: Lines) -> None:
    n = max(max(u, v) for u, v, _ in lines) + 1
    made = machine_of(comm, listed(lines))
    made.search(0)
    right = dijkstra(lines, n, 0)
    np.testing.assert_array_equal(made.result()[1], right)
    found = made.validate(0)
    assert found.fault is None
    assert found.tuples == sum(right[u] != -1 for u, _, _ in lines)


def all_ranks_name_the_same_counter_example(comm: HostComm) -> None:
    made = machine_of(comm, listed([(0, 1, 0.25), (1, 2, 0.25), (2, 3, 0.5), (3, 4, 0.5), (4, 5, 0.5), (0, 5, 1.0)]))
    made.search(0)
    made.distance[5] = 0.75
    fault = made.validate(0).fault
    assert fault == (
        "tuple 4 of weight 0.5 joins vertex 4 at distance 1.5 and vertex 5 at distance 0.75, which differ by more"
    )
    made.parent[5], made.distance[5] = 2, 1.0
    assert made.validate(0).fault == "vertex 5 has parent 2 and distance 1, which no tuple of the input confirms"


def a_tuple_is_refused_by_its_number_in_the_whole_list(comm: HostComm) -> None:
    with pytest.raises(InputError, match="tuple 2 joins 0 and 3 with weight"):
        machine_of(comm, listed([(0, 1, 0.5), (1, 2, 0.5), (0, 3, 1.5)]))


def main() -> None:
    comm = world()
    assert comm is not None
    searches_are_those_of_one_processor(comm)
    for lines in ON_EQUALS:
        vertices_at_equal_distances_hang_on_the_root(comm, lines)
    all_ranks_name_the_same_counter_example(comm)
    a_tuple_is_refused_by_its_number_in_the_whole_list(comm)
    folder, device = Path(sys.argv[1]), select_device("cpu")[0]
    done = run(6, Place(device, comm), roots=2, files=Files(keep=folder / "edges", results=folder))
    assert done.figures()["num_mpi_processes"] == comm.size


if __name__ == "__main__":
    main()
