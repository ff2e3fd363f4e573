"""Sweep files with anything anywhere into ``bench --list`` and ``report --sweep``: read, or refused in one line."""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.runner import run
from tests.hostile.trials import Part, Trial

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "docs" / "records" / "cliffs-sssp-cpu2.jsonl"

VALUES: tuple[Any, ...] = (
    *(True, False, 0, -1, 1, 2**62, 1e300, float("nan"), float("inf"), "", "x", "inf", "1" * 5000, "a" * 100_000),
    *("a..b", "1..1000000000", "0..-1", "16..24 step 0", "{scale}", "{", "{}", "{nosuch}", "{scale}{scale}", "{0}"),
    *("rmat:64", "rmat:-1", "grid:0x0", "/dev/zero", "snap:nosuch", "cuda:99", "cpu*1000000", "boruvka@", "@", "peer:"),
    *("1s", "-1s", "1e400s", "5%", "1 EB", "kernel/0", "min()", "max(*kernel)", "kernel.__class__", "lambda: 1", "< 1"),
    *("-" * 3000 + "1", "-" * 100_000 + "kernel", " + ".join(["kernel"] * 3000), "(" * 150 + "1" + ")" * 150),
    *("kernel" + ".a" * 900, "*" * 50, "[" * 3000, "\x1b[31m", '"', "\n", "\0", "../x"),
    *([], [[]], {}, [1, "x", 1.5], [{}], {"": {}}, {"name": "boruvka", "options": "inf"}, list(range(300))),
    *({"name": "boruvka", "options": 3}, {"name": "boruvka", "device": 3}, {"name": "prim", "prepare": 1e300}),
)
KEYS = (
    *("axes", "options", "cases", "skip", "limits", "block", "title", "about", "budget", "sampling", "peer", "paper"),
    *(
        "table",
        "expect",
        "each",
        "with",
        "columns",
        "text",
        "where",
        "graph",
        "scale",
        "algorithm",
        "problem",
        "source",
    ),
    *("weights", "seed", "cold", "name", "time", "load", "memory", "processes", "target", "command", "env", "A=B", ""),
)
PEER = {"command": "true {graph.wel}", "time": "t (.+)", "weight": "w (.+)", "env": {"A": "1"}, "options": {}}
PATTERNS = ("(" * 3000 + "a" + ")" * 3000, "(a){99999999999}", "(", "(?:a+)+(b)", "[", "(\0)")
DEEP = "x = " + "[" * 5000 + "]" * 5000


@cache
def _documents() -> list[dict[str, Any]]:
    """Return the sweeps that are shipped, each with an external program."""
    found = [tomllib.loads(file.read_text("utf-8")) for file in sorted((ROOT / "configs").rglob("*.toml"))]
    return [one | {"peer": one.get("peer", {}) | {"mine": copy.deepcopy(PEER)}} for one in found]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every table or list with every key or index in it."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield value, key
        yield from _places(part)


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=True)


def hostile_sweep(draw: random.Random) -> str:
    """Return the text of a sweep in which one to three things are changed, added or removed."""
    if draw.random() < 0.01:
        return DEEP
    document = copy.deepcopy(draw.choice(_documents()))
    for _ in range(draw.choice((1, 1, 2, 3))):
        inside, key = draw.choice(list(_places(document)))
        how = draw.random()
        if how < 0.1:
            del inside[key]
        elif how < 0.3 and isinstance(inside, dict):
            inside[draw.choice(KEYS)] = draw.choice(VALUES)
        elif how < 0.4:
            document["peer"]["mine"] = PEER | {draw.choice(list(PEER)): draw.choice((*VALUES, *PATTERNS))}
        else:
            inside[key] = draw.choice((*VALUES, *PATTERNS))
        if not isinstance(document.get("peer"), dict):
            document["peer"] = {}
    text = "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in document.items())
    if draw.random() < 0.1:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice("\"[]{}=\n#'.,0\0") + text[at + 1 :]
    return text


def try_sweep(trial: Trial) -> str:
    """Let a command read a hostile sweep."""
    draw, path = trial.draw, trial.folder / "s.toml"
    path.write_text(hostile_sweep(draw), "utf-8")
    words = draw.choice((("bench", "--list", "--sweep", path), ("report", RECORDS, "--sweep", path)))
    if words[0] == "bench" and draw.random() < 0.3:
        name = draw.choice(("scale", "graph", "algorithm", "limits.time", "boruvka.x", "sampling.target", "", "nosuch"))
        words += ("--set", f"{name}={draw.choice((DEEP[4:], *map(str, VALUES)))[:300]}")
    outcome = run(*words)
    assert outcome.code in (0, 2, 3, 4), outcome.err[-2000:]
    assert "Traceback" not in outcome.err
    errors = [line for line in outcome.err.splitlines() if line.startswith("gpugraph: error: ")]
    assert len(errors) == (outcome.code in (2, 3)) or outcome.code == 4, outcome.err[-2000:]
    return "refused" if outcome.code == 2 else "read"


PART = Part("sweeps", "sweep files with anything anywhere, into bench --list and report --sweep", 2000, try_sweep, 20)
