"""The GPU algorithms on the emulated device: the very same kernels and drivers, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.emulator.device import EmulatedDevice, EmulatedKernel
from tests.problems.gpu_cases import (
    VARIANTS,
    assert_right,
    cases,
    expected,
    is_common,
    is_default,
    layout_fits,
    result_of,
    run_on,
    variant_id,
)
from tests.problems.sssp.delta_stepping_graphs import edges_at_random
from tests.tiers import also
from tests.zoo import directed, undirected, zoo


def has_several_blocks(variant: Any) -> bool:
    """Tell whether it is an algorithm as it is by default, or, where that takes one block, the variant of three."""
    chosen = {"blocks": 3, "threads": 64} if variant[1] == "prim-persistent" else {}
    return bool(variant[2:] == ((), chosen))


def runs_other_code(variant: Any) -> bool:
    """Tell whether a variant differs in its kernels, not only in the order of what they work on."""
    return bool(is_default(variant) or variant[3] or "compress" in variant[2])


def tiered(variant: Any, thorough: bool = False) -> Any:
    """Return a variant for the command that tries it: ``make test``, ``make test-all`` or ``make thorough``."""
    marks = pytest.mark.thorough if thorough else () if is_common(variant) else pytest.mark.extended
    return pytest.param(variant, id=variant_id(variant), marks=marks)


by_variant = pytest.mark.parametrize("variant", [tiered(one) for one in VARIANTS])
by_depth = pytest.mark.parametrize("variant", [tiered(one, not runs_other_code(one)) for one in VARIANTS])

WIDE = ("float64", "random-ties", "no-vertex", "star-equal")
"""Graphs that are tried with wide indices; the first with every variant."""

RACED = ("float64", "random-ties", "star-equal", "path-decreasing", "complete", "many-tiny", "directed-random")
"""Graphs on which races are looked for; the first three with every variant."""


def parts(graphs: tuple[str, ...], few: int, rest: pytest.MarkDecorator) -> list[Any]:
    """Return pairs of a variant and the graphs that it is tried on, for the commands that do so.

    Each type of weights and each set of macros costs a compilation.  So ``make test`` leaves the first graph, of
    float64, to ``make test-all``, which tries that with every variant, and ``few`` of them with those that only it has.

    Args:
        graphs: the first of float64, the others of uint32.
        few: how many of them tell enough of a variant.
        rest: marks variants that run the same kernels in another order.
    """
    found = []
    for variant in VARIANTS:
        name, depth = variant_id(variant), pytest.mark.extended if runs_other_code(variant) else rest
        if is_common(variant):
            of_papers = variant[1].startswith(("u-", "matrix-")) and graphs is WIDE  # whose kernels dijkstra has too
            found.append(pytest.param(variant, graphs[1:], id=name, marks=pytest.mark.extended if of_papers else ()))
        shares = (graphs[:1], pytest.mark.extended) if is_default(variant) else (graphs[:few], depth)
        found.append(pytest.param(variant, shares[0], id=f"{name}-{len(shares[0])}", marks=shares[1]))
        if not is_default(variant):
            found.append(pytest.param(variant, graphs, id=f"{name}-all", marks=pytest.mark.thorough))
    return found


def tried(variant: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the graphs and queries for a variant: all of the zoo, or those with two of the types of weights."""
    every = cases(variant[0])
    return every if is_default(variant) else [c for c in every if zoo(c[0]).weights.dtype in ("uint32", "float64")]


@by_variant
def test_it_gives_the_result_of_the_cpu_on_every_graph_of_the_zoo(variant: Any) -> None:
    device = EmulatedDevice()
    for name, query in tried(variant):
        if layout_fits(variant, zoo(name), 32):
            assert_right(device, variant, name, query, 32)


@pytest.mark.parametrize(("variant", "wide"), parts(WIDE, 1, pytest.mark.extended))
def test_wide_indices_give_the_same_result(variant: Any, wide: tuple[str, ...]) -> None:
    for name, query in tried(variant):
        if name in wide and layout_fits(variant, zoo(name), 64):
            for seed in (0, 3):
                assert_right(EmulatedDevice(seed=seed), variant, name, query, 64)


