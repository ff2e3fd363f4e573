"""Read from a cubin how many bytes each parameter of a kernel takes.

CUDA takes arguments by address and never learns their width, so that a scalar of the wrong type is silent
garbage; the cubin knows better.  It is a 64-bit little-endian ELF file whose section ``.nv.info.<kernel>`` is
a list of attributes, one for each parameter; where it says nothing that we know, nothing is claimed.
"""

from __future__ import annotations

import struct

_PARAMETER = 0x17  # u32 index, u16 ordinal, u16 offset, u32 flags with the size in the bits from 18
_CONSTANT_BANK = 0x0A  # u32 symbol, u16 offset, u16 bytes of all parameters
_SIZED = 4  # the attribute's 16-bit field is the length of what follows
_PREFIX = ".nv.info."


def parameter_sizes(cubin: bytes) -> dict[str, tuple[int, ...] | None]:
    """Return the sizes in bytes of every kernel's parameters; None for a kernel of which they are not told."""
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
