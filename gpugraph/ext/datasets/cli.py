"""``gpugraph datasets``: the data sets by name, and what the cache holds of them."""

import click

from gpugraph.base.clock import HostClock
from gpugraph.base.errors import InputError
from gpugraph.base.quantities import in_units
from gpugraph.cli.options import command, offline_option, table_or_json
from gpugraph.cli.output import Progress, show_as, tell
from gpugraph.ext.datasets.registry import find, listed, registry
from gpugraph.graph.read_options import AS_GIVEN
from gpugraph.report.terminal import page_width, table_width


@command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--cached", "only_cached", is_flag=True, help="List only data sets with cached files.")
@click.option("--fetch", "fetching", is_flag=True, help="Fetch and convert the data sets now.")
@click.option("--remove", "removing", is_flag=True, help="Delete cached files; keep their checksums.")
@click.option(
    "--forget", "forgetting", is_flag=True, help="Delete cached files and the checksums of the first download."
)
@offline_option
@table_or_json
def datasets(
    names: tuple[str, ...], only_cached: bool, fetching: bool, removing: bool, forgetting: bool, style: str, quiet: bool
) -> None:
    """List the data sets by name: sizes, licences, citations and cached files.

    Use NAME (COLLECTION:NAME) in the place of a graph. The first use fetches the file, checks its SHA-256, and keeps
    it in the cache as .csr. See gpugraph help datasets.

    Example:
      gpugraph datasets dimacs9:rome99
    """
    from gpugraph.ext.datasets.pages import dataset_list, dataset_page
    from gpugraph.ext.datasets.store import describe, open_dataset, remove
    from gpugraph.report.table import describe_graph

    if fetching + removing + forgetting > 1:
        raise InputError("--fetch, --remove and --forget exclude each other", remedy="give one of them")
    if fetching + removing + forgetting and not names:
        option = "--fetch" if fetching else "--remove" if removing else "--forget"
        raise InputError("no data set is named", remedy=f"name one, e.g. gpugraph datasets dimacs9:rome99 {option}")
    whole = [name for name in names if name.removesuffix(":") in registry()]
    chosen = [find(name) for name in names if name not in whole]
    chosen += [one for one in listed() if not names or one.collection in (name.removesuffix(":") for name in whole)]
    for dataset in chosen if fetching else ():
        with Progress(quiet=quiet) as progress:
            graph = open_dataset(str(dataset), AS_GIVEN, HostClock(), progress)
        tell([f"{dataset}: {describe_graph(graph.describe())}", *graph.notes], quiet=quiet)
    for dataset in chosen if removing or forgetting else ():
        freed = remove(dataset, pin=forgetting)
        tell([f"{dataset}: {in_units(freed)} freed"], quiet=quiet)
    described = [describe(dataset) for dataset in chosen]
    described = [one for one in described if one["cached"]["bytes"]] if only_cached else described
    if names and not whole:
        show_as(style, described, lambda: dataset_page(described, width=page_width()))
    else:
        show_as(style, described, lambda: dataset_list(described, width=page_width(), table_width=table_width()))
