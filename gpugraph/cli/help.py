"""``gpugraph help``: the pages of docs/ that every installation carries."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gpugraph.cli.options import command
from gpugraph.errors import unknown_name
from gpugraph.files import resource_dir

_NAMES = "algorithms bench config formats papers peers race report scan specs your_algorithm"
TOPICS = tuple(_NAMES.split())
"""The pages of docs/ for users, in a wheel too."""


def page(topic: str) -> Path:
    """Return the file of a page."""
    return resource_dir("docs") / f"{topic}.md"


@command
@click.argument("topic", required=False)
def help(topic: str | None, quiet: bool) -> None:
    """Show a page on TOPIC, or the help of a command; without TOPIC, what there is.

    Example:
      gpugraph help formats
    """
    from gpugraph.cli.group import COMMANDS, cli
    from gpugraph.cli.output import show

    if topic is None:
        titles = {name: page(name).open(encoding="utf-8").readline().lstrip("# ").strip() for name in TOPICS}
        show("\n".join(f"{name:<16} {title}" for name, title in titles.items()))
        return
    wanted = topic.removesuffix(".md").removeprefix("docs/").replace("-", "_")
    if wanted in TOPICS:
        text = page(wanted).read_text("utf-8")
        if sys.stdout.isatty():
            _show_styled(text)
        else:
            show(text)
        return
    above = click.Context(cli, info_name="gpugraph", **cli.context_settings)
    found = cli.get_command(above, topic)
    if found is None:
        raise unknown_name("topic", topic, (*TOPICS, *COMMANDS))
    show(found.get_help(click.Context(found, above, info_name=topic)))


def _show_styled(text: str) -> None:
    """Print a page on a terminal, a screen at a time where it is longer."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
