"""Find what patterns capture: ``python -I -S matching.py``, a process that can be killed when a match never ends.

Reads the JSON ``[patterns, text, most, many]``.  For each pattern it prints a line of JSON: a list of the first
``many`` that its one group has captured, cut to ``most`` characters each, and the first number of which one is a part.
"""

import json
import re
import signal
import sys
from itertools import islice

_LONGEST_S = 60
"""Seconds after which it ends by itself, should whoever started it have been killed."""

_BEFORE = re.compile(r"[0-9.]*[0-9]\.?\Z")
_BEHIND = re.compile(r"[0-9][0-9.eE+-]*|\.[0-9]*[1-9][0-9eE+-]*|(?:\.[0-9]*)?[eE][+-]?[0-9]+")


def whole_number(match: "re.Match[str]") -> str:
    """Return the number of which a group has captured a part, such as ``1.5e-05`` of ``1.5``; nothing of a whole."""
    text, (start, end) = match.string, match.span(1)
    before, behind = text[max(0, start - 30) : start], text[end : end + 30]
    begin = re.match(r"[0-9.]", match[1]) and _BEFORE.search(before)
    rest = re.search(r"[0-9.]\Z", match[1]) and _BEHIND.match(behind)
    return (begin[0] if begin else "") + match[1] + (rest[0] if rest else "") if begin or rest else ""


def main() -> None:
    """Match each pattern once."""
    signal.alarm(_LONGEST_S)  # no handler of Python's would be called within a match
    patterns, text, most, many = json.load(sys.stdin)
    for pattern in patterns:
        found, part = [], ""
        matches = (match for match in re.compile(pattern, re.MULTILINE).finditer(text) if match[1] is not None)
        for match in islice(matches, many):
            found.append(match[1][:most])
            part = part or whole_number(match)[:most]
        print(json.dumps([found, part]), flush=True)


if __name__ == "__main__":
    main()
