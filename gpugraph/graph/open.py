"""Graphs from any source: ``open_graph("roads.gr.gz")``, ``("rmat:20")``, ``("snap:roadNet-CA")``, ``(matrix)``."""

import os
from collections.abc import Callable

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import InputError
from gpugraph.devices.base import Device
from gpugraph.graph.check import ensure_rows, note_rows
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.families import is_spec
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.graph.sources import changed_weights, data_sets, is_dataset, objects


def open_graph(
    source: object,
    options: ReadOptions = AS_GIVEN,
    *,
    clock: HostClock | None = None,
    progress: Callable[[str], None] = lambda what: None,
    device: Device | None = None,
) -> CSRGraph:
    """Return the graph behind ``source``, checked, after the changes asked for.

    The source is what ``gpugraph.load`` takes, the name of a data set, or a CSRGraph.  The clock times the phases
    ``load``, ``build`` and ``check``, and ``progress`` is called with a few words whenever something new begins.  A
    device that will work on the graph makes, builds or checks it, and keeps it, where it can.  Raises InputError where
    there is nothing of that kind, or it is damaged.
    """
    clock = HostClock() if clock is None else clock
    changed = options.symmetrize or options.weights != "file"
    graph = _opened(source, options.of_file(), clock, progress, None if changed else device)
    with clock.phase("build"):
        if options.weights != "file":
            progress("changing the weights")
            graph = changed_weights().transform_weights(graph, options.weights, options.seed)
        if options.symmetrize and graph.directed:
            from gpugraph.graph.symmetrize import symmetrize

            progress("making the graph undirected")
            graph = symmetrize(graph)
    # What was published with a graph holds for the graph that was published.
    return note_rows(graph.renamed(answers={}) if graph.answers and changed else graph)


def _opened(
    source: object, options: ReadOptions, clock: HostClock, progress: Callable[[str], None], device: Device | None
) -> CSRGraph:
    """Return the graph as its source has it."""
    text = os.fsdecode(source) if isinstance(source, str | bytes | os.PathLike) else None
    named = text is not None and is_dataset(text)
    made = text is not None and not named and not os.path.exists(text) and is_spec(text)
    made = made and options.input_format is None
    own = options.vertices, options.columns, options.directed, options.weight or None
    if (made or isinstance(source, CSRGraph)) and own != (None, "", None, None):
        what = "says all of itself; --directed, --undirected, --vertices, --columns and --weight are for files"
        raise InputError(what, where=text or type(source).__name__, remedy="leave the option out")
    if isinstance(source, CSRGraph):
        ensure_rows(source)
        return source
    if made:
        from gpugraph.graph.generate import generate

        with clock.phase("build"):
            return generate(str(text), lambda fraction, what: progress(f"{what} {fraction:.0%}"), device)
    if text is None:
        with clock.phase("build"):
            return objects().open_object(source, options, device)
    if named:
        if options.input_format is not None:
            raise InputError("has its format known", where=text, remedy="leave --input-format out")
        return data_sets().open_dataset(text, options, clock, progress, device)

    from gpugraph.graph.load import load_file

    def reading(done: int, whole: int) -> None:
        progress(f"reading {text} {done / max(whole, 1):.0%}")

    return load_file(text, options, clock=clock, progress=reading, device=device)
