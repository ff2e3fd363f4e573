from __future__ import annotations

import io
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import gpugraph
from gpugraph.base.errors import GraphFormatError, InputError
from tests.graph.formats.samples import (
    ARCS,
    arcs,
    egr,
    galois,
    gunrock,
    load_text,
    packed,
    sg,
    written,
    wsg,
)
from tests.zoo import undirected, zoo

GRAPH = undirected(4, [(0, 1, 5), (0, 2, 7)])

SAMPLES = {
    "native.csr": written(GRAPH, "csr", ".csr"),
    "gunrock.csr": gunrock(),
    "narrow.egr": egr(4),
    "narrow-bare.egr": egr(4, weighted=False),
    "wide.egr": egr(8),
    "wide-bare.egr": egr(8, weighted=False),
    "one.gr": galois(1),
    "one-wide-weights.gr": galois(1, 8),
    "one-bare.gr": galois(1, 0),
    "two.gr": galois(2),
    "a.wsg": wsg(),
    "a.sg": sg(),
    "directed.sg": sg(directed=True),
    "a.npz": written(GRAPH, "npz", ".npz"),
}
BARE = {name for name in SAMPLES if "bare" in name or name.endswith(".sg")}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_binary_layout_is_read(tmp_path: Path, name: str) -> None:
    graph = load_text(tmp_path, name, SAMPLES[name])
    assert arcs(graph) == ([(u, v, 1) for u, v, _ in ARCS] if name in BARE else ARCS)
    assert graph.vertices == 4
    assert graph.directed == (name == "directed.sg")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_cut_anywhere_is_refused_with_its_name(tmp_path: Path, name: str) -> None:
    data = SAMPLES[name]
    # Without a magic, an .egr that loses its weights is a whole unweighted one: nothing can tell.
    whole = {"narrow.egr": len(data) - 16, "wide.egr": len(data) - 16}.get(name)
    for cut in range(len(data)):
        if cut == whole:
            continue
        with pytest.raises(GraphFormatError) as caught:
            load_text(tmp_path, name, data[:cut])
        assert name in str(caught.value)


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.endswith(".npz")])
def test_a_file_with_a_byte_too_many_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(GraphFormatError):
        load_text(tmp_path, name, SAMPLES[name] + b"\0")


def _patched(name: str, at: int, dtype: str, value: float) -> bytes:
    data = bytearray(SAMPLES[name])
    new = packed(dtype, value)
    data[at : at + len(new)] = new
    return bytes(data)


HUGE = 2**60
COUNTS = [
    ("native.csr", 24, "<u8"),
    ("native.csr", 32, "<u8"),
    ("wide.egr", 0, "<i8"),
    ("wide.egr", 8, "<i8"),
    ("one.gr", 16, "<u8"),
    ("one.gr", 24, "<u8"),
    ("two.gr", 16, "<u8"),
    ("two.gr", 24, "<u8"),
    ("a.wsg", 1, "<i8"),
    ("a.wsg", 9, "<i8"),
    ("a.sg", 9, "<i8"),
]


@pytest.mark.parametrize(("name", "at", "dtype"), COUNTS)
@pytest.mark.parametrize("value", [HUGE, 2**63 - 1, -1])
def test_a_header_that_promises_too_much_is_refused(tmp_path: Path, name: str, at: int, dtype: str, value: int) -> None:
    with pytest.raises(GraphFormatError, match=name):
        load_text(tmp_path, name, _patched(name, at, dtype, value % 2**64 if dtype[1] == "u" else value))


@pytest.mark.parametrize(("name", "at"), [("gunrock.csr", 0), ("gunrock.csr", 8), ("narrow.egr", 0), ("narrow.egr", 4)])
@pytest.mark.parametrize("value", [2**31 - 1, -1])
def test_a_narrow_header_that_promises_too_much_is_refused(tmp_path: Path, name: str, at: int, value: int) -> None:
    with pytest.raises(GraphFormatError, match=name):
        load_text(tmp_path, name, _patched(name, at, "<i4", value))


OFFSETS_AT = {
    "native.csr": (64, 8),
    "gunrock.csr": (12, 4),
    "narrow.egr": (8, 4),
    "wide.egr": (16, 8),
    "a.wsg": (17, 8),
}
TARGETS_AT = {
    "native.csr": (128, "<i4"),
    "gunrock.csr": (32, "<i4"),
    "narrow.egr": (28, "<i4"),
    "wide.egr": (56, "<i4"),
    "a.wsg": (57, "<i4"),
    "one.gr": (64, "<u4"),
    "two.gr": (64, "<u8"),
}


