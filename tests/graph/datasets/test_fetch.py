"""Every way in which a file may come, or not come, from a server."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError, installable_here
from gpugraph.cli.process import Interruption
from gpugraph.ext.datasets import fetch, store
from gpugraph.graph.load import load_file
from gpugraph.graph.open import open_graph
from tests.cli.runner import refuse, succeed
from tests.graph.datasets.conftest import ROADS
from tests.graph.datasets.server import Server
from tests.tiers import extended

Lists = Callable[..., None]
LONG = b"".join([b"c a comment to make it longer\n" * 4000, ROADS])


def digest(content: bytes) -> str:
    return f"sha256 = '{sha256(content).hexdigest()}'"


def held(folder: Path) -> set[str]:
    return {path.name for path in (folder / "own" / "roads").iterdir()}


def test_a_name_gives_the_graph_of_the_file_and_a_second_use_asks_nobody(
    server: Server, lists: Lists, folder: Path, tmp_path: Path
) -> None:
    lists(digest(ROADS))
    (tmp_path / "roads.gr").write_bytes(ROADS)
    expected = load_file(tmp_path / "roads.gr")
    for _ in range(2):
        graph = open_graph("own:roads")
        assert (graph.digest, graph.name, graph.source) == (expected.digest, "roads", "own:roads")
        assert list(graph.vertex_names) == list(expected.vertex_names)
        assert not graph.directed
    assert server.asked == [("/a/roads.gr", "")]
    assert held(folder) == {"roads.gr", "graph.csr", "graph.json", "pin.json", ".lock"}


def test_without_a_checksum_the_first_download_is_pinned_and_reported(lists: Lists, folder: Path) -> None:
    first, second = open_graph("own:roads"), open_graph("own:roads")
    assert any("no checksum of own:roads is known: what came is pinned" in note for note in first.notes)
    assert not any("pinned" in note for note in second.notes)
    pin = json.loads((folder / "own" / "roads" / "pin.json").read_text())
    assert (pin["sha256"], pin["bytes"]) == (sha256(ROADS).hexdigest(), len(ROADS))
    assert pin["digests"] == {"": first.digest}


def test_with_a_checksum_nothing_is_reported(lists: Lists) -> None:
    lists(digest(ROADS))
    assert not open_graph("own:roads").notes


def test_a_wrong_hash_is_refused_everywhere_and_nothing_of_it_stays(lists: Lists, server: Server, folder: Path) -> None:
    lists(digest(b"another"))
    server.files["/b/roads.gr"] = ROADS
    said = refuse(2, "mst", "own:roads", "--device", "cpu")
    assert said.count(f"its SHA-256 is {sha256(ROADS).hexdigest()}, the registry says") == 1  # of both, on one host
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]
    assert "it is damaged, or its source has changed it" in said
    assert held(folder) == {".lock"}


def test_a_mirror_makes_up_for_a_source_with_another_file(lists: Lists, server: Server) -> None:
    lists(digest(ROADS))
    server.files |= {"/a/roads.gr": b"p sp 1 0\n", "/b/roads.gr": ROADS}
    assert open_graph("own:roads").vertices == 4
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]


def test_a_404_is_not_asked_again_but_elsewhere(lists: Lists, server: Server, naps: list[float]) -> None:
    server.files["/b/roads.gr"] = server.files.pop("/a/roads.gr")
    assert open_graph("own:roads").vertices == 4
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]
    assert not naps


def test_a_name_that_no_source_has_is_reported(lists: Lists, server: Server) -> None:
    server.files.clear()
    said = refuse(2, "mst", "own:roads")
    assert re.search(r"own:roads: cannot be fetched: 127\S+: 404 not found — check the name", said)
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]


def test_who_is_busy_is_asked_again_when_he_says(lists: Lists, server: Server, naps: list[float]) -> None:
    server.next["/a/roads.gr"] = [503, 503]
    server.headers["Retry-After"] = "7"
    assert open_graph("own:roads").vertices == 4
    assert naps == [7, 7]
    assert len(server.asked) == 3


def test_who_stays_busy_is_passed_over(lists: Lists, server: Server, naps: list[float]) -> None:
    server.files["/b/roads.gr"] = ROADS
    server.next["/a/roads.gr"] = [503] * 20
    assert open_graph("own:roads").vertices == 4
    assert naps == list(fetch.WAITS_S)
    server.next["/a/roads.gr"], server.headers["Retry-After"] = [503], "3600"
    lists(name="streets")
    server.files["/b/streets.gr"] = ROADS
    server.next["/a/streets.gr"] = [429]
    assert open_graph("own:streets").vertices == 4
    assert naps == list(fetch.WAITS_S)


def test_what_breaks_off_is_gone_on_with_where_it_broke(lists: Lists, server: Server) -> None:
    lists(digest(LONG))
    server.files["/a/roads.gr"] = LONG
    server.next["/a/roads.gr"] = ["short", "short"]
    assert open_graph("own:roads").vertices == 4
    half = len(LONG) // 2
    quarter = (len(LONG) - half) // 2
    assert server.asked == [("/a/roads.gr", r) for r in ("", f"bytes={half}-", f"bytes={half + quarter}-")]


def test_a_later_command_goes_on_with_what_an_earlier_one_got(
    lists: Lists, server: Server, folder: Path, naps: list[float]
) -> None:
    lists(digest(LONG))
    server.files["/a/roads.gr"] = LONG
    server.next["/a/roads.gr"] = ["short"] + ["drop"] * 5
    said = refuse(2, "mst", "own:roads")
    assert "what has come is kept" in said
    assert (folder / "own/roads/roads.gr.part").stat().st_size == len(LONG) // 2
    server.asked.clear()
    assert open_graph("own:roads").vertices == 4
    assert server.asked == [("/a/roads.gr", f"bytes={len(LONG) // 2}-")]
    assert not [name for name in held(folder) if ".part" in name]


def test_a_file_that_changed_meanwhile_begins_anew(lists: Lists, server: Server) -> None:
    server.files["/a/roads.gr"] = b"c old\n" * 5000 + ROADS
    server.next["/a/roads.gr"] = ["short"] + ["drop"] * 5
    assert "cannot be fetched" in refuse(2, "mst", "own:roads")
    server.files["/a/roads.gr"] = LONG
    lists(digest(LONG))
    server.asked.clear()
    assert open_graph("own:roads").vertices == 4
    assert len(server.asked) == 1
    assert server.asked[0][1]


def test_without_a_mark_of_the_version_a_broken_file_begins_anew(lists: Lists, server: Server) -> None:
    lists(digest(LONG))
    server.ranges, server.files["/a/roads.gr"] = False, LONG
    server.next["/a/roads.gr"] = ["short"]
    assert open_graph("own:roads").vertices == 4
    assert [wanted for _, wanted in server.asked] == ["", ""]


def test_a_source_that_always_breaks_off_ends_in_an_error(lists: Lists, server: Server, naps: list[float]) -> None:
    server.ranges, server.files["/a/roads.gr"] = False, LONG
    server.next["/a/roads.gr"] = ["short"] * 50
    said = refuse(2, "mst", "own:roads")
    assert "broke off" in said
    assert len(naps) <= len(fetch.WAITS_S) + 1


def test_a_host_that_is_not_there_is_reported(lists: Lists) -> None:
    lists("urls = ['http://127.0.0.1:9/roads.gr']")
    assert re.search(r"127.0.0.1:9: cannot be reached — try again later", refuse(2, "mst", "own:roads"))


def test_bytes_are_kept_as_they_are_served_even_if_called_a_compression_of_the_transfer(
    lists: Lists, server: Server, folder: Path
) -> None:
    packed = gzip.compress(ROADS, mtime=0)
    lists(digest(packed), file="{name}.gr.gz")
    server.files["/a/roads.gr.gz"] = packed
    server.headers["Content-Encoding"] = "gzip"
    assert open_graph("own:roads").vertices == 4
    assert (folder / "own/roads/roads.gr.gz").read_bytes() == packed


def test_a_mirror_of_the_users_is_asked_first(lists: Lists, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUGRAPH_MIRROR", f"{server.url}/mirror/")
    server.files["/mirror/own/roads/roads.gr"] = ROADS
    open_graph("own:roads")
    assert [path for path, _ in server.asked] == ["/mirror/own/roads/roads.gr"]


@pytest.mark.parametrize("mirror", ["nonsense", "http://[x", "file:///etc"])
def test_a_mirror_that_is_no_address_is_passed_over_at_once(
    mirror: str, lists: Lists, server: Server, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUGRAPH_MIRROR", mirror)
    monkeypatch.setattr(fetch, "sources", store.sources)  # the others are on this machine
    server.files = {"/b/roads.gr": server.files["/a/roads.gr"]}
    assert open_graph("own:roads").vertices == 4
    assert not naps
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]


def test_a_source_that_sends_to_no_address_is_passed_over(lists: Lists, server: Server) -> None:
    server.files["/b/roads.gr"] = ROADS
    server.next["/a/roads.gr"], server.headers["Location"] = [302], "http://[x"
    assert open_graph("own:roads").vertices == 4
    assert [path for path, _ in server.asked] == ["/a/roads.gr", "/b/roads.gr"]


def test_no_room_is_reported_before_anything_is_written(
    lists: Lists, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = fetch.shutil.disk_usage("/")
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda path: usage._replace(free=10))
    said = refuse(2, "mst", "own:roads")
    assert f"fetching it needs {len(ROADS)} bytes, and 10 B are free in {folder}" in said
    assert "GPUGRAPH_DATA_DIR" in said
    assert held(folder) == {".lock"}


def test_a_disk_that_fills_up_ends_in_one_line_and_keeps_nothing(
    lists: Lists, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object, response: object, url: str, size: int) -> None:
        self._part.write_bytes(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetch._Transfer, "_receive", full)
    assert "cannot be written: no space left on device — free some space" in refuse(2, "mst", "own:roads")
    assert held(folder) == {".lock"}


def test_a_real_limit_to_the_size_of_files_is_reported_too(lists: Lists, server: Server, folder: Path) -> None:
    resource = pytest.importorskip("resource")
    server.files["/a/roads.gr"] = LONG
    limits = 1 << 14, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)}
    own = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # Python would cut its own files off, and use them
    (one,) = commands(1, "info", "own:roads", **limited, env=own)
    _, said = one.communicate(timeout=300)
    assert one.returncode == 2, said
    assert said.count("gpugraph: error: ") == 1
    assert "cannot be written: file too large" in said
    assert held(folder) == {".lock"}


def test_how_far_it_is_is_reported_on_the_way(lists: Lists, server: Server, folder: Path) -> None:
    server.files["/a/roads.gr"] = LONG
    server.next["/a/roads.gr"] = [503, "short"]
    told: list[str] = []
    open_graph("own:roads", progress=told.append)
    assert told[:3] == [
        "fetching roads.gr",
        "roads.gr: 503 service unavailable; trying again",
        "fetching roads.gr: 58.6 KiB of 117 KiB, 50%",
    ]
    assert "fetching roads.gr: 117 KiB of 117 KiB, 100%" in told
    assert any(one.startswith("converting roads.gr") for one in told)


def test_a_folder_that_may_not_be_written_to_is_reported(lists: Lists, folder: Path) -> None:
    folder.write_text("a file")
    assert "the cache cannot be written" in refuse(2, "mst", "own:roads")


def test_without_pooch_the_way_by_hand_is_reported(lists: Lists, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    said = refuse(2, "mst", "own:roads")
    assert installable_here("pip install 'gpugraph[data]'") + ", or put http" in said
    (folder / "own/roads/roads.gr").write_bytes(ROADS)
    assert open_graph("own:roads").vertices == 4
    succeed("datasets", "own:roads", "--remove")
    (folder / "own/roads/roads.gr").write_bytes(ROADS + b"c another\n")
    assert "roads.gr is not the file that the pin of its first use knows, and data sets" in refuse(
        2, "mst", "own:roads"
    )


def commands(count: int, *words: str, **how: object) -> list[subprocess.Popen[str]]:
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | how
    return [subprocess.Popen([sys.executable, "-m", "gpugraph", *words], **told) for _ in range(count)]


def test_an_interruption_of_which_a_library_made_an_error_is_not_tried_again(
    lists: Lists, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    import requests

    def torn(self: object, url: str) -> None:
        monkeypatch.setattr(Interruption, "latest", Interruption())
        raise requests.exceptions.ConnectionError(url)

    monkeypatch.setattr(fetch._Transfer, "_try", torn)
    with pytest.raises(Interruption):
        open_graph("own:roads")


@extended
def test_two_at_once_fetch_it_once(lists: Lists, server: Server) -> None:
    server.gate.clear()
    both = commands(2, "info", "own:roads", "--format", "json")
    while not server.asked:
        assert all(one.poll() is None for one in both)
        time.sleep(0.01)
    server.gate.set()
    said = [one.communicate(timeout=300) for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert len({json.loads(out)["digest"] for out, _ in said}) == 1
    assert len(server.asked) == 1


def test_a_command_that_is_interrupted_leaves_a_part_for_the_next(lists: Lists, server: Server, folder: Path) -> None:
    server.files["/a/roads.gr"] = LONG
    server.next["/a/roads.gr"] = ["short"] + [503] * 4
    server.headers["Retry-After"] = "30"  # it waits for that while it is looked at
    (one,) = commands(1, "info", "own:roads")
    part = folder / "own/roads/roads.gr.part"
    while not (part.exists() and part.stat().st_size == len(LONG) // 2):
        assert one.poll() is None
        time.sleep(0.01)
    one.send_signal(signal.SIGINT)
    _, said = one.communicate(timeout=300)
    assert (one.returncode, said.count("gpugraph: interrupted")) == (130, 1)
    server.asked.clear()
    server.next.clear()
    assert open_graph("own:roads").vertices == 4
    assert server.asked == [("/a/roads.gr", f"bytes={len(LONG) // 2}-")]


def test_a_bad_url_is_a_refusal_of_the_list(lists: Lists) -> None:
    lists("urls = ['ftp://127.0.0.1/x']")
    with pytest.raises(InputError, match="is no URL of a file"):
        open_graph("own:roads")


def test_without_a_network_the_question_for_one_comes_at_once(
    lists: Lists, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    import requests

    def unknown(*_: object, **__: object) -> None:
        raise requests.exceptions.ConnectionError("Failed to resolve 'example.org'")

    lists()
    monkeypatch.setattr(requests, "get", unknown)
    with pytest.raises(InputError, match="is there a network"):
        open_graph("own:roads")
    assert sum(naps) <= 2.0
