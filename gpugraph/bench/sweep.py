"""Sweeps: what a TOML file asks for.

A sweep is one or more blocks; each is the product of its axes.  ``read.py`` and ``blocks.py`` make a sweep of a file,
``expand.py`` makes cells of a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpugraph.bench.document import Document

AXES: dict[str, list[Any]] = {
    "problem": ["mst"],
    "graph": [],
    "weights": ["file"],
    "input_format": [None],
    "symmetrize": [False],
    "keep_ids": [False],
    "seed": [1],
    "source": [None],
    "device": ["auto"],
    "algorithm": ["auto"],
    "prepare": ["none"],
    "index_bits": [None],
    "verify": ["auto"],
}
"""The axes that every sweep has, with their values where a sweep names none; any other is a variable of templates."""


@dataclass(frozen=True)
class Limits:
    """What one cell may take.

    Attributes:
        time_s: seconds of its own, graph and verification included; beyond, its worker is killed.
        memory_bytes: of the worker on the host, and of the device as far as it is known before; None: what there is.
        load_s: seconds that opening the graph may take.
    """

    time_s: float = 120.0
    memory_bytes: int | None = None
    load_s: float = 900.0


@dataclass(frozen=True)
class Variant:
    """One value of the algorithm axis.

    Attributes:
        name: a registered name, ``auto``, ``FILE.py:OBJECT`` or ``peer:NAME``.
        device: runs there alone, whatever the axis ``device`` says.
        options: parameters fixed for this value.
        prepare: preparations fixed for this value, whatever the axis says.
    """

    name: str
    device: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    prepare: str | None = None


@dataclass(frozen=True)
class Rule:
    """Cells that are left out: those that meet every condition.

    Attributes:
        conditions: by axis, or by ``vertices`` and ``arcs``: a value, a list, a range that may be open, a pattern.
        reason: why.
    """

    conditions: Mapping[str, Any]
    reason: str


@dataclass(frozen=True)
class Block:
    """A product of axes.

    Attributes:
        axes: the values by axis, all but the algorithms.
        algorithms: the variants by problem; ``""`` holds those given for every problem.
        options: by algorithm, by option: the values.
        cases: tables that each bind several variables at once; none: one that binds nothing.
        skip: rules.
        turn: which ``[[block]]`` of the file it is, or None.
    """

    name: str
    axes: Mapping[str, list[Any]]
    algorithms: Mapping[str, list[Variant]]
    options: Mapping[str, Mapping[str, list[Any]]]
    cases: Sequence[Mapping[str, Any]]
    skip: Sequence[Rule]
    limits: Limits
    turn: int | None = None

    def axis_names(self) -> set[str]:
        """Return the names that rules may use."""
        return {*AXES, *self.axes, *(key for case in self.cases for key in case)}


@dataclass(frozen=True)
class Sweep:
    """A whole sweep.

    Attributes:
        name: what the user called it.
        path: its file.
        budget_s: seconds for the cells of each device.
        sampling: settings of the sampling, by name.
        peers: the tables ``[peer.NAME]``, as they stand.
        paper: the table ``[paper]``, as it stands, or None.
        document: the file.
        settings: what ``--set`` put in the place of what the file says.
    """

    name: str
    title: str
    path: str
    blocks: Sequence[Block]
    budget_s: float
    sampling: Mapping[str, Any]
    peers: Mapping[str, Mapping[str, Any]]
    paper: Mapping[str, Any] | None
    document: Document
    settings: Mapping[str, Any]

    def where(self, block: Block, *keys: str) -> str:
        """Return the place of a key for a message: ``--set``, the block's own line, or the line for all blocks."""
        if keys[-1] in self.settings:
            return f"--set {keys[-1]}"
        if block.turn is not None and self.document.holds("block", *keys, turn=block.turn):
            return self.document.where("block", *keys, turn=block.turn)
        return self.document.where(*keys) if self.document.holds(*keys) else self.path
