"""The README's table of speeds, made of the stored records: ``python -m tests.readme_table`` writes it there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gpugraph.ext.reports.against_others import lead, ratio
from gpugraph.records.record_file import read_records
from gpugraph.report.markdown_csv import grid

ROOT = Path(__file__).resolve().parent.parent
ON_GPU = {"mst": "filter-boruvka", "sssp": "delta-stepping"}
ON_CPU = {"mst": "boruvka", "sssp": "delta-stepping", "components": "afforest"}
ROWS: Sequence[tuple[str, str, dict[str, str], tuple[str, ...]]] = (
    (
        "a whole command from a file, uncertified",
        "2 cores",
        {"sssp": "peer:gpugraph-wsg"},
        ("figures-commands-binary-cpu2",),
    ),
    ("all three problems", "16 cores", ON_CPU, ("figures-cpu-cpu16",)),
    ("connected components", "NVIDIA H200", {"components": "hook"}, ("figures-beside-components-h200",)),
    ("real graphs", "NVIDIA H200", ON_GPU, ("figures-real-mst-h200", "figures-real-sssp-h200")),
    ("graphs drawn by the commit", "NVIDIA H200", ON_GPU, ("figures-drawn-mst-h200", "figures-drawn-sssp-h200")),
    ("Graph500", "NVIDIA H200", {"sssp": "delta-stepping"}, ("graph500-h200", "graph500-cugraph-h200")),
)
"""What of which records a row of the table shows."""


def table() -> str:
    """Return the table, the worst row first."""
    known = read_records(sorted(map(str, (ROOT / "docs" / "records").glob("*"))))[0]
    rows = []
    for title, device, ours, files in ROWS:
        found = lead([row for row in known if Path(row.file or "").name.partition(".")[0] in files], ours, known=known)
        missing = f"; not run: {', '.join(found['missing'])}" if found["missing"] else ""
        whole = any(name.startswith("peer:") for name in ours.values())
        names = ", ".join(f"`gpugraph {problem}`" if whole else f"`{name}`" for problem, name in ours.items())
        others, commits = (
            ", ".join(found["peers"]) + missing,
            ", ".join(found["commits"]) + found["marks"].replace(" ‡", ""),
        )
        shown = [title, ratio(found), str(found["count"]), device, names, others, commits]
        rows.append((found["mean"], shown))
    titles = ["case", "other/ours: mean (range)", "pairs", "device", "ours", "fastest others", "commit"]
    return "\n".join(grid(titles, [row for _, row in sorted(rows)], [1, 2]))


if __name__ == "__main__":
    page = ROOT / "README.md"
    text = page.read_text("utf-8")
    page.write_text(re.sub(r"^\| case \|.*?(?=\n\n)", lambda _: table(), text, flags=re.DOTALL | re.MULTILINE), "utf-8")
