"""What becomes of a file that came: unpacked, converted, pinned, found again, and told apart from another."""

from __future__ import annotations

import fcntl
import gzip
import io
import json
import os
import re
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpugraph
from gpugraph.base.compression import open_writer
from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.cli.options import _defaults_and_mistake
from gpugraph.ext.datasets import store
from gpugraph.ext.ranks.comm import LoneComm
from gpugraph.ext.ranks.source import open_part
from gpugraph.graph.load import load_file
from gpugraph.graph.open import open_graph
from gpugraph.graph.read_options import ReadOptions
from gpugraph.problems.on_graphs import series_of, size_of
from tests.cli.runner import refuse, run, succeed
from tests.graph.datasets.conftest import ROADS
from tests.graph.datasets.server import Server

Lists = Callable[..., None]
EDGES = b"# a list\n7 30\n7 7\n30 12\n12 7\n7 30\n"


def packed(members: dict[str, bytes], codec: str) -> bytes:
    """Return files as a .tar, compressed."""
    stream = io.BytesIO()
    with open_writer(stream, codec) as out, tarfile.open(fileobj=out, mode="w|") as archive:
        for name, content in members.items():
            told = tarfile.TarInfo(name)
            told.size = len(content)
            archive.addfile(told, io.BytesIO(content))
    return stream.getvalue()


def same(graph: gpugraph.CSRGraph, other: gpugraph.CSRGraph) -> bool:
    alike = np.array_equal(graph.vertex_names, other.vertex_names)
    told = [note for note in graph.notes if "pinned" not in note]
    return bool(graph.digest == other.digest and alike and told == list(other.notes) and graph.reading == other.reading)


def test_names_and_notes_of_the_file_come_out_of_the_cache(lists: Lists, server: Server, tmp_path: Path) -> None:
    lists(file="{name}.txt", collection='format = "el"')
    server.files["/a/roads.txt"] = EDGES
    (tmp_path / "roads.txt").write_bytes(EDGES)
    expected = load_file(tmp_path / "roads.txt", ReadOptions(input_format="el"))
    assert "dropped 1 self loop" in expected.notes
    for _ in range(2):
        graph = open_graph("own:roads")
        assert same(graph, expected)
        assert list(graph.vertex_names) == [7, 12, 30]
    assert gpugraph.sssp("own:roads", source="name:30", device="cpu").source == 2


def test_words_are_names_too_and_a_negative_loop_is_remembered(lists: Lists, server: Server) -> None:
    lists(file="{name}.csv")
    server.files["/a/roads.csv"] = b"source,target,weight\nRom,Ulm,3\nUlm,Ulm,-1\nUlm,Aue,2\n"
    for _ in range(2):
        graph = open_graph("own:roads")
        assert list(graph.vertex_names) == ["Aue", "Rom", "Ulm"]
        assert graph.negative_loop == 2
    assert "the self loop of the vertex Ulm has a negative weight" in refuse(2, "sssp", "own:roads", "--device", "cpu")


def test_each_way_to_read_it_has_a_graph_of_its_own_and_one_download(
    lists: Lists, server: Server, folder: Path
) -> None:
    lists(file="{name}.txt", collection='format = "el"')
    server.files["/a/roads.txt"] = EDGES
    arcs, edges = open_graph("own:roads"), open_graph("own:roads", ReadOptions(directed=False))
    assert (arcs.directed, edges.directed) == (True, False)
    assert open_graph("own:roads", ReadOptions(directed=False)).digest == edges.digest
    assert open_graph("own:roads", ReadOptions(keep_ids=True)).vertices == 31
    assert len(server.asked) == 1
    pin = json.loads((folder / "own/roads/pin.json").read_text())
    assert sorted(pin["digests"].values()) == sorted(
        {arcs.digest, edges.digest, open_graph("own:roads", ReadOptions(keep_ids=True)).digest}
    )


def test_what_the_list_knows_of_a_file_is_not_overruled(lists: Lists, server: Server) -> None:
    lists("directed = false", file="{name}.txt", collection='format = "el"')
    server.files["/a/roads.txt"] = EDGES
    assert not open_graph("own:roads").directed
    assert "is known to be undirected — leave --directed out" in refuse(2, "mst", "own:roads", "--directed")
    assert "has its format known" in refuse(2, "mst", "own:roads", "--input-format", "el")


def test_weights_and_symmetry_are_changed_as_of_any_graph(lists: Lists, server: Server) -> None:
    assert set(open_graph("own:roads", ReadOptions(weights="unit")).weights) == {1}
    lists(file="{name}.txt", collection='format = "el"', name="streets")
    server.files["/a/streets.txt"] = EDGES
    assert not open_graph("own:streets", ReadOptions(symmetrize=True)).directed


