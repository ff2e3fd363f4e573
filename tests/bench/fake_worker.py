"""A worker that measures nothing: what it does with a cell is the name of the cell's algorithm.

Run as ``python fake_worker.py TEMPLATE LOG``: TEMPLATE is the JSON of a record, LOG gets a line for each request.
"""

from __future__ import annotations

import copy
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

TEMPLATE: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
LOG = Path(sys.argv[2])


def send(event: str, **content: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **content}) + "\n")
    sys.stdout.flush()


def record(cell: dict[str, Any], outcome: str) -> dict[str, Any]:
    made = copy.deepcopy(TEMPLATE)
    made["algorithm"], made["outcome"] = cell["algorithm"], outcome
    made["graph"]["name"] = cell["graph"]
    if outcome != "ok":
        made["message"] = f"{outcome}, as asked"
        made["verification"]["status"] = "failed" if outcome == "wrong" else "skipped"
    return made


def serve(request: dict[str, Any]) -> None:
    cells = request["cells"]
    with LOG.open("a") as log:
        log.write(" ".join(cell["algorithm"] for cell in cells) + "\n")
    for index, cell in enumerate(cells):
        send("current", index=index)
        if cell["algorithm"] == "never-opens":
            time.sleep(1000)
        if cell["algorithm"] == "known":
            send("identified", index=index, id=f"id of {cell['graph']}")
    send("opened")
    for index, cell in enumerate(cells):
        send("current", index=index)
        send("progress", what="sample 1")
        act = cell["algorithm"]
        while act == "meet" and len(LOG.read_text().splitlines()) < 2:  # until another worker has a graph too
            time.sleep(0.01)
        if act == "late" and index > 0:
            break
        if act == "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        if act == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if act == "leave":
            print("cannot go on", file=sys.stderr)
            os._exit(7)
        if act == "fat":
            held = bytearray(os.urandom(1)) * 300_000_000
            time.sleep(1000)
            del held
        if act == "lose":
            send("finished", index=index, record=record(cell, "failed"))
            send("lost", message="the GPU is lost")
            os._exit(1)
        time.sleep(0.004)
        outcome = {"oom": "out of memory", "wrong": "wrong", "threw": "threw"}.get(act, "ok")
        send("finished", index=index, record=record(cell, outcome))
    send("done")


for line in sys.stdin:
    serve(json.loads(line))
