"""The list of devices for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.quantities import duration, size, value
from gpugraph.report.lines import Line, field

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
    return lines


def _fact(key: str, content: Any) -> str:
    if key in _SIZES:
        return f"{size(content)} {key.removesuffix('_bytes').replace('_', ' ')}"
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