def test_a_member_of_an_archive_is_found_and_the_others_stay_packed(lists: Lists, server: Server, folder: Path) -> None:
    lists(file="{name}.tar.gz", collection='member = "{name}.gr"')
    server.files["/a/roads.tar.gz"] = packed({"roads/rhs.gr": b"x", "roads/roads.gr": ROADS}, "gzip")
    assert open_graph("own:roads").vertices == 4
    assert {path.name for path in (folder / "own/roads").iterdir()} == {
        *("roads.tar.gz", "graph.csr", "graph.json", "pin.json", ".lock")
    }


@pytest.mark.parametrize("member", ["../roads.gr", "/tmp/roads.gr", "a/../../roads.gr"])
def test_no_member_leaves_the_folder_that_it_is_unpacked_in(
    member: str, lists: Lists, server: Server, folder: Path
) -> None:
    lists(file="{name}.tar.gz", collection='member = "{name}.gr"')
    server.files["/a/roads.tar.gz"] = packed({member: ROADS}, "gzip")
    assert open_graph("own:roads").vertices == 4
    assert not list(folder.parent.rglob("roads.gr"))


def test_an_archive_without_the_member_is_refused(lists: Lists, server: Server) -> None:
    lists(file="{name}.tar.gz", collection='member = "{name}.gr"')
    server.files["/a/roads.tar.gz"] = packed({"other.gr": ROADS}, "gzip")
    assert "holds no file roads.gr" in refuse(2, "mst", "own:roads")


@pytest.mark.parametrize("damage", ["cut", "flipped", "no archive"])
def test_a_damaged_archive_that_nobody_vouches_for_is_fetched_again(
    damage: str, lists: Lists, server: Server, folder: Path
) -> None:
    lists(file="{name}.tar.gz", collection='member = "{name}.gr"')
    whole = packed({"roads.gr": b"c long\n" * 2000 + ROADS}, "gzip")
    bad = {"cut": whole[:-20], "flipped": whole[:40] + b"?" + whole[41:], "no archive": b"<html>sorry</html>" * 90}
    server.files["/a/roads.tar.gz"] = bad[damage]
    said = refuse(2, "mst", "own:roads")
    assert "damaged or cut short" in said
    assert "fetch it again" in said
    server.files["/a/roads.tar.gz"] = whole
    assert open_graph("own:roads").vertices == 4


@pytest.mark.parametrize(("member", "size"), [("rhs.gr", 1 << 50), ("roads.gr", 1 << 20)])
def test_a_member_that_claims_more_than_the_archive_holds_is_damage_and_no_endless_loop(
    member: str, size: int, lists: Lists, server: Server
) -> None:
    lists(file="{name}.tar.gz", collection='member = "{name}.gr"')
    header = tarfile.TarInfo(member)
    header.size = size  # tarfile would read on behind the end, ten thousand bytes of nothing at a time
    server.files["/a/roads.tar.gz"] = gzip.compress(header.tobuf() + ROADS)
    with pytest.raises(GraphFormatError, match="cut short"):
        open_graph("own:roads")


def test_a_bad_line_is_reported_by_the_name_of_the_data_set(lists: Lists, server: Server, folder: Path) -> None:
    server.files["/a/roads.gr"] = ROADS + b"a 1 x 3\n"
    with pytest.raises(GraphFormatError, match=r"^own:roads/roads.gr line 9: "):
        open_graph("own:roads")
    assert {path.name for path in (folder / "own/roads").iterdir()} == {".lock"}


def test_a_source_that_changed_is_found_when_it_is_fetched_anew(lists: Lists, server: Server) -> None:
    first = open_graph("own:roads").digest
    assert "freed" in succeed("datasets", "own:roads", "--remove").err
    assert open_graph("own:roads").digest == first
    succeed("datasets", "own:roads", "--remove")
    server.files["/a/roads.gr"] = ROADS.replace(b"a 1 2 5\na 2 1 5", b"a 1 2 6\na 2 1 6")
    said = refuse(2, "mst", "own:roads")
    assert f"the pin of its first use says {sha256(ROADS).hexdigest()}" in said
    assert "gpugraph datasets own:roads --forget drops the pin" in said
    succeed("datasets", "own:roads", "--forget")
    assert open_graph("own:roads").digest != first


def test_a_graph_of_another_digest_than_the_lists_is_refused(lists: Lists, folder: Path) -> None:
    lists(f"digest = '{'0' * 32}'")
    said = refuse(2, "mst", "own:roads")
    assert re.search("own:roads: its source has changed: the graph's digest is .{32}, the registry says 0{32}", said)
    assert not (folder / "own/roads/graph.csr").exists()
    assert not (folder / "own/roads/pin.json").exists()


