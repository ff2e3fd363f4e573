"""Texts of the page: the meaning of every number, the details of a cell, and the machines."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.base.quantities import duration, in_units, percent, value
from gpugraph.ext.comparing.cells import key_text
from gpugraph.ext.reports.panels import problem_name
from gpugraph.records.columns import Labelled
from gpugraph.records.json_text import jsonable
from gpugraph.records.record import PHASES, Record
from gpugraph.records.record_shape import OUTCOMES


def definitions(rows: Sequence[Record]) -> list[tuple[str, str]]:
    """Return the terms that the records themselves explain, MTEPS and how cells ended; the page has the others."""
    own: dict[str, str] = {}
    for row in rows:
        if text := row.shape.mteps.definition:
            own.setdefault(row.problem, str(text).removeprefix("MTEPS = "))
    mteps = [(f"MTEPS, {problem_name(problem).lower()}", text) for problem, text in own.items()]
    seen = [name for name in OUTCOMES if any(row.outcome == name for row in rows) and name != "ok"]
    outcomes = [(name.capitalize(), OUTCOMES[name] + ".") for name in seen]
    return [*mteps, *outcomes]


def details(cell: Labelled) -> list[list[object]]:
    """Return everything known of a cell as blocks of (title, [(name, text), …]), for the page to unfold."""
    row = cell.record
    verdict = row.shape.verification
    source = ", ".join(str(part) for part in row.shape.algorithm_source.values() if part)
    facts = {
        "outcome": f"{row.outcome}: {row.message}" if row.message else row.outcome,
        "algorithm": row.marked + (f" — {source}" if source else ""),
        "device": row.device,
        "verification": f"{row.status} by {verdict.method or 'none'}: {verdict.detail or ''}",
        "measured": row.shape.time or "–",
        "file": f"{row.file}, line {row.line}" if row.file else "",
    }
    blocks: list[list[Any]] = [["Cell", _pairs(facts)]]
    blocks.append(["Graph", _pairs({k: value(v) for k, v in row.graph_facts.items() if v is not None})])
    blocks.append(["Parameters", _pairs({k: value(v) for k, v in (row.field("parameters") or {}).items()})])
    named = [[row.titles.get(n, n), duration(row.phases[n])] for n in (*PHASES, "total") if row.phases.get(n)]
    blocks.append(["From the command to the answer", named])
    inner = [[n, f"{percent(m)} ({percent(low)} to {percent(high)})"] for n, (low, m, high) in row.inner_shares.items()]
    blocks.append(["Inside the kernel: median share of its time (least to greatest)", inner])
    for title, name in (("Result", "result"), ("Counters", "counters"), ("Sampling", "sampling")):
        blocks.append([title, _pairs({k: value(jsonable(v)) for k, v in (row.field(name) or {}).items()})])
    blocks.append(["Energy and traffic", _pairs(_hardware(row))])
    times = " · ".join(duration(s) for s in row.samples)
    blocks.append([f"Every sample of the kernel ({len(row.samples)})", [["", times]] if times else []])
    return [block for block in blocks if block[1]]


def _hardware(row: Record) -> dict[str, str]:
    traffic = row.shape.traffic
    an_edge = "" if row.nanojoules is None else f", {row.nanojoules:.4g} nJ an edge"
    copied = traffic.copy_bytes_per_s
    return {
        "energy": row.absent.get("energy", "") if row.joules is None else f"{row.joules:.4g} J a run{an_edge}",
        "least traffic": "" if traffic.minimum_bytes is None else in_units(int(traffic.minimum_bytes)),
        "copy bandwidth": f"{copied / 1e9:,.0f} GB/s, measured" if copied else "",
        "share of the roof": row.absent.get("traffic", "") if row.share is None else percent(row.share),
    }


def _pairs(facts: dict[str, str]) -> list[list[str]]:
    return [[name.replace("_", " "), text] for name, text in facts.items() if text]


_NAMES = {"gpugraph": "gpugraph", "git_commit": "commit", "python": "Python", "cuda": "CUDA"}


def environments(rows: Sequence[Record]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return titled lists of facts: each device, then each machine with its software and its command lines."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for row in rows:
        device: Mapping[str, Any] = row.field("device") or {}
        if device.get("name"):
            facts = _flat({k: v for k, v in device.items() if k not in ("name", "kind")})
            found.setdefault(key_text(device), (_titled(device["name"], device.get("uuid")), facts))
    machines: dict[str, tuple[dict[str, Any], dict[str, None]]] = {}
    for row in rows:
        if known := _steady({k: v for k, v in row.shape.environment.items() if k != "command"}):
            command = row.shape.environment.get("command") or ""
            line = " ".join(map(str, command)) if isinstance(command, list) else str(command)
            machines.setdefault(key_text(known), (known, {}))[1][line] = None
    pages = list(found.values())
    for known, commands in machines.values():
        title = _titled("Machine and software", known.get("git_commit"))
        pages.append((title, [*_flat(known), *(("command", line) for line in commands if line)]))
    return pages


def _titled(name: object, which: object) -> str:
    """Return a name with the start of the identifier that sets it apart from others of that name."""
    return f"{name}, {str(which)[:12]}" if which else str(name)


def _steady(facts: Mapping[str, object]) -> dict[str, object]:
    """Return facts without the temperatures in them, which differ between any two cells."""
    return {
        name: _steady(content) if isinstance(content, Mapping) else content
        for name, content in facts.items()
        if "temperature" not in name
    }


def _flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return facts as name and text; what is inside another is named by both."""
    found = []
    for name, content in facts.items():
        shown = prefix + _NAMES.get(name, name.replace("_", " "))
        if isinstance(content, Mapping):
            found += _flat(content, "" if name == "packages" else f"{shown}, ")
        elif content is not None and content != "":
            bytes_ = name.endswith("_bytes") and isinstance(content, int)
            text = str(content) if isinstance(content, int) and not isinstance(content, bool) else value(content)
            found.append((shown.removesuffix(" bytes"), in_units(content) if bytes_ else text))
    return found
