"""Rows built on a device are those that the host builds, and what is said of them too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpugraph.base.compiled import threads
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory
from gpugraph.devices.discovery import select_device
from gpugraph.ext.device_graphs import device_build
from gpugraph.ext.device_graphs.device_build import build_on_device, can_build
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.formats.text import columns, number_lines, plain_text
from gpugraph.graph.build import ArcList, RowTails, build
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.device_rows import DeviceRows
from gpugraph.graph.generate import generate
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file
from gpugraph.graph.symmetrize import symmetrize
from tests.emulator.compiler import needs_compiler
from tests.graph.test_build import as_rows
from tests.graph.test_device_generate import Small, assert_same
from tests.tiers import drawn
from tests.zoo import UNDIRECTED, zoo

KINDS = [{"directed": False, "one_sided": True}, {"directed": True}, {"directed": None}]


def generate_nothing() -> CSRGraph:
    raise AssertionError("nobody asks for it")


def listed(n: int, ends: list[tuple[int, int]], dtype: str | None, seed: int, **kind: bool | None) -> ArcList:
    """Return arcs with a few different weights, zeros of both signs among the reals."""
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    weights = None
    if dtype is not None:
        weights = np.random.default_rng(seed).integers(0 if dtype[0] == "u" else -3, 4, len(tails)).astype(dtype)
        if dtype[0] == "f":
            weights[weights == 1] = -0.0
            weights[weights == 2] = np.inf
    return ArcList(tails, heads, weights, n, **kind)  # type: ignore[arg-type]


@needs_compiler
@drawn(80)
@given(st.data())
def test_any_list_of_arcs_gives_the_rows_of_the_host(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    vertex = st.integers(0, n - 1)
    ends = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=80))
    dtype = data.draw(st.sampled_from([None, *WEIGHT_DTYPES]))
    arcs = listed(n, ends, dtype, data.draw(st.integers(0, 9)), **data.draw(st.sampled_from(KINDS)))
    assert_same(build_on_device(arcs, EmulatedDevice()), build(arcs))
    assert_same(build_on_device(as_rows(arcs), EmulatedDevice()), build(as_rows(arcs)))


@needs_compiler
@pytest.mark.parametrize("name", UNDIRECTED)
def test_rows_that_are_in_order_are_copied_and_not_sorted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = zoo(name)
    listed_rows = ArcList(RowTails(graph.offsets), graph.targets, graph.weights, graph.vertices)
    monkeypatch.setattr(device_build, "_listed", lambda *_: generate_nothing())
    if can_build(listed_rows):
        assert_same(build_on_device(listed_rows, EmulatedDevice()), build(listed_rows))


@needs_compiler
@pytest.mark.parametrize("dtype", [None, "float32", "int64"])
def test_tiles_long_runs_and_ranges_of_vertices_are_put_together(dtype: str | None) -> None:
    rng = np.random.default_rng(4)
    for n, k in ((3, 5000), (20_000, 300), (300, 4400)):
        arcs = listed(n, rng.integers(0, n, (k, 2)).tolist(), dtype, 1, directed=False, one_sided=True)
        for device in (EmulatedDevice(), Small()):
            made = build_on_device(arcs, device) if n * 8 < device.memory()[0] / 2 else None
            if made is not None:
                assert_same(made, build(arcs))


@needs_compiler
@pytest.mark.parametrize("weight", [4, None])
def test_an_edge_whose_arcs_differ_is_refused_in_the_words_of_the_host(weight: int | None) -> None:
    tails, heads, weights = [0, 1, 1, 2], [1, 0, 2, 1], [7, 7, 9, weight]
    arcs = ArcList(*(np.array(a[: 4 if weight else 3]) for a in (tails, heads, weights)), 3, directed=False)
    said = []
    for make in (lambda: build(arcs, name="a"), lambda: build_on_device(arcs, EmulatedDevice(), name="a")):
        with pytest.raises(InputError) as caught:
            make()
        said.append(str(caught.value))
    assert said[0] == said[1]


@needs_compiler
@drawn(60)
@given(st.data())
def test_any_directed_graph_becomes_the_undirected_one_of_the_host(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 30))
    vertex = st.integers(0, n - 1)
    ends = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=60))
    arcs = listed(n, ends, data.draw(st.sampled_from([None, *WEIGHT_DTYPES])), 1, directed=True)
    host = symmetrize(build(arcs))
    if not host.arcs:
        return
    device = EmulatedDevice()
    assert_same(symmetrize(build_on_device(arcs, device)), host)
    later = symmetrize(build_on_device(arcs, device))
    device.close()
    assert np.array_equal(later.targets, host.targets)
    assert np.array_equal(later.weights, host.weights)


@needs_compiler
def test_no_kernel_that_builds_has_a_race() -> None:
    device, rng = EmulatedDevice(seed=5, races=True), np.random.default_rng(2)
    for dtype in ("int32", "float64"):
        arcs = listed(40, rng.integers(0, 40, (3000, 2)).tolist(), dtype, 3, directed=None)
        assert_same(symmetrize(build_on_device(arcs, device)), symmetrize(build(arcs)))
    assert device.races() == []


def test_a_list_without_arcs_or_with_numbers_of_64_bits_is_left_to_the_host() -> None:
    nothing = np.zeros(0, np.int64)
    assert not can_build(ArcList(nothing, nothing, None, 5))
    assert not can_build(ArcList(nothing[:1], nothing[:1], None, 2**31))


@needs_compiler
@pytest.mark.parametrize("bits", [32, 64])
def test_what_is_looked_up_on_a_device_is_what_the_host_has(bits: int) -> None:
    device = EmulatedDevice(races=True)
    for name in UNDIRECTED:
        graph = zoo(name)
        if not graph.arcs:
            continue
        offsets = device.upload(graph.offsets.astype(f"int{bits}"))
        targets, weights = device.upload(graph.targets), device.upload(graph.weights)
        rows = DeviceRows(device, offsets, targets, weights, generate_nothing)
        at = np.random.default_rng(1).permutation(graph.arcs)
        tails = np.repeat(np.arange(graph.vertices), graph.degrees)
        u, v, w = rows.ends_and_weights(at)
        assert (u.tolist(), v.tolist()) == (tails[at].tolist(), graph.targets[at].tolist())
        assert w.tolist() == graph.weights[at].tolist()
        ids = rows.canonical_ids(at)
        assert np.array_equal(np.minimum(u, v), tails[ids])
        assert np.array_equal(np.maximum(u, v), graph.targets[ids])
        assert np.array_equal(rows.canonical_ids(at.astype(np.uint32)), ids)
        assert rows.sorted_ids(ids).tolist() == sorted(ids.tolist())
        assert np.concatenate(list(rows.pairs(at))).tolist() == list(
            map(list, zip(u.tolist(), v.tolist(), strict=True))
        )
        if graph.weight_dtype.kind != "f":
            assert rows.total(at) == sum(graph.weights.tolist())
    assert device.races() == []


@needs_compiler
@pytest.mark.parametrize("dtype", [dtype for dtype in WEIGHT_DTYPES if np.dtype(dtype).kind != "f"])
def test_a_device_sums_the_greatest_and_the_least_weights_exactly(dtype: str) -> None:
    device, kind = EmulatedDevice(), np.iinfo(dtype)
    weights = np.array([kind.max] * 70 + [kind.min] * 69 + [7], dtype)
    offsets, targets = device.upload(np.array([0, 140], np.int32)), device.upload(np.zeros(140, np.int32))
    rows = DeviceRows(device, offsets, targets, device.upload(weights), generate_nothing)
    for at in (np.arange(140), np.arange(70), np.arange(70, 140), np.zeros(0, np.int64)):
        assert rows.total(at) == sum(weights[at].tolist())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [None, *WEIGHT_DTYPES])
def test_a_gpu_builds_the_rows_of_the_host(dtype: str | None) -> None:
    ends = np.random.default_rng(1).integers(0, 5000, (200_000, 2)).tolist()
    device, _ = select_device("cuda")
    try:
        for kind in KINDS:
            arcs = listed(5000, ends, dtype, 1, **kind)
            assert_same(build_on_device(arcs, device), build(arcs))
    finally:
        device.close()


# ------------------------------------------------------------------ texts read onto a device

TEXTS = {
    "names.wel": "7 9 3\n9 7 3\n9 30 1\n30 9 1\n7 7 5\n30 9 8\n",
    "every id.wel": "0 2 3\n2 0 3\n1 2 1\n2 1 1\n",
    "far names.el": "7 900000000\n900000000 7\n",
    "counted.txt": "4 3\n0 1 9\n1 0 9\n2 3 1\n",
    "counted from one.txt": "3\n1 2 9\n2 1 9\n2 3 4\n3 2 4\n",
    "a.gr": "c roads\np sp 4 5\na 1 2 7\na 2 1 7\na 2 3 1\na 3 2 1\na 4 3 2\n",
    "from 0.gr": "p sp 3 2\na 0 2 7\na 2 0 7\n",
    "pace.gr": "p tw 3 2\n1 2\n2 3\n",
    "general.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.5\n2 1 0.5\n3 3 -1\n",
    "integers.mtx": "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 -5\n2 1 -5\n3 3 -1\n",
    "reals at last.wel": "0 1 3\n1 0 3\n1 2 0.5\n2 1 0.5\n",
    "wide at last.wel": "0 1 3\n1 0 3\n1 2 9000000000\n2 1 9000000000\n",
    "far id at last.el": "0 1\n1 0\n1 5000000000\n5000000000 1\n",
    "lower.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 1 4\n3 3 1\n",
    "both ways.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 1 4\n1 2 5\n",
    "nothing.mtx": "%%MatrixMarket matrix coordinate integer general\n3 3 0\n",
    "counted.konect": "% asym weighted\n% 3 4 4\n1 2 5\n2 3 6\n1 3 7\n",
    "counted sym.konect": "% sym unweighted\n% 2 4 4\n1 2\n3 1\n",
}


@needs_compiler
@pytest.mark.parametrize("block", [1, 2, 1000])
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_read_onto_a_device_is_the_graph_of_the_host(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_BLOCK", block)
    monkeypatch.setattr(plain_text.PlainText, "of", lines_one_by_one)
    path = tmp_path / name
    path.write_text(TEXTS[name])
    made, host = load_file(path, device=EmulatedDevice()), load_file(path)
    assert made.describe() == host.describe()
    assert (made.notes, made.negative_loop) == (host.notes, host.negative_loop)
    assert (made.vertex_names is None) == (host.vertex_names is None)
    for array in ("offsets", "targets", "weights", *(["vertex_names"] if host.vertex_names is not None else [])):
        assert np.array_equal(getattr(made, array), getattr(host, array)), array


@needs_compiler
def test_entries_of_a_symmetric_matrix_that_differ_are_refused_in_the_words_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 1 4\n1 2 6\n")
    said = []
    for device in (None, EmulatedDevice()):
        with pytest.raises(GraphFormatError) as caught:
            load_file(path, device=device)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "a.mtx line 5: declared symmetric, but (1, 2) is 6 and (2, 1) is 5" in said[0]


@contextmanager
def lines_one_by_one(self: Source) -> Iterator[None]:
    """Stand in for the text of an uncompressed file, and let every line be a block."""
    content = b"".join(self.chunks())
    lines = [line + b"\n" for line in content.splitlines()]
    self.blocks = lambda size=0: iter(enumerate(lines, 1))  # type: ignore[method-assign]
    yield None


def wel_of(graph: CSRGraph, path: Path) -> Path:
    save_file(graph, path)
    return path


@needs_compiler
@pytest.mark.parametrize("name", ["g.wel", "g.gr"])
def test_the_host_holds_no_list_of_what_went_to_a_device(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_BLOCK", 1 << 10)
    held: list[int] = []
    send = columns.Columns._send

    def counting(self: columns.Columns, device: EmulatedDevice) -> None:
        held.append(sum(part.nbytes for column in (self.tails, self.heads, self.weights) for part in column))
        send(self, device)

    monkeypatch.setattr(columns.Columns, "_send", counting)
    monkeypatch.setattr(number_lines, "_LEAST", 1 << 12)
    monkeypatch.setattr(Source, "blocks", lambda self, size=0, blocks=Source.blocks: blocks(self, 1 << 14))
    monkeypatch.setattr(plain_text.PlainText, "of", lambda source: nullcontext(None))
    host = generate("rmat:10")
    made = load_file(wel_of(host, tmp_path / name), device=EmulatedDevice())
    assert made.digest == load_file(tmp_path / name).digest
    assert made.on_device is not None
    assert len(held) > 4
    assert max(held) < 12 * host.arcs / 4


@needs_compiler
def test_arcs_go_to_the_device_while_most_of_a_text_is_not_parsed_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is joined waits for no thread that parses, and no thread runs ahead of what is sent."""
    path = wel_of(generate("rmat:12"), tmp_path / "g.wel")
    monkeypatch.setattr(plain_text, "PART", path.stat().st_size // 256)
    monkeypatch.setattr(columns, "_BLOCK", 1 << 10)
    parsed, at_send = [], []
    send, part = columns.Columns._send, number_lines.LineParser.part
    monkeypatch.setattr(number_lines.LineParser, "part", lambda *told: parsed.append(told) or part(*told))
    monkeypatch.setattr(columns.Columns, "_send", lambda *told: at_send.append(len(parsed)) or send(*told))
    assert load_file(path, device=EmulatedDevice()).digest == load_file(path).digest
    assert at_send[0] < 3 * threads() + 10 < 500 < len(parsed)


@needs_compiler
def test_a_text_is_read_again_where_the_host_asks_after_its_device_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, device = wel_of(generate("rmat:8"), tmp_path / "g.wel"), EmulatedDevice()
    made, host = load_file(path, device=device), load_file(path)
    device.close()
    opened = []
    monkeypatch.setattr(Source, "again", lambda self, again=Source.again: opened.append(self.path) or again(self))
    assert np.array_equal(made.targets, host.targets)
    assert np.array_equal(made.weights, host.weights)
    assert opened == [str(path)]


@needs_compiler
def test_a_text_that_was_changed_meanwhile_is_not_taken_for_the_same(tmp_path: Path) -> None:
    path, device = wel_of(generate("rmat:8"), tmp_path / "g.wel"), EmulatedDevice()
    made = load_file(path, device=device)
    device.close()
    path.write_text("0 1 2\n")
    with pytest.raises(GraphFormatError, match="was changed since it was read — read it again"):
        assert made.weights is None
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        assert made.weights is None


@needs_compiler
@pytest.mark.parametrize("fails", [1, 3, 7])
def test_what_a_device_has_no_room_for_comes_back_to_the_host(
    fails: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of several columns, or blocks, or all of them may be what does not fit."""
    monkeypatch.setattr(columns, "_BLOCK", 1)
    monkeypatch.setattr(plain_text.PlainText, "of", lines_one_by_one)

    class Full(EmulatedDevice):
        uploads = 0

        def upload(self, array: NDArray[Any]) -> Any:
            self.uploads += 1
            if self.uploads >= fails:
                raise OutOfMemory("full")
            return super().upload(array)

    path = wel_of(generate("grid:4x4"), tmp_path / "g.wel")
    made = load_file(path, device=Full())
    assert made.on_device is None
    assert made.digest == load_file(path).digest


@needs_compiler
def test_no_kernel_that_numbers_ids_has_a_race(tmp_path: Path) -> None:
    device = EmulatedDevice(seed=5, races=True)
    for name in ("names.wel", "a.gr"):
        (tmp_path / name).write_text(TEXTS[name])
        assert load_file(tmp_path / name, device=device).on_device is not None
    assert device.races() == []
