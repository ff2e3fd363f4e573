"""Hostile records into all that reads records: each line is taken, left out by name, found, or refused with its number.

A trial changes one to three fields of a record that was really measured, or takes a line that is none.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from tests.hostile.trials import Part, Trial
from tests.hostile_records import COMMANDS, LINES, MARK, VALUES, ended, feed, whole

STORED = Path(__file__).resolve().parents[2] / "docs" / "records"
MORE = (
    *('"rmat:10"', '"rmat:27"', '"rmat:x"', '"uniform"', '"nosuch"', '"/etc/passwd"', '"snap:roadNet-CA"', '"peer:x"'),
    *('"cuda"', '"cpu"', '"ok"', '"wrong"', '"passed"', '"undirected edges"', "1e-18", "2", "10591", "1099511627776"),
    *("[[]]", "[null]", "[{}]", '{"x": 1}', '{"absent": "x"}', '{"": {}}', "[1e300, 1e300, 1e300]", "0.0001", "65536"),
)
ADDED = (
    *("device.l2_bytes", "device.threads", "device.ranks", "device.kind", "device.multiprocessors", "device.name"),
    *("environment.gpu", "environment.cores", "environment.processor", "environment.command", "environment.packages"),
    *("result.source", "result.sources", "result.components", "result.tree_edges", "mteps.count", "mteps.kernel"),
    *("per_source", "cell.input", "cell.axes", "cell.title", "graph.source", "graph.directed", "graph.weight_dtype"),
    *("paper", "counters", "kernel_phases_s", "parameters", "sampling.throttled_repeated", "sampling.stopped_by"),
    *("energy", "traffic", "throughput", "provenance", "ranks", "rounds", "predecessors_s", "message", "outcome"),
    *("algorithm", "problem", "schema", "time", "graph500", "verification.counter_example", "cell.input.weights"),
)
"""Fields that are put into records, whether they have them or not."""


@cache
def _pool() -> list[dict[str, Any]]:
    """Return records of every file, and one that has all fields."""
    draw = random.Random(1)
    found = [whole()] * 3
    for path in sorted(STORED.iterdir()):
        lines = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).splitlines()
        found += [json.loads(line) for line in draw.sample(lines, min(4, len(lines))) if len(line) < 40_000]
    return found


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every field, of lists the first two entries."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    return [place for name, part in parts for place in ((*at, name), *_places(part, (*at, name)))]


def hostile_line(draw: random.Random) -> bytes:
    """Return a line for a file of records."""
    if draw.random() < 0.03:
        return draw.choice(list(LINES.values()))
    record, values = copy.deepcopy(draw.choice(_pool())), []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        place = draw.choice(ADDED).split(".") if draw.random() < 0.4 else draw.choice(_places(record))
        inside: Any = record
        for name in place[:-1]:
            if isinstance(inside, dict) and not isinstance(inside.get(name), dict | list):
                inside[name] = {}
            inside = inside[name]
        if draw.random() < 0.08 and (isinstance(inside, list) or place[-1] in inside):
            del inside[place[-1]]
        else:
            inside[place[-1]] = f"{MARK}{len(values)}"
            values.append(draw.choice((*VALUES, *MORE)))
    text = json.dumps(record)
    for number, value in enumerate(values):
        text = text.replace(f'"{MARK}{number}"', value)
    return text.encode()


def try_record(trial: Trial) -> str:
    """Feed a line to ``check-record`` and to three other commands; raises unless each did as it must."""
    draw = trial.draw
    line, alone = hostile_line(draw), draw.random() < 0.2
    others = [name for name in COMMANDS if name not in ("check-record", "report html") or draw.random() < 0.05]
    ends = {
        ended(feed(line, trial.folder, command, alone=alone), "line ")
        for command in ("check-record", *draw.sample(others, 3))
    }
    return " or ".join(sorted(ends))


PART = Part(
    "records", "records with fields changed, missing or added, into all that reads records", 3000, try_record, 20
)
