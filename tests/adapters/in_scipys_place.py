"""A plugin for pytest: SciPy's tests of csgraph get gpugraph's functions, and calls are counted.

Run as ``pytest -p tests.adapters.in_scipys_place --pyargs scipy.sparse.csgraph.tests.test_shortest_path``.
"""

from __future__ import annotations

from collections import Counter
from functools import wraps
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import scipy.sparse.csgraph

import gpugraph.csgraph

CALLS: Counter[str] = Counter()


def _counted(name: str) -> Any:
    function = getattr(gpugraph.csgraph, name)

    @wraps(function)
    def count(*arguments: Any, **named: Any) -> Any:
        CALLS[name] += 1
        return function(*arguments, **named)

    return count


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for module in {item.module for item in items}:
        assert isinstance(module, ModuleType)
        for name in gpugraph.csgraph.__all__:
            if hasattr(module, name):
                setattr(module, name, _counted(name))
        if hasattr(module, "csgraph"):
            ours = {name: _counted(name) for name in gpugraph.csgraph.__all__}
            setattr(module, "csgraph", SimpleNamespace(**{**vars(scipy.sparse.csgraph), **ours}))  # noqa: B010


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line("calls of gpugraph.csgraph: " + ", ".join(f"{k} {v}" for k, v in sorted(CALLS.items())))


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpugraph.csgraph, "DEVICE", "cpu")
