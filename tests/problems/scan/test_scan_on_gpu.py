"""Scans on a GPU: every algorithm and type on arrays large enough to fill the device."""

from __future__ import annotations

import pytest

from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import run_cell
from tests.problems.scan.scan_cases import SUMS, TYPES

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("name", SUMS)
def test_every_type_and_length_is_verified_both_ways(name: str, buffers: int) -> None:
    for i, dtype in enumerate(TYPES):
        for n in (1, 4097, 5_000_003):
            spec = f"array:n={n},dtype={dtype},exclusive={('no', 'yes')[i % 2]}"
            record = run_cell(Cell("scan", spec, name, "cuda", options={"buffers": buffers}, repeat=3, verify="both"))
            assert record.status == "passed", (spec, record.data["verification"])


@pytest.mark.parametrize("exclusive", ["no", "yes"])
def test_cupy_gives_the_same(exclusive: str) -> None:
    for dtype in TYPES:
        spec = f"array:n=1000003,dtype={dtype},exclusive={exclusive}"
        assert run_cell(Cell("scan", spec, "cub", "cuda", repeat=2, verify="both")).status == "passed"


@pytest.mark.parametrize("flags", ["bytes", "top-bit"])
@pytest.mark.parametrize("length", [1, 30, 100_000, 10**9])
def test_segments_are_verified_both_ways(length: int, flags: str) -> None:
    for dtype in TYPES if flags == "bytes" else ("uint32", "uint64"):
        spec = f"array:n=3000001,dtype={dtype},segments={length}"
        record = run_cell(
            Cell("scan", spec, "segmented-min", "cuda", options={"flags": flags}, repeat=2, verify="both")
        )
        assert record.status == "passed", (spec, record.data["verification"])


@pytest.mark.parametrize("spec", ["rmat:14,w=1..4", "grid:200x200", "complete:600", "random:n=20000,deg=3"])
def test_the_forests_built_on_scans_are_verified_both_ways(spec: str) -> None:
    for name, options in (("boruvka-scan", {}), ("boruvka-prim", {}), ("boruvka-prim", {"switch-after": 2})):
        record = run_cell(Cell("mst", spec, name, "cuda", options=options, repeat=2, verify="both"))
        assert record.status == "passed", (name, record.data["verification"])
