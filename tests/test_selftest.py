"""tests/selftest.py on the CPU: the machinery, not the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_a_planted_slow_down_is_found_in_the_cell_that_was_held_up(tmp_path):
    words = ["--device", "cpu", "--graph", "path:500", "--tries", "1", "--samples", "20", "--planted", "30"]
    program = [sys.executable, str(ROOT / "tests" / "selftest.py"), *words, "--folder", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    verdicts = {line.split()[0]: line.split()[-1] for line in done.stdout.splitlines() if "path-500" in line}
    assert verdicts.keys() == {"boruvka", "delta-stepping"}
    assert verdicts["boruvka"] == "slower"
    assert "tries of 2 cells" in done.stdout
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {"run-00.jsonl", "run-01.jsonl", "planted.jsonl"}
