"""Print one of the two set-up commands of the README, so that CI runs what the README tells users to run."""

import re
import sys
from pathlib import Path

readme = Path(__file__).resolve().parent.parent / "README.md"
blocks = re.findall(r"<!-- set-up: (\w+) -->\s*```(?:sh|bash)\n(.*?)```", readme.read_text(), re.DOTALL)
print(dict(blocks)[sys.argv[1]])
