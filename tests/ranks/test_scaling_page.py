"""docs/scaling.md: the table is what the model on the page prints, and every figure of it is marked as a model's."""

from __future__ import annotations

import contextlib
import io
import re

from tests.ranks.runs import ROOT

PAGE = (ROOT / "docs" / "scaling.md").read_text("utf-8")


def test_the_table_is_what_the_model_prints() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code[1], {})
    assert printed.getvalue() in PAGE


def test_every_column_of_figures_is_marked_as_a_model() -> None:
    head = next(line for line in PAGE.splitlines() if line.startswith("| scale of rmat"))
    assert [title.strip().endswith("(model)") for title in head.split("|")[3:-1]] == [True] * 3
