"""What the ranks of ``test_command_line.py`` run: command lines, one after the other, for a start costs more than most.

Rank 0 says how each ended, as a list in JSON.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from gpugraph.ext.ranks.world import enter, world
from tests.cli.runner import run

if __name__ == "__main__":
    enter()
    comm = world()
    ended = [asdict(run(*words)) for words in json.loads(sys.argv[1])]
    if comm is not None and comm.rank == 0:
        print(json.dumps(ended))
