"""Find the source line of a place in compiled code, through the debug information and ``addr2line``."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpugraph.emulator.toolchain import SHIM
from gpugraph.emulator.translation import KERNEL_LIST

_MARK = re.compile(r" @(\d+)@")


@dataclass(frozen=True)
class Frame:
    """A source line: ``function`` at ``file``:``line``."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


UNKNOWN = (Frame("?", 0, "?"),)


class Symbols:
    """The line table of one shared object."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._known: dict[int, tuple[Frame, ...]] = {}

    def frames(self, offsets: Iterable[int]) -> dict[int, tuple[Frame, ...]]:
        """Return for each offset its line and the lines it was inlined into, innermost first, the shim's left out.

        Without ``addr2line`` a place is ``?:0``.
        """
        wanted = list(dict.fromkeys(offsets))
        missing = [offset for offset in wanted if offset not in self._known]
        if missing:
            self._known.update(dict.fromkeys(missing, UNKNOWN))
            self._known.update(self._ask(missing))
        return {offset: self._known[offset] for offset in wanted}

    def replace_marks(self, report: str) -> str:
        """Replace the ``@offset@`` marks of the runtime by `` at file:line``."""

        def name(match: re.Match[str]) -> str:
            frame = self.frames([int(match[1])])[int(match[1])][0]
            return f" at {frame}" if frame.line else ""

        return _MARK.sub(name, report)

    def _ask(self, offsets: list[int]) -> dict[int, tuple[Frame, ...]]:
        tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
        if tool is None:
            return {}
        command = [tool, "-e", str(self._library), "-f", "-i", "-C", "-a", *(hex(offset) for offset in offsets)]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        answers: dict[int, tuple[Frame, ...]] = {}
        lines = iter(told.splitlines())
        offset = -1
        for text in lines:
            if text.startswith("0x"):
                offset = int(text, 16)
                continue
            file, _, number = next(lines, "??:0").split(" (")[0].rpartition(":")
            if not number.isdigit() or number == "0" or Path(file).parent == SHIM or file.endswith(KERNEL_LIST):
                continue
            answers[offset] = (*answers.get(offset, ()), Frame(file, int(number), text.split("(")[0]))
        return answers
