"""A server, a folder for data sets, and a list of them that names the server alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpugraph.ext.datasets import fetch, store
from gpugraph.ext.datasets.registry import Dataset, _merged
from tests.graph.datasets.server import Server, serving

ROADS = b"c made by hand\np sp 4 6\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\na 3 4 2\na 4 3 2\n"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as told:
        told.files["/a/roads.gr"] = ROADS
        yield told


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was slept, in place of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr(fetch.time, "sleep", slept.append)
    return slept


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUGRAPH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GPUGRAPH_OFFLINE")
    asked = fetch.sources

    def on_loopback(dataset: Dataset) -> list[str]:
        urls = asked(dataset)
        assert all(url.startswith("http://127.0.0.1:") for url in urls), "a test would leave this machine"
        return urls

    monkeypatch.setattr(fetch, "sources", on_loopback)
    monkeypatch.setattr(store, "sources", asked)  # lists name the sources and ask none of them
    return tmp_path / "data"


@pytest.fixture
def lists(server: Server, folder: Path, naps: list[float], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make ``own:roads`` a data set of two sources, with what is given of it."""
    path = folder.with_name("own.toml")

    def write(row: str = "", collection: str = "", name: str = "roads", file: str = "{name}.gr") -> None:
        urls = [f"{server.url}/{place}/{file}" for place in "ab"]
        path.write_text(f"[own]\ntitle = 'own'\nurls = {urls}\n{collection}\n[own.graphs.{name}]\n{row}\n")
        _merged.cache_clear()

    monkeypatch.setenv("GPUGRAPH_DATASETS", str(path))
    write()
    return write
