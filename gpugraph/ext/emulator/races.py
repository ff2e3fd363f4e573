"""Data races as the detector of the emulated device finds them, by source line, and the list of those allowed.

A race is allowed where the kernel says why it is benign, in a comment ``race-allowed: <reason>`` on the line of one of
its two accesses, on a line of its own directly above, or on the line that calls the helper that makes the access.
"""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpugraph.devices.kernel_source import Source
from gpugraph.ext.emulator.toolchain import KERNEL_LIST, SHIM

# Find the source line of a place in compiled code, through the debug information and ``addr2line``.

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
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        answers: dict[int, tuple[Frame, ...]] = {}
        lines = iter(output.splitlines())
        offset = -1
        for text in lines:
            if text.startswith("0x"):
                offset = int(text, 16)
                continue
            file, _, number = next(lines, "??:0").split(" (")[0].rpartition(":")
            # Two installations may share what is in the cache: the shim is known by the end of its path.
            of_shim = Path(file).parent.parts[-2:] == SHIM.parts[-2:]
            if not number.isdigit() or number == "0" or of_shim or file.endswith(KERNEL_LIST):
                continue
            answers[offset] = (*answers.get(offset, ()), Frame(file, int(number), text.split("(")[0]))
        return answers


_ALLOWED = re.compile(r"(?://|/\*).*?\brace-allowed:\s*(.*?)\s*(?:\*/)?\s*$")
_LINE_DIRECTIVE = re.compile(r'\s*#\s*line\s+(\d+)\s+"((?:\\.|[^"\\])*)"')
_WRITES, _ATOMIC = 1, 2
_EXCERPT = 120
"""Letters of a line that are shown."""


@dataclass(frozen=True)
class Access:
    """One side of a race: by whom, and of which kind, ``"read"``, ``"write"``, ``"atomic"``, or a volatile one.

    The frames are its place, and the calls that were inlined to get there, innermost first.
    """

    kind: str
    frames: tuple[Frame, ...]
    block: int
    thread: int

    def __str__(self) -> str:
        inner, outer = self.frames[0], self.frames[-1]
        called = f" (called at {outer})" if (inner.file, inner.line) != (outer.file, outer.line) else ""
        return f"{self.kind} at {inner}{called} by block {self.block} thread {self.thread}"


@dataclass(frozen=True)
class Race:
    """Two accesses to the same memory that nothing orders, at least one a plain access and at least one a write.

    Attributes:
        memory: ``"shared"`` or ``"global"``.
        allowed: the reason that the kernel gives for it, or None.
        array: the kernel's parameter whose array it is, or None.
        excerpt: lines that show the two lines of the source.
    """

    kernel: str
    first: Access
    second: Access
    memory: str
    allowed: str | None
    array: str | None = None
    excerpt: tuple[str, ...] = ()

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """The two source lines."""
        return frozenset((access.frames[0].file, access.frames[0].line) for access in (self.first, self.second))

    @property
    def excuse(self) -> str:
        """Where it is, and the reason that allows it."""
        places = " and ".join(dict.fromkeys(str(access.frames[0]) for access in (self.first, self.second)))
        return f"excused in {self.kernel}, {places}: {self.allowed}"

    def __str__(self) -> str:
        array = f"'{self.array}', " if self.array else ""
        return f"{self.kernel}: {self.second} races with {self.first}, {array}{self.memory} memory"


class RaceRecord(ctypes.Structure):
    """A race as the runtime records it; the meaning is in ``shim/races.h``."""

    _fields_ = (
        ("first_pc", ctypes.c_uint64),
        ("second_pc", ctypes.c_uint64),
        ("first_kind", ctypes.c_uint32),
        ("second_kind", ctypes.c_uint32),
        ("shared", ctypes.c_uint32),
        ("first_thread", ctypes.c_uint32 * 2),
        ("second_thread", ctypes.c_uint32 * 2),
        ("argument", ctypes.c_int32),
    )


