"""Lines and fields of a text: normalised, peeked at, skipped and counted, whole blocks at a time if possible."""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from gpugraph.base.quantities import counted
from gpugraph.graph.input_file import Block, Source

_TO_SPACE = bytes.maketrans(b"\t,\v\f", b"    ")
_GAPS = b" \t,\v\f\r"
_MARKS = ((b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
"""Marks of byte order on top of a text."""
INTEGER = re.compile(rb"[+-]?\d+\Z")
_MOST_FIELDS = 32
"""No header and no line of a vertex pair has more; of a longer line nobody needs the rest."""


def tidy(block: bytes, comments: bytes) -> bytes:
    """Return the lines with one space between fields, none around them, and without comment lines."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
    if any(byte in block for byte in (b"\t", b",", b"\v", b"\f")):
        block = block.translate(_TO_SPACE)
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    if b" \n" in block:
        block = block.replace(b" \n", b"\n")
    if b"\n " in block:
        block = block.replace(b"\n ", b"\n")
    block = block.strip(b" ")
    if not block or not any(comments[i : i + 1] in block for i in range(len(comments))):
        return block
    letters = np.frombuffer(block, np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(letters[:-1] == ord("\n")) + 1])
    spoken = ~np.isin(letters[starts], np.frombuffer(comments, np.uint8))
    return letters[np.repeat(spoken, np.diff(starts, append=len(letters)))].tobytes()


def wide_encoding(head: bytes) -> str:
    """Return the encoding of a text of two or four bytes a letter, as Windows writes it, or ""; XML says its own."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return "" if head[len(mark) :].replace(b"\0", b"").startswith(b"<") else name
    pairs = head[: min(len(head), 64) // 2 * 2]
    for zeros, letters, name in ((pairs[1::2], pairs[::2], "UTF-16LE"), (pairs[::2], pairs[1::2], "UTF-16BE")):
        if len(letters) > 2 and not any(zeros) and all(32 <= x < 127 or x in b"\t\n\r" for x in letters):
            return "" if letters.startswith(b"<") else name
    return ""


def integer(word: bytes, what: str) -> int:
    """Return the integer that ``word`` spells.  Raises ValueError if it spells none, or one of more than 20 digits."""
    if not INTEGER.match(word):
        raise ValueError(f"the {what} {shown(word)} is not an integer")
    digits = word.lstrip(b"+-").lstrip(b"0") or b"0"
    if len(digits) > 20:
        raise ValueError(f"the {what} {shown(word)} needs more than 64 bits")
    return -int(digits) if word[:1] == b"-" else int(digits)


def shown(word: bytes) -> str:
    """Return a field as an error message shows it."""
    text = word[:32].decode("utf-8", "replace") + ("…" if len(word) > 32 else "")
    return repr(text)


def words_of(line: bytes) -> list[bytes]:
    """Return the fields of a line, what is left behind the first ``_MOST_FIELDS`` as one.

    A carriage return inside a line is the whole line end of some old files: it stays part of a field, since lines
    would else run into each other.
    """
    return line.rstrip(b"\r").translate(_TO_SPACE).replace(b"\r", "↵".encode()).split(None, _MOST_FIELDS)


def count_of(fields: list[bytes]) -> str:
    """Return how many fields a line has, for a message."""
    return counted(len(fields), "field") if len(fields) <= _MOST_FIELDS else f"more than {_MOST_FIELDS} fields"


def data_lines(blocks: Iterable[Block], comments: bytes, *, blank: bool = False) -> Iterator[Block]:
    """Yield the number and the text of every line that is no comment, blank ones only if asked for."""
    for first, block in blocks:
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, first):
            bare = line.lstrip(_GAPS)
            if bare[:1] in comments and bare:
                continue
            if bare or blank:
                yield number, line


def peek(blocks: Iterator[Block], comments: bytes, lines: int) -> list[tuple[int, list[bytes]]]:
    """Return (number, fields) of the first ``lines`` lines that are no comment."""
    # The first letter of a line that is neither a gap nor the beginning of a comment.
    begins = re.compile(rb"(?m)^[ \t\v\f\r,]*([^ \t\v\f\r,\n" + re.escape(comments) + rb"])")
    found: list[tuple[int, list[bytes]]] = []
    for first, block in blocks:
        number, at = first, 0
        while len(found) < lines and not (at == 0 and block.isspace()) and (match := begins.search(block, at)):
            number += block.count(b"\n", at, match.start(1))
            end = block.find(b"\n", match.start(1)) + 1 or len(block)
            found.append((number, words_of(block[match.start(1) : end].rstrip(b"\n"))))
            number, at = number + 1, end
        if len(found) == lines:
            break
    return found


def after(blocks: Iterator[Block], line: int) -> Iterator[Block]:
    """Yield the blocks without the lines up to and including number ``line``."""
    for first, block in blocks:
        if first > line:
            yield first, block
        elif first + block.count(b"\n") - block.endswith(b"\n") > line:
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
            yield line + 1, block[int(ends[line - first]) + 1 :]


def header_count(source: Source, word: bytes, what: str, line: int) -> int:
    """Return a count out of a header.  Raises GraphFormatError if it is no integer, or negative."""
    try:
        value = integer(word, what)
    except ValueError as error:
        raise source.error(str(error), "mend the header", line) from None
    if value < 0:
        raise source.error(f"a negative {what}: {value}", "mend the header", line)
    return value
