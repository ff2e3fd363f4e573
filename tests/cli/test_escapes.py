"""What a file, an option, a server, a peer or a plug-in says is printed, and no terminal obeys it."""

from __future__ import annotations

import ast
import json
import sys
import warnings
from pathlib import Path

import pytest

import gpugraph
from gpugraph.base.errors import GpuGraphWarning, InputError, printable
from gpugraph.cli.group import guard
from gpugraph.cli.live import Lines
from gpugraph.cli.output import Progress, tell, warnings_as_notices
from gpugraph.records.record_file import read_record_file
from tests.cli.runner import run, succeed

EVIL = "a\x1b[31mb\x07\x7f\x9b31m\x9d\u202ec\u2066\u200fd"
SHOWN = r"a\u001b[31mb\u0007\u007f\u009b31m\u009d\u202ec\u2066\u200fd"
PACKAGE = Path(gpugraph.__file__).parent


def _obeyed(text: str) -> list[str]:
    return [char for char in text if printable(char) != char or (char < " " and char not in "\n\t")]


@pytest.fixture
def evil_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path(f"{EVIL}.gr").write_text("p sp 3 4\na 1 2 5\na 2 1 5\na 1 3 7\na 3 1 7\n")
    return f"{EVIL}.gr"


def test_control_characters_become_escape_sequences_and_json_stays_what_it_says():
    assert printable(f"{EVIL}\n\tä€") == f"{SHOWN}\n\tä€"
    controls = "".join(map(chr, [*range(32), *range(127, 160), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F)]))
    text = json.dumps({controls: controls}, ensure_ascii=False)
    assert not _obeyed(printable(controls))
    assert json.loads(printable(text)) == json.loads(text)


@pytest.mark.parametrize(
    "words",
    [
        ("info", f"{EVIL}-missing.gr"),
        ("mst", "grid:3x3", "--algo", EVIL),
        ("mst", "grid:3x3", f"--{EVIL}"),
        ("mst", "grid:3x3", "--device", EVIL),
        (EVIL,),
        ("report", f"{EVIL}.jsonl"),
        ("generate", "grid:3x3", "-o", f"{EVIL}/x.gr"),
        ("bench", "grid:3x3", "--set", f"{EVIL}=1"),
        ("plot", "x.jsonl", "-o", f"x.{EVIL}"),
        ("help", EVIL),
    ],
)
def test_no_name_or_option_in_an_error_is_obeyed(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = run(*words)
    assert outcome.code == 2
    assert "error: " in outcome.err
    assert not _obeyed(outcome.out + outcome.err)


@pytest.mark.parametrize("style", ["table", "json"])
@pytest.mark.parametrize("command", ["info", "mst", "sssp"])
def test_a_graphs_name_is_shown_and_not_obeyed(evil_file, command, style):
    more = () if command == "info" else ("--device", "cpu", "--repeat", "1")
    outcome = succeed(command, evil_file, "--format", style, *more)
    assert not _obeyed(outcome.out + outcome.err)
    assert r"\u009b31m" in outcome.out
    if style == "json":
        assert "\\u009b31m" in json.dumps(json.loads(outcome.out))


def test_a_record_holds_no_character_that_a_terminal_obeys(evil_file):
    succeed("mst", evil_file, "--device", "cpu", "--repeat", "1", "--save", "r.jsonl", "--quiet")
    assert not _obeyed(Path("r.jsonl").read_text("utf-8"))
    written = Path("r.jsonl").read_text("utf-8").replace("31mb", "31mb\x7f\x9b\u202e")
    Path("r.jsonl").write_text(written, "utf-8")
    (record,) = read_record_file("r.jsonl").records
    assert not _obeyed(record.graph_name)
    for style in ("text", "csv", "markdown", "latex"):
        outcome = succeed("report", "r.jsonl", "--format", style)
        assert not _obeyed(outcome.out + outcome.err)


def test_an_exception_of_a_plug_in_is_not_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f"def solve(graph, device):\n    raise ValueError({EVIL!r})\n")
    outcome = run("mst", "grid:3x3", "--algo", "./mine.py:solve", "--device", "cpu")
    assert outcome.code == 2
    assert "31m" in outcome.err
    assert not _obeyed(outcome.out + outcome.err)


def test_what_a_peer_writes_to_standard_error_is_not_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("peer.py").write_text(f"import sys\nsys.stderr.write({EVIL!r})\nsys.exit(3)\n")
    command = f'command = "{sys.executable} peer.py {{graph.wel}}"'
    table = f'[peer.loud]\nproblem = "mst"\n{command}\ntime = "T: (.+)"\nweight = "sum: (.+)"\n'
    Path("loud.toml").write_text(table)
    outcome = run("mst", "grid:3x3", "--algo", "peer:loud", "--peer-command", "loud.toml", "--device", "cpu")
    assert outcome.code != 0
    assert "31m" in outcome.err
    assert not _obeyed(outcome.out + outcome.err)


def test_errors_notices_and_progress_pass_the_same_filter(capsys):
    def fail() -> None:
        raise InputError(f"the server says {EVIL}", where=EVIL, remedy=EVIL)

    def crash() -> None:
        raise RuntimeError(EVIL)

    assert guard(fail, debug=True) == 2
    assert guard(crash) == 70
    tell([EVIL])
    with warnings_as_notices():
        warnings.warn(EVIL, GpuGraphWarning, stacklevel=1)
    Progress(verbose=True)(EVIL)
    Lines(1)._tell(EVIL)
    shown = capsys.readouterr()
    assert shown.err.count(SHOWN) >= 8
    assert not _obeyed(shown.out + shown.err)


FREE = {
    "ext/emulator/sanitize.py",
    "ext/builds/cpu_code.py",
    "ext/builds/kernels.py",
    "ext/builds/usage.py",
    "ext/peers/matching.py",
    "ext/peers/supervise.py",
}
"""Tools of developers, and what is read by gpugraph alone."""


def test_whatever_is_printed_passes_the_filter():
    bare = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                names = {one.id for part in node.args for one in ast.walk(part) if isinstance(one, ast.Name)}
                foreign = names and "printable" not in names  # a text of our own names nothing
                bare += [f"{path.relative_to(PACKAGE)}:{node.lineno} {sorted(names)}"] * bool(foreign)
    bare = [place for place in bare if place.partition(":")[0] not in FREE]
    assert [place.partition(":")[0] for place in sorted(bare)] == BARE


BARE = sorted(
    [
        *("cli/__init__.py",) * 2,  # the names of signals
        *("cli/output.py",) * 3,  # what was filtered when it was kept, or in the line above
        "ext/plugins/supervised.py",  # filtered by its callers
        *("ext/ranks/world.py",) * 2,  # names of variables
    ]
)
