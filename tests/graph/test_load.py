from __future__ import annotations

import io
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import gpugraph
from gpugraph.base import host
from gpugraph.base.clock import HostClock
from gpugraph.base.errors import GraphFormatError, InputError, OutOfMemory, reading
from gpugraph.ext.formats import files
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.formats.known import FORMATS
from gpugraph.graph import load
from gpugraph.graph.load import is_graph_file, load_file, stem
from gpugraph.graph.open import open_graph
from gpugraph.graph.read_options import ReadOptions
from gpugraph.graph.symmetrize import symmetrize
from tests.zoo import zoo


def test_a_missing_file_an_empty_one_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory — check the spelling"):
        load_file(tmp_path / "a.gr")
    (tmp_path / "a.gr").touch()
    with pytest.raises(GraphFormatError, match="the file is empty"):
        load_file(tmp_path / "a.gr")
    with pytest.raises(InputError, match="is a folder — name the graph file inside it"):
        load_file(tmp_path)


def test_an_empty_compressed_file_is_refused(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.wel.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(GraphFormatError, match="lists no edges"):
        load_file(tmp_path / "a.wel.gz")


def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gr").write_text("a 1 2 3\n")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(InputError, match="cannot be read: permission denied — check its permissions"):
        load_file(tmp_path / "a.gr")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"p sp 2 1\na 1 2 3\n")))
    graph = load_file("-")
    assert (graph.name, graph.source, graph.weights.tolist()) == ("stdin", "standard input", [3])


def test_a_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe.gr"
    os.mkfifo(path)
    with __import__("subprocess").Popen(["sh", "-c", f"printf 'a 1 2 3\\n' > '{path}'"]):
        assert load_file(path).weights.tolist() == [3]


def test_one_sided_arcs_are_symmetrised_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text("p sp 3 3\na 1 2 5\na 2 1 4\na 2 3 9\n")
    assert load_file(tmp_path / "a.gr").directed
    graph = symmetrize(load_file(tmp_path / "a.gr"))
    assert not graph.directed
    assert graph.weights.tolist() == [4, 4, 9, 9]
    assert any("symmetrised" in note for note in graph.notes)


def test_load_and_build_are_timed_apart(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text("a 1 2 3\n")
    clock = HostClock()
    load_file(tmp_path / "a.gr", clock=clock)
    assert clock.seconds["load"] > 0
    assert clock.seconds["build"] > 0


def test_a_native_file_opens_without_its_arrays_being_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_file(zoo("random"), tmp_path / "a.csr")
    monkeypatch.setattr("gpugraph.graph.input_file.READ_BYTES", 0)
    monkeypatch.setattr(load, "ensure_checked", lambda graph: pytest.fail("the arrays were read"))
    graph = load_file(tmp_path / "a.csr", check=False)
    assert graph.stored_digest == zoo("random").digest
    base = graph.targets
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base, np.memmap)


def test_a_damaged_native_file_is_refused_before_it_is_symmetrised_or_converted(tmp_path: Path) -> None:
    save_file(zoo("directed-random"), tmp_path / "a.csr")
    data = bytearray((tmp_path / "a.csr").read_bytes())
    data[-4] ^= 1
    (tmp_path / "a.csr").write_bytes(data)
    for symmetrized in (False, True):
        with pytest.raises(GraphFormatError, match=r"a.csr: damaged: its digest is"):
            open_graph(tmp_path / "a.csr", ReadOptions(symmetrize=symmetrized))
    with pytest.raises(GraphFormatError, match="digest"):
        save_file(load_file(tmp_path / "a.csr", check=False), tmp_path / "b.gr")
    assert not (tmp_path / "b.gr").exists()


def test_too_little_memory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gr").write_text("a 1 2 3\n")

    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(files, "build", full)
    with pytest.raises(OutOfMemory, match=r"a.gr"):
        load_file(tmp_path / "a.gr")


