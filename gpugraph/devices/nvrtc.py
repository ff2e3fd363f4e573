"""NVRTC through CuPy or cuda-bindings: version, architectures, compilation; and the parameters that a cubin lists."""

import importlib
import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

from gpugraph.base.errors import DeviceUnavailable

INSTALL = "pip install 'gpugraph[cuda13]' (CUDA 12 and Volta: 'gpugraph[cuda12]')"


@dataclass(frozen=True)
class Compilation:
    """What NVRTC gave back: machine code, empty where it failed, diagnostics, and how it ended.

    That is ``"ok"``, ``"invalid option"`` or ``"failed"``.
    """

    cubin: bytes
    log: str
    status: str


_STATUS = {0: "ok", 5: "invalid option"}


class _CupyCompiler:
    """NVRTC as CuPy has it; of its ``architectures`` 90 is sm_90, and ``compile`` makes a cubin of a text."""

    def __init__(self) -> None:
        self._nvrtc: Any = importlib.import_module("cupy.cuda").nvrtc
        self.version: tuple[int, int] = tuple(self._nvrtc.getVersion())
        self.architectures: tuple[int, ...] = tuple(self._nvrtc.getSupportedArchs())

    def compile(self, text: str, name: str, options: tuple[str, ...]) -> Compilation:
        program = self._nvrtc.createProgram(text, name, (), ())
        status = 0
        try:
            try:
                self._nvrtc.compileProgram(program, options)
            except self._nvrtc.NVRTCError as error:
                status = error.status
            log = self._nvrtc.getProgramLog(program)
            cubin = bytes(self._nvrtc.getCUBIN(program)) if status == 0 else b""
        finally:
            self._nvrtc.destroyProgram(program)
        return Compilation(cubin, log.strip("\0 \n"), _STATUS.get(status, "failed"))


class _BindingsCompiler:
    """The same as cuda-bindings has it."""

    def __init__(self) -> None:
        self._nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
        major, minor = self._call("nvrtcVersion")
        self.version: tuple[int, int] = (major, minor)
        self.architectures: tuple[int, ...] = tuple(self._call("nvrtcGetSupportedArchs")[0])

    def _call(self, function: str, *args: Any) -> tuple[Any, ...]:
        status, *values = getattr(self._nvrtc, function)(*args)
        if int(status) != 0:
            raise RuntimeError(f"{function} returned {status.name}")
        return tuple(values)

    def compile(self, text: str, name: str, options: tuple[str, ...]) -> Compilation:
        encoded = [option.encode() for option in options]
        (program,) = self._call("nvrtcCreateProgram", text.encode(), name.encode(), 0, [], [])
        try:
            (status,) = self._nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
            log = self._bytes(program, "ProgramLog").decode(errors="replace")
            cubin = self._bytes(program, "CUBIN") if int(status) == 0 else b""
        finally:
            self._call("nvrtcDestroyProgram", program)
        return Compilation(cubin, log.strip("\0 \n"), _STATUS.get(int(status), "failed"))

    def _bytes(self, program: Any, what: str) -> bytes:
        size = int(self._call(f"nvrtcGet{what}Size", program)[0])
        buffer = b" " * size  # the binding writes into the bytes object itself
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer


@cache
def compiler() -> _CupyCompiler | _BindingsCompiler:
    """Return the CUDA run-time compiler.  Raises DeviceUnavailable if it is not installed, or cannot be loaded."""
    reasons = []
    for kind in (_CupyCompiler, _BindingsCompiler):
        try:
            return kind()
        except ImportError:
            continue
        except Exception as error:  # each wheel has its own way of saying that libnvrtc is not there
            lines = str(error).strip().splitlines()
            reasons.append(lines[0] if lines else type(error).__name__)
    detail = f": {reasons[0]}" if reasons else ""
    raise DeviceUnavailable(f"the CUDA compiler NVRTC is missing{detail}", remedy=INSTALL)


# ------------------------------------------------------------------ cubins
# How many bytes each parameter of a kernel takes.
# CUDA takes arguments by address and never learns their width, so that a scalar of the wrong type is silent
# garbage; the cubin knows better.  It is a 64-bit little-endian ELF file whose section ``.nv.info.<kernel>`` is
# a list of attributes, one for each parameter; where it says nothing that we know, nothing is claimed.

_PARAMETER = 0x17  # u32 index, u16 ordinal, u16 offset, u32 flags with the size in the bits from 18
_CONSTANT_BANK = 0x0A  # u32 symbol, u16 offset, u16 bytes of all parameters
_SIZED = 4  # the attribute's 16-bit field is the length of what follows
_PREFIX = ".nv.info."


def parameter_sizes(cubin: bytes) -> dict[str, tuple[int, ...] | None]:
    """Return the sizes in bytes of every kernel's parameters; None for a kernel of which they are unknown."""
    try:
        return {name: _sizes(section) for name, section in _info_sections(cubin).items()}
    except (struct.error, ValueError, IndexError, UnicodeDecodeError):
        return {}


def _info_sections(cubin: bytes) -> dict[str, bytes]:
    """Return the attribute list of each kernel."""
    if cubin[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", cubin, 40)
    stride, count, names_index = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + i * stride) for i in range(count)]
    names = headers[names_index][4]
    sections = {}
    for header in headers:
        start = names + header[0]
        name = cubin[start : cubin.index(b"\0", start)].decode()
        if name.startswith(_PREFIX):
            sections[name.removeprefix(_PREFIX)] = cubin[header[4] : header[4] + header[5]]
    return sections


def _sizes(section: bytes) -> tuple[int, ...] | None:
    found: dict[int, int] = {}
    total = 0
    at = 0
    while at < len(section):
        form, attribute, value = struct.unpack_from("<BBH", section, at)
        at += 4
        if form != _SIZED:
            continue
        if attribute == _PARAMETER:
            _, ordinal, _, flags = struct.unpack_from("<IHHI", section, at)
            found[ordinal] = flags >> 18
        elif attribute == _CONSTANT_BANK:
            total = struct.unpack_from("<IHH", section, at)[2]
        at += value
    if sorted(found) != list(range(len(found))) or (total and not found):
        return None
    return tuple(found[i] for i in range(len(found)))
