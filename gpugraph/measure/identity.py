"""The identity of a measurement: two records with one id measured the same thing, and need not be measured twice.

``cell_id`` tells cells apart by the content of their graphs, ``unopened_id`` by the words that name them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpugraph.graph.csr import printed
from gpugraph.measure.record import Cell, jsonable
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.guest_sources import is_file


def cell_id(
    cell: Cell,
    algorithm: Algorithm,
    options: Mapping[str, Any],
    *,
    graph_digest: str,
    device: Mapping[str, Any],
    cold: bool = False,
) -> str:
    """Return the SHA-256, as 64 hexadecimal digits, of what decides the time of a cell.

    That is the problem, the algorithm with its version, options and preparations, the graph's content and weights,
    the source, the width of indices, the device, and whether caches are cold.  How many samples are taken, how
    they are verified and where the cell lies in a sweep do not enter.  A user's own file enters with its content.

    Args:
        cell: the cell.
        algorithm: what its ``algorithm`` stands for on that device.
        options: the algorithm's options, defaults filled in (``parse_options``).
        graph_digest: of the graph as the problem takes it.
        device: the ``device`` object of a record: its kind, name and threads enter.
        cold: samples find cold caches.
    """
    source = None if cell.source is None else printed(cell.source)
    parts = {
        "problem": cell.problem,
        "algorithm": algorithm.name,
        "version": algorithm.version,
        "content": _content(cell.algorithm) if is_file(cell.algorithm) else None,
        "graph": graph_digest,
        "weights": cell.weights,
        "options": dict(options),
        "preparations": list(cell.preparations),
        "source": source,
        "seed": cell.seed if source is not None and source.startswith("random") else None,
        "index_bits": cell.index_bits,
        "device": [device.get("kind"), device.get("name"), device.get("threads")],
        "cold": cold,
    }
    text = json.dumps(jsonable(parts), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def unopened_id(cell: Cell, device: Mapping[str, Any], cold: bool = False) -> str:
    """Return an id for a cell whose graph was never opened, from the words that name it.

    Args:
        cell: the cell; where it lies in a sweep does not enter.
        device: as for ``cell_id``; empty where it is not known yet.
        cold: samples find cold caches.
    """
    words = {k: v for k, v in vars(cell).items() if k not in ("axes", "series", "sweep", "graph")}
    parts = [words, cell.input.describe(), device.get("kind"), device.get("name"), device.get("threads"), cold]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _content(name: str) -> str | None:
    """Return the digest of the file that ``./file.py:driver`` names, or None where there is none."""
    path = Path(f"{name.removesuffix('.py').partition('.py:')[0]}.py")
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
