"""``gpugraph config``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, defaults, table_or_json, users_file


@command
@click.option("--path", is_flag=True, help="Print where your own defaults stand, and end.")
@table_or_json
def config(path: bool, style: str, quiet: bool) -> None:
    """Show the defaults, and which file each comes from.

    Your own stand in a TOML file, by default ~/.config/gpugraph/config.toml, of which only what differs is needed:
    a table [measure] with repeat = 20, for instance. $GPUGRAPH_CONFIG names another file.

    Example:
      gpugraph config
    """
    import json

    from gpugraph.cli.output import show, tell

    own, found = users_file(), defaults()
    if path:
        show("none" if own is None else str(own))
        return
    values = {name: getattr(found, name.split(".")[1]) for name in found.origins}
    if style == "json":
        told = {name: {"value": value, "origin": found.origins[name]} for name, value in values.items()}
        show(json.dumps(told, ensure_ascii=False))
        return
    show("\n".join(f"{name:<16} {json.dumps(value):<12} {found.origins[name]}" for name, value in values.items()))
    if own is not None and not own.exists():
        tell([f"your own defaults may stand in {own}"], quiet=quiet)
