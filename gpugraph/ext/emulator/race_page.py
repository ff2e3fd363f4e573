"""The demonstration of a race, as ``gpugraph demo race`` prints it."""

from collections.abc import Mapping
from typing import Any

from gpugraph.base.quantities import count, counted
from gpugraph.report.terminal import BAR_WIDTH, Line, columns, field, indented

_SHOWN_ANSWERS = 8
"""Answers that get a line of their own, the most frequent ones."""


def race_page(shown: Mapping[str, Any], *, width: int = 80) -> list[Line]:
    """Return the lines of a demonstration, as ``gpugraph.ext.papers.sssp.gpu_harish_narayanan.show_race`` gives it."""
    device, vertices = shown["device"], shown["vertices"]
    what = (
        f"vertex 0 → every i of 1..{vertices - 2} with weight 1 → vertex {vertices - 1} with weight i: in one round "
        f"{counted(vertices - 2, 'vertex')} offer the last one different sums, of which 2 is the least"
    )
    lines = field("graph", what, width=width)
    lines += field("device", f"{device['kind']}: {device['name']}", width=width)
    if device["kind"] == "emulated":
        lines += field("", "every run is another schedule of threads and blocks", width=width, style="dim")
    rows = [
        [case["algorithm"], _kind(case), count(case["runs"]), count(case["wrong"]), str(case["right"])]
        for case in shown["cases"]
    ]
    header = ("algorithm", "graph", "runs", "wrong", "right answer")
    lines += [[("", "")], *columns(header, rows, right=(2, 3, 4))]
    for case in shown["cases"]:
        lines += [[("", "")], *_answers(case)]
    lines += [[("", "")], *_races(shown, width), [("", "")]]
    verdict, style = "not shown: see the numbers of wrong runs above", "bold red"
    if shown["shown"]:
        verdict = "shown: without atomics the answer is wrong at times, with atomics it never is"
        style = "bold green"
    return lines + field("verdict", verdict, width=width, style=style)


def _kind(case: Mapping[str, object]) -> str:
    return "directed" if case["directed"] else "undirected"


def _answers(case: Mapping[str, Any]) -> list[Line]:
    """Return how often each distance of the last vertex was given, the most frequent first."""
    lines: list[Line] = [[(f"{case['algorithm']}, {_kind(case)}: distance given to the last vertex", "bold")]]
    by_frequency = sorted(case["answers"].items(), key=lambda item: (-item[1], int(item[0])))
    most = by_frequency[0][1]
    for answer, times in by_frequency[:_SHOWN_ANSWERS]:
        right = answer == str(case["right"])
        bar = "█" * max(1, round(times / most * BAR_WIDTH))
        head = f"{answer:>12} {'right' if right else 'wrong'}{count(times):>8} times  "
        lines.append([(head, ""), (bar, "green" if right else "red")])
    rest = by_frequency[_SHOWN_ANSWERS:]
    if rest:
        runs = sum(times for _, times in rest)
        lines.append([(f"{'':>13}and {counted(len(rest), 'other answer')} in {counted(runs, 'run')}", "dim")])
    return lines


def _races(shown: Mapping[str, Any], width: int) -> list[Line]:
    lines: list[Line] = [[("race detector", "bold"), (f": {shown['detector']}", "")]]
    for name, races in (shown["races"] or {}).items():
        lines.append([(f"  {name}", "bold cyan"), (f"  {counted(len(races), 'unexplained race')}", "")])
        for race in races:
            lines += indented(race["report"], 4, width=width)
            for line in race["lines"]:
                lines.append([(f"    {line['file']}:{line['line']}:  {line['text']}", "yellow")])
    return lines