@pytest.mark.parametrize("name", OFFSETS_AT)
@pytest.mark.parametrize(("row", "value"), [(0, 1), (2, 1), (1, -1), (1, 2**31 - 1), (4, 3)])
def test_damaged_offsets_are_refused(tmp_path: Path, name: str, row: int, value: int) -> None:
    start, width = OFFSETS_AT[name]
    with pytest.raises(GraphFormatError, match=r"row offsets (fall|run)|digest|not ascend|only|weighs"):
        load_text(tmp_path, name, _patched(name, start + row * width, f"<i{width}", value))


@pytest.mark.parametrize("name", ["one.gr", "two.gr"])
@pytest.mark.parametrize("value", [0, 5, 2**64 - 1])
def test_damaged_end_offsets_are_refused(tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(GraphFormatError, match=r"row offsets|ends at"):
        load_text(tmp_path, name, _patched(name, 40, "<u8", value))


@pytest.mark.parametrize("name", TARGETS_AT)
@pytest.mark.parametrize("value", [4, 2**31 - 1, -1])
def test_a_target_out_of_range_is_refused(tmp_path: Path, name: str, value: int) -> None:
    at, dtype = TARGETS_AT[name]
    bad = value % 2 ** (8 * int(dtype[2])) if dtype[1] == "u" else value
    with pytest.raises(GraphFormatError, match=f"leads to vertex {bad}, but there are 4 vertices"):
        load_text(tmp_path, name, _patched(name, at, dtype, bad))


def test_a_weight_that_is_not_a_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="NaN"):
        load_text(tmp_path, "gunrock.csr", _patched("gunrock.csr", 48, "<f4", np.nan))
    data = bytearray(written(undirected(2, [(0, 1, 1.5)], "float64"), "csr", ".csr"))
    data[-8:] = packed("<f8", np.nan)
    with pytest.raises(GraphFormatError, match="0 has the weight nan"):
        load_text(tmp_path, "a.csr", bytes(data))


def test_an_undirected_gap_file_with_unequal_arcs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="the edge 0 - 1 weighs 6 one way and 5 the other"):
        load_text(tmp_path, "a.wsg", _patched("a.wsg", 61, "<i4", 6))


def test_a_directed_gap_file_is_read_by_its_out_rows(tmp_path: Path) -> None:
    half = packed("<i8", 0, 2, 2) + packed("<i4", 1, 5, 0, 3)
    data = struct.pack("<?qq", True, 2, 2) + half + packed("<i8", 0, 0, 2) + packed("<i4", 0, 5, 0, 3)
    graph = load_text(tmp_path, "a.wsg", data)
    assert arcs(graph) == [(0, 1, 5)]
    assert graph.notes == ("dropped 1 self loop",)


def test_galois_padding_after_an_odd_number_of_targets_is_accepted(tmp_path: Path) -> None:
    head = {v: packed("<u8", v, 4, 2, 1, 1, 1) for v in (1, 2)}
    weight = packed("<u4", 9)
    for data in (
        head[1] + packed("<u4", 1, 0) + weight,
        head[2] + packed("<u8", 1) + weight,
        head[2] + packed("<u8", 1, 0) + weight,
    ):
        assert arcs(load_text(tmp_path, "a.gr", data)) == [(0, 1, 9)]


@pytest.mark.parametrize(("at", "value", "says"), [(0, 3, "version 3"), (8, 2, "weights of 2 bytes")])
def test_an_unknown_galois_header_is_refused(tmp_path: Path, at: int, value: int, says: str) -> None:
    with pytest.raises(GraphFormatError, match=says):
        load_text(tmp_path, "a.gr", _patched("one.gr", at, "<u8", value))


@pytest.mark.parametrize(
    ("at", "dtype", "value"), [(8, "<u4", 9), (12, "<u4", 2), (16, "u1", 1), (17, "u1", 2), (18, "u1", 7)]
)
def test_an_unknown_native_header_is_refused(tmp_path: Path, at: int, dtype: str, value: int) -> None:
    with pytest.raises(GraphFormatError, match=r"version 9|unknown flags|do not belong"):
        load_text(tmp_path, "a.csr", _patched("native.csr", at, dtype, value))


@pytest.mark.parametrize("at", [8, 12, *range(16, 19), 24, *range(40, 56), 72, 128, 192])
def test_a_flipped_bit_in_a_native_file_is_noticed(tmp_path: Path, at: int) -> None:
    data = bytearray(SAMPLES["native.csr"])
    data[at] ^= 1
    with pytest.raises(GraphFormatError):
        load_text(tmp_path, "a.csr", bytes(data))


