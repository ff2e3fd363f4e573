"""``gpugraph help``: the pages of docs/, which every installation carries."""

from __future__ import annotations

import sys

import click

from gpugraph.cli.options import command
from gpugraph.errors import unknown_name
from gpugraph.files import resource_dir


@command
@click.argument("topic", required=False)
def help(topic: str | None, quiet: bool) -> None:
    """Show a page on TOPIC, or the help of a command; without TOPIC, what there is.

    Example:
      gpugraph help formats
    """
    from gpugraph.cli.output import show

    pages = {page.stem: page for page in sorted(resource_dir("docs").glob("*.md"))}
    if topic is None:
        titles = {name: page.open(encoding="utf-8").readline().lstrip("# ").strip() for name, page in pages.items()}
        show("\n".join(f"{name:<16} {title}" for name, title in titles.items()))
        return
    wanted = topic.removesuffix(".md").removeprefix("docs/").replace("-", "_")
    if wanted in pages:
        text = pages[wanted].read_text("utf-8")
        if sys.stdout.isatty():
            _show_styled(text)
        else:
            show(text)
        return
    above = click.get_current_context().find_root()
    commands = above.command
    assert isinstance(commands, click.Group)
    found = commands.get_command(above, topic)
    if found is None:
        raise unknown_name("topic", topic, (*pages, *commands.list_commands(above)))
    show(found.get_help(click.Context(found, above, info_name=topic)))


def _show_styled(text: str) -> None:
    """Print a page on a terminal, a screen at a time where it is longer."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
