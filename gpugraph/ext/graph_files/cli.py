"""``gpugraph generate``, ``convert``, ``info``, ``verify``: graphs made, written, described, checked."""

import os
from dataclasses import asdict
from typing import Any

import click

from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.cli.options import command, input_options, named, price_option, table_or_json
from gpugraph.cli.output import Progress, check_destination, show, show_as, show_written, tell
from gpugraph.graph.read_options import ReadOptions
from gpugraph.problems.contract import METHODS
from gpugraph.report.terminal import page_width


@command
@click.argument("spec")
@click.option("-o", "--output", required=True, metavar="FILE", help="File to write; the ending sets the format.")
@click.option("--output-format", metavar="FORMAT", help="Format, if the ending does not state it.")
def generate(spec: str, output: str, output_format: str | None, quiet: bool) -> None:
    """Generate the graph of SPEC and write it to a file.

    The same spec gives the same graph, bit for bit, on every machine.

    Example:
      gpugraph generate rmat:12,seed=7,w=1..255 -o rmat12.csr
    """
    from gpugraph.ext.formats.files import save_file, writable_format
    from gpugraph.graph.generate import generate as generate_graph
    from gpugraph.graph.spec import parse_spec
    from gpugraph.report.table import describe_graph

    parsed = parse_spec(spec)
    writable_format(output, output_format)
    check_destination(output)
    with Progress(quiet=quiet) as progress:
        graph = generate_graph(parsed, lambda fraction, what: progress(what, fraction))
        progress(f"writing {output}")
        save_file(graph, output, output_format)
    show_written(output, describe_graph(graph.describe()))


generate.epilog = (  # a text of its own, for the families import NumPy, and help must not; a test compares the two
    "Families of graphs, by example: "
    "rmat:20,ef=16; ssca2:18; random:n=16384,deg=10; regular:n=1048576,in=7; knn:n=65536,k=8; "
    "grid:1024x1024; road:1024x1024; complete:4096; dense:n=4096,density=0.5; path:500; ramp:500; "
    "caterpillar:500; star:500; counterexample:1024; lollipop:1x20000,scale=16. "
    "Their options are separated by commas; all take seed=N, w=LO..HI and dtype=NAME."
)


@command
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@input_options
@click.option("--output-format", metavar="FORMAT", help="Format of OUT, if its name does not state it.")
@click.option("--renumber", is_flag=True, help="Drop ids that OUT cannot hold, and number its vertices.")
def convert(source: str, output: str, output_format: str | None, renumber: bool, quiet: bool, **changes: Any) -> None:
    """Convert the graph IN, a file or a spec, to the file OUT.

    Only edge lists keep ids other than 1, 2, 3, …, and only .csv and .tsv names; for other formats, --renumber drops
    them. Files whose names end in .gz, .bz2, .xz or .zst are compressed.

    Example:
      gpugraph convert rmat12.csr rmat12.gr.gz --reweight hash:1..255
    """
    from gpugraph.ext.formats.files import save_file, writable_format
    from gpugraph.graph.csr import notices_of
    from gpugraph.graph.open import open_graph
    from gpugraph.report.table import describe_graph

    writable_format(output, output_format)
    check_destination(output)
    with Progress(quiet=quiet) as progress:
        progress(f"loading {source}")
        graph = open_graph(source, ReadOptions(**changes), progress=progress)
        progress(f"writing {output}")
        notices = save_file(graph, output, output_format, renumber=renumber)
    tell([*notices_of(graph), *notices], quiet=quiet)
    show_written(output, describe_graph(graph.describe()))


_GPU = "Estimate for GPUs by data sheet, H100,L4 or L4=0.8 with the price of an hour."


@command
@click.argument("graph")
@click.option("--advise", is_flag=True, help="Estimate memory, times, and when a GPU is faster; GRAPH is not read.")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME[=RATE],...", help=_GPU)
@price_option
@input_options
@table_or_json
def info(
    graph: str, advise: bool, gpus: tuple[str, ...], price: float, style: str, quiet: bool, **changes: Any
) -> None:
    """Describe GRAPH: counts, degrees, components, weights, and the memory it needs on a device.

    Example:
      gpugraph info rmat:12
      gpugraph info --advise rmat:26
    """
    from gpugraph.ext.graph_files.figures import advice_lines, graph_figures
    from gpugraph.ext.graph_files.properties import properties
    from gpugraph.graph.csr import notices_of
    from gpugraph.graph.open import open_graph

    if advise:
        from gpugraph.ext.machine.advice import advise as advice_on
        from gpugraph.ext.machine.data_sheets import parse_gpus

        named_gpus = parse_gpus(gpus, price)
        with Progress(quiet=quiet) as progress:
            advice = advice_on(graph, progress, price, named_gpus)
        show_as(style, advice, lambda: advice_lines(advice, width=page_width()))
        return
    source = click.get_current_context().get_parameter_source("price")
    if gpus or source is click.core.ParameterSource.COMMANDLINE:
        raise InputError(f"{'--gpu' if gpus else '--price'} is for estimates", remedy="add --advise")
    with Progress(quiet=quiet) as progress:
        loaded = open_graph(graph, ReadOptions(**changes), progress=progress)
        progress("counting")
        figures = properties(loaded)
        described = loaded.describe()
    tell(notices_of(loaded), quiet=quiet)
    show_as(style, {**described, **asdict(figures)}, lambda: graph_figures(described, figures))


@command
@click.argument("graph")
@click.argument("result")
@input_options
@named("--method", kind="verification method", names=METHODS, default="auto", help="Verification method.")
def verify(graph: str, result: str, method: str, quiet: bool, **changes: Any) -> None:
    """Check a RESULT file, as -o writes it, against its GRAPH.

    Repeat the options that changed the graph when the result was made. The exit code is 1 if the result is wrong.

    Example:
      gpugraph verify rmat:12 forest.npz --method both
    """
    from gpugraph.ext.results.files import check_result
    from gpugraph.graph.csr import notices_of
    from gpugraph.graph.open import open_graph
    from gpugraph.report.table import METHOD_NAMES

    if not os.path.exists(result):
        raise InputError("there is no such file", where=result, remedy="give a file that -o wrote")
    with Progress(quiet=quiet) as progress:
        progress(f"loading {graph}")
        loaded = open_graph(graph, ReadOptions(**changes), progress=progress)
        progress(f"checking {result}")
        verdict = check_result(loaded, result, method)
    tell(notices_of(loaded), quiet=quiet)
    if not verdict.passed:
        raise VerificationFailed(verdict.detail, where=result)
    show(f"{result}: {verdict.status} by {METHOD_NAMES.get(verdict.method, verdict.method)}: {verdict.detail}")
