"""The worker: ``python -m gpugraph.bench.worker`` measures cells for a bench that can kill it at any time.

It reads a JSON object a line from standard input and answers with JSON objects, a line each, on what was standard
output; whatever else writes there (a user's algorithm, a library) is sent to standard error.  Graphs, compiled code and
the GPU's context are kept between requests.

==============  ==================================================================================
request         answers
==============  ==================================================================================
``devices``     one ``devices``: for each name its kind and description, or why it cannot be used
``plan``        one ``planned``: the plan of a sweep, or the error that says why there is none
``describe``    one ``described``: what a user's own algorithm says of itself (``describe_plugin``)
``measure``     ``current``, ``progress``, ``decided``, ``warned`` as they come; ``identified`` or ``already`` of each,
                then ``opened``; ``finished`` with its record for each cell that got a sample in the seconds that
                are left (``left_s``), beyond the fewest only within ``refine_s``; ``done`` at the end, or ``lost``
                where a kernel took the GPU's context with it or foreign code wrote into the graph
==============  ==================================================================================

The worker ends with its parent: at the end of standard input, and on Linux at once, by the kernel's own hand, even
while compiled code holds the interpreter.
"""

from __future__ import annotations

import atexit
import json
import logging
import math
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from gpugraph.base.errors import GpuGraphError, GpuGraphWarning, warnings_to
from gpugraph.base.host import end_with
from gpugraph.bench.messages import DescribedDevice, cell_from, packed, unpacked
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems import foreign
from gpugraph.problems.algorithm import algorithm_from
from gpugraph.problems.registry import command_of
from gpugraph.records.json_text import json_text

if TYPE_CHECKING:
    from gpugraph.bench.plan import Plan
    from gpugraph.bench.sweep import Sweep
    from gpugraph.records.record import Record

Send = Callable[..., None]

SMALL = "rmat:5,w=1..255"
"""The graph of the untimed runs before a worker's first cells."""


def main() -> None:
    """Serve requests until standard input ends."""
    parent = int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, _end)
    end_with(parent)
    send = _protected_output()
    requests = _requests()
    worker = Worker(send)
    tell_decisions(send)
    try:
        with warnings_to(lambda text: send("warned", what=text)):
            while True:
                worker.serve(requests.get())
    except _EndedError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        atexit._run_exitfuncs()  # temporary folders go
        os._exit(1)


