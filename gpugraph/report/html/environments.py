"""What the measurements were made with: devices and machines, each told once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.measure.record import Record
from gpugraph.quantities import size, value

_NAMES = {"gpugraph": "gpugraph", "git_commit": "commit", "python": "Python", "cuda": "CUDA"}


def environments(rows: Sequence[Record]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return titled lists of facts: each device, then each machine with its software and its command lines."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for row in rows:
        device: Mapping[str, Any] = row.data.get("device") or {}
        if device.get("name"):
            facts = _flat({k: v for k, v in device.items() if k not in ("name", "kind")})
            found.setdefault(json.dumps(device, sort_keys=True, default=str), (str(device["name"]), facts))
    machines: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for row in rows:
        environment: Mapping[str, Any] = row.shape.environment
        facts_only = {k: v for k, v in environment.items() if k != "command"}
        if not facts_only:
            continue
        key = json.dumps(facts_only, sort_keys=True, default=str)
        commands = machines.setdefault(key, (facts_only, []))[1]
        command = environment.get("command")
        line = " ".join(str(word) for word in command) if isinstance(command, list) else str(command or "")
        if line and line not in commands:
            commands.append(line)
    pages = list(found.values())
    for known, commands in machines.values():
        facts = [*_flat(known), *(("command", line) for line in commands)]
        pages.append(("Machine and software", facts))
    return pages


def _flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return facts as name and text; what stands inside another is named by both."""
    found = []
    for name, content in facts.items():
        shown = prefix + _NAMES.get(name, name.replace("_", " "))
        if isinstance(content, Mapping):
            found += _flat(content, "" if name == "packages" else f"{shown}, ")
        elif content is not None and content != "":
            bytes_ = name.endswith("_bytes") and isinstance(content, int)
            found.append((shown.removesuffix(" bytes"), size(content) if bytes_ else _text(content)))
    return found


def _text(content: Any) -> str:
    return str(content) if isinstance(content, int) and not isinstance(content, bool) else value(content)
