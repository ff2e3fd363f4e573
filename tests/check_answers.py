"""Compare gpugraph with a folder of real graphs whose answers are known.

    python tests/check_answers.py FOLDER [--problem mst|sssp] [--graph NAME]

The folder holds ``manifest.tsv`` (a line per graph with its name, format and files) and ``answers.json`` (forest
weight, number of forest edges, and reached vertices, sum and maximum of the distances from some sources, for
each weighting).  Graphs in formats that gpugraph does not read are left out.  Exits 1 on any difference.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gpugraph
from gpugraph.ext.changes.weights import transform_weights
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.symmetrize import symmetrize

READ = {"algs4", "dimacs", "fastpaths", "ldbc", "metis", "mtx", "nmuv", "nmuvw", "nuvw", "pace", "snap"}
"""The manifest's names of formats that gpugraph reads."""

PROBLEMS = ("mst", "sssp")

DEVICE = "auto"
"""Set by --device."""

Answer = dict[str, int | float]


def solve(problem: str, graph: CSRGraph, source: int = 0) -> Answer:
    """Return what is compared: of a forest its weight and size, of distances reached, sum and maximum.

    Every result is verified both ways besides.
    """
    if problem == "mst":
        forest = gpugraph.mst(graph, device=DEVICE, verify="both")
        return {"weight": forest.total_weight, "edges": len(forest.edges), "components": forest.components}
    found = gpugraph.sssp(graph, source, device=DEVICE, verify="both").summary()
    return {"reached": found["reached"], "sum": found["distance_sum"], "max": found["distance_max"]}


def _weighting(key: str, weighted: str) -> str:
    """Return the ``--reweight`` of a weighting: the answers take absolute values where the manifest says |a|."""
    if key == "file":
        return "abs" if "|a" in weighted else "file"
    return {"unit": "unit", "hash1000": "hash:1..1000"}[key]


def cases(
    problem: str, graph: CSRGraph, expected: dict[str, Any], weighted: str
) -> Iterator[tuple[str, Answer, Answer]]:
    """Yield a title, what gpugraph finds and what is right, for every answer about ``graph``."""
    for key, answers in expected["weights"].items():
        directed = transform_weights(graph, _weighting(key, weighted))
        undirected = symmetrize(directed)
        if problem == "mst":
            right = {
                "weight": answers["msf_weight"],
                "edges": answers["msf_edges"],
                "components": expected["components"],
            }
            yield f"{key}", solve("mst", undirected), right
            continue
        for question, right in answers.items():
            if question.startswith("sssp_") and isinstance(right, dict):
                variant = directed if question.startswith("sssp_directed") else undirected
                found = solve("sssp", variant, right["source"])
                yield f"{key} {question.removeprefix('sssp_')}", found, {k: right[k] for k in found}


def same(found: Answer, right: Answer) -> bool:
    """Integers agree exactly, sums of reals to 12 digits (whose order of summation is not told)."""
    return all(
        found[key] == value if isinstance(value, int) else math.isclose(found[key], value, rel_tol=1e-12)
        for key, value in right.items()
    )


def shape_differences(graph: CSRGraph, expected: dict[str, Any]) -> list[str]:
    """Return what is wrong with the counts of a loaded graph."""
    pairs = {
        "vertices": (graph.vertices, expected["n"]),
        "edges": (symmetrize(graph).edges, expected["undirected_simple_edges"]),
    }
    return [f"{what} {found} instead of {right}" for what, (found, right) in pairs.items() if found != right]


def main() -> int:
    """Run all cases, print a line per graph, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--problem", choices=PROBLEMS, action="append", help="default: both")
    parser.add_argument("--graph", action="append", help="default: all")
    parser.add_argument("--device", default="auto", help="auto, cuda, cpu or emulated")
    arguments = parser.parse_args()
    global DEVICE
    DEVICE = arguments.device
    answers = json.loads((arguments.folder / "answers.json").read_text("utf-8"))
    with (arguments.folder / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        manifest = list(csv.DictReader(file, delimiter="\t"))
    chosen = [row for row in manifest if row["format"] in READ and row["name"] in (arguments.graph or [row["name"]])]
    differences = checks = 0
    for row in chosen:
        start = time.perf_counter()
        graph = load_file(arguments.folder / row["files"].split(";")[0])
        expected = answers[row["name"]]
        wrong = shape_differences(graph, expected)
        count = 0
        for problem in arguments.problem or PROBLEMS:
            for title, found, right in cases(problem, graph, expected, row["weighted"]):
                count += 1
                if not same(found, right):
                    wrong.append(f"{problem} {title}: {found} instead of {right}")
        seconds = time.perf_counter() - start
        print(f"{row['name']:26} {row['format']:10} {count:3} checks {seconds:7.2f} s  {'; '.join(wrong) or 'agrees'}")
        checks += count
        differences += len(wrong)
    print(f"{len(chosen)} graphs of {len(manifest)}, {checks} checks, {differences} differences")
    return 1 if differences or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