def tell_decisions(send: Send) -> None:
    """Send what is logged to the parent, which knows whether anyone wants to read it."""

    class Sent(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            send("decided", what=record.getMessage())

    log = logging.getLogger("gpugraph")
    log.setLevel(logging.INFO)
    log.addHandler(Sent())


class _EndedError(BaseException):
    """The parent wants the worker to end: what is half-compiled or half-written goes away on the way up."""


def _end(number: int, frame: object) -> None:
    raise _EndedError


def _protected_output() -> Send:
    """Return what sends an answer; standard output itself leads to standard error from now on."""
    sys.stdout.flush()
    channel: IO[bytes] = os.fdopen(os.dup(1), "wb", buffering=0)
    os.set_inheritable(channel.fileno(), False)
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(event: str, **content: Any) -> None:
        line = json_text({"event": event, **content}).encode() + b"\n"
        with lock:
            left = memoryview(line)
            while left:
                left = left[channel.write(left) :]

    return send


def _requests() -> SimpleQueue[dict[str, object]]:
    """Return the queue of requests; the end of standard input ends the process, whatever it is doing."""
    queue: SimpleQueue[dict[str, Any]] = SimpleQueue()
    stream = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # nothing that is measured may eat the requests

    def read() -> None:
        for line in stream:
            queue.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return queue


class Worker:
    """Serves requests, and answers by ``send``; one session, so that everything stays warm."""

    def __init__(self, send: Send):
        self._send = send
        self._warm = False

    def serve(self, request: Mapping[str, Any]) -> None:
        """Answer one request."""
        if request["do"] == "devices":
            self._send("devices", devices={name: describe_device(name) for name in request["names"]})
            _ = self._session  # while the parent plans
        elif request["do"] == "plan":
            self._send("planned", plan=packed(_plan(*unpacked(request["of"]))))
        elif request["do"] == "describe":
            self._send("described", problems=foreign.plugins().describe_plugin(request["algorithm"]))
        elif request["do"] == "measure":
            try:
                self._measure(request)
            except Exception as error:  # a defect must reach the parent in words
                from gpugraph.measure.assemble import outcome_of

                traceback.print_exc()
                outcome, message = outcome_of(error)
                self._send("broken", outcome=outcome, message=message)
            self._send("done")

    @cached_property
    def _session(self) -> Any:
        from gpugraph.measure.run_cell import Session

        return Session()

    def _measure(self, request: Mapping[str, Any]) -> None:
        from gpugraph.measure.instruments import SpoiledGraph
        from gpugraph.measure.run_cell import DeviceLost

        until, refined = (time.perf_counter() + request.get(name, math.inf) for name in ("left_s", "refine_s"))
        if request.get("peers"):
            foreign.peers().register_commands(request["peers"])
        cells = [cell_from(words) for words in request["cells"]]
        for index, plugin in request.get("plugins", {}).items():
            self._session.describe(cells[int(index)], algorithm_from(plugin))
        sampling = Sampling(**request["sampling"])
        try:
            self._warm_up(cells)
            places = self._identify(cells, sampling, frozenset(request.get("finished", ())))
            before = request.get("earlier", {})
            earlier = {at: before[str(i)] for at, i in enumerate(places) if str(i) in before}
            self._send("opened")
            self._session.measure(
                [cells[i] for i in places],
                sampling,
                progress=self._progress,
                finished=lambda at, record: self._finished(places[at], record),
                failed=lambda at, error: self._failed(places[at], cells[places[at]], error),
                current=lambda at: self._send("current", index=places[at]),
                earlier=earlier,
                until=until,
                refine_until=refined,
            )
        except (DeviceLost, SpoiledGraph) as lost:
            self._send("lost", message=str(lost))
            os._exit(1)  # whatever would be freed now is lost as well

    def _warm_up(self, cells: Sequence[Cell]) -> None:
        """Run the algorithms of ours in the first cells once on a small graph, untimed: no cell pays for all others."""
        if self._warm:
            return
        self._warm, fails = True, list[tuple[int, Exception]]()
        ours = {
            (one.problem, one.algorithm, one.device): (
                at,
                Cell(one.problem, SMALL, one.algorithm, one.device, None, one.preparations, one.options, phases=False),
            )
            for at, one in enumerate(cells)
            if command_of(one.problem).on_graph and not foreign.is_foreign(one.algorithm)
            if not one.device.startswith("emulated")
        }
        places, tried = [at for at, _ in ours.values()], [one for _, one in ours.values()]
        ignored = {"progress": lambda what: None, "finished": lambda at, record: None}
        try:
            self._session.measure(tried, Sampling.fixed(1, 0), failed=lambda *failure: fails.append(failure), **ignored)
        except Exception:  # the device is lost
            at, error = fails[-1]
            self._failed(places[at], cells[places[at]], error)
            raise

    def _identify(self, cells: Sequence[Cell], sampling: object, finished: frozenset[str]) -> list[int]:
        """Open the graph and tell the id of every cell; return the places of those to be measured."""
        places = []
        for index, cell in enumerate(cells):
            self._send("current", index=index)
            try:
                id_ = self._session.identify(cell, sampling, self._progress)
            except Exception as error:
                self._failed(index, cell, error)
                known = self._session.known(cell)
                if "device" in known and "graph" not in known:  # the graph itself is at fault
                    for other in range(index + 1, len(cells)):
                        self._failed(other, cells[other], error)
                    return []
                continue
            self._send("identified", index=index, id=id_)
            if id_ in finished:
                self._send("already", index=index)
            else:
                places.append(index)
        return places

    def _progress(self, what: str) -> None:
        self._send("progress", what=what)

    def _finished(self, index: int, record: Record) -> None:
        for notice in record.notices:  # each is shown once
            warnings.warn(f"{record.graph_name}: {notice}", GpuGraphWarning, stacklevel=2)
        self._send("finished", index=index, record=record.data)

    def _failed(self, index: int, cell: Cell, error: BaseException) -> None:
        record = self._session.failed_record(cell, error)
        if record.outcome == "threw" and not hasattr(error, "outcome"):  # a peer's line says all
            traceback.print_exception(error)
        self._send("finished", index=index, record=record.data)


def _plan(sweep: Sweep, *how: Any) -> Plan | GpuGraphError:
    """Return the plan of a sweep by ``expand_sweep``, which gets the rest of the arguments; or its error."""
    from gpugraph.bench.expand import expand_sweep

    try:
        if sweep.peers:
            foreign.peers().register_commands(sweep.peers)
        return expand_sweep(sweep, *how)
    except GpuGraphError as error:
        return error


def describe_device(name: str) -> DescribedDevice:
    """Return what is known of a device, opened for that."""
    from gpugraph.devices.discovery import select_device

    try:
        device, notice = select_device(name)
    except GpuGraphError as error:
        return {"unavailable": str(error)}
    try:
        return {"kind": device.kind, "description": device.describe(), "notice": notice}
    finally:
        device.close()


if __name__ == "__main__":
    main()