def test_progress_is_reported_while_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text("a 1 2 3\n")
    told: list[tuple[int, int]] = []
    load_file(tmp_path / "a.gr", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (8, 8)


def test_a_graph_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.gr: DIMACS \.gr holds integer weights only.*--reweight"):
        save_file(zoo("float64"), tmp_path / "a.gr")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", [form.name for form in FORMATS if form.write])
def test_the_name_of_a_format_is_an_ending(tmp_path: Path, form: str) -> None:
    path = gpugraph.save(zoo("random"), tmp_path / f"g.{form}")
    again = gpugraph.load(path)  # ECL and GAP store weights of int32
    assert again.weights.tolist() == zoo("random").weights.tolist()
    assert again.targets.tolist() == zoo("random").targets.tolist()


def test_the_output_format_may_be_named(tmp_path: Path) -> None:
    save_file(zoo("triangle"), tmp_path / "noname", "mtx")
    assert (tmp_path / "noname").read_bytes().startswith(b"%%MatrixMarket")
    with pytest.raises(InputError, match=r"METIS .graph is only read"):
        save_file(zoo("triangle"), tmp_path / "other", "metis")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-", True), ("roads.gr.gz", True), ("x/y", True), ("rmat:20", False), ("grid:4x4", False), ("nonsense", False)],
)
def test_a_file_is_told_from_a_spec(text: str, expected: bool) -> None:
    assert is_graph_file(text) is expected


def test_an_existing_file_is_a_file_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").touch()
    assert is_graph_file("plain")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("USA-road-d.NY.gr.gz", "USA-road-d.NY"), ("a.csr", "a"), ("a.b", "a.b"), (".gr", ".gr"), ("d/a.wel.zst", "a")],
)
def test_the_name_of_a_graph_is_its_file_without_endings(name: str, expected: str) -> None:
    assert stem(name) == expected


HEADERS = {
    "a.gr": "p sp {n} 1\na 1 2 3\n",
    "a.mtx": "%%MatrixMarket matrix coordinate pattern general\n{n} {n} 1\n1 2\n",
    "a.wel": "{n}\n1 2 3\n",
    "a.el": "# Nodes: {n} Edges: 1\n1 2\n",
    "a.graph": "{n} 0\n",
}


@pytest.mark.parametrize("name", HEADERS)
def test_vertices_are_limited_to_what_they_will_take_before_any_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(host, "available_memory", lambda: 2**30)
    (tmp_path / name).write_text(HEADERS[name].format(n=2**24 + 1))
    with pytest.raises(OutOfMemory, match=rf"{name}.*: 16777217 vertices: needs about 1 GiB of memory and 1 GiB"):
        load_file(tmp_path / name)


def test_arcs_are_limited_to_what_they_will_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.el").write_text("0 1\n" * 20_000)
    monkeypatch.setattr(host, "available_memory", lambda: 300_000)
    with pytest.raises(OutOfMemory, match="20000 arcs so far"):
        load_file(tmp_path / "a.el")


def test_what_a_compressed_file_unpacks_to_is_limited_to_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    (tmp_path / "a.egr.gz").write_bytes(gzip.compress(bytes(2**25)))
    monkeypatch.setattr(host, "available_memory", lambda: 2**24)
    with pytest.raises(OutOfMemory, match=r"16 MiB are available"):
        load_file(tmp_path / "a.egr.gz")


def test_what_a_library_throws_is_an_error_in_the_file_and_what_we_throw_is_not(tmp_path: Path) -> None:
    with (
        pytest.raises(GraphFormatError, match=r"a.gr: the data are damaged — fetch it") as caught,
        reading("a.gr", "fetch it", "the data are damaged"),
    ):
        raise KeyError("deep inside a library")
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(MemoryError), reading("a.gr", "fetch it", "the data are damaged"):
        raise MemoryError
    with pytest.raises(InputError, match=r"a.gr: cannot be read: input/output error"), reading("a.gr", "", ""):
        raise OSError(5, "Input/output error")


def test_a_closed_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: is closed"):
        load_file("-")


def test_a_path_that_no_system_has_is_reported() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_file("a\0.gr")


def test_a_pipe_that_never_ends_is_cut_off_at_a_quarter_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpugraph.graph.input_file.BLOCK_BYTES", 2**20)
    monkeypatch.setattr("gpugraph.graph.input_file.available_memory", lambda: 2**24)
    with open("/dev/zero", "rb") as endless:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=endless))
        with pytest.raises(OutOfMemory, match="standard input: gave 5 MiB and has not ended; 16 MiB of memory are"):
            load_file("-")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_graph(device: str) -> None:
    with pytest.raises(InputError, match=f"^{device}: is a device"):
        load_file(device)


def test_a_file_that_is_written_to_while_it_is_mapped_is_refused_before_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpugraph.graph.input_file.READ_BYTES", 0)
    path = tmp_path / "a.csr"
    save_file(zoo("random"), path)
    graph = load_file(path)
    held = gpugraph.on(graph, "cpu")
    right = gpugraph.mst(graph, device="cpu").total_weight
    save_file(zoo("grid"), path)  # by renaming: the old file keeps its pages
    assert held.mst().total_weight == right
    graph = load_file(path)
    held = gpugraph.on(graph, "cpu")
    held.mst()
    path.write_bytes(path.read_bytes()[:-64] + bytes(64))
    for run in (held.mst, lambda: held.sssp(0), lambda: gpugraph.mst(graph, device="cpu")):
        with pytest.raises(GraphFormatError, match=r"a.csr: was written to while it was in use — load it again"):
            run()


