"""Ranks that have found different things fail on all sides: none waits in a collective that the others never reach."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import GpuGraphError
from gpugraph.ext.graph500.generator import generate, share_of
from gpugraph.ext.graph500.on_cpu import CpuMachine, validate
from gpugraph.ext.ranks import contraction
from gpugraph.ext.ranks.comm import HostComm, LoneComm
from gpugraph.ext.ranks.transports import SocketComm


def on_two(act: Callable[[HostComm], object]) -> list[object]:
    """Let two ranks, a thread each, do something; return what came of it or what was raised."""
    ends, found = socket.socketpair(), [None, None]

    def work(rank: int) -> None:
        comm = SocketComm(rank, 2, {1 - rank: ends[rank].detach()})
        try:
            found[rank] = act(comm)
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "one waits for the other for ever"
    return found


def test_what_is_agreed_comes_back_and_what_differs_is_an_error_on_all_ranks():
    assert on_two(lambda comm: comm.agreed(7, "trees")) == [7, 7]
    assert LoneComm().agreed(7, "trees") == 7
    for error in on_two(lambda comm: comm.agreed(7 + comm.rank, "trees")):
        assert isinstance(error, GpuGraphError)
        assert "rank 1 has found 8 trees, rank 0 7" in str(error)


def test_ranks_that_have_different_trees_left_fail(monkeypatch):
    monkeypatch.setattr(contraction, "_renumber", lambda trees, claims, link, renamed: claims)

    def act(comm: HostComm) -> object:
        edges: Any = object.__new__(contraction.HostEdges)
        edges.comm, edges.trees, edges.claims, edges.labelled = comm, 4, 2 - comm.rank, False
        edges.link = edges.renamed = None
        edges.renumber()
        return edges.trees

    assert all(isinstance(error, GpuGraphError) for error in on_two(act))


@pytest.mark.parametrize("where", ["distance", "parent"])
def test_a_result_of_graph500_that_one_rank_has_otherwise_is_a_fault_on_all(where: str):
    whole = generate(6, None)
    machine = CpuMachine(whole, None, None)  # type: ignore[arg-type]
    machine.construct()
    root = next(v for v in range(64) if machine.degree(v))
    machine.search(root)
    parent, distance = machine.result()

    def act(comm: HostComm) -> object:
        own = {"parent": parent.copy(), "distance": np.array(distance)}
        if comm.rank == 1:
            own[where][root] = 5
        return validate(generate(6, None, (comm.rank, 2)), root, own["parent"], own["distance"], comm).fault

    assert share_of(6, (1, 2))[1] == len(whole)
    first, second = on_two(act)
    assert first == second
    assert first is not None
