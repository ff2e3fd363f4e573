"""Find what a pattern captures: ``python -I -S matching.py``, a process that can be killed when a match never ends.

Reads the JSON ``[pattern, text, most]`` and prints that of all that its one group has captured, cut to ``most``
characters each.
"""

import json
import re
import sys


def main() -> None:
    """Match once."""
    pattern, text, most = json.load(sys.stdin)
    found = re.compile(pattern, re.MULTILINE).finditer(text)
    json.dump([match[1][:most] for match in found if match[1] is not None], sys.stdout)


if __name__ == "__main__":
    main()
