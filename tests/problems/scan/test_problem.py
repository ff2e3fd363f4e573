"""What a scan works on, what it gives, and how it is checked."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.base import host
from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.results.files import files_of
from gpugraph.ext.scan.array import ArrayInput, generate_heads, open_array, with_kind
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.ext.scan.verify import sums_are_exact
from gpugraph.problems.registry import find_algorithm, load_problem
from tests.memory import with_peak
from tests.problems.scan.scan_cases import TYPES, scanned_by

PROBLEM = load_problem("scan")


class Cpu:
    """As much of a device as a CPU algorithm is asked for."""

    kind = "cpu"


# ------------------------------------------------------------------ input


def test_a_spec_gives_the_same_elements_every_time() -> None:
    first, second = open_array("array:n=1000,seed=3"), open_array("array:n=1000,seed=3")
    assert first.digest == second.digest != open_array("array:n=1000,seed=4").digest
    np.testing.assert_array_equal(first.values[:3], [453758569, 3739201027, 1958367128])


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_of_the_type_asked_for(dtype: str) -> None:
    array = open_array(f"array:size=4KiB,dtype={dtype}")
    assert (array.values.dtype, array.nbytes) == (np.dtype(dtype), 4096)
    assert sums_are_exact(array.values)
    assert len(np.unique(array.values)) > 10


def test_bits_bound_integers_and_segments_leave_the_top_bit_free() -> None:
    assert open_array("array:n=5000,bits=7").values.max() == 127
    assert open_array("array:n=5000,dtype=uint64,segments=9").values.max() < 2**63


def test_heads_come_about_as_often_as_asked_for_and_first() -> None:
    heads = generate_heads(100_000, 50, 1)
    assert heads[0] == 1
    assert 1700 < heads.sum() < 2300
    assert generate_heads(10, 1, 1).all()


def test_a_size_means_what_it_means_everywhere() -> None:
    assert open_array("array:size=4KB").nbytes == 4000
    assert open_array("array:size=4KiB").nbytes == 4096


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("array:", "needs n or size"),
        ("array:n=5,size=4", "one of them"),
        ("array:n=x", "whole number"),
        ("array:n=-1", "whole number"),
        ("array:n=2^60", "lies in"),
        ("array:size=5", "no whole number of uint32"),
        ("array:size=5QB", "no size of memory"),
        ("array:n=5,dtype=int16", "unknown dtype"),
        ("array:n=5,bits=33", "lies in 1..32"),
        ("array:n=5,dtype=float32,bits=3", "those of integers"),
        ("array:n=5,exclusive=maybe", "yes or no"),
        ("array:n=5,segments=0", "lies in"),
        ("array:n=5,segments=3,exclusive=yes", "inclusive"),
        ("array:n=5,n=6", "twice"),
        ("array:n=5,colour=red", "unknown key"),
        ("array:n", "KEY=VALUE"),
        ("array:n=5,file=x.npy", "does not go with file"),
        ("array:file=/no/such,file.npy", "no such file"),
    ],
)
def test_a_wrong_spec_is_refused_with_its_reason(spec: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        open_array(spec)


def test_a_file_is_scanned_and_its_path_may_hold_commas(tmp_path: Path) -> None:
    path = tmp_path / "a,b=c.npy"
    np.save(path, np.arange(5, dtype=">i4"))
    array = open_array(f"array:exclusive=yes,file={path}")
    assert (array.values.tolist(), array.exclusive, array.values.dtype) == ([0, 1, 2, 3, 4], True, np.dtype("int32"))
    assert open_array(path).name == "a,b=c.npy"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.zeros((2, 2), np.int32), "one dimension"),
        (np.zeros(3, np.int16), "not supported"),
        (np.array(["a"]), "not supported"),
        (np.array([1.0, np.nan]), "element 1 is not finite"),
        (np.array([np.inf]), "element 0 is not finite"),
        ([1, 2], "a list is not an array"),
    ],
)
def test_an_array_that_has_no_scan_is_refused(values: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        open_array(values)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"\x93NUMPY", b"nonsense" * 10):
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"x\.npy"):
            open_array(tmp_path / "x.npy")
    np.savez(tmp_path / "two.npz", a=np.zeros(1), b=np.zeros(1))
    with pytest.raises(InputError, match="several arrays"):
        open_array(tmp_path / "two.npz")


def test_heads_must_fit_the_array() -> None:
    with pytest.raises(InputError, match="heads of shape"):
        with_kind(np.zeros(3), heads=[1, 0])
    with pytest.raises(InputError, match="inclusive"):
        with_kind(np.zeros(3), heads=[1, 0, 0], exclusive=True)


def test_kind_order_and_segments_enter_the_digest() -> None:
    values = np.arange(40, dtype=np.uint32)
    heads = np.zeros(40, np.uint8)
    inputs = [
        ArrayInput(values),
        ArrayInput(values[::-1].copy()),
        ArrayInput(values.view(np.int32)),
        ArrayInput(values, exclusive=True),
        ArrayInput(values, heads),
        ArrayInput(values, heads + 1),
    ]
    assert len({array.digest for array in inputs}) == len(inputs)


# ------------------------------------------------------------------ results and their checks


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=60),
    st.sampled_from(["int32", "uint64", "float32", "float64"]),
    st.booleans(),
)
def test_one_thread_is_right_by_reference_and_certificate(numbers: list[int], dtype: str, exclusive: bool) -> None:
    whole = np.array(numbers, np.int64)
    values = (whole % 17 - 8).astype(dtype) if dtype.startswith("float") else whole.astype(dtype)
    result = scanned_by(Cpu(), "cpu", with_kind(values, exclusive=exclusive))
    for method in (PROBLEM.reference, PROBLEM.certificate):
        assert method(result.graph, (), result).passed


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), max_size=40),
    st.sampled_from(["int32", "uint64", "float32", "float64"]),
    st.sampled_from(["element", "segment"]),
)
def test_minima_of_one_thread_are_right_per_element_and_per_segment(
    elements: list[tuple[int, bool]], dtype: str, per: str
) -> None:
    values = (np.array([value for value, _ in elements], np.int64) % 5).astype(dtype)
    array = ArrayInput(values, np.array([head for _, head in elements], np.uint8))
    result = scanned_by(Cpu(), "segmented-min", array, runs=2, per=per)
    for method in (PROBLEM.reference, PROBLEM.certificate):
        assert method(result.graph, (), result).passed


@pytest.mark.parametrize("method", ["reference", "certificate"])
def test_one_wrong_segment_anywhere_is_found(method: str) -> None:
    check = getattr(PROBLEM, method)
    right = scanned_by(Cpu(), "segmented-min", "array:n=500,segments=20,bits=3", per="segment")
    assert right.index is not None
    assert check(right.graph, (), right).passed
    for s in (0, 1, len(right.array) - 1):
        for change in (1, -1):
            array, index = right.array.copy(), right.index.copy()
            array[s] = 7 - array[s] if change == 1 else 9
            index[s] += change
            assert check(right.graph, (), replace(right, array=array)).status == "failed"
            assert check(right.graph, (), replace(right, index=index)).status == "failed"
    assert check(right.graph, (), replace(right, array=right.array[:-1])).status == "failed"
    assert check(right.graph, (), replace(right, per_segment=False)).status == "failed"


@pytest.mark.parametrize("spec", ["array:n=100000", "array:n=100000,segments=20"])
def test_a_run_of_one_thread_allocates_nothing(spec: str) -> None:
    name = "segmented-min" if "segments" in spec else "cpu"
    algorithm = find_algorithm("scan", name, "cpu")
    state = algorithm.prepare(open_array(spec), Cpu(), **({"per": "element"} if "segments" in spec else {}))
    first = algorithm.run(state, NullClock())
    second, peak = with_peak(lambda: algorithm.run(state, NullClock()))
    assert peak < 100_000
    for one, other in zip(first.arrays, second.arrays, strict=True):
        assert np.shares_memory(one, other)


def results() -> list[tuple[str, Scanned]]:
    """Return right results of every kind."""
    specs = ["array:n=500", "array:n=500,exclusive=yes,dtype=int64", "array:n=500,dtype=float32"]
    sums = [(spec, scanned_by(Cpu(), "cpu", spec)) for spec in specs]
    spec = "array:n=500,segments=20,bits=4"
    return [*sums, (spec, scanned_by(Cpu(), "segmented-min", spec))]


@pytest.mark.parametrize("method", ["reference", "certificate"])
@pytest.mark.parametrize("spec_and_result", results(), ids=lambda pair: pair[0])
def test_one_wrong_element_anywhere_is_found_and_named(spec_and_result: tuple[str, Scanned], method: str) -> None:
    _, right = spec_and_result
    check = getattr(PROBLEM, method)
    assert check(right.graph, (), right).passed
    for i in (0, 1, 250, 499):
        array = right.array.copy()
        array[i] += 1
        verdict = check(right.graph, (), replace(right, array=array))
        assert verdict.status == "failed"
        assert f"element {i}" in verdict.detail
        if right.index is not None:
            index = right.index.copy()
            index[i] += 1
            assert check(right.graph, (), replace(right, index=index)).status == "failed"


@pytest.mark.parametrize("method", ["reference", "certificate"])
def test_a_result_of_another_shape_is_wrong(method: str) -> None:
    check = getattr(PROBLEM, method)
    right = scanned_by(Cpu(), "cpu", "array:n=9")
    minima = scanned_by(Cpu(), "segmented-min", "array:n=9,segments=3")
    wrong = [
        replace(right, array=right.array[:-1]),
        replace(right, array=right.array.astype(np.int64)),
        replace(minima, index=None),
    ]
    for result in wrong:
        assert check(result.graph, (), result).status == "failed"


def test_rounded_reals_are_checked_within_the_bound() -> None:
    values = np.random.default_rng(2).uniform(0, 1, 3000).astype(np.float32)
    assert not sums_are_exact(values)
    right = scanned_by(Cpu(), "cpu", values)
    assert PROBLEM.certificate(right.graph, (), right).passed
    far = right.array.copy()
    far[2000] += 5
    verdict = PROBLEM.reference(right.graph, (), replace(right, array=far))
    assert (verdict.status, "element 2000" in verdict.detail) == ("failed", True)
    far[2000] = np.nan
    assert PROBLEM.reference(right.graph, (), replace(right, array=far)).status == "failed"


def test_where_the_bound_says_nothing_the_verdict_is_skipped() -> None:
    result = scanned_by(Cpu(), "cpu", np.array([0.5, 0.1], np.float32))
    verdict = PROBLEM.reference(result.graph, (), replace(result, depth=2**24))
    assert verdict.status == "skipped"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values",
    [np.array([1e308, 1e308, -1e308]), np.array([1e308, -1e308, 1e308, 5.5]), np.array([3e38, 3e38], np.float32)],
)
def test_where_the_sizes_of_reals_overflow_no_result_is_called_right(values: Any) -> None:
    result = scanned_by(Cpu(), "cpu", values)
    for array in (result.array, np.full_like(values, 7)):
        assert PROBLEM.certificate(result.graph, (), replace(result, array=array)).status == "skipped"


def test_sums_are_exact_only_where_every_order_of_additions_is() -> None:
    assert sums_are_exact(np.full(100, 2.0**17, np.float32))
    assert not sums_are_exact(np.full(200, 2.0**17, np.float32))  # the last sums pass 2^24
    assert not sums_are_exact(np.array([0.5, 1.0]))
    assert sums_are_exact(np.zeros(0, np.float32))


def test_results_are_written_to_npy_and_segments_to_npz() -> None:
    sums, minima = scanned_by(Cpu(), "cpu", "array:n=9"), scanned_by(Cpu(), "segmented-min", "array:n=9,segments=3")
    stream = io.BytesIO()
    files_of("scan").write(sums, ".npy", stream)
    stream.seek(0)
    np.testing.assert_array_equal(np.load(stream), sums.array)
    stream = io.BytesIO()
    files_of("scan").write(minima, ".npz", stream)
    stream.seek(0)
    held = np.load(stream)
    np.testing.assert_array_equal(held["array"], minima.array)
    np.testing.assert_array_equal(held["index"], minima.index)


def test_the_total_counts_allocation_and_both_transfers() -> None:
    phases = {"stage": 3.0, "h2d": 1.0, "prepare": 0.25, "kernel": 0.25, "d2h": 2.0}
    told = PROBLEM.figures(open_array("array:size=4MB"), phases)["throughput"]
    assert (told["total_s"], told["total_with_stage_s"]) == (3.5, 6.5)
    assert (told["h2d_gb_s"], told["kernel_gb_s"], told["d2h_gb_s"]) == (0.004, 0.016, 0.002)
    assert told["transfers_share"] == pytest.approx(3 / 3.5)


def test_an_array_that_does_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "available_memory", lambda: 2**20)
    with pytest.raises(OutOfMemory, match=r"an array of 262144 elements: needs about 2 MiB"):
        open_array("array:size=1MiB")
