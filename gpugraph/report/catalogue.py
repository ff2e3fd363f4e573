"""The list of algorithms, for the terminal and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.report.lines import Line, indented


def catalogue(algorithms: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return the lines of a list of algorithms, each as ``Algorithm.describe`` gives it, grouped by problem."""
    lines: list[Line] = []
    problem = None
    for algorithm in algorithms:
        if algorithm["problem"] != problem:
            problem = algorithm["problem"]
            lines += [[("", "")]] if lines else []
            lines.append([(str(problem), "bold underline")])
        devices = ", ".join(algorithm["devices"])
        lines.append([(f"  {algorithm['name']}", "bold cyan"), (f"  on {devices}", "dim")])
        texts = [algorithm["summary"], ", ".join(str(algorithm[k]) for k in ("authors", "year", "section"))]
        texts += [_option(option) for option in algorithm["options"]]
        if algorithm["preparations"]:
            texts.append("--prepare " + ", ".join(algorithm["preparations"]))
        if not algorithm["trusted"]:
            texts.append("wrong on purpose: never chosen, never reported as verified")
        for text in texts:
            lines += indented(text, 4, width=width)
    return lines


def catalogue_markdown(algorithms: Sequence[Mapping[str, Any]]) -> str:
    """Return the page ``docs/algorithms.md``."""
    lines = ["# Algorithms", "", "Written by `gpugraph algos --format markdown > docs/algorithms.md`."]
    for problem in sorted({algorithm["problem"] for algorithm in algorithms}):
        lines += ["", f"## {problem}", "", "| name | device | what it does | source |", "| --- | --- | --- | --- |"]
        for algorithm in algorithms:
            if algorithm["problem"] == problem:
                source = ", ".join(str(algorithm[key]) for key in ("authors", "year", "section"))
                cells = (f"`{algorithm['name']}`", ", ".join(algorithm["devices"]), algorithm["summary"], source)
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def peer_catalogue(peers: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return the lines of a list of peers, each as ``describe_peers`` gives it."""
    lines: list[Line] = []
    for peer in peers:
        there = peer["version"] is not None
        state = f"{peer['title']} {peer['version']}" if there else f"{peer['title']}, not installed"
        lines.append([(f"  {peer['name']}", "bold cyan"), (f"  on {peer['device']}: ", "dim"), (state, _STATE[there])])
        texts = [f"{problem}: {_call(peer, problem)}" for problem in peer["problems"]]
        for text in texts if there else [*texts, peer["install"]]:
            lines += indented(text, 4, width=width)
    return lines


def peer_catalogue_markdown(peers: Sequence[Mapping[str, Any]]) -> str:
    """Return the list of peers as a table."""
    lines = ["| peer | device | installed | calls |", "| --- | --- | --- | --- |"]
    for peer in peers:
        calls = "; ".join(f"{problem}: {_call(peer, problem)}" for problem in peer["problems"])
        installed = peer["version"] or f"no: `{peer['install']}`"
        cells = (f"`{peer['name']}`", peer["device"], installed, calls)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


_STATE = {True: "green", False: "yellow"}


def _call(peer: Mapping[str, Any], problem: str) -> str:
    """Return what a peer calls for a problem, and the methods it lets one choose from."""
    methods = peer["methods"].get(problem)
    return str(peer["calls"][problem]) + (f", --set method={'|'.join(methods)}" if methods else "")


def _option(option: Mapping[str, Any]) -> str:
    choices = option["choices"]
    values = "|".join(str(choice) for choice in choices) if choices else str(option["type"]).upper()
    return f"--set {option['name']}={values}  {option['help']} [default: {option['default']}]"
