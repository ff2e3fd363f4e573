"""Damage done to files, seeded: the same bytes and the same seed give the same damaged files, on every machine.

``mutants`` damages what it is given as it stands.  Checksums of an archive catch nearly all of that, so ``repacked``
unpacks, lets the damage be done inside and packs again: the checksums are right, and the reader itself is asked.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import re
import zipfile
from collections.abc import Callable, Iterator

Mutator = Callable[[bytes, random.Random], bytes]

_NUMBER = re.compile(rb"[+-]?\d+(\.\d+)?")
_WORD = re.compile(rb"[^\s,;:\"'{}\[\]]+")
_ODD_NUMBERS = (
    b"0 -0 -1 1 2147483648 4294967295 9223372036854775808 18446744073709551616 1e400 1e-400 nan inf -inf 1_0 0x1"
)
_ODD_BYTES = (
    b"\0",
    b"\n",
    b"\r",
    b'"',
    b",",
    b" ",
    b"%",
    b"#",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
)
_ODD_INTEGERS = (0, 1, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))


def mutants(data: bytes, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` damaged versions of ``data``, each with the names of what was done to it, none equal to it."""
    draw = random.Random(seed)
    for _ in range(count):
        while True:
            chosen = [draw.choice(MUTATORS) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
            mutant = data
            for mutator in chosen:
                mutant = mutator(mutant, draw)
            if mutant != data:
                break
        yield "+".join(mutator.__name__ for mutator in chosen), mutant


def repacked(data: bytes, damage: Mutator, draw: random.Random) -> bytes:
    """Return an archive or a compressed file with ``damage`` done to one thing inside and all checksums right.

    Args:
        data: a zip, or what gzip, bzip2 or xz packed; anything else is damaged as it is.
        damage: what to do to it.
        draw: chooses the member of a zip.
    """
    for start, unpack, pack in (
        (b"\x1f\x8b", gzip.decompress, gzip.compress),
        (b"BZh", bz2.decompress, bz2.compress),
        (b"\xfd7zXZ", lzma.decompress, lzma.compress),
    ):
        if data.startswith(start):
            return pack(repacked(unpack(data), damage, draw))
    if not data.startswith(b"PK\x03\x04"):
        return damage(data, draw)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = draw.randrange(len(members))
    name, content = members[at]
    if draw.random() < 0.1:
        members[at] = (damage(name.encode(), draw).decode("ascii", "replace").replace("\0", "_") or "_", content)
    else:
        members[at] = (name, damage(content, draw))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def inner_mutants(data: bytes, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` versions of a packed file that are damaged inside, see ``repacked``."""
    draw = random.Random(seed)
    for _ in range(count):
        mutator = draw.choice(MUTATORS)
        yield f"inner {mutator.__name__}", repacked(data, mutator, draw)


def _span(data: bytes, draw: random.Random) -> tuple[int, int]:
    """Return the bounds of a piece, most often a short one."""
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((1, 1, 2, 4, 8, 16, 64, 512)))


def flip_bit(data: bytes, draw: random.Random) -> bytes:
    """Turn one bit round."""
    at, bit = draw.randrange(len(data) or 1), 1 << draw.randrange(8)
    return data[:at] + bytes(byte ^ bit for byte in data[at : at + 1]) + data[at + 1 :]


def overwrite(data: bytes, draw: random.Random) -> bytes:
    """Put random bytes over a piece."""
    start, stop = _span(data, draw)
    return data[:start] + draw.randbytes(stop - start) + data[stop:]


def zero(data: bytes, draw: random.Random) -> bytes:
    """Put zeros over a piece, as a power cut leaves them."""
    start, stop = _span(data, draw)
    return data[:start] + bytes(stop - start) + data[stop:]


def cut_out(data: bytes, draw: random.Random) -> bytes:
    """Take a piece out."""
    start, stop = _span(data, draw)
    return data[:start] + data[stop:]


def cut_short(data: bytes, draw: random.Random) -> bytes:
    """Drop the end."""
    return data[: draw.randrange(len(data) + 1)]


def repeat(data: bytes, draw: random.Random) -> bytes:
    """Write a piece twice."""
    start, stop = _span(data, draw)
    return data[:stop] + data[start:]


def move(data: bytes, draw: random.Random) -> bytes:
    """Move a piece elsewhere."""
    start, stop = _span(data, draw)
    piece, rest = data[start:stop], data[:start] + data[stop:]
    at = draw.randrange(len(rest) + 1)
    return rest[:at] + piece + rest[at:]


def insert(data: bytes, draw: random.Random) -> bytes:
    """Put in a byte, or a few, that mean something to some reader."""
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_ODD_BYTES) * draw.choice((1, 1, 2, 9)) + data[at:]


def append(data: bytes, draw: random.Random) -> bytes:
    """Put something behind the end."""
    return data + draw.choice((b"\0", b"\n", b"x", data[:50], draw.randbytes(20)))


def odd_number(data: bytes, draw: random.Random) -> bytes:
    """Replace a number of a text by one at a limit of its type, or by none."""
    return _replaced(data, _NUMBER, draw.choice(_ODD_NUMBERS.split()), draw)


def near_number(data: bytes, draw: random.Random) -> bytes:
    """Replace a number of a text by a neighbour."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    match = draw.choice(found)
    near = str(int(match[0].split(b".")[0]) + draw.choice((-1, 1))).encode()
    return data[: match.start()] + near + data[match.end() :]


def other_word(data: bytes, draw: random.Random) -> bytes:
    """Replace a word of a text by another of its words."""
    words = _WORD.findall(data)
    return _replaced(data, _WORD, draw.choice(words), draw) if words else data


def other_case(data: bytes, draw: random.Random) -> bytes:
    """Write a word in the other case."""
    found = list(_WORD.finditer(data))
    if not found:
        return data
    match = draw.choice(found)
    return data[: match.start()] + match[0].swapcase() + data[match.end() :]


def odd_integer(data: bytes, draw: random.Random) -> bytes:
    """Put a limit of its type in the place of a binary integer."""
    size = draw.choice((4, 8))
    at = draw.randrange(max(len(data) // size, 1)) * size
    value = draw.choice(_ODD_INTEGERS) % 2 ** (8 * size)
    return data[:at] + value.to_bytes(size, draw.choice(("little", "little", "big"))) + data[at + size :]


def lose_line(data: bytes, draw: random.Random) -> bytes:
    """Take a line out."""
    return _with_lines(data, lambda lines: lines.pop(draw.randrange(len(lines))))


def repeat_line(data: bytes, draw: random.Random) -> bytes:
    """Write a line once more, anywhere."""
    return _with_lines(data, lambda lines: lines.insert(draw.randrange(len(lines)), draw.choice(lines)))


def swap_lines(data: bytes, draw: random.Random) -> bytes:
    """Let two lines change places."""

    def swap(lines: list[bytes]) -> None:
        a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]

    return _with_lines(data, swap)


def _replaced(data: bytes, pattern: re.Pattern[bytes], by: bytes, draw: random.Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = draw.choice(found)
    return data[: match.start()] + by + data[match.end() :]


def _with_lines(data: bytes, change: Callable[[list[bytes]], object]) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        change(lines)
    return b"".join(lines)


MUTATORS: tuple[Mutator, ...] = (
    flip_bit,
    overwrite,
    zero,
    cut_out,
    cut_short,
    repeat,
    move,
    insert,
    append,
    odd_number,
    near_number,
    other_word,
    other_case,
    odd_integer,
    lose_line,
    repeat_line,
    swap_lines,
)
