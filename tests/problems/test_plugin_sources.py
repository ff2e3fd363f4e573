"""Installed packages and files add algorithms; each is imported only where its name is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gpugraph.ext.plugins.plugin as sources
from gpugraph.base.errors import InputError
from gpugraph.ext.plugins.plugin import describe_plugin
from gpugraph.problems.algorithm import algorithm_from
from gpugraph.problems.registry import algorithms, find_algorithm
from tests.cli.runner import refuse, succeed

GRID = "grid:5x5"


class FakeEntry:
    """An entry point whose object is given, or raised."""

    def __init__(self, name: str, loaded: Any):
        self.name, self.value, self._loaded = name, f"package:{name}", loaded

    def load(self) -> Any:
        if isinstance(self._loaded, BaseException):
            raise self._loaded
        return self._loaded


class Installed:
    """A forest of no edges."""

    problem = "mst"
    devices = ("cpu",)

    def prepare(self, view: Any, device: Any) -> Any:
        return view

    def run(self, state: Any, clock: Any) -> Any:
        return state.graph.targets[:0]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that declares entry points, in this process."""

    def declare(**entries: Any) -> None:
        made = [FakeEntry(name.replace("_", "-"), loaded) for name, loaded in entries.items()]
        monkeypatch.setattr(sources, "installed", lambda: {entry.name: entry for entry in made})

    return declare


def test_an_installed_package_adds_an_algorithm_by_its_name(install: Callable[..., None]) -> None:
    install(nothing_at_all=Installed)
    assert "joins two trees" in refuse(1, "mst", GRID, "--algo", "nothing-at-all", "--device", "cpu")
    assert "did you mean 'nothing-at-all'" in refuse(2, "mst", GRID, "--algo", "nothing-at-al", "--device", "cpu")
    assert "does not run on device 'emulated'" in refuse(
        2, "mst", GRID, "--algo", "nothing-at-all", "--device", "emulated"
    )
    assert "solves mst, not sssp" in refuse(2, "sssp", GRID, "--algo", "nothing-at-all", "--device", "cpu")


@pytest.mark.parametrize(
    "broken",
    [ImportError("no such\nlibrary"), SystemExit(1), 7, type("Mute", (), {"prepare": print, "run": print})],
    ids=["import", "exit", "number", "no problem"],
)
def test_a_broken_installed_package_is_reported_when_it_is_asked_for(install: Callable[..., None], broken: Any) -> None:
    install(broken=broken, fine=Installed)
    with pytest.raises(InputError, match=r"^entry point package:broken: cannot load it: .* — repair or uninstall"):
        find_algorithm("mst", "broken", "cpu")
    assert find_algorithm("mst", "fine", "cpu").summary == "A forest of no edges."
    succeed("mst", GRID, "--device", "cpu")


def test_an_installed_package_is_not_imported_until_its_name_is_asked_for(install: Callable[..., None]) -> None:
    install(fatal=KeyboardInterrupt())
    assert find_algorithm("mst", "kruskal", "cpu").name == "kruskal"
    assert algorithms("mst")


def test_an_installed_package_cannot_take_the_name_of_another_algorithm(install: Callable[..., None]) -> None:
    install(kruskal=Installed)
    assert find_algorithm("mst", "kruskal", "cpu").authors != "user"


def test_what_a_plugin_says_of_itself_survives_the_way_to_another_process(install: Callable[..., None]) -> None:
    install(forest=Installed)
    told = describe_plugin("forest")
    found = algorithm_from(told["mst"])
    assert (found.name, found.devices, found.summary) == ("forest", ("cpu",), "A forest of no edges.")
    assert found.foreign
    with pytest.raises(InputError, match="solves mst, not sssp"):
        algorithm_from(told["sssp"])


def test_a_file_is_taken_as_it_is_however_soon_it_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "mine.py"
    for value in (1, 2):
        path.write_text(f"value = {value}\n")
        os.utime(path, (1e9, 1e9))  # what byte code is known by: the second and the size
        assert sources._import_file(path).value == value
    assert list(tmp_path.rglob("*")) == [path]
