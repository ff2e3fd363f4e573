"""From a spec to a graph: the same one, bit for bit, whatever the number of threads."""

from __future__ import annotations

import importlib

from gpugraph.graph.build import ArcList, build
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.dtypes import target_dtype
from gpugraph.graph.families import FAMILIES
from gpugraph.graph.generators.runner import Progress, Runner
from gpugraph.graph.spec import Spec, parse_spec
from gpugraph.host import require_memory

_BUILD_STARTS = 0.6
"""The fraction of the whole at which the arcs are drawn and the rows begin to be built."""


def generate(spec: Spec | str, progress: Progress | None = None) -> CSRGraph:
    """Return the graph of a spec.

    Args:
        spec: the spec, parsed or as text.
        progress: called with the fraction done, in 0..1, and what is being done, a few times a second at most.

    Raises:
        InputError: not a spec, or a graph that does not fit in memory (before anything is allocated).
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    require_memory(parsed.estimate_bytes(), parsed.text)
    family = FAMILIES[parsed.family]
    values = dict(parsed.values)
    directed = family.directed and values.get("directed", True)
    index = target_dtype(parsed.vertices)

    module = importlib.import_module(f"gpugraph.graph.generators.{family.module}")
    run = Runner(index, progress, (0.0, 0.45))
    tails, heads, weights = getattr(module, f"arcs_of_{family.name}")(values, parsed.seed, run)
    if weights is None:
        from gpugraph.graph.generators.weights import hashed_weights

        run = Runner(index, progress, (0.45, _BUILD_STARTS))
        weights = hashed_weights(tails, heads, parsed.weights, directed, parsed.seed, run)
    arcs = ArcList(
        tails,
        heads,
        weights.astype(parsed.weights.dtype, copy=False),
        parsed.vertices,
        directed=directed,
        one_sided=not directed,
    )
    run = Runner(index, progress, (_BUILD_STARTS, 1.0))
    graph = build(
        arcs, name=parsed.text, source=parsed.text, report=lambda fraction: run.report(fraction, "building rows")
    )
    if progress is not None:
        progress(1.0, "built")
    return graph
