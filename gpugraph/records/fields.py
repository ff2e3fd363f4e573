"""The values of a record by name: what columns show, figures draw, and formulas know.  A new one is a line here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpugraph.records.record import Record


@dataclass(frozen=True)
class Field:
    """A value of a record.

    Attributes:
        read: it in the unit of the record, seconds or bytes for instance; None where a record has none.
        title: of an ordinate, with the unit it is drawn in; nothing for what is not drawn.
        factor: what it is multiplied by to be drawn in that unit.
        percent: it is a share.
        cost: less of it is better.
        timed: it says nothing where the device is emulated.
    """

    read: Callable[[Record], Any]
    title: str = ""
    factor: float = 1.0
    percent: bool = False
    cost: bool = False
    timed: bool = False

    def value(self, record: Record) -> Any:
        """Return the value in the unit of the record, None where there is none."""
        return None if self.timed and record.device_kind == "emulated" else self.read(record)

    def of(self, record: Record) -> float | None:
        """Return the value as it is drawn, None where there is none."""
        found = self.value(record)
        return None if found is None else found * self.factor


GAINS = ("speedup", "scaling")
"""Values of two records, which no single one has."""

FIELDS = {
    "mteps": Field(lambda row: row.mteps, "million edges per second (MTEPS)"),
    "end_to_end": Field(lambda row: row.end_to_end, "MTEPS, end to end"),
    "call": Field(lambda row: row.call_s, timed=True),
    "kernel": Field(lambda row: row.kernel_s, "kernel time, ms", 1e3, cost=True, timed=True),
    "transfer": Field(lambda row: row.transfer_s or None, "transfer + d2h, ms", 1e3, cost=True),
    "answer": Field(lambda row: row.answer_s, "time to answer, s", cost=True, timed=True),
    "speedup": Field(lambda row: None, "times as fast as the fastest CPU run"),
    "scaling": Field(lambda row: None, "times as fast as on one thread"),
    "roof": Field(lambda row: row.share, "share of the bandwidth roof", percent=True),
    "energy": Field(lambda row: row.nanojoules, "nanojoules per edge", cost=True),
    "watts": Field(lambda row: row.shape.energy.mean_w, "mean power, W", cost=True),
    "cost": Field(lambda row: row.shape.price.per_million_answers, "cost of 10⁶ answers", cost=True),
    **{
        name: Field(lambda row, name=name: row.shape.work.total.get(name), title, cost=True)  # type: ignore[misc]
        for name, title in (("sectors", "sectors of 32 bytes"), ("atomics", "atomics on global memory"))
    },
    "memory": Field(lambda row: row.shape.peak_device_bytes or None, "peak device memory, MiB", 2**-20, cost=True),
    "precision": Field(lambda row: row.half_width),
    "scale": Field(lambda row: row.scale),
    "vertices": Field(lambda row: row.shape.graph.vertices),
    "edges": Field(lambda row: row.shape.graph.edges),
    "arcs": Field(lambda row: row.shape.graph.arcs),
    "graph": Field(lambda row: row.graph_name),
    "family": Field(lambda row: row.family),
    "problem": Field(lambda row: row.problem),
    "algorithm": Field(lambda row: row.algorithm),
    "device": Field(lambda row: row.device),
    "threads": Field(lambda row: row.shape.device.threads),
    "file": Field(lambda row: os.path.basename(row.file or "-")),
    "verdict": Field(lambda row: row.verdict),
}
"""Name → value."""

VALUES = {name.replace("_", "-"): field for name, field in FIELDS.items() if field.title}
"""Those that can be drawn, by the name that ``gpugraph plot --y`` gives them."""
