"""Lines that files of records may hold and that no gpugraph wrote, and what reads such files, all in one process.

``python -m tests.hostile_records [COUNT]`` feeds COUNT of them (300) to ``report``, ``compare``, ``plot`` and what
``bench --resume`` does before it measures, and prints how each ended.  A line may be taken or refused with its number;
nothing else may happen.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpugraph.base.errors import InputError
from gpugraph.bench.estimate import Prices
from gpugraph.bench.store import Store
from gpugraph.ext.findings.formula import NAMES
from gpugraph.ext.resuming import Finished
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.report.sweep import result_lines
from gpugraph.report.terminal import plain
from tests.cli.runner import Outcome, run
from tests.report.canned import sssp_record
from tests.report.sweep import PAPER, cell

MARK = "@@"

VALUES = (
    *("null", "true", "0", "-1", "-0.0", "0.5", "5", '""', '"inf"', '"nan"', '"text"', "[]", "{}", "[1]", '["x"]'),
    *("NaN", "-Infinity", "1e400", "1e300", "1e18", "1.1e18", "-1e-9", "1e-18", "5e-324", "18446744073709551616"),
    *("1" + "0" * 400, "9" * 5000, "[null, null]", "[1e-9, 1e9]", '{"kernel": null}', '{"kernel": "1"}'),
    *('"\\ud800"', '"caf\\udce9"', '"\\u0000"', '"\\u001b[2J"', '"a\\nb\\r"', '"</script><b>"', '"|"', '"rmat:99999"'),
    *("[" * 15 + "]" * 15, "[" * 5000 + "]" * 5000, '{"a":' * 900 + "1" + "}" * 900, '"' + "x" * 100_000 + '"'),
)
"""JSON and what looks like it, to stand in place of any field."""

LINES: dict[str, bytes] = {
    "no JSON": b"hello",
    "bytes": bytes(range(1, 256)).replace(b"\n", b""),
    "zeros": bytes(50),
    "UTF-16": '{"problem": "mst"}'.encode("utf-16"),
    "a mark of byte order": b'\xef\xbb\xbf{"schema": 1, "problem": "mst", "algorithm": "a"}',
    "Latin-1": '{"schema": 1, "problem": "mst", "algorithm": "é"}'.encode("latin-1"),
    "a lone surrogate in bytes": b'{"schema": 1, "problem": "mst", "algorithm": "\xed\xa0\x80"}',
    "a list": b"[1, 2]",
    "a number": b"5",
    "an empty object": b"{}",
    "two objects": b'{"schema": 1, "problem": "mst", "algorithm": "a"} {}',
    "torn": b'{"schema": 1, "problem": "ms',
    "the least": b'{"problem": "mst", "algorithm": "a"}',
    "the least that is ok": b'{"problem": "mst", "algorithm": "a", "outcome": "ok", "phases_s": {"kernel": 1}}',
    "another schema": b'{"schema": 2, "problem": "mst", "algorithm": "a"}',
    "twice a key": b'{"problem": "mst", "algorithm": "a", "problem": 3}',
    "deep": b"[" * 100_000,
}


def whole() -> dict[str, Any]:
    """Return a record that has every field there is."""
    axes = {"scale": 16, "algorithm": "auto", "device": "cuda"}
    extra = {"stopped_by": "time", "min_samples": 5, "processes": [10, 10], "sm_clock_mhz": [1980]}
    made = cell("mst", "boruvka", "cuda", 16, paper=[PAPER], message="said")
    made["cell"] |= {"axes": axes, "name": "n", "input": {"graph": "rmat:16", "stamp": None}}
    made["sampling"] |= extra
    made["device"] |= {"clock_khz": 1980000, "driver_cuda": "13.0", "cupy": "14.2.0", "ranks": 1}
    made["environment"] |= {"gpu": {"name": "NVIDIA H200", "nvml": {"sm_clock_max_mhz": 1980, "power_limit_w": 700.0}}}
    member = {"host": "vm", "bytes_sent": 8, "device": made["device"]}
    phase = {"work_s": [0.1], "wait_s": [0.1], "communication_s": [0.0]}
    ranks = {"size": 1, "talk_through": "sockets", "members": [member], "phases": {"hook": phase}}
    figures = {"throughput": {"kernel_gb_s": 1.0}, "graph500": {"SCALE": 16}, "ranks": ranks, "rounds": 3}
    return made | {"per_source": sssp_record(2)["per_source"], **figures}


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every field, of lists the first entry."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*at, name)
        yield from _places(part, (*at, name))


def hostile_lines(count: int | None = None, seed: int = 1) -> list[tuple[str, bytes]]:
    """Return lines with what is wrong with each: ``LINES``, then records with one field changed, or left out.

    Args:
        count: so many, chosen by the seed; all if not given.
        seed: of the choice.
    """
    record = whole()
    found = []
    for place in _places(record):
        changed = json.loads(json.dumps(record))
        inside = changed
        for name in place[:-1]:
            inside = inside[name]
        inside[place[-1]] = MARK
        text = json.dumps(changed)
        name = ".".join(map(str, place))
        found += [(f"{name} = {value[:40]}", text.replace(f'"{MARK}"', value).encode()) for value in VALUES]
        del inside[place[-1]]
        found.append((f"no {name}", json.dumps(changed).encode()))
    if count is not None:
        found = random.Random(seed).sample(found, max(count - len(LINES), 0))
    return [*LINES.items(), *found][:count]


COMMANDS = (
    "report",
    "report html",
    "report markdown",
    "report csv",
    "report sweep",
    "compare",
    "plot",
    "plot kernel",
    "resume",
    "report latex",
    "compare json",
    "compare --by algorithm",
    "compare --by device",
    "compare --by peer",
    "check-record",
)


SWEEP = """
axes.graph = "rmat:16"
[[table]]
title = "all"
with.cpu = { device = "cpu", graph = "rmat:{scale}" }
[table.columns]
COLUMNS
"ratio" = "cpu.kernel / kernel"
"phases" = "sum(kernel_phases_s) / max(cpu.mteps, mteps)"
"counted" = "counters.a * rounds + throughput.kernel_gb_s - peak_device_bytes"
[[expect]]
text = "it is fast"
each = { scale = "16..", device = ["c*"], "sampling.processes" = "*", verdict = "v*" }
with.cpu = { algorithm = "kruskal" }
value = "cpu.kernel / kernel + precision"
least = 1
"""
"""Asks for every figure that a formula knows by name."""


def feed(line: bytes, folder: Path, command: str, *, alone: bool = False) -> Outcome:
    """Let a command read a file with a hostile line, between two good ones or alone."""
    path, good = folder / "r.jsonl", json.dumps(cell("mst", "kruskal", "cpu", 16)).encode()
    path.write_bytes(line + b"\n" if alone else b"\n".join([good, line, good, b""]))
    base, _, what = command.partition(" ")
    if what == "sweep":
        (folder / "s.toml").write_text(SWEEP.replace("COLUMNS", "\n".join(f'"{name}" = "{name}"' for name in NAMES)))
        return run("report", path, "-o", folder / "r.txt", "--sweep", folder / "s.toml")
    if base == "report":
        return run("report", path, "-o", folder / "r.out", "--format", what or "text")
    if base == "check-record":
        return run("check-record", "--edges", 20_000, path)
    if what.startswith("--by"):
        exports = [word for ending in ("json", "csv", "md", "tex") for word in ("--export", folder / f"e.{ending}")]
        return run("compare", *what.split(), path, path, *exports)
    if base == "compare":
        return run("compare", path, path, "--format", what or "text")
    if base == "plot":
        return run(
            "plot", path, "-o", folder / "r.json", "--y", what or "mteps", "--x", "algorithm" if what else "scale"
        )
    return _resume(path)


def _resume(path: Path) -> Outcome:
    """Do what ``bench --resume`` does with a file before it measures, and what it prints if all is finished."""
    before = path.read_bytes()
    try:
        with Store(path, resume=True) as store:
            finished = Finished(store.records, {})
            finished.find(Cell("mst", "rmat:16", "boruvka", "cpu"), {"kind": "cpu", "name": "a CPU"})
            Prices(Sampling(), store.records)
            shown = plain(result_lines(store.records))
            store.drop(lambda record: record.outcome == "skipped")
        return Outcome(0, shown, "")
    except InputError as error:
        assert path.read_bytes() == before, "a file that is refused was touched"
        return Outcome(error.exit_code, "", f"gpugraph: error: {error}")


def ended(outcome: Outcome, line: str) -> str:
    """Return how it ended, in a word; raises AssertionError unless the line was taken, or refused with its number."""
    assert "Traceback" not in outcome.err, outcome
    if outcome.code in (0, 4):
        return "left out" if "is left out" in outcome.err else "taken"
    if outcome.code == 1 and "checked," in outcome.out:
        return "found"
    assert outcome.code == 2, outcome
    assert "Traceback" not in outcome.err, outcome
    known = (line, "holds no record", "no record has a value", "no cell in common", "nothing can be compared")
    assert any(words in outcome.err for words in known), outcome
    return "refused"


def main() -> None:
    """Feed lines and print how often each command took and refused one."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for i, (label, line) in enumerate(hostile_lines(count)):
            for command in COMMANDS:
                if command == "report html" and i % 10:
                    continue
                try:
                    how = ended(feed(line, Path(name), command), "line 2")
                except Exception as error:
                    how = "FAILED"
                    print(f"{command}: {label}: {error!r}"[:600])
                counts[command, how] += 1
    for (command, how), number in sorted(counts.items()):
        print(f"{command:<16} {how:<8} {number}")


if __name__ == "__main__":
    main()