def test_the_digest_of_the_list_is_of_the_way_to_read_that_it_means(lists: Lists, server: Server) -> None:
    lists(file="{name}.txt", collection='format = "el"')
    server.files["/a/roads.txt"] = EDGES
    told = open_graph("own:roads").digest
    lists(f"digest = '{told}'", file="{name}.txt", collection='format = "el"')
    assert open_graph("own:roads", ReadOptions(directed=False)).digest != told


@pytest.mark.parametrize("what", ["graph.csr", "graph.json", "graph.npy"])
def test_a_damaged_graph_in_the_cache_is_made_anew_without_asking(
    what: str, lists: Lists, server: Server, folder: Path
) -> None:
    lists(file="{name}.txt", collection='format = "el"')
    server.files["/a/roads.txt"] = EDGES
    opened = open_graph("own:roads")
    expected = opened.digest, opened.notes[1:], list(opened.vertex_names)
    path = folder / "own/roads" / what
    if what == "graph.csr":
        content = bytearray(path.read_bytes())
        path.unlink()  # it is mapped
        content[-3] ^= 1
        path.write_bytes(content)
    elif what == "graph.json":
        path.write_text("{")
    else:
        path.unlink()
    again = open_graph("own:roads")
    assert (again.digest, again.notes, list(again.vertex_names)) == expected
    assert len(server.asked) == 1


def test_offline_uses_the_cache_and_asks_nobody(lists: Lists, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refuse(2, "mst", "own:roads", "--offline")
    assert "own:roads: it is not in the cache, and gpugraph is offline" in said
    assert "gpugraph datasets own:roads --fetch" in said
    monkeypatch.setenv("GPUGRAPH_OFFLINE", "yes")
    with pytest.raises(InputError, match="is offline"):
        gpugraph.load("own:roads")
    assert not server.asked
    monkeypatch.setenv("GPUGRAPH_OFFLINE", "0")
    open_graph("own:roads")
    assert succeed("mst", "own:roads", "--offline", "--device", "cpu").code == 0
    assert len(server.asked) == 1


def test_a_file_put_there_by_hand_will_do_offline(lists: Lists, server: Server, folder: Path) -> None:
    lists(f"sha256 = '{sha256(ROADS).hexdigest()}'")
    (folder / "own/roads").mkdir(parents=True)
    (folder / "own/roads/roads.gr").write_bytes(b"p sp 1 0\n")
    assert "is not the file that the registry knows" in refuse(2, "mst", "own:roads", "--offline")
    (folder / "own/roads/roads.gr").write_bytes(ROADS)
    assert succeed("mst", "own:roads", "--offline", "--device", "cpu").code == 0
    assert not server.asked


def test_the_users_defaults_may_say_offline_and_the_mirror(
    lists: Lists, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("GPUGRAPH_CONFIG", str(config))
    server.files["/mirror/own/roads/roads.gr"] = ROADS
    for text, code in ((f'offline = true\nmirror = "{server.url}/mirror"', 2), (f'mirror = "{server.url}/mirror"', 0)):
        config.write_text(f"[data]\n{text}\n")
        _defaults_and_mistake.cache_clear()
        try:
            assert run("info", "own:roads").code == code
        finally:
            _defaults_and_mistake.cache_clear()
    assert [path for path, _ in server.asked] == ["/mirror/own/roads/roads.gr"]


def test_sizes_are_reported_before_anything_is_fetched_and_then_exactly(lists: Lists, server: Server) -> None:
    lists("vertices = 4\nlines = 6")
    size_of.cache_clear()
    foreseen = size_of("own:roads")
    assert (foreseen.vertices, foreseen.exact) == (4, False)
    assert not server.asked
    open_graph("own:roads")
    size_of.cache_clear()
    assert (size_of("own:roads").arcs, size_of("own:roads").exact) == (6, True)
    assert series_of("own:roads") == "own:roads"


def test_functions_of_python_take_the_name(lists: Lists) -> None:
    assert gpugraph.mst("own:roads", device="cpu").total_weight == 14
    with gpugraph.on("own:roads", device="cpu") as held:
        assert held.sssp(0).distance.tolist() == [0, 5, 12, 14]


@pytest.mark.parametrize("text", ["[]", '{"sha256": 3, "digests": {}}', '{"sha256": "x", "digests": 3}', "{"])
def test_a_pin_that_makes_no_sense_is_none(text: str, lists: Lists, folder: Path) -> None:
    (folder / "own/roads").mkdir(parents=True)
    (folder / "own/roads/pin.json").write_text(text)
    assert any("pinned" in note for note in open_graph("own:roads").notes)


@pytest.mark.parametrize(
    "change",
    [
        {"answers": 3},
        {"answers": {"SSSP": []}},
        {"answers": {"SSSP": ["graph.csr", "1"]}},
        {"notes": None},
        {"notes": [3]},
        {"digest": ...},
        {"digest": 5},
        {"names": {}},
        {"names": "from 2"},
        {"negative_loop": "3"},
        {"negative_loop": True},
    ],
)
def test_what_is_kept_beside_a_graph_and_makes_no_sense_is_made_anew(
    change: dict[str, Any], lists: Lists, folder: Path
) -> None:
    expected = open_graph("own:roads").digest
    path = folder / "own/roads/graph.json"
    told = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in told.items() if value is not ...}))
    assert open_graph("own:roads").digest == expected
    assert json.loads(path.read_text())["answers"] == {}