def test_the_native_arrays_are_mapped_and_aligned(tmp_path: Path) -> None:
    graph = load_text(tmp_path, "a.csr", SAMPLES["native.csr"])
    data = SAMPLES["native.csr"]
    assert data[:8] == b"GPUGRAPH"
    assert len(data) == 192 + 4 * 4
    assert isinstance(graph.offsets.base, np.ndarray)
    assert graph.stored_digest == GRAPH.digest
    assert graph.weights.flags.aligned


def _saved(matrix: object, **options: bool) -> bytes:
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix, **options)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float32, np.float64])
def test_scipy_matrices_are_read(tmp_path: Path, kind: str, dtype: type) -> None:
    matrix = sparse.coo_matrix((np.array([5, 7, 2], dtype), ([0, 0, 2], [1, 2, 1])), (4, 4))
    graph = load_text(tmp_path, "a.npz", _saved(matrix.asformat(kind)))
    assert arcs(graph) == [(0, 1, 5), (0, 2, 7), (2, 1, 2)]
    assert str(graph.weights.dtype) == (np.dtype(dtype).name if np.dtype(dtype).kind == "f" else "uint32")


def test_scipy_reads_what_is_written(tmp_path: Path) -> None:
    graph = zoo("zero-weights")
    matrix = sparse.load_npz(io.BytesIO(written(graph, "npz", ".npz")))
    assert matrix.nnz == graph.arcs
    assert matrix.shape == (graph.vertices, graph.vertices)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (sparse.csr_matrix((2, 3)), "2 rows and 3 columns"),
        (sparse.csr_matrix(np.array([[0, 1j], [0, 0]])), "complex128"),
        (sparse.bsr_matrix(np.eye(4)), "format bsr — save it as csr"),
        (sparse.csr_matrix(np.array([[0, np.nan], [0, 0]])), "NaN"),
    ],
)
def test_other_scipy_matrices_are_refused(tmp_path: Path, matrix: object, says: str) -> None:
    with pytest.raises(GraphFormatError, match=says):
        load_text(tmp_path, "a.npz", _saved(matrix))


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize("dtype", [np.int32, np.float64, bool])
def test_repeated_entries_of_a_matrix_are_summed_from_a_file_as_from_memory(
    tmp_path: Path, kind: str, dtype: type
) -> None:
    rows, columns, data = np.array([0, 1, 0, 2, 2]), np.array([1, 2, 1, 0, 0]), np.array([3, 4, 5, 6, 1]).astype(dtype)
    coo = sparse.coo_array((data, (rows, columns)), (3, 3))
    if kind == "coo":
        matrix: sparse.sparray = coo
    else:
        offsets, order = np.array([0, 2, 3, 5]), np.argsort(rows, kind="stable")
        by_row = {"csr": sparse.csr_array, "csc": sparse.csc_array}[kind]
        matrix = by_row((data[order], columns[order], offsets), (3, 3))
    graph = load_text(tmp_path, "a.npz", _saved(matrix))
    assert arcs(graph) == arcs(gpugraph.load(matrix))
    assert graph.notes == ("summed 2 repeated entries of the matrix, as SciPy does",)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_false_entries_weigh_nothing_in_a_file_as_in_memory(tmp_path: Path, kind: str) -> None:
    data = np.array([True, False, False, True, True])
    matrix = sparse.coo_array((data, ([0, 1, 2, 2, 2], [1, 2, 0, 1, 1])), (3, 3)).asformat(kind)
    graph = load_text(tmp_path, "a.npz", _saved(matrix))
    assert arcs(graph) == [(0, 1, 1), (1, 2, 0), (2, 0, 0), (2, 1, 1)] == arcs(gpugraph.load(matrix))


def _npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


GOOD = {
    "format": b"csr",
    "shape": [2, 2],
    "indices": np.array([1, 0]),
    "indptr": np.array([0, 1, 2]),
    "data": np.array([3.0, 3.0]),
}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"indptr": np.array([0, 2, 1])}, "row offsets fall"),
        ({"indptr": np.array([0, 1])}, "2 row offsets"),
        ({"indices": np.array([1, 2**31 - 1])}, "leads to vertex"),
        ({"indices": np.array([1.0, 0.0])}, "no integers"),
        ({"data": np.array([1.0])}, "differ in length"),
        ({"data": np.array([1.0, None], object)}, "no plain array"),
        ({"shape": [2**60, 2**60]}, r"more than 2\^40"),
        ({"shape": [2]}, "no integers"),
        ({"format": b"nonsense"}, "nonsense"),
    ],
)
def test_a_damaged_npz_is_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    assert arcs(load_text(tmp_path, "a.npz", _npz(**GOOD))) == [(0, 1, 3.0), (1, 0, 3.0)]
    with pytest.raises(GraphFormatError, match=says):
        load_text(tmp_path, "a.npz", _npz(**GOOD | changes))


