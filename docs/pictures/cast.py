"""Draw what commands print in a terminal: python docs/pictures/cast.py FILE.svg "gpugraph mst rmat:16" ...

The commands run one after the other, in an empty folder and in a pseudo-terminal, and rich draws what they print on
standard output, colours and all. The drawing asks for no font from the network.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import struct
import sys
import tempfile
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

COLUMNS = 80
FORM = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""rich's form of a drawing without the fonts that a browser would have to fetch."""


def printed(command: list[str], folder: str) -> str:
    """Return what a command writes to a terminal of so many columns; what it says of its progress is left out."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        os.execvp(command[0], command)
    ioctl(screen, TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    written = b""
    try:
        while part := os.read(screen, 1 << 16):
            written += part
    except OSError:  # the terminal closes when the command ends
        pass
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, 1):
        raise SystemExit(f"{shlex.join(command)} ended with {code}")
    return written.decode().replace("\r\n", "\n").strip("\n")


def main(path: str, *commands: str) -> None:
    """Write the drawing of some commands."""
    with open(os.devnull, "w") as nowhere, tempfile.TemporaryDirectory() as folder:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        for i, command in enumerate(commands):
            words = shlex.split(command)
            run = [sys.executable, "-m", "gpugraph", *words[1:]] if words[0] == "gpugraph" else words
            console.print(Text.assemble(*(["\n"] if i else []), ("$ ", "bold green"), (command, "bold")))
            console.print(Text.from_ansi(printed(run, folder)))
        drawing = console.export_svg(title="gpugraph", code_format=FORM, unique_id="terminal")
    Path(path).write_text(drawing + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