def describe_races(kernel: str, source: Source, symbols: Symbols, records: Iterable[RaceRecord]) -> list[Race]:
    """Return the races that the runtime recorded, by source line."""
    records = list(records)
    places = symbols.frames(pc for record in records for pc in (record.first_pc, record.second_pc))
    reasons = allowed_lines(source.text)
    races = []
    for record in records:
        first = _access(record.first_kind, places[record.first_pc], record.first_thread)
        second = _access(record.second_kind, places[record.second_pc], record.second_thread)
        reason = next((r for a in (first, second) for f in a.frames if (r := _reason(f, reasons))), None)
        array = parameter_name(source, kernel, record.argument)
        shown = {str(frame): frame for frame in (second.frames[0], first.frames[0])}.values()
        excerpt = tuple(line for frame in shown for line in _excerpt(source, frame.file, frame.line, array))
        races.append(Race(kernel, first, second, "shared" if record.shared else "global", reason, array, excerpt))
    return races


def _access(kind: int, frames: tuple[Frame, ...], thread: Sequence[int]) -> Access:
    if kind & _ATOMIC:
        name = "atomic" if kind & 4 else "volatile write" if kind & _WRITES else "volatile read"
    else:
        name = "write" if kind & _WRITES else "read"
    return Access(name, frames, int(thread[0]), int(thread[1]))


def _reason(frame: Frame, reasons: dict[tuple[str, int], str]) -> str | None:
    for (name, line), reason in reasons.items():
        if line == frame.line and (frame.file == name or frame.file.endswith("/" + name)):
            return reason
    return None


def allowed_lines(text: str) -> dict[tuple[str, int], str]:
    """Return (file, line) to reason for each ``race-allowed`` comment in a flattened source that gives a reason."""
    allowed: dict[tuple[str, int], str] = {}
    carried = ""
    for name, number, line in _numbered(text):
        match = _ALLOWED.search(line)
        alone = match is not None and not line[: match.start()].strip()
        reason = match[1] if match else ""
        if reason or carried:
            allowed[name, number] = reason or carried
        carried = (reason or carried) if alone or (carried and line.strip().startswith("//")) else ""
    return allowed


def _numbered(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield file, number and text of every line of a flattened source."""
    name, number = "", 0
    for line in text.splitlines():
        if directive := _LINE_DIRECTIVE.match(line):
            name, number = directive[2], int(directive[1]) - 1
        else:
            number += 1
            yield name, number, line


def with_source(report: str, source: Source, kernel: str) -> tuple[str, tuple[str, ...]]:
    """Return a report with the names of parameters for their numbers, and lines that show the place it names first."""
    array = None
    if match := re.search(r"argument (\d+)(?=, an array)", report):
        array = parameter_name(source, kernel, int(match[1]))
        if array is not None:
            report = f"{report[: match.start()]}'{array}'{report[match.end() :]}"
    place = re.search(r"([^\s(]+):(\d+)\b", report)
    return report, _excerpt(source, place[1], int(place[2]), array) if place else ()


def parameter_name(source: Source, kernel: str, number: int) -> str | None:
    """Return the name of a kernel's parameter, or None where the source does not show it, a macro's for instance."""
    head = re.search(rf"\b{re.escape(kernel.partition('<')[0])}\s*\(", source.code)
    if head is None or number < 0:
        return None
    names, depth, piece = [], 1, ""
    for letter in source.code[head.end() :]:
        depth += (letter in "(<[") - (letter in ")>]")
        if depth == 0 or (depth == 1 and letter == ","):
            names.append(next(iter(re.findall(r"[A-Za-z_]\w*", piece.partition("[")[0])[::-1]), None))
            piece = ""
            if depth == 0:
                break
        else:
            piece += letter
    return names[number] if number < len(names) else None


def _excerpt(source: Source, file: str, number: int, array: str | None) -> tuple[str, ...]:
    """Return a line of the source, and below it a ^ at the array's name, or at its beginning."""
    for name, at, line in _numbered(source.text):
        if at == number and Path(name).name == Path(file).name and line.strip():
            place, text = f"{Path(name).name}:{number} | ", line.strip().expandtabs()[:_EXCERPT]
            found = re.search(rf"\b{array}\b", text) if array else None
            return f"  {place}{text}", f"  {' ' * (len(place) - 2)}| {' ' * (found.start() if found else 0)}^"
    return ()


def unexplained(races: Iterable[Race]) -> list[Race]:
    """Return the races that no comment allows, one per pair of lines."""
    found: dict[tuple[str, frozenset[tuple[str, int]]], Race] = {}
    for race in races:
        if race.allowed is None:
            found.setdefault((race.kernel, race.lines), race)
    return list(found.values())
