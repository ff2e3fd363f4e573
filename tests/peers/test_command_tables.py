"""Tables ``[peer.NAME]``: what is right is read, and what is wrong is named with its table and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.peers import parse_commands, read_tables
from gpugraph.ext.peers.command import filled

ECL: dict[str, Any] = {"command": "ecl-mst '{graph.egr}' -t {threads}", "time": r"runtime: ([0-9.]+)"}


def only(**changes: Any) -> Any:
    """Return the command of one table; a change to None takes the key away."""
    table = {key: value for key, value in {**ECL, **changes}.items() if value is not None}
    return parse_commands({"ecl-mst": table}, "night.toml")["ecl-mst"]


def test_a_table_becomes_a_command() -> None:
    peer = only(unit="ms", weight=r"weight: ([0-9]+)", timeout="2m", device="cuda")
    assert peer.words == ("ecl-mst", "{graph.egr}", "-t", "{threads}")
    assert (peer.unit_s, peer.problem, peer.device, peer.timeout_s) == (1e-3, "mst", "cuda", 120.0)
    assert peer.formats() == ["egr"]
    values = {"graph.egr": "/x/my graph.egr", "threads": "8"}
    assert filled(peer.words, values) == ["ecl-mst", "/x/my graph.egr", "-t", "8"]


def test_options_and_the_environment_have_placeholders_too() -> None:
    peer = only(command="gap {graph.wsg} -d {delta}", options={"delta": 8}, env={"N": "{threads}", "ROUNDS": 3})
    assert filled(peer.words, {"graph.wsg": "g", "delta": "16"}) == ["gap", "g", "-d", "16"]
    assert peer.environment({"threads": "2"}) == {"N": "2", "ROUNDS": "3"}
    assert not peer.writes_result
    assert only(command="gap {graph.wsg} {result}").writes_result
    assert only(command="gap", env={"GRAPH": "{graph.galois}"}).formats() == ["galois"]


def test_options_with_several_values_are_those_of_an_axis() -> None:
    peer = only(command="gap {graph.wsg} -d {delta} {way}", options={"delta": "4..64 x4", "way": ["a", "b"]})
    assert peer.scanned == {"delta": [4, 16, 64], "way": ["a", "b"]}
    assert peer.options == {"delta": 4, "way": "a"}
    assert only(command="gap {graph.wsg} {n}", options={"n": 3}).scanned == {}


def test_graphs_with_real_weights_may_have_a_command_of_their_own() -> None:
    peer = only(weight="w: (.+)", reals="ecl-double {graph.csr} -t {threads} {result}")
    assert peer.reals.words == ("ecl-double", "{graph.csr}", "-t", "{threads}", "{result}")
    assert (peer.formats(), peer.reals.formats(), peer.reals.timeout_s) == (["egr"], ["csr"], peer.timeout_s)
    assert peer.answer is not None
    assert peer.reals.answer is None, "a file is the whole answer"
    assert only(weight="w: (.+)", reals="ecl-double {graph.csr}").reals.answer == peer.answer
    paths = only(command="sssp {graph.egr} {source}", reals="sssp-double {graph.csr} {source} {result}")
    assert (paths.problem, paths.reals.problem) == ("sssp", "sssp")
    assert peer.describe()["version"] == (
        "ecl-mst '{graph.egr}' -t '{threads}'; of real weights ecl-double '{graph.csr}' -t '{threads}' '{result}'"
    )


def test_a_command_with_a_source_solves_shortest_paths() -> None:
    assert only(command="sssp -f {graph.wsg} -r {source}").problem == "sssp"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"comand": "x"}, "unknown key 'comand' — did you mean 'command'"),
        ({"command": None}, "lacks command"),
        ({"command": "ecl-mst 'x {graph.egr}"}, "no closing quotation"),
        ({"command": "ecl-mst graph.egr"}, "never names the graph"),
        ({"command": "ecl-mst {graph.erg}"}, "unknown placeholder 'graph.erg' — did you mean 'graph.egr'"),
        ({"command": "ecl-mst {graph.egr} {source}", "problem": "mst"}, "unknown placeholder 'source'"),
        ({"command": 7}, "lacks command"),
        ({"reals": "ecl-double {graph.ecl}"}, "reals: unknown placeholder 'graph.ecl'"),
        ({"reals": ""}, "lacks reals"),
        ({"command": "x {graph.egr} {source}", "reals": "y {graph.csr}"}, "reals: the command lacks {source}"),
        ({"reals": "y {graph.csr} {source}"}, "reals: unknown placeholder 'source'"),
        ({"time": None}, "lacks time"),
        ({"time": "runtime: ([0-9"}, "time: unterminated character set"),
        ({"time": "runtime: [0-9.]+"}, "time has 0 groups, not one"),
        ({"time": 3}, "time is 3, no pattern"),
        ({"time": "whole", "unit": "ms"}, "has unit, which is for times that the program prints"),
        ({"time": "whole", "warmup": 1}, "has warmup, which is for times that the program prints"),
        ({"unit": "min"}, "unknown unit 'min'"),
        ({"problem": "bfs"}, "unknown problem 'bfs'"),
        ({"problem": "scan"}, "unknown problem 'scan'"),
        ({"distances": "sum: ([0-9]+)"}, "has distances, but solves mst"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
        ({"timeout": "soon"}, "timeout: 'soon' is no length of time"),
        ({"warmup": -1}, "warmup is -1"),
        ({"command": "x {graph.egr} {runs}", "time": "whole"}, "has {runs}, but times the whole command"),
        ({"command": "x {graph.egr} {runs}", "runs": 0}, "runs is 0"),
        ({"command": "x {graph.egr} {runs}", "runs": True}, "runs is True"),
        ({"runs": 5}, "runs is nowhere in the command"),
        ({"time": "whole", "runs": 1}, "has runs, which is for times that the program prints"),
        ({"command": "x {graph.egr} {runs}", "options": {"runs": 1}}, "'runs' cannot be called so"),
        ({"warmup": 1.0}, "warmup is 1.0"),
        ({"first_vertex": 2}, "first_vertex is 2"),
        ({"unreached": [-1]}, "unreached is [-1]"),
        ({"unreached": "no path"}, "unreached is 'no path'"),
        ({"env": "X=1"}, "env is no table"),
        ({"env": {"X": "{thread}"}}, "unknown placeholder 'thread' — did you mean 'threads'"),
        ({"options": 3}, "options is no table"),
        ({"options": {"delta": 3}}, "the option 'delta' is nowhere in the command"),
        ({"options": {"n": "9..4"}, "command": "ecl-mst {graph.egr} {n}"}, "options.n: '9..4' ends before it begins"),
        ({"options": {"n": []}, "command": "ecl-mst {graph.egr} {n}"}, "options.n: is an empty list"),
        ({"before": 7}, "lacks before, a program and its arguments"),
        ({"before": "sync 'x"}, "before: no closing quotation"),
        ({"before": "touch {file}"}, "unknown placeholder 'file'"),
        ({"before": "cat {graph.egr}", "command": "ecl-mst"}, "command never names the graph"),
        ({"options": {"source": 3}}, "the option 'source' cannot be called so"),
    ],
)
def test_a_wrong_table_is_named_with_its_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        only(**changes)
    assert str(caught.value).startswith("night.toml [peer.ecl-mst]: ")
    assert message in str(caught.value)


def test_a_name_that_a_library_has_or_no_command_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="'networkx' is a library's name"):
        parse_commands({"networkx": ECL})
    with pytest.raises(InputError, match="is no name"):
        parse_commands({"a b": ECL})
    with pytest.raises(InputError, match="is no table"):
        parse_commands({"ecl": "ecl-mst {graph.egr}"})


def test_a_command_may_be_given_in_one_line_or_in_a_file(tmp_path: Path) -> None:
    line = "mine = {command = 'mine {graph.gr}', time = 't=([0-9.]+)'}"
    assert parse_commands(read_tables(line))["mine"].formats() == ["gr"]
    file = tmp_path / "peers.toml"
    file.write_text("[peer.mine]\ncommand = 'mine {graph.mtx}'\ntime = 't=([0-9.]+)'\n")
    assert parse_commands(read_tables(str(file)))["mine"].formats() == ["mtx"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine {graph.gr}", "is no TOML"),
        ("missing.toml", "missing.toml: cannot be read"),
        ("", "names no peer"),
        ("mine = {command = 'mine {graph.gr}'}", r"--peer-command \[peer.mine\]: lacks time"),
    ],
)
def test_a_line_that_is_no_table_says_how_to_write_one(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tables(text)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# mine\n[peer.a]\ncommand = 'x\n", 3, "is no TOML"),
        ("# mine\n[peer.a]\ncommand = [\n", 3, "is no TOML"),
        (
            "[peer.a]\n" + "".join(f"{key} = {value!r}\n" for key, value in ECL.items()) + "\n[peer.b]\nx = 1\n",
            5,
            "'x'",
        ),
        ("\n[ peer . 'b' ]\ncommand = 'x {graph.egr}'\n", 2, "lacks time"),
        ("[peer]\na.time = 'x'\n", 2, "lacks command"),
        ("[peer]\na = {time = 'x'}\n", 2, "lacks command"),
        ("[peer.a.env]\nN = 1\n", 1, "lacks command"),
    ],
)
def test_a_wrong_file_of_tables_is_named_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "night.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_tables(str(tmp_path / "night.toml"))
    assert str(caught.value).startswith(f"{tmp_path / 'night.toml'} line {line}")
    assert message in str(caught.value)
