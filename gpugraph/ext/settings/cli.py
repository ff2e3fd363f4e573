"""``gpugraph config`` and ``completion``: what suits the program to its user."""

import json
import os

import click

from gpugraph.base.errors import check_name
from gpugraph.cli.options import VARIABLE, command, defaults, table_or_json, users_file
from gpugraph.cli.output import show, show_json, tell
from gpugraph.ext.settings.completion import SHELLS


@command
@click.option("--path", is_flag=True, help="Print the path of the file with your own defaults, and end.")
@table_or_json
def config(path: bool, style: str, quiet: bool) -> None:
    """Show the defaults, and which file each comes from.

    Put your own into ~/.config/gpugraph/config.toml, and list only those that you change: a table [measure] with
    repeat = 20, for instance. $GPUGRAPH_CONFIG names another file.

    Example:
      gpugraph config
    """
    own, found = users_file(), defaults()
    if path:
        show("none" if own is None else str(own))
        return
    values = {name: getattr(found, name.split(".")[1]) for name in found.origins}
    if style == "json":
        settings = {name: {"value": value, "origin": found.origins[name]} for name, value in values.items()}
        show_json(settings)
        return
    show("\n".join(f"{name:<16} {json.dumps(value):<12} {found.origins[name]}" for name, value in values.items()))
    if own is not None and not own.exists():
        tell([f"your own defaults may stand in {own}"], quiet=quiet)


@command
@click.argument("shell", metavar="|".join(SHELLS), required=False)
def completion(shell: str | None, quiet: bool) -> None:
    """Print a script for completion in a shell, by default that of $SHELL: commands, options, algorithms and files.

    For bash, add to ~/.bashrc: source <(gpugraph completion bash)

    Example:
      gpugraph completion bash
    """
    from click.shell_completion import get_completion_class

    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    check_name("shell", shell, SHELLS)
    made = get_completion_class(shell)
    assert made is not None
    writer = made(click.get_current_context().find_root().command, {}, "gpugraph", VARIABLE)
    show(writer.source_template % writer.source_vars())  # source() would ask the bash at hand for its version
