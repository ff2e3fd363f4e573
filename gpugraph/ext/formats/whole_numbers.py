"""Lines of any number of whole numbers, parsed by compiled code: METIS's lines of vertices, and lists of ids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.compiled import njit

_DIGITS = 19
_SPACE, _COMMA, _RETURN, _END, _MINUS, _PLUS, _ZERO = (ord(c) for c in " ,\r\n-+0")
_TAB, _FORM_FEED = ord("\t"), ord("\f")


def whole_numbers(block: bytes, comment: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return how many numbers each whole line has, and all numbers; comment lines are none.

    None where a field is no whole number of 64 bits with a sign, or a line ends in a lone carriage return.
    """
    text = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", np.uint8)
    lengths = np.zeros(int(np.count_nonzero(text == _END)), np.int64)
    numbers = np.empty(len(text) // 2 + 1, np.int64)
    lines, count = _scan(text, comment[0], lengths, numbers)
    return None if lines < 0 else (lengths[:lines], numbers[:count].copy())


@njit
def _scan(text: Any, comment: Any, lengths: Any, numbers: Any) -> Any:
    """Write down all lines; return how many there are, and how many numbers, or −1 and where it stopped."""
    i, stop, lines, count = 0, len(text), 0, 0
    while i < stop:
        first, is_comment = True, False
        begun = count
        while text[i] != _END:
            c = text[i]
            if c in (_SPACE, _COMMA) or _TAB <= c <= _FORM_FEED:
                i += 1
                continue
            if first and c == comment:
                is_comment = True
                while text[i] != _END:
                    i += 1
                break
            if c == _RETURN and text[i + 1] == _END:
                i += 1
                continue
            first = False
            negative = c == _MINUS
            i += negative or c == _PLUS
            while text[i] == _ZERO and _ZERO <= text[i + 1] <= _ZERO + 9:
                i += 1
            begin, value = i, np.int64(0)
            while _ZERO <= text[i] <= _ZERO + 9:
                value = value * 10 + (np.int64(text[i]) - _ZERO)
                i += 1
            c = text[i]
            is_over = c in (_SPACE, _COMMA, _RETURN) or _TAB <= c <= _FORM_FEED
            if i == begin or i - begin > _DIGITS or value < 0 or not is_over:  # of 19 digits some need the sign's bit
                return -1, i
            numbers[count] = -value if negative else value
            count += 1
        i += 1
        if not is_comment:
            lengths[lines] = count - begun
            lines += 1
    return lines, count