@pytest.mark.parametrize("name", ["graph.json", "pin.json"])
def test_a_file_of_ours_that_is_nested_without_end_is_made_anew(name: str, lists: Lists, folder: Path) -> None:
    expected = open_graph("own:roads").digest
    (folder / "own/roads" / name).write_text("[" * 100_000)
    assert open_graph("own:roads").digest == expected


@pytest.mark.parametrize("name", ["graph.csr", "graph.json", "pin.json", ".lock", "roads.gr"])
def test_a_pipe_in_the_place_of_a_kept_file_is_refused_and_not_waited_for(
    name: str, lists: Lists, folder: Path
) -> None:
    open_graph("own:roads")
    kept = folder / "own" / "roads" / name
    kept.unlink()
    os.mkfifo(kept)
    for words in (
        ("mst", "own:roads", "--device", "cpu"),
        ("datasets", "own:roads"),
        ("datasets", "--remove", "own:roads"),
    ):
        assert f"{kept}: is a pipe, which would be waited for — take it out of the folder" in refuse(2, *words)


def test_ranks_share_a_data_set(lists: Lists) -> None:
    part = open_part("own:roads", LoneComm())
    assert part.vertices == 4
    assert len(part.targets) == 6


def test_the_record_names_the_data_set_and_has_a_phase_for_fetching_it(lists: Lists) -> None:
    first, second = (
        json.loads(succeed("mst", "own:roads", "--device", "cpu", "--format", "json").out) for _ in range(2)
    )
    assert (first["graph"]["name"], first["graph"]["source"]) == ("roads", "own:roads")
    assert first["phases_s"]["fetch"] > 0
    assert "fetch" not in second["phases_s"]
    assert first["cell"]["id"] == second["cell"]["id"]
    assert first["result"] == second["result"]


@pytest.mark.parametrize(
    ("name", "vertices", "edges"), [("karate", 34, 78), ("les-miserables", 77, 254), ("southern-women", 32, 89)]
)
def test_the_examples_need_no_network(
    name: str, vertices: int, edges: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPUGRAPH_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GPUGRAPH_OFFLINE", "1")
    graph = gpugraph.load(f"example:{name}")
    assert (graph.vertices, graph.edges, graph.directed) == (vertices, edges, False)
    assert not [note for note in graph.notes if "pinned" in note]
    assert gpugraph.mst(f"example:{name}", device="cpu", verify="both").components == 1


def test_a_process_that_holds_a_data_set_for_ever_is_named(
    lists: Lists, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists(file="{name}.gr")
    place = folder / "own/roads"
    place.mkdir(parents=True)
    monkeypatch.setattr(store, "LONGEST_WAIT", 0.2)
    with open(place / ".lock", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = refuse(2, "mst", "own:roads", "--device", "cpu")
    assert "own:roads: another process has held its folder for 0.2 s — end that process: fuser " in said
    assert open_graph("own:roads").vertices == 4


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_in_the_users_cache_data_sets_are_the_users_alone_whatever_the_umask(
    lists: Lists, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    lists(file="{name}.csv")
    server.files["/a/roads.csv"] = b"source,target,weight\nRom,Ulm,3\nUlm,Aue,2\n"
    cache = tmp_path / "cache"
    monkeypatch.delenv("GPUGRAPH_DATA_DIR")
    monkeypatch.setattr(store, "users_folder", lambda: cache)
    before = os.umask(umask)
    try:
        (cache / "datasets/own/roads").mkdir(parents=True)  # of an older version, as the umask had it
        (cache / "datasets/own/roads/roads.csv").write_bytes(server.files["/a/roads.csv"])
        open_graph("own:roads")
        open_graph("own:roads", ReadOptions(directed=False))
    finally:
        os.umask(before)
    paths = [cache / "datasets", *(cache / "datasets").rglob("*")]
    assert len(paths) >= 10
    assert {(path.is_dir(), path.stat().st_mode & 0o777) for path in paths} == {(True, 0o700), (False, 0o600)}


def test_in_a_folder_that_the_user_chose_data_sets_are_as_the_umask_has_them(lists: Lists, folder: Path) -> None:
    before = os.umask(0o022)
    try:
        open_graph("own:roads")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o644}
