"""Run the command line inside the test, as a user would from a shell."""

from __future__ import annotations

from dataclasses import dataclass

from click.testing import CliRunner

from gpugraph.cli.group import cli


@dataclass(frozen=True)
class Outcome:
    """What a command gave: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def run(*words: object) -> Outcome:
    """Run ``gpugraph WORDS...`` and return what it gave."""
    result = CliRunner().invoke(cli, [str(word) for word in words])
    return Outcome(result.exit_code, result.stdout, result.stderr)


def succeed(*words: object) -> Outcome:
    """Run a command that must succeed."""
    outcome = run(*words)
    assert outcome.code == 0, outcome.err
    return outcome


def refuse(code: int, *words: object) -> str:
    """Run a command that must exit with ``code``, and return the one line that says why."""
    outcome = run(*words)
    assert outcome.code == code, outcome
    assert "Traceback" not in outcome.err
    errors = [line for line in outcome.err.splitlines() if line.startswith("gpugraph: error: ")]
    assert len(errors) == 1, outcome.err
    return errors[0]
