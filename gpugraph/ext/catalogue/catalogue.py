"""The lists of algorithms, peers and devices: for people and as files."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.base.quantities import duration, in_units, value
from gpugraph.report.markdown_csv import grid
from gpugraph.report.terminal import Line, field, indented


def catalogue(listed: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return the lines of a list of algorithms, each as ``Algorithm.describe`` gives it, grouped by problem."""
    lines: list[Line] = []
    problem = None
    for algorithm in listed:
        if algorithm["problem"] != problem:
            problem = algorithm["problem"]
            lines += [[("", "")]] if lines else []
            lines.append([(str(problem), "bold underline")])
        devices = ", ".join(algorithm["devices"])
        lines.append([(f"  {algorithm['name']}", "bold cyan"), (f"  on {devices}", "dim")])
        texts = [algorithm["summary"], _cited(algorithm)]
        texts += [_option(option) for option in algorithm["options"]]
        if algorithm["preparations"]:
            texts.append("--prepare " + ", ".join(algorithm["preparations"]))
        if not algorithm["trusted"]:
            texts.append("wrong on purpose: never chosen, never reported as verified")
        for text in texts:
            lines += indented(text, 4, width=width)
    return lines


def catalogue_markdown(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return the page ``docs/algorithms.md``."""
    lines = [
        "# Algorithms",
        "",
        "Every algorithm of gpugraph by problem: the name that `--algo` takes, its devices, how it works, its source.",
        "This page is written by `gpugraph algos --format markdown > docs/algorithms.md`.",
    ]
    for problem in sorted({one["problem"] for one in listed}):
        rows = [
            (f"`{one['name']}`", ", ".join(one["devices"]), one["summary"], _cited(one))
            for one in listed
            if one["problem"] == problem
        ]
        lines += ["", f"## {problem}", "", *grid(("name", "device", "what it does", "source"), rows)]
    return "\n".join(lines)


def _cited(algorithm: Mapping[str, object]) -> str:
    return ", ".join(str(algorithm[key]) for key in ("authors", "year", "section") if algorithm[key])


def peer_catalogue(listed: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return the lines of a list of peers, each as ``describe_peers`` gives it."""
    lines: list[Line] = []
    for peer in listed:
        there = peer["version"] is not None
        style = "green" if there else "yellow"
        state = f"{peer['title']} {peer['version']}" if there else f"{peer['title']}, not installed"
        lines.append([(f"  {peer['name']}", "bold cyan"), (f"  on {peer['device']}: ", "dim"), (state, style)])
        texts = [f"{problem}: {_call(peer, problem)}" for problem in peer["problems"]]
        for text in texts if there else [*texts, peer["install"]]:
            lines += indented(text, 4, width=width)
    return lines


def peer_catalogue_markdown(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return the list of peers as a table."""
    rows = []
    for peer in listed:
        calls = "; ".join(f"{problem}: {_call(peer, problem)}" for problem in peer["problems"])
        installed = peer["version"] or f"no: `{peer['install']}`"
        rows.append((f"`{peer['name']}`", peer["device"], installed, calls))
    return "\n".join(grid(("peer", "device", "installed", "calls"), rows))


def _call(peer: Mapping[str, Any], problem: str) -> str:
    """Return what a peer calls for a problem, and the methods it lets one choose from."""
    methods = peer["methods"].get(problem)
    return str(peer["calls"][problem]) + (f", --set method={'|'.join(methods)}" if methods else "")


def _option(option: Mapping[str, Any]) -> str:
    choices = option["choices"]
    values = "|".join(str(choice) for choice in choices) if choices else str(option["type"]).upper()
    return f"--set {option['name']}={values}  {option['help']} [default: {option['default']}]"


_BANDWIDTHS = {
    "copy": "copy kernel, read + written",
    "read": "read kernel",
    "h2d_pinned": "host to device, pinned",
    "d2h_pinned": "device to host, pinned",
    "h2d_pageable": "host to device, pageable",
    "d2h_pageable": "device to host, pageable",
    "stage": "copy into pinned memory",
}
_LATENCIES = {"launch_s": "launch of an empty kernel", "read_back_s": "launch and read one integer back"}
_SHOWN = ("device", "kind", "name", "usable", "detail", "index", "probes")
_SIZES = ("memory_bytes", "free_bytes", "l2_bytes")


def device_list(devices: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return the lines of a list of devices, each as ``found_devices`` gives it, with ``probes`` where measured."""
    lines: list[Line] = []
    for device in devices:
        usable = device["usable"]
        name = device["name"] or "not usable"
        lines += field(device["device"], name, width=width, style="bold green" if usable else "yellow")
        facts = [_fact(key, content) for key, content in device.items() if key not in _SHOWN and content is not None]
        for text in (", ".join(facts), device["detail"]):
            if text:
                lines += field("", text, width=width)
        lines += _measured(device.get("probes") or {})
    return [*lines, [("", "")], [("Only NVIDIA GPUs can be used, from Volta on; AMD GPUs are not supported.", "dim")]]


def _fact(key: str, content: Any) -> str:
    if key in _SIZES:
        return f"{in_units(content)} {key.removesuffix('_bytes').replace('_', ' ')}"
    if key == "clock_khz":
        return f"{content / 1000:.0f} MHz"
    if key in ("threads", "multiprocessors"):
        return f"{value(content)} {key}"
    return f"{key.replace('_', ' ')} {content}"


def _measured(probes: Mapping[str, Any]) -> list[Line]:
    if not probes.get("kernel_runs"):
        return []
    rows = [("one-line kernel", "runs")]
    rows += [(text, f"{probes[key] / 1e9:,.1f} GB/s") for key, text in _BANDWIDTHS.items() if probes.get(key)]
    rows += [(text, duration(probes[key])) for key, text in _LATENCIES.items() if probes.get(key)]
    return [[(f"{'':<12}{text:<34}{figure:>14}", "")] for text, figure in rows]
