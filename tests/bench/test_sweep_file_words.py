"""Words of a sweep's file that are none of those that may stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.bench.sweep_file import read_sweep

SWEEP = """
[axes]
graph = "grid:3x3"
algorithm = "boruvka"
[[expect]]
says = "it ends"
value = "kernel"
most = 1.0
at = "< 1"
"""


def test_a_word_that_is_none_of_the_known_ones_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SWEEP)
    with pytest.raises(InputError, match=r"s\.toml.*its at is an invalid enum value '< 1'"):
        read_sweep(str(path))
