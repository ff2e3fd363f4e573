from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.base.plugged import offered
from gpugraph.problems.algorithm import Option
from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.foreign import is_foreign
from gpugraph.problems.registry import algorithms


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (bool, "Yes", True),
        (bool, "off", False),
        (bool, np.True_, True),
        (int, "7", 7),
        (int, np.int8(7), 7),
        (float, "1e3", 1000.0),
        (float, 3, 3.0),
        (float, np.float32(0.5), 0.5),
        (str, "x", "x"),
    ],
)
def test_an_option_takes_text_and_values_of_its_own_kind(kind: type, given: Any, value: Any) -> None:
    taken = Option("o", kind, None, "").parse(given)
    assert (taken, type(taken)) == (value, kind)


@pytest.mark.parametrize(
    ("kind", "given"),
    [(bool, "ture"), (bool, 1), (int, "x"), (int, 1.5), (int, None), (float, [1.0]), (float, 2**2000), (str, 5)],
)
def test_an_option_refuses_everything_else_in_words(kind: type, given: Any) -> None:
    with pytest.raises(InputError, match=f"option 'o' takes {kind.__name__}, not "):
        Option("o", kind, None, "").parse(given)


def test_a_value_of_python_has_to_be_among_the_choices_too() -> None:
    with pytest.raises(InputError, match="unknown value of option 'threads' '100'"):
        Option("threads", int, 128, "", (64, 128)).parse(100)


@pytest.mark.parametrize("name", ["./mine.py", "mine.py:driver", "peer:scipy", "fast-one", "slow one"])
def test_a_name_of_a_file_a_peer_or_a_package_is_foreign(name: str, offers: None) -> None:
    assert is_foreign(name)


def test_the_names_of_our_own_algorithms_are_not_foreign(offers: None) -> None:
    own = {algorithm.name for problem in PROBLEMS for algorithm in algorithms(problem)} | {"auto"}
    assert [name for name in own if is_foreign(name)] == []


@pytest.fixture
def offers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that offers two algorithms, and one that offers something else."""
    for package, text in (
        ("a", "[console_scripts]\nkruskal = a:main\n\n[gpugraph.algorithms]\nfast-one = a:run\nslow one= a:walk\n"),
        ("b", "[gpugraph.algorithms.other]\nprim = b:run\n"),
    ):
        (tmp_path / f"{package}-1.dist-info").mkdir()
        (tmp_path / f"{package}-1.dist-info" / "entry_points.txt").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    offered.cache_clear()
    yield
    offered.cache_clear()
