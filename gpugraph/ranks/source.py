"""Where the parts of a graph come from: every rank draws its part of a spec, or reads its part of a ``.csr``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpugraph.clock import HostClock
from gpugraph.errors import InputError
from gpugraph.graph.build import counted
from gpugraph.graph.datasets.registry import is_dataset
from gpugraph.graph.generate import draw_arcs
from gpugraph.graph.spec import Spec, is_spec, parse_spec
from gpugraph.ranks.comm import HostComm
from gpugraph.ranks.part import GraphPart, require_together, sorted_part


def open_part(
    source: Any,
    comm: HostComm,
    *,
    input_format: str | None = None,
    weights: str = "file",
    symmetrize: bool = False,
    clock: HostClock | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> GraphPart:
    """Return this rank's part of the graph behind ``source``, checked.

    Args:
        source: a spec, the name of a data set, or the path of a ``.csr``.
        comm: the ranks, which all call this.
        input_format: ``"csr"`` or None.
        weights: ``"file"`` or ``"unit"``.
        symmetrize: make a directed graph undirected; the lighter arc of a pair wins.
        clock: what the phases ``load``, ``build`` and ``check`` are timed by.
        progress: called with a few words whenever something new begins.

    Raises:
        InputError: something else, which several ranks cannot share.
        OutOfMemory: it does not fit all ranks together.
    """
    text = os.fsdecode(source) if isinstance(source, str | os.PathLike) else ""
    if weights not in ("file", "unit"):
        remedy = "write w=LO..HI into the spec, or convert the file with --weights first"
        raise InputError(f"several ranks cannot change weights to {weights}", remedy=remedy)
    clock = HostClock() if clock is None else clock
    if text and is_dataset(text):
        from gpugraph.graph.datasets.store import local_csr

        with clock.phase("fetch"):
            text = os.fspath(local_csr(text, progress))
    if text and input_format is None and not os.path.exists(text) and is_spec(text):
        with clock.phase("build"):
            part = _drawn(parse_spec(text), comm, progress)
    elif text.endswith(".csr") and input_format in (None, "csr"):
        from gpugraph.graph.load import load_file

        progress(f"reading {text}")
        with clock.phase("load"):
            part = GraphPart.of(load_file(text, input_format=input_format, check=False), comm)
        with clock.phase("check"):
            part.check()
    else:
        raise InputError(
            "several ranks share a spec, a data set or a .csr, nothing else",
            where=text or type(source).__name__,
            remedy="convert it first: gpugraph convert FILE graph.csr",
        )
    if weights == "unit":
        note = "weights replaced: unit"
        part = replace(
            part,
            weights=np.ones(len(part.targets), np.uint32),
            negative_loop=None,
            notes=(*part.notes, note),
            graph=None,
        )
    if symmetrize and part.directed:
        with clock.phase("build"):
            part = part.symmetrized()
    return part


def _drawn(spec: Spec, comm: HostComm, progress: Callable[[str], None]) -> GraphPart:
    """Draw this rank's share of the arcs, and bring every arc to the rank that holds its tail."""
    require_together(comm, -(-spec.estimate_bytes() // comm.size) + 8 * spec.vertices, spec.text)
    arcs = draw_arcs(spec, lambda fraction, what: progress(f"{what} {fraction:.0%}"), (comm.rank, comm.size))
    weights = np.ones(len(arcs.tails), np.uint32) if arcs.weights is None else arcs.weights
    loop = arcs.tails == arcs.heads
    negative = np.flatnonzero(loop & (weights < 0))
    tails, heads, weights = (array[~loop] for array in (arcs.tails, arcs.heads, weights))
    if arcs.one_sided:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
    empty = np.zeros(1, np.int64)
    like = GraphPart(
        comm,
        np.array([0] * comm.size + [spec.vertices]),
        empty,
        tails[:0],
        weights[:0],
        bool(arcs.directed),
        spec.text,
        spec.text,
    )
    progress("building rows")
    made = sorted_part(like, tails, heads, weights)
    # The first loop of the whole list is that of the lowest rank that has one: ranks draw in order.
    told = comm.share(
        (int(loop.sum()), len(negative), int(arcs.tails[negative[0]]) if len(negative) else None, made.merged)
    )
    loops, below, _, merged = (sum(t or 0 for t in column) for column in zip(*told, strict=True))
    notes = []
    if loops:
        notes.append(f"dropped {counted(loops, 'self loop')}{f', {below} of negative weight' if below else ''}")
    if merged:
        notes.append(
            f"merged {counted(merged // 2, 'parallel edge') if arcs.one_sided else counted(merged, 'parallel arc')}"
        )
    first = next((vertex for _, _, vertex, _ in told if vertex is not None), None)
    return replace(made.part, notes=tuple(notes), negative_loop=first)
