"""How a cell ended, and the record of one that ended without numbers.

==================  =====================================================================================
outcome             meaning
==================  =====================================================================================
``ok``              measured; whether it was verified says ``verification``
``wrong``           the result does not hold; ``message`` names the counter-example
``refused``         the algorithm does not take this graph, these weights or these options
``out of memory``   it does not fit, on the device or on the host
``failed``          the device or the compiler could not do it
``threw``           its code raised an exception of its own
``timeout``         it passed the hard limit of its cell and was ended
``died``            its process ended, by a signal or by itself
``skipped``         not tried: no budget or memory left for it, or a graph no larger of its series failed
==================  =====================================================================================
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal, get_args

from gpugraph.errors import GpuGraphError, InputError, OutOfMemory, VerificationFailed, unknown_name
from gpugraph.measure.record import SCHEMA, Cell, Record

Outcome = Literal["ok", "failed", "out of memory", "timeout", "skipped", "refused", "wrong", "threw", "died"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


def outcome_of(error: BaseException) -> tuple[str, str]:
    """Return the outcome that an exception stands for, and its message in one line."""
    kinds: tuple[tuple[type[BaseException], str], ...] = (
        (OutOfMemory, "out of memory"),
        (MemoryError, "out of memory"),
        (VerificationFailed, "wrong"),
        (InputError, "refused"),
        (GpuGraphError, "failed"),
    )
    outcome = next((name for kind, name in kinds if isinstance(error, kind)), "threw")
    said = " ".join(str(error).split())
    if outcome == "threw" or not said:
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return outcome, said


def failed_record(
    cell: Cell,
    outcome: str,
    message: str,
    *,
    graph: Mapping[str, Any] | None = None,
    device: Mapping[str, Any] | None = None,
    algorithm: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of a cell that gave no numbers: every name is there, every figure is absent.

    Args:
        cell: what was asked for.
        outcome: one of ``OUTCOMES`` but ``ok``.
        message: why, in one line.
        graph: the ``graph`` object of a record as far as it is known (``Session.known``); else the cell's words.
        device: the ``device`` object, likewise.
        algorithm: ``name`` and ``source`` (authors, year, section), likewise.

    Raises:
        InputError: there is no such outcome.
    """
    if outcome not in OUTCOMES or outcome == "ok":
        raise unknown_name("outcome of a failed cell", outcome, [name for name in OUTCOMES if name != "ok"])
    from gpugraph.measure.environment import environment
    from gpugraph.problems.registry import load_problem

    problem = load_problem(cell.problem)
    name = str(getattr(cell.graph, "name", cell.graph))
    sizes = dict.fromkeys(("vertices", "arcs", "edges", "directed", "weight_dtype", "digest"))
    chosen = algorithm or {}
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "problem": cell.problem,
        "outcome": outcome,
        "message": message,
        "algorithm": chosen.get("name", cell.algorithm),
        "algorithm_source": chosen.get("source", {}),
        "device": {"kind": cell.device.partition(":")[0], "name": None, **(device or {})},
        "graph": {"name": name, "source": name, **sizes, **(graph or {})},
        "parameters": {
            **cell.options,
            "preparations": list(cell.preparations),
            "repeat": cell.repeat,
            "warmup": cell.warmup,
            "index_bits": cell.index_bits,
        },
        "phases_s": {},
        "samples_s": {"kernel": [], "h2d": [], "d2h": []},
        "confidence_s": {},
        "sampling": None,
        "kernel_phases_s": {},
        "rounds": None,
        "counters": {},
        "peak_device_bytes": None,
        "mteps": {
            "kernel": None,
            "end_to_end": None,
            "counted": problem.counted,
            "count": None,
            "definition": problem.definition,
        },
        "energy": {"absent": message},
        "traffic": {"absent": message},
        "result": {},
        "verification": {"status": "skipped", "method": "none", "detail": message},
        "environment": environment(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    return Record(data)
