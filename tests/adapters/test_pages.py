"""The pages for users of Python, SciPy and NetworkX: their programs run, and their tables name what there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpugraph
from gpugraph.ext.networkx.info import FUNCTIONS
from tests.adapters.test_foreign_suites import environment  # noqa: F401
from tests.tiers import first

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", first(2, ["networkx.md", "when.md", "python.md"]))
def test_the_programs_of_a_page_run(page, environment, tmp_path):  # noqa: F811
    programs = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert programs
    for program in programs:
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_every_function_of_the_backend_is_in_the_table():
    text = (DOCS / "networkx.md").read_text("utf-8")
    named = re.findall(r"`([\w…]+)`", text.split("## Functions")[1].split("\n## ")[0])
    for name in FUNCTIONS:
        shapes = [re.escape(one).replace("…", r"\w*") for one in named]
        assert any(re.fullmatch(shape, name) for shape in shapes), name


def test_every_public_function_says_whether_threads_may_share_it():
    table = (DOCS / "python.md").read_text("utf-8").split("## Threads")[1].split("\n\n")[1]
    named = set(re.findall(r"`(?:gpugraph\.)?(\w+)`", table))
    shared = {name for name in gpugraph.__all__ if not isinstance(getattr(gpugraph, name), type)}
    assert shared - {"__version__"} <= named


@pytest.mark.parametrize("page", ["networkx.md", "python.md", "datasets.md", "when.md"])
def test_readme_leads_to_the_page_that_each_reads_first(page):
    assert f"(docs/{page})" in (DOCS.parent / "README.md").read_text("utf-8")
