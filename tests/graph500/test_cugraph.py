"""Graph500 by cuGraph, on stand-ins for CuPy and pylibcugraph that compute on the host."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gpugraph.base.errors import VerificationFailed
from gpugraph.cli.group import cli
from gpugraph.devices.discovery import select_device
from gpugraph.ext.graph500.benchmark import Place, run
from gpugraph.ext.graph500.generator import Tuples

FAR = np.finfo(np.float32).max


class FakeGraph:
    """What ``SGGraph`` would hold: the arcs that it is given, as an edge list for our own search on the CPU."""

    def __init__(self, handle: Any, properties: Any, tails: Any, heads: Any, weights: Any, **options: Any):
        assert properties.is_symmetric
        assert properties.is_multigraph
        assert options == {"store_transposed": False, "renumber": True, "do_expensive_check": False}
        assert tails.dtype == heads.dtype == np.int32
        assert weights.dtype == np.float32
        half = len(tails) // 2
        np.testing.assert_array_equal(tails[half:], heads[:half])
        device, _ = select_device("cpu")
        edges = np.stack([tails[:half], heads[:half], np.zeros(half)], axis=1).astype(np.uint32).ravel()
        self.machine = Place(device).machine(Tuples(edges, weights[:half]))
        self.machine.construct()


def found(handle: Any, graph: FakeGraph, root: int, cutoff: float, predecessors: bool, check: bool) -> Any:
    assert predecessors
    graph.machine.search(root)
    parent, distance = graph.machine.result()
    parent[root] = -1
    order = np.flatnonzero((np.arange(len(parent)) % 7 != 5) | (distance >= 0))[::-1]  # it leaves isolated ones out
    return order, np.where(distance < 0, FAR, distance)[order], parent[order]


@pytest.fixture
def cugraph(monkeypatch: pytest.MonkeyPatch) -> Any:
    fake: Any = ModuleType("pylibcugraph")
    fake.ResourceHandle, fake.GraphProperties, fake.SGGraph, fake.sssp = object, SimpleNamespace, FakeGraph, found
    cupy: Any = ModuleType("cupy")
    for name in ("asarray", "concatenate", "where", "count_nonzero"):
        setattr(cupy, name, getattr(np, name))
    runtime = SimpleNamespace(deviceSynchronize=lambda: None)
    cupy.cuda = SimpleNamespace(runtime=runtime, Stream=SimpleNamespace(null=nullcontext()))
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    rmm: Any = ModuleType("rmm")
    rmm.mr = SimpleNamespace(CudaAsyncMemoryResource=object, set_current_device_resource=lambda pool: None)
    for module in (fake, cupy, rmm):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return fake


@pytest.fixture
def device() -> Any:
    opened, _ = select_device("emulated")
    yield opened
    opened.close()


@pytest.mark.usefixtures("cugraph")
def test_its_searches_are_counted_and_checked_as_ours(device: Any) -> None:
    theirs, ours = (run(7, Place(device, peer=peer), roots=3) for peer in ("cugraph", None))
    assert (theirs.roots, theirs.tuples, theirs.vertices) == (ours.roots, ours.tuples, ours.vertices)
    assert theirs.peer == "cugraph"


def test_a_wrong_predecessor_of_it_is_found(cugraph: Any, device: Any) -> None:
    def wrong(*arguments: Any) -> Any:
        vertices, distance, parent = found(*arguments)
        parent[np.flatnonzero((distance < FAR) & (distance > 0))[0]] = arguments[2]
        parent[np.flatnonzero((distance < FAR) & (distance > 0))[-1]] = -1
        return vertices, distance, parent

    cugraph.sssp = wrong
    with pytest.raises(VerificationFailed, match="vertex"):
        run(7, Place(device, peer="cugraph"), roots=1)


def test_where_it_cannot_run_one_line_says_why() -> None:
    done = CliRunner().invoke(cli, ["graph500", "--scale", "5", "--device", "cpu", "--peer", "cugraph"])
    assert done.exit_code in (2, 3)
    assert "cugraph" in str(done.exception) + done.output
