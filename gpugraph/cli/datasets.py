"""``gpugraph datasets``: graphs by name, and what the cache holds of them."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, offline_option, table_or_json
from gpugraph.errors import InputError


@command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--cached", "only_cached", is_flag=True, help="Only those that the cache holds something of.")
@click.option("--fetch", "fetching", is_flag=True, help="Fetch and convert them now, for later and for --offline.")
@click.option(
    "--remove", "removing", is_flag=True, help="Remove their files from the cache; what they were stays known."
)
@click.option(
    "--forget", "forgetting", is_flag=True, help="Remove them, and the pins that a new download is held against."
)
@offline_option
@table_or_json
def datasets(
    names: tuple[str, ...],
    only_cached: bool,
    fetching: bool,
    removing: bool,
    forgetting: bool,
    style: str,
    quiet: bool,
) -> None:
    """List the data sets by name, with size, licence and citation, and what the cache holds of them.

    A NAME, COLLECTION:NAME, may stand wherever a graph may; its first use fetches it, checks it by its SHA-256, and
    keeps it in the cache as .csr. See gpugraph help datasets.

    Example:
      gpugraph datasets dimacs9:rome99
    """
    import json

    from gpugraph.cli.output import Progress, show, show_lines, tell
    from gpugraph.clock import HostClock
    from gpugraph.graph.datasets.registry import find, listed, registry
    from gpugraph.graph.datasets.store import describe, open_dataset, remove
    from gpugraph.graph.formats.input_file import Reading
    from gpugraph.quantities import in_units
    from gpugraph.report.listings import dataset_list, dataset_page
    from gpugraph.report.table import describe_graph
    from gpugraph.report.terminal import page_width, table_width

    if fetching + removing + forgetting > 1:
        raise InputError("--fetch, --remove and --forget exclude each other", remedy="give one of them")
    if fetching + removing + forgetting and not names:
        raise InputError("no data set is named", remedy="name one, e.g. gpugraph datasets dimacs9:rome99 --fetch")
    whole = [name for name in names if name.removesuffix(":") in registry()]
    chosen = [find(name) for name in names if name not in whole]
    chosen += [one for one in listed() if not names or one.collection in (name.removesuffix(":") for name in whole)]
    for dataset in chosen if fetching else ():
        with Progress(quiet=quiet) as progress:
            graph = open_dataset(str(dataset), Reading(), HostClock(), progress)
        tell([f"{dataset}: {describe_graph(graph.describe())}", *graph.notes], quiet=quiet)
    for dataset in chosen if removing or forgetting else ():
        freed = remove(dataset, pin=forgetting)
        tell([f"{dataset}: {in_units(freed)} freed"], quiet=quiet)
    told = [describe(dataset) for dataset in chosen]
    told = [one for one in told if one["cached"]["bytes"]] if only_cached else told
    if style == "json":
        show(json.dumps(told, ensure_ascii=False))
    elif names and not whole:
        show_lines(dataset_page(told, width=page_width()))
    else:
        show_lines(dataset_list(told, width=page_width(), table_width=table_width()))
