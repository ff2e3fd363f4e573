"""Draw the README's chart from stored records: python docs/pictures/bars.py FILE.svg [--dark]

Each panel compares the programs for one problem on one device.  A bar is the geometric mean, over the graphs that a
program and gpugraph have both solved, of its time divided by gpugraph's.  All panels have one scale, and a bar that
would be longer than ``MOST`` of gpugraph's is cut.
"""

from __future__ import annotations

import math
import sys
from html import escape
from pathlib import Path

from gpugraph.ext.charts.chart import DARK, LIGHT
from gpugraph.ext.reports.against_others import is_other, marks, program
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file

RECORDS = Path(__file__).resolve().parent.parent / "records"
LABELS = {
    "ADDS": "ADDS 9ef8166",
    "ECL-MST": "ECL-MST db9000a",
    "Gunrock": "Gunrock 01f125c",
    "PBBS": "PBBS 3932578",
    "RAFT": "RAFT PR 3118",
    "doubleGraph": "doubleGraph 0844151",
    "near-far": "near-far (LonestarGPU)",
}
"""Programs that are shown with a version; of each the fastest setting on a graph counts."""
PANELS = (
    ("Minimum spanning forests of real graphs, NVIDIA H200", "figures-real-mst-h200", "mst"),
    ("Shortest paths on real graphs, NVIDIA H200", "figures-real-sssp-h200", "sssp"),
    ("Minimum spanning forests, 16 CPU cores (Intel Xeon)", "figures-cpu-cpu16", "mst"),
    ("Shortest paths, 16 CPU cores (Intel Xeon)", "figures-cpu-cpu16", "sssp"),
)
WIDTH, LEFT, BAR, GAP, HEAD, LONGEST, MOST = 780, 180, 16, 7, 40, 380, 20.0


def ratios(file: str, problem: str) -> tuple[list[tuple[str, float, int]], int, str]:
    """Return each program's name, mean time over gpugraph's and graphs, the fastest first; gpugraph's graphs; marks."""
    times: dict[str, dict[tuple[str, str], float]] = {}
    used: dict[tuple[str, str], list[Record]] = {}
    (stored,) = RECORDS.glob(f"{file}.jsonl*")
    for record in read_record_file(stored).records:
        if record.problem == problem and record.ok and record.call_s is not None:
            name = program(record) if is_other(record) else "gpugraph"
            query = times.setdefault(LABELS.get(name, name), {})
            query[key(record)] = min(record.call_s, query.get(key(record), math.inf))
            used.setdefault(key(record), []).append(record)
    ours = times.pop("gpugraph")
    found = []
    for name, theirs in times.items():
        shared = [math.log(theirs[graph] / ours[graph]) for graph in theirs.keys() & ours.keys()]
        found.append((name, math.exp(sum(shared) / len(shared)), len(shared)))
    marked = "".join(marks(used[graph]) for graph in ours)
    return sorted(found, key=lambda row: row[1]), len(ours), "".join(f" {mark}" for mark in "†‡" if mark in marked)


def key(record: Record) -> tuple[str, str]:
    """Return what tells one query from another: the graph and the sources."""
    return record.graph_name, str(record.asked_source)


def drawing(dark: bool) -> str:
    """Return the chart as SVG, with no font, script or picture from elsewhere."""
    ink = DARK if dark else LIGHT
    parts, y = [], 8
    panels = [(title, *ratios(file, problem)) for title, file, problem in PANELS]
    longest = min(MOST, max(ratio for _, rows, *_ in panels for _, ratio, _ in rows))

    def text(x: float, y: float, words: str, colour: str, extra: str = "") -> None:
        parts.append(f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" {extra}>{escape(words)}</text>')

    for title, rows, graphs, marked in panels:
        text(0, y + 16, title + marked, ink.text, 'font-weight="600"')
        y += HEAD - 14
        for name, ratio, count in [("gpugraph", 1.0, graphs), *rows]:
            colour = ink.series[0] if name == "gpugraph" else ink.faint
            length = max(2.0, LONGEST * min(ratio / longest, 1.0))
            text(LEFT - 8, y + 13, name, ink.text, 'text-anchor="end"')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" fill="{colour}"/>')
            if ratio > longest:
                cut = f'x="{LEFT + length - 24:.1f}" y="{y}" width="6" height="{BAR}"'
                parts.append(f'<rect {cut} fill="{ink.paper}"/>')
            text(LEFT + length + 8, y + 13, f"{ratio:.1f}×  ({count} graphs)", ink.text)
            y += BAR + GAP
        y += 12
    words = "Time as a multiple of gpugraph's, geometric mean; shorter is faster. A bar with a gap is cut."
    text(0, y + 6, words, ink.faint)
    y += 20
    text(0, y + 6, "† of an earlier version of gpugraph  ‡ not measured by one command on one device", ink.faint)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 16}" width="{WIDTH}" height="{y + 16}" '
        f'font-family="{ink.font}" font-size="13">\n'
        f'<rect width="100%" height="100%" fill="{ink.paper}"/>\n'
        f'<g transform="translate(12 0)">\n{body}\n</g>\n</svg>\n'
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawing("--dark" in sys.argv), "utf-8")
