"""Borůvka's algorithm of ours, held up for HELD_UP seconds a run: does `gpugraph compare` find that?

gpugraph bench --sweep selftest --axis algorithm=docs/examples/held_up.py:on_gpu --save base.jsonl
HELD_UP=0.0001 gpugraph bench --sweep selftest --axis algorithm=docs/examples/held_up.py:on_gpu --save new.jsonl
gpugraph compare base.jsonl new.jsonl
"""

import dataclasses
import os
import time
from typing import Any

from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.registry import find_algorithm


def held_up(kind: str) -> Algorithm:
    """Return ``boruvka`` of a kind of device with a pause at the end of each run, which its time includes."""
    ours = find_algorithm("mst", "boruvka", kind)
    devices: list[Any] = []

    def prepare(view: Any, device: Any, **options: Any) -> Any:
        devices.append(device)
        return ours.prepare(view, device, **options)

    def run(state: Any, clock: Any) -> Any:
        handle = ours.run(state, clock)
        if devices[-1] is not None:
            devices[-1].synchronize()
        until = time.perf_counter() + float(os.environ.get("HELD_UP", 0))
        while time.perf_counter() < until:
            pass
        return handle

    return dataclasses.replace(ours, name="boruvka-held-up", prepare=prepare, run=run)


on_gpu, on_cpu = held_up("cuda"), held_up("cpu")
