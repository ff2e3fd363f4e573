"""docs/performance/scaling.md: the table is what its model prints, and is marked as a model's."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

from tests.ranks.runs import ROOT

MEASURED = Path(__file__).parent  # what the model was made of, in November 2026
PAGE = (ROOT / "docs" / "performance" / "scaling.md").read_text("utf-8")


def model() -> tuple[str, Any]:
    """Return what the model on the page prints, and its function."""
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(code[1], names)
    return printed.getvalue(), names["model"]


def test_the_table_is_what_the_model_prints() -> None:
    assert model()[0] in PAGE


def test_forests_on_two_gpus_took_the_time_and_memory_that_the_model_says() -> None:
    foretold, held = model()[1], []
    for line in (MEASURED / "forests-two-gpus.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        ranks = record.get("ranks")
        if record["problem"] != "mst" or not record["graph"]["name"].startswith("rmat:") or ranks is None:
            continue
        scale = int(record["graph"]["name"][5:])
        if scale < 26:  # launches and read-backs, which the model leaves out
            continue
        memory, forest, _ = foretold(scale, ranks["size"])
        peak = max(member["peak_device_bytes"] for member in ranks["members"])
        kernel_ms = median(record["samples_s"]["kernel"]) * 1e3
        assert abs(forest - kernel_ms) <= 0.05 * kernel_ms + 0.5  # the table is rounded
        assert abs(memory - peak / 1e9) <= 0.05 * peak / 1e9 + 0.5
        held.append(scale)
    assert sorted(held) == [26, 27, 28, 29]


def test_paths_on_two_gpus_took_the_time_that_the_model_says() -> None:
    foretold, held = model()[1], []
    for line in (MEASURED / "paths-two-gpus.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        name = re.match(r"rmat:(\d+),", record["graph"]["name"])
        if name is None or "agree" not in record.get("ranks", {}).get("phases", {}):  # one GPU, or rounds by messages
            continue
        if 2 * record["graph"]["edges"] >= record["ranks"]["size"] << 31:  # positions of 64 bits, which it leaves out
            continue
        kernel_ms = median(record["samples_s"]["kernel"]) * 1e3
        assert abs(foretold(int(name[1]), record["ranks"]["size"])[2] - kernel_ms) <= 0.02 * kernel_ms + 0.5
        held.append(int(name[1]))
    assert sorted(held) == [24, 26, 27]


def test_every_column_of_figures_is_marked_as_a_model() -> None:
    head = next(line for line in PAGE.splitlines() if line.startswith("| scale of rmat"))
    assert [title.strip().endswith("(model)") for title in head.split("|")[3:-1]] == [True] * 3