def test_a_small_file_is_copied_so_that_nobody_can_write_into_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csr"
    save_file(zoo("random"), path)
    graph = load_file(path)
    right = gpugraph.mst(graph, device="cpu").total_weight
    os.truncate(path, 1000)
    assert gpugraph.mst(graph, device="cpu").total_weight == right


def test_an_edge_list_keeps_the_ids_of_another(tmp_path: Path) -> None:
    (tmp_path / "a.wel").write_text("10 20 5\n20 30 7\n")
    graph = load_file(tmp_path / "a.wel")
    for name in ("b.wel", "c.csv", "a.wel"):
        assert save_file(graph, tmp_path / name) == ()
        back = load_file(tmp_path / name)
        assert back.vertex_names is not None
        assert back.vertex_names.tolist() == [10, 20, 30]
        assert back.digest == graph.digest
    assert (tmp_path / "a.wel").read_text() == "10 20 5\n20 30 7\n"


def test_the_first_line_of_an_edge_list_with_ids_is_not_taken_for_a_header(tmp_path: Path) -> None:
    (tmp_path / "a.el").write_text("# Nodes: 1 Edges: 3\n7 2\n2 3\n3 4\n")
    graph = load_file(tmp_path / "a.el")
    save_file(graph, tmp_path / "b.el")
    back = load_file(tmp_path / "b.el")
    assert back.vertex_names is not None
    assert back.vertex_names.tolist() == [2, 3, 4, 7]
    assert back.digest == graph.digest


@pytest.mark.parametrize("extension", [".csr", ".gr", ".mtx", ".npz", ".egr", ".wsg"])
def test_a_format_that_cannot_hold_the_ids_refuses_unless_they_may_go(tmp_path: Path, extension: str) -> None:
    (tmp_path / "a.wel").write_text("10 20 5\n20 30 7\n")
    graph, target = load_file(tmp_path / "a.wel"), tmp_path / f"b{extension}"
    with pytest.raises(InputError, match=r"cannot hold their ids 10, 20, 30 — .* --renumber"):
        save_file(graph, target)
    assert not target.exists()
    assert "their ids, 10, 20, 30, are not in it" in save_file(graph, target, renumber=True)[0]
    assert load_file(target).digest == graph.digest or extension in (".egr", ".wsg")


def test_ids_from_one_are_a_matter_of_the_format(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text("p sp 3 2\na 1 2 5\na 2 3 7\n")
    graph = load_file(tmp_path / "a.gr")
    assert save_file(graph, tmp_path / "b.mtx") == ()
    assert save_file(graph, tmp_path / "b.wel") == ()
    assert (tmp_path / "b.wel").read_text() == "1 2 5\n2 3 7\n"
    assert save_file(graph, tmp_path / "b.wel", renumber=True) != ()
    assert (tmp_path / "b.wel").read_text() == "0 1 5\n1 2 7\n"
    assert "numbered from 0" in save_file(graph, tmp_path / "b.csr")[0]


def test_a_vertex_with_an_id_and_no_edge_has_no_place_in_an_edge_list(tmp_path: Path) -> None:
    (tmp_path / "a.gr").write_text("p sp 3 1\na 1 3 5\n")
    graph = load_file(tmp_path / "a.gr")
    with pytest.raises(InputError, match="no line for vertex 2, which has no edge"):
        save_file(graph, tmp_path / "b.wel")
    save_file(graph, tmp_path / "b.wel", renumber=True)
    assert load_file(tmp_path / "b.wel").vertices == 3


def test_names_that_are_no_numbers_are_refused_by_every_format(tmp_path: Path) -> None:
    graph = zoo("triangle").renamed(vertex_names=np.array(["a", "b", "c"]))
    for extension in (".wel", ".csr", ".gr"):
        with pytest.raises(InputError, match="--renumber"):
            save_file(graph, tmp_path / f"a{extension}")


@pytest.mark.parametrize("name", ["a.el", "a.gr", "a.csv"])
def test_a_page_of_html_is_no_graph(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("<html><body>Please log in</body></html>\n")
    with pytest.raises(GraphFormatError, match="as a page of HTML does"):
        load_file(tmp_path / name)
