"""Find what patterns capture: ``python -I -S matching.py``, a process that can be killed when a match never ends.

Reads the JSON ``[patterns, text, most]``.  For each pattern it prints a line, the JSON of all that its one group has
captured, cut to ``most`` characters each.
"""

import json
import re
import sys


def main() -> None:
    """Match each pattern once."""
    patterns, text, most = json.load(sys.stdin)
    for pattern in patterns:
        found = re.compile(pattern, re.MULTILINE).finditer(text)
        print(json.dumps([match[1][:most] for match in found if match[1] is not None]), flush=True)


if __name__ == "__main__":
    main()
