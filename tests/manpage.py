"""``python -m tests.manpage`` writes ``docs/gpugraph.1``, which a wheel installs: the help of all commands."""

from __future__ import annotations

from pathlib import Path

import click

from gpugraph import __version__
from gpugraph.cli.group import COMMANDS, cli
from gpugraph.cli.options import ALL

PAGE = Path(__file__).parents[1] / "docs" / "gpugraph.1"


def text() -> str:
    """Return the manual, in troff."""
    above = click.Context(cli, info_name="gpugraph", terminal_width=76, help_option_names=["-h", "--help"])
    lines = [f'.TH GPUGRAPH 1 "" "gpugraph {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"gpugraph \- benchmark minimum spanning trees and shortest paths on GPUs", ".SH DESCRIPTION"]
    lines += _verbatim(cli.get_help(above))
    for name in COMMANDS:
        command = cli.get_command(above, name)
        assert command is not None
        context = click.Context(command, above, info_name=name)
        context.meta[ALL] = True
        lines += [f".SH {name.upper()}", *_verbatim(command.get_help(context))]
    lines += [
        ".SH EXIT STATUS",
        "0 fine, 1 verification failed, 2 bad input or usage, 3 device unavailable or out of memory,",
    ]
    lines += ["4 regression or unmet expectation, 70 a defect of gpugraph, 130 interrupted."]
    return "\n".join(lines) + "\n"


def _verbatim(text: str) -> list[str]:
    plain = text.replace("\\", r"\e").replace("-", r"\-").splitlines()
    return [".nf", *(rf"\&{line}" if line.startswith((".", "'")) else line for line in plain), ".fi"]


if __name__ == "__main__":
    PAGE.write_text(text(), "utf-8")