@by_depth
@pytest.mark.parametrize(("every", "times"), [(3, 1), also(1, 1), pytest.param(1, 5, marks=pytest.mark.thorough)])
def test_schedules_of_every_graph_of_the_zoo_give_one_result(variant: Any, every: int, times: int) -> None:
    """Of twenty, each graph gets one, or one graph of a few."""
    share, graphs = 20 // times, WIDE[times == 1 :] if is_default(variant) else WIDE[:1]
    for seed in range(1, 21):
        device = EmulatedDevice(seed=seed)
        for i, (name, query) in enumerate(tried(variant)[::every]):
            wide = (i // share + seed // share) % 2 == 1 and name in graphs
            if (i + seed) % share == 0 and layout_fits(variant, zoo(name), 64 if wide else 32):
                assert_right(device, variant, name, query, 64 if wide else 32)


@pytest.mark.parametrize(("variant", "graphs"), parts(RACED, 3, pytest.mark.thorough))
def test_it_has_no_race_beyond_those_explained_in_the_kernels(variant: Any, graphs: tuple[str, ...]) -> None:
    device = EmulatedDevice(seed=3, races=True)
    for name in graphs:
        index_bits = 64 if name == "float64" else 32
        query = (0,) if variant[0] == "sssp" else ()
        if layout_fits(variant, zoo(name), index_bits):
            assert_right(device, variant, name, query, index_bits)
    assert device.races() == []


@pytest.mark.parametrize("variant", [tiered(v) for v in VARIANTS if has_several_blocks(v)])
@pytest.mark.parametrize("times", [1, also(2), pytest.param(4, marks=pytest.mark.thorough)])
def test_schedules_of_several_blocks_give_one_result(variant: Any, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs of the zoo are so small that one block does all: nobody waits for another there."""
    graph = undirected(1400, edges_at_random(1400, 4200, 1, 50))
    query = (0,) if variant[0] == "sssp" else ()
    grids, launch = [], EmulatedKernel.__call__

    def note(kernel: EmulatedKernel, grid: int, *rest: Any, **options: Any) -> None:
        grids.append(grid)
        launch(kernel, grid, *rest, **options)

    monkeypatch.setattr(EmulatedKernel, "__call__", note)
    for seed in range(1, 1 + times):
        found = result_of(EmulatedDevice(seed=seed), variant, graph, query)
        assert found.fingerprint() == expected(variant[0], graph, query).fingerprint()
    assert max(grids) >= 3


@pytest.mark.parametrize("variant", [tiered(v) for v in VARIANTS if v[0] == "mst"])
def test_the_greatest_weight_of_its_type_is_a_weight_like_any_other(variant: Any) -> None:
    """Its key may be the very word that stands for no edge."""
    _, name, preparations, options = variant
    ends = np.random.default_rng(5).integers(0, 90, (200, 2)).tolist()
    for dtype in ("uint32", "int32", "uint64", "int64"):
        most = int(np.iinfo(dtype).max)
        for lightest in (most, most - 2):
            weights = np.random.default_rng(6).integers(lightest, most, 200, dtype, endpoint=True).tolist()
            graph = undirected(90, [(u, v, w) for (u, v), w in zip(ends, weights, strict=True)], dtype)
            if layout_fits(variant, graph, 32):
                device = EmulatedDevice(seed=2)
                result, _ = run_on(device, "mst", name, graph, preparations=preparations, options=options)
                np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges, err_msg=dtype)


def test_prim_refuses_the_pair_layout_for_wide_weights() -> None:
    with pytest.raises(InputError, match="32-bit"):
        run_on(EmulatedDevice(), "mst", "prim", zoo("float64"), options={"threads": 128, "blocks": 4, "layout": "int2"})


def test_boruvka_takes_at_most_log2_rounds() -> None:
    _, counters = run_on(EmulatedDevice(), "mst", "boruvka", zoo("path-increasing"))
    assert 1 <= counters["rounds"] <= 7


def test_boruvka_cuts_the_row_of_a_hub() -> None:
    graph = undirected(2600, [(0, i, (i * 7919) % 1000) for i in range(1, 2600)])
    result, _ = run_on(EmulatedDevice(), "mst", "boruvka", graph)
    np.testing.assert_array_equal(result.edges, expected("mst", graph, ()).edges)


def test_dijkstra_restarts_in_64_bits_when_a_distance_needs_them() -> None:
    graph = directed(4, [(0, 1, 2**32 - 2), (1, 2, 2**32 - 2), (2, 3, 5)])
    result, counters = run_on(EmulatedDevice(), "sssp", "dijkstra", graph, query=(0,))
    assert counters["restarts"] == 1
    assert result.raw.tolist() == [0, 2**32 - 2, 2**33 - 4, 2**33 + 1]


def test_dijkstra_does_not_restart_without_need() -> None:
    _, counters = run_on(EmulatedDevice(), "sssp", "dijkstra", zoo("grid"), query=(0,))
    assert "restarts" not in counters


def test_dijkstra_refuses_distances_beyond_64_bits() -> None:
    graph = directed(4, [(0, 1, 2**63), (1, 2, 2**63), (2, 3, 1)], "uint64")
    with pytest.raises(InputError, match="does not fit in 64 bits"):
        run_on(EmulatedDevice(), "sssp", "dijkstra", graph, query=(0,))


def test_dijkstra_ignores_an_overflow_on_a_path_that_is_not_the_shortest() -> None:
    graph = directed(3, [(0, 1, 2**63), (1, 2, 2**63), (0, 2, 2**63 + 1)], "uint64")
    result, _ = run_on(EmulatedDevice(), "sssp", "dijkstra", graph, query=(0,))
    assert result.raw.tolist() == [0, 2**63, 2**63 + 1]
