"""``gpugraph algos``, ``devices`` and ``help``: what there is, and the pages of docs/."""

import os
import sys
from dataclasses import asdict

import click

from gpugraph.base.errors import GpuGraphError, InputError, installable_here, unknown_name
from gpugraph.base.files import resource_dir
from gpugraph.cli.options import command, named, table_or_json
from gpugraph.cli.output import Progress, show, show_as, tell
from gpugraph.problems import foreign
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.contract import PROBLEMS
from gpugraph.report.terminal import page_width

_STYLES = ("table", "json", "markdown")


@command
@click.option("--problem", metavar="PROBLEM", help=f"Only those of {', '.join(PROBLEMS)}.")
@click.option("--peers", is_flag=True, help="List peers instead, installed or not; see docs/peers.md.")
@named("--format", "style", kind="output format", names=_STYLES, default="table", help="Output format.")
def algos(problem: str | None, peers: bool, style: str, quiet: bool) -> None:
    """List the algorithms with their sources, devices and parameters.

    Example:
      gpugraph algos --problem mst
    """
    from gpugraph.ext.catalogue.catalogue import catalogue, catalogue_markdown, peer_catalogue, peer_catalogue_markdown
    from gpugraph.problems.registry import algorithms

    if peers:
        found, lines, markdown = foreign.peers().describe_peers(problem), peer_catalogue, peer_catalogue_markdown
    else:
        found = [algorithm.describe() for algorithm in (*algorithms(problem), *_installed(problem, quiet=quiet))]
        lines, markdown = catalogue, catalogue_markdown
    if style == "markdown":
        show(markdown(found))
    else:
        show_as(style, found, lambda: lines(found, width=page_width()))


def _installed(problem: str | None, *, quiet: bool) -> list[Algorithm]:
    """Return what installed packages offer; one that cannot be used is reported and left out."""
    from gpugraph.problems.registry import algorithms

    found, plugins, taken = [], foreign.plugins().described(), {algorithm.name for algorithm in algorithms()}
    for name, entry in foreign.plugins().installed().items():
        if name in taken:
            tell([f"entry point {entry.value}: an algorithm named {name} exists"], quiet=quiet)
            continue
        try:
            plugin = plugins.any_problem(name)
        except InputError as error:
            tell([str(error)], quiet=quiet)
            continue
        if problem in (None, plugin.problem):
            found.append(plugin)
    return found


@command
@click.option("--probe/--no-probe", default=True, show_default=True, help="Run a kernel on each GPU and measure it.")
@table_or_json
def devices(probe: bool, style: str, quiet: bool) -> None:
    """List the devices with their limits, or why they cannot be used.

    Each usable GPU compiles and runs a kernel of one line, then its bandwidths and latencies are measured.

    Example:
      gpugraph devices
    """
    from gpugraph.ext.catalogue.catalogue import device_list
    from gpugraph.ext.machine.listing import found_devices

    with Progress(quiet=quiet) as progress:
        progress("looking for devices")
        found = found_devices()
        for device in found if probe else ():
            if device["kind"] == "cuda" and device["usable"]:
                progress(f"measuring {device['device']}")
                device |= _probed(device["device"])
    show_as(style, found, lambda: device_list(found, width=page_width()))


def _probed(name: str) -> dict[str, object]:
    """Return what the probes of a GPU give, or that it is not usable and why."""
    from gpugraph.devices.discovery import select_device
    from gpugraph.ext.machine.probes import run_probes

    try:
        device, _ = select_device(name)
        try:
            return {"probes": asdict(run_probes(device))}
        finally:
            device.close()
    except GpuGraphError as error:
        return {"usable": False, "detail": installable_here(str(error))}


# ------------------------------------------------------------------ help


@command
@click.argument("topic", required=False)
def help(topic: str | None, quiet: bool) -> None:
    """Show a page on TOPIC, or the help of a command; without TOPIC, list the topics.

    Example:
      gpugraph help formats
    """
    pages = {page.stem: page for page in sorted(resource_dir("docs").glob("*.md"))}
    if topic is None:
        titles = {name: page.open(encoding="utf-8").readline().lstrip("# ").strip() for name, page in pages.items()}
        show("\n".join(f"{name:<16} {title}" for name, title in titles.items()))
        return
    wanted = topic.removesuffix(".md").removeprefix("docs/").replace("-", "_")
    if wanted in pages:
        text = pages[wanted].read_text("utf-8")
        if not sys.stdout.isatty():
            show(text)
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console()
        os.environ.setdefault("LESS", "-RFX")  # colours are shown, and a short page is no screen of its own
        with console.capture() as page:
            console.print(Markdown(text))
        try:
            click.echo_via_pager(page.get(), color=True)  # the pager that Rich takes sets LESS anew from Python 3.13 on
        except ValueError as error:
            what = f"no command: {str(error).lower()}"
            raise InputError(what, where="$PAGER", remedy="correct or unset the variable") from None
        return
    above = click.get_current_context().find_root()
    commands = above.command
    assert isinstance(commands, click.Group)
    found = commands.get_command(above, topic)
    if found is None:
        raise unknown_name("topic", topic, (*pages, *commands.list_commands(above)))
    show(found.get_help(click.Context(found, above, info_name=topic)))
