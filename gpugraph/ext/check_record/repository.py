"""What a checkout knows of a record, where gpugraph runs from one: its commits, and the published records."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file

ROOT = Path(__file__).resolve().parents[3]


@cache
def _git(*words: str) -> str | None:
    """Return what ``git`` prints about the checkout, None where it fails or there is no checkout."""
    if not (ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def knows_commits() -> bool:
    """Tell whether the whole history is at hand."""
    return _git("rev-parse", "--is-shallow-repository") == "false"


def commit_time(commit: str) -> float | None:
    """Return when a commit was made, in seconds since 1970; None of a commit that the repository does not have."""
    seconds = _git("show", "--no-patch", "--format=%ct", f"{commit}^{{commit}}")
    return float(seconds) if seconds else None


def published(besides: Sequence[str]) -> list[Record]:
    """Return the records of ``docs/records``, except those of files that are checked themselves."""
    files = set((ROOT / "docs" / "records").glob("*")) - {Path(name).resolve() for name in besides}
    return [record for file in sorted(files) for record in _records(file)]


@cache
def _records(file: Path) -> list[Record]:
    return read_record_file(file, strict=False).records


@cache
def known_programs(algorithm: str) -> dict[str | None, str]:
    """Return by SHA-256 the versions of the programs with which a peer's published records were measured."""
    records = (record for record in published(()) if record.algorithm == algorithm)
    return {one.sha256: one.version for record in records for one in record.shape.provenance.programs if one.version}