def test_an_npz_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="holds the arrays a, which are no SciPy matrix"):
        load_text(tmp_path, "a.npz", _npz(a=np.zeros(3)))


def test_an_npz_member_that_promises_too_much_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        header = repr({"descr": "<i8", "fortran_order": False, "shape": (2**60,)}).encode()
        archive.writestr("format.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    with pytest.raises(GraphFormatError, match=f"promises {2**60} items, but holds 0 bytes"):
        load_text(tmp_path, "a.npz", stream.getvalue())


@pytest.mark.parametrize(
    ("graph", "name", "extension", "says"),
    [
        (zoo("float64"), "dimacs", ".gr", "integer weights only, not float64"),
        (zoo("float32"), "ecl", ".egr", "integer weights only, not float32"),
        (zoo("float64"), "gap", ".wsg", "integer weights only"),
        (zoo("huge-weights"), "ecl", ".egr", "32-bit weights only"),
        (zoo("int64"), "gap", ".wsg", "32-bit weights only"),
        (zoo("triangle"), "gap", ".sg", "holds no weights"),
    ],
)
def test_a_graph_that_a_format_cannot_hold_is_refused(graph, name: str, extension: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        written(graph, name, extension)
    assert "--reweight" in str(caught.value)


WRAPPED = [0, 2**62, -(2**63), -(2**62), 6]
"""Offsets that fall although all differences of int64, which wrap, are positive or zero."""


@pytest.mark.parametrize("name", ["a.sg", "a.egr", "a.npz"])
def test_offsets_whose_differences_wrap_round_are_refused(tmp_path: Path, name: str) -> None:
    targets = packed("<i4", 1, 2, 0, 0, 3, 2)
    if name == "a.sg":
        content = struct.pack("<Bqq", 0, 6, 4) + packed("<i8", *WRAPPED) + targets
    elif name == "a.egr":
        content = packed("<i8", 4, 6, *WRAPPED) + targets
    else:
        stream = io.BytesIO()
        members = {"indices": np.frombuffer(targets, "<i4"), "indptr": np.array(WRAPPED), "format": b"csr"}
        np.savez(stream, shape=[4, 4], data=np.ones(6), **members)
        content = stream.getvalue()
    with pytest.raises(GraphFormatError, match="the row offsets fall from 4611686018427387904 to -9223372036854775808"):
        load_text(tmp_path, name, content)


@pytest.mark.parametrize("header", ["-" * 900 + "1", "(" * 900, "{" * 5000, "1+" * 480 + "1"])
def test_an_npz_member_with_a_header_of_its_own_invention_is_refused(tmp_path: Path, header: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("format.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    with pytest.raises(GraphFormatError, match=r"a damaged .npz: format.npy cannot be unpacked"):
        load_text(tmp_path, "a.npz", stream.getvalue())


@pytest.mark.parametrize("odd", ["(2L,)", "(2,), '\\z': 0"])
def test_an_npz_with_an_odd_header_is_read_or_refused_without_a_warning(tmp_path: Path, odd: str) -> None:
    with zipfile.ZipFile(io.BytesIO(SAMPLES["a.npz"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {odd}}}\n".encode()
    members["shape.npy"] = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + packed("<i8", 4, 4)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if "L" in odd:
            assert arcs(load_text(tmp_path, "a.npz", made.getvalue())) == ARCS
        else:
            with pytest.raises(GraphFormatError):
                load_text(tmp_path, "a.npz", made.getvalue())


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_that_scipy_has_overwritten_is_read_up_to_its_last_offset(form: str, tmp_path: Path) -> None:
    """``minimum_spanning_tree(overwrite=True)`` leaves arrays that are longer, and ``save_npz`` writes them."""
    matrix = getattr(sparse, f"{form}_array")(np.array([[0.0, 2, 5], [0, 0, 3], [0, 0, 0]]))
    offsets, ids, weights = matrix.indptr, np.append(matrix.indices, [7, 7]), np.append(matrix.data, [np.nan, 1])
    whole, longer = str(tmp_path / "whole.npz"), str(tmp_path / "longer.npz")
    sparse.save_npz(whole, matrix)
    np.savez(longer, format=form.encode(), shape=matrix.shape, indptr=offsets, indices=ids, data=weights)
    assert (sparse.load_npz(longer) != matrix).nnz == 0
    assert gpugraph.load(longer).digest == gpugraph.load(whole).digest
    np.savez(longer, format=form.encode(), shape=matrix.shape, indptr=offsets, indices=ids, data=matrix.data)
    with pytest.raises(GraphFormatError, match="differ in length"):
        gpugraph.load(longer)
