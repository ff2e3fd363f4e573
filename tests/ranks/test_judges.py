"""Certificates of ranks refuse what only a mistake of the algorithm that they judge could bring about."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gpugraph.ext.components.labels import Components
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.ranks.comm import HostComm
from gpugraph.ext.ranks.components.on_ranks import certify_part as certify_labels
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.ext.ranks.sssp.on_ranks import certify_part as certify_distances
from gpugraph.problems.sssp.distances import Distances
from tests.emulator.compiler import needs_compiler
from tests.ranks.test_agreement import on_two
from tests.zoo import undirected

DEVICES = ("cpu", pytest.param("emulated", marks=needs_compiler))


def part_of(graph: Any, comm: HostComm, device: str) -> GraphPart:
    part = GraphPart.of(graph, comm)
    if device == "emulated":
        part.rows_on(EmulatedDevice())
    return part


@pytest.mark.parametrize("device", DEVICES)
def test_a_vertex_is_not_unreached_because_its_distance_has_no_place_in_64_bits(device: str) -> None:
    graph = undirected(3, [(0, 1, 2**63), (1, 2, 2**63)], "uint64")
    lost: Any = Distances(graph, 0, np.array([0, 2**63, 2**64 - 1], np.uint64))
    verdicts: Any = on_two(lambda comm: certify_distances(part_of(graph, comm, device), 0, lost))
    for verdict in verdicts:
        assert not verdict.passed
        assert f"1 → 2 of weight {2**63} leads to 2 by a distance that does not fit in 64 bits" in verdict.detail


@pytest.mark.parametrize("device", DEVICES)
def test_of_all_labels_of_five_vertices_those_alone_that_are_components_pass(device: str) -> None:
    graph = undirected(5, [(0, 3, 1), (1, 4, 1), (3, 4, 1)])

    def passing(comm: HostComm) -> Any:
        part = part_of(graph, comm, device)
        rows = product(*(range(v + 1) for v in range(5)))
        return [row for row in rows if certify_labels(part, Components(graph, np.array(row, np.int64))).passed]

    assert on_two(passing) == [[(0, 0, 2, 0, 0)]] * 2
