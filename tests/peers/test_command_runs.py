"""External commands: their own time, their printed answer, their end."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import GpuGraphWarning, InputError
from gpugraph.base.exact import exact_sum
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.ext.comparing.versions import version
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.peers import PeerRefused, PeerThrew, PeerTimedOut, load_peer, register_commands
from gpugraph.ext.peers.command_peer import run_command
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.generate import generate
from gpugraph.graph.load import load_file
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.mst.verify import reference_forest
from gpugraph.problems.sssp.verify import reference_distances
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler
from tests.measure.runs import measure
from tests.peers.helpers import forest_edges, measured, script
from tests.tiers import first, only
from tests.zoo import zoo


def register(folder: Path, body: str, arguments: str = "{graph.egr}", **table: Any) -> None:
    """Make a Python program known as ``peer:mine``."""
    command = f"{script(folder, body)} {arguments}"
    register_commands({"mine": {"command": command, "time": r"took ([0-9.e+-]+|nan)", **table}})


def weight_of(graph: CSRGraph) -> Any:
    return exact_sum(graph.weights[reference_forest(graph)])


def test_times_that_add_up_to_more_than_their_process_took_are_told_of(tmp_path: Path, recwarn: Any) -> None:
    body = "import time; time.sleep(0.1); print('took 60')"
    register(tmp_path, body)
    with pytest.warns(GpuGraphWarning, match="peer:mine: the times .* is the unit in its table right"):
        measured(zoo("random"), "peer:mine")
    recwarn.clear()
    register(tmp_path, body, unit="ms")
    measured(zoo("random"), "peer:mine")
    assert not [one for one in recwarn if one.category is GpuGraphWarning]


def test_the_time_is_the_programs_own_and_the_weight_is_checked(tmp_path: Path) -> None:
    right = weight_of(zoo("random"))
    register(tmp_path, f"print('took 12.5'); print('weight {right}')", unit="ms", weight="weight (.+)")
    record = measured(zoo("random"), "peer:mine")
    assert record.status == "passed"
    assert record.data["samples_s"]["kernel"] == [0.0125, 0.0125]
    assert record.data["result"] == {"total_weight": right}
    assert record.data["mteps"]["kernel"] == pytest.approx(zoo("random").edges / 0.0125 / 1e6)


def test_a_graph_with_real_weights_is_given_to_the_command_that_reads_them(tmp_path: Path) -> None:
    graph, real = zoo("random"), zoo("float64")
    (tmp_path / "double").mkdir()
    listed = "\n".join(f"{u} {v}" for u, v in forest_edges(real))
    body = f"import sys; print('took 2'); open(sys.argv[2], 'w').write({listed!r})"
    double = f"{script(tmp_path / 'double', body)} {{graph.csr}} {{result}}"
    register(tmp_path, f"print('took 1'); print('weight {weight_of(graph)}')", weight="weight (.+)", reals=double)
    whole, reals = measured(graph, "peer:mine"), measured(real, "peer:mine")
    assert [one.data["samples_s"]["kernel"] for one in (whole, reals)] == [[1, 1], [2, 2]]
    assert (whole.status, reals.status) == ("passed", "passed")
    assert reals.data["result"]["total_weight"] == pytest.approx(weight_of(real))
    assert len({one["sha256"] for one in reals.data["provenance"]["programs"]}) == 3, "Python and both programs"
    before = load_peer("peer:mine", "mst", "cpu").version
    (tmp_path / "double" / "program.py").write_text(f"{body}\n", "utf-8")
    assert load_peer("peer:mine", "mst", "cpu").version != before


def test_of_two_programs_the_one_that_ran_has_the_version_that_it_printed(tmp_path: Path) -> None:
    for name in ("whole", "double"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho took 1; echo version: {name} 3\n")
        (tmp_path / name).chmod(0o755)
    tables = {"command": f"{tmp_path}/whole {{graph.csr}}", "reals": f"{tmp_path}/double {{graph.csr}}"}
    register_commands({"mine": {**tables, "time": "took (.+)"}})
    for graph, ran in (("random", "whole"), ("float64", "double")):
        programs = measured(zoo(graph), "peer:mine").data["provenance"]["programs"]
        assert {one["name"]: one.get("version") for one in programs} == {"whole": None, "double": None, ran: f"{ran} 3"}


def test_each_run_of_one_process_is_a_sample_but_for_its_warm_up(tmp_path: Path) -> None:
    register(tmp_path, "for i in (9, 1, 2, 3): print('took', i)", warmup=1)
    assert measured(zoo("random"), "peer:mine", repeat=3).data["samples_s"]["kernel"] == [1, 2, 3]
    assert measured(zoo("random"), "peer:mine", repeat=4).data["samples_s"]["kernel"] == [1, 2, 3, 1, 2, 3]
    register(tmp_path, "print('took 9')", warmup=1)
    with pytest.raises(PeerThrew, match="printed 1 time, and the first 1 are its warm-up"):
        measured(zoo("random"), "peer:mine")


def test_a_whole_command_is_timed_by_the_wall_clock_from_its_start_to_its_end(tmp_path: Path) -> None:
    right = weight_of(zoo("random"))
    body = f"import time; time.sleep(0.2); print('weight {right}')"
    register(tmp_path, body, time="whole", weight="weight (.+)")
    record = measured(zoo("random"), "peer:mine")
    assert record.status == "passed"
    assert all(0.2 <= seconds < 60 for seconds in record.data["samples_s"]["kernel"])


WHOLE = {
    f"{sweep}: {name}": table
    for sweep in ("figures/commands", "figures/commands-binary", "figures/commands-gpu")
    for name, table in read_sweep(sweep).peers.items()
    if table["command"].split()[0] in ("gpugraph", "python")
}


ONE_OF_EACH = {name.split(": ")[1].split("-")[0]: name for name in WHOLE}.values()
"""A command of each program."""

CUGRAPH_ON_THE_HOST = {
    "cupy": """
from types import SimpleNamespace
from numpy import asarray
cuda = SimpleNamespace(runtime=SimpleNamespace(deviceSynchronize=lambda: None))
""",
    "rmm": """
from types import SimpleNamespace
mr = SimpleNamespace(set_current_device_resource=lambda pool: None, CudaAsyncMemoryResource=object)
""",
    "pylibcugraph": """
import numpy
from types import SimpleNamespace as GraphProperties
from scipy.sparse import csgraph, csr_array
ResourceHandle = object
def SGGraph(handle, kind, first, second, weights, input_array_format='COO'):
    return csr_array((weights, (first, second)) if input_array_format == 'COO' else (weights, second, first))
def minimum_spanning_tree(handle, graph, check):
    return None, None, numpy.repeat(csgraph.minimum_spanning_tree(graph).data, 2), None
""",
}
"""Stand-ins for what a line of Python asks of cuGraph, which lists every edge both ways."""


@pytest.mark.parametrize("name", only(ONE_OF_EACH, WHOLE))
def test_the_whole_commands_of_the_sweep_find_the_weight(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "igraph" in name:
        pytest.importorskip("igraph")
    if "cugraph" in name:
        for module, text in CUGRAPH_ON_THE_HOST.items():
            (tmp_path / f"{module}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    register_commands({"mine": WHOLE[name] | {"device": "cpu"}})
    problem = "sssp" if "wsg" in name else "mst"
    record = measured(zoo("random"), "peer:mine", problem=problem, repeat=1)
    assert (record.status, record.outcome) == ("passed", "ok")


EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def test_a_multigraph_has_loops_and_heavier_copies_of_edges_that_loading_removes(tmp_path: Path) -> None:
    graph, path = zoo("random"), tmp_path / "g.egr"
    save_file(graph, path)
    written = runpy.run_path(str(EXAMPLES / "multigraph.py"))["doubled"](str(path))
    assert np.fromfile(written, "<i4")[:2].tolist() == [graph.vertices, 2 * graph.arcs + graph.vertices]
    assert load_file(written).digest == load_file(path).digest


@pytest.mark.parametrize("problem", first(1, ["mst", "sssp", "components"]))
def test_ours_is_right_on_loops_and_duplicate_edges(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parents[1])
    table = read_sweep(str(EXAMPLES / "multigraph.toml")).peers[f"gpugraph-{problem}"]
    command = table["command"].replace("--device cuda", "--device cpu")
    register_commands({"mine": table | {"command": command, "device": "cpu"}})
    record = measured(zoo("random"), "peer:mine", problem=problem, repeat=1)
    assert (record.status, record.outcome) == ("passed", "ok")


def test_a_whole_command_of_ours_is_of_earlier_code_once_the_algorithm_that_it_ran_has_changed() -> None:
    command = "gpugraph mst {graph.csr} --algo kruskal --device cpu --repeat 1 --warmup 0 --format json"
    register_commands({"gpugraph-csr": {"command": command, "time": "whole", "weight": '"total_weight": ([0-9]+)'}})
    record = measured(zoo("random"), "peer:gpugraph-csr", repeat=1)
    (program,) = record.shape.provenance.programs
    assert (record.status, str(program.version)[:8], version(record)) == ("passed", "kruskal ", "")
    for printed, known in ((f"kruskal {'0' * 64}", "earlier"), (None, "unrecorded")):
        programs = [{"name": "gpugraph", "sha256": program.sha256, "version": printed}]
        assert version(record.changed({"provenance": {"programs": programs}}, without="paper")) == known


@needs_compiler
def test_a_whole_command_of_ours_is_of_todays_code_on_whatever_device_it_ran() -> None:
    command = "gpugraph mst {graph.csr} --device emulated --repeat 1 --warmup 0 --format json"
    register_commands({"gpugraph-csr": {"command": command, "time": "whole", "weight": '"total_weight": ([0-9]+)'}})
    assert version(measured(zoo("random"), "peer:gpugraph-csr", repeat=1)) == ""


def test_every_figure_of_a_process_must_be_right_and_may_have_separators(tmp_path: Path) -> None:
    right = weight_of(zoo("random"))
    register(
        tmp_path,
        f"print('took 1,000.5\\nweight {right:,}\\nweight {right}')",
        weight="weight (.+)",
        unit="us",
        time="took (.+)",
    )
    record = measured(zoo("random"), "peer:mine")
    assert record.status == "passed"
    assert record.data["result"] == {"total_weight": right}
    assert record.data["samples_s"]["kernel"][0] == pytest.approx(1000.5e-6)
    register(tmp_path, f"print('took 1\\nweight {right + 1}\\nweight {right}')", weight="weight (.+)")
    assert measured(zoo("random"), "peer:mine").status == "failed"


def test_a_figure_that_cannot_be_read_is_not_called_wrong(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1\\nweight about 7')", weight="weight (.+)")
    record = measured(zoo("random"), "peer:mine")
    assert (record.status, record.outcome) == ("skipped", "ok")
    assert "'about 7' cannot be read as a number" in record.data["verification"]["detail"]


@pytest.mark.parametrize("method", ["certificate", "both"])
def test_the_method_asked_for_is_the_one_that_checks(tmp_path: Path, method: str) -> None:
    distance, _ = reference_distances(zoo("random"), 5)
    register(tmp_path, f"print('took 1\\nsum {exact_sum(distance)}')", "{graph.wsg} {source}", distances="sum (.+)")
    record = measured(zoo("random"), "peer:mine", "sssp", source="5", verify=method)
    assert (record.status, record.data["verification"]["method"]) == ("passed", method)
    assert "certified distances" in record.data["verification"]["detail"]


def test_options_and_the_environment_reach_the_program(tmp_path: Path) -> None:
    body = "import os, sys; print('took', sys.argv[2]); print('weight', os.environ['NAME'])"
    register(
        tmp_path, body, "{graph.egr} {delta}", options={"delta": 16}, env={"NAME": "{threads}"}, weight="weight (.+)"
    )
    record = measured(zoo("random"), "peer:mine", options={"delta": "4"})
    assert record.data["samples_s"]["kernel"] == [4, 4]
    assert record.data["parameters"]["delta"] == 4
    assert record.data["result"]["total_weight"] >= 1
    with pytest.raises(InputError, match="'delta' takes int"):
        measured(zoo("random"), "peer:mine", options={"delta": "wide"})


def test_a_command_runs_before_each_start_of_the_program(tmp_path: Path) -> None:
    log = tmp_path / "log"
    before = f"""'{sys.executable}' -c "open('{log}', 'a').write('{{graph.egr}}'[-3:])" """
    body = f"print('took 1'); open({str(log)!r}, 'a').write('|')"
    register(tmp_path, body, time="whole", before=before)
    record = measured(zoo("random"), "peer:mine", warmup=0, repeat=2)
    assert log.read_text() == 2 * "egr|"
    assert len(record.data["samples_s"]["kernel"]) == 2
    register(tmp_path, "print('took 1')", before=f"'{sys.executable}' -c 'exit(3)'")
    with pytest.raises(PeerThrew, match="its command before: it ended with exit code 3"):
        measured(zoo("random"), "peer:mine")
    register(tmp_path, "print('took 1')", before="no-such-program")
    with pytest.raises(PeerRefused, match="no program on PATH 'no-such-program'"):
        measured(zoo("random"), "peer:mine")


def test_the_command_before_may_name_all_that_its_program_may(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1')", before="true {result} {graph.mtx} {runs} {threads}")
    assert measured(zoo("random"), "peer:mine").outcome == "ok"


def test_every_value_of_an_option_is_a_row_and_one_of_them_alone_has_to_be_chosen(tmp_path: Path) -> None:
    command = script(tmp_path, "import sys; print('took', sys.argv[2])").replace("'", '"')
    table = f"mine = {{command = '{command} {{graph.egr}} {{n}}', time = 'took (.+)', options = {{n = '1..3'}}}}"
    words = ("mst", "grid:4x4", "--peer-command", table, "--device", "cpu", "--repeat", 2)
    shown = succeed(*words, "--algo", "kruskal", "--peer", "mine", "--format", "json").out
    times = {one["parameters"].get("n"): one["samples_s"]["kernel"] for one in json.loads(shown)["records"]}
    assert {n: of for n, of in times.items() if n} == {n: [n, n] for n in (1, 2, 3)}
    fewer = succeed(*words, "--peer", "mine", "--set", "peer:mine.n=2,3", "--format", "json").out
    assert {one["parameters"].get("n") for one in json.loads(fewer)["records"]} == {None, 2, 3}
    assert "its table has several values of n — choose one with --set n=…" in refuse(2, *words)
    assert json.loads(succeed(*words, "--set", "n=3", "--format", "json").out)["parameters"]["n"] == 3


def test_an_edge_list_for_a_program_has_both_arcs_and_no_comment(tmp_path: Path) -> None:
    graph = zoo("two-components")
    register(tmp_path, "import sys; print('took', len(open(sys.argv[1]).readlines())); int(open(sys.argv[1]).read(1))",
             "{graph.wel}")  # fmt: skip
    assert measured(graph, "peer:mine").data["samples_s"]["kernel"][0] == graph.arcs


@pytest.mark.parametrize("name", ["adj", "csr", "egr", "galois", "gr", "mtx", "wel", "wsg"])
def test_every_format_can_be_asked_for(tmp_path: Path, name: str) -> None:
    register(tmp_path, "import os, sys; print('took', os.path.getsize(sys.argv[1]))", f"{{graph.{name}}}")
    assert measured(zoo("random"), "peer:mine").data["samples_s"]["kernel"][0] > 100


def test_an_error_is_reported_and_not_the_last_line_of_the_output(tmp_path: Path) -> None:
    body = "import sys; print('cannot read', file=sys.stderr, flush=True); print('Goodbye.'); sys.exit(1)"
    register(tmp_path, body)
    with pytest.raises(PeerThrew, match=r"it ended with exit code 1: cannot read$"):
        measured(zoo("random"), "peer:mine")


def test_a_figure_may_be_printed_on_either_output(tmp_path: Path) -> None:
    register(tmp_path, "import sys; print('took 1', file=sys.stderr); print('weight 1')", weight="weight (.+)")
    assert measured(zoo("random"), "peer:mine").status == "failed"


def test_the_program_behind_env_counts_for_the_version_and_must_be_there(tmp_path: Path) -> None:
    program = tmp_path / "solver"
    program.write_text("#!/bin/sh\necho took 1\n")
    program.chmod(0o755)
    table = {"command": f"env X=1 {program} {{graph.egr}}", "time": "took (.+)"}
    register_commands({"mine": table})
    before = load_peer("peer:mine", "mst", "cpu").version
    program.write_text("#!/bin/sh\necho took 2\n")
    assert load_peer("peer:mine", "mst", "cpu").version != before
    program.write_text("#!/bin/sh\necho took 1\n")
    os.utime(program, (0, 0))
    assert load_peer("peer:mine", "mst", "cpu").version == before, "a copy is the same program"
    program.unlink()
    with pytest.raises(PeerRefused, match="there is no file"):
        load_peer("peer:mine", "mst", "cpu")


def test_a_wrong_weight_is_wrong(tmp_path: Path) -> None:
    register(tmp_path, f"print('took 1'); print('weight {weight_of(zoo('random')) + 1}')", weight="weight (.+)")
    record = measured(zoo("random"), "peer:mine")
    assert record.status == "failed"
    assert record.data["mteps"]["kernel"] is None


def test_a_command_without_an_answer_is_never_called_right(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1')")
    record = measured(zoo("random"), "peer:mine")
    assert record.status == "skipped"
    assert record.data["mteps"]["kernel"] is None
    assert "no answer" in record.data["verification"]["detail"]


def test_a_number_of_components_is_checked(tmp_path: Path) -> None:
    for printed, status in ((5, "passed"), (2, "failed")):
        register(tmp_path, f"print('took 1'); print('There are {printed} components')", problem="components",
                 components="There are (.+) components")  # fmt: skip
        assert measured(zoo("two-components"), "peer:mine", "components").status == status


def test_a_sum_of_distances_is_checked_and_the_source_is_handed_over(tmp_path: Path) -> None:
    distance, _ = reference_distances(zoo("two-components"), 5)
    right = exact_sum(distance[distance < 2**63])
    body = f"import sys\nprint('took 1')\nprint('sum', {right} if sys.argv[2] == '5' else 0)"
    register(tmp_path, body, "{graph.wsg} {source}", distances="sum (.+)")
    assert measured(zoo("two-components"), "peer:mine", "sssp", source="5").status == "passed"
    assert measured(zoo("two-components"), "peer:mine", "sssp", source="0").status == "failed"


def test_the_file_holds_the_graph_and_is_written_once(tmp_path: Path) -> None:
    graph = zoo("complete")
    body = """
import numpy, os, sys
header = numpy.fromfile(sys.argv[1], '<i4', 2)
print('took 1', header.tolist(), os.stat(sys.argv[1]).st_ino)
"""
    register(tmp_path, body)
    algorithm = load_peer("peer:mine", "mst", "cpu")
    from gpugraph.ext.peers.graph_files import graph_file

    file = graph_file(graph, "egr", "peer:mine")
    assert graph_file(graph, "egr", "peer:mine") == file
    printed = run_command([sys.executable, str(tmp_path / "program.py"), str(file)], 60, "peer:mine").output
    assert f"[{graph.vertices}, {graph.arcs}]" in printed
    assert algorithm.devices == ("cpu",)


def test_the_file_goes_with_the_graph() -> None:
    from gpugraph.ext.peers.graph_files import graph_file

    graph = zoo("triangle").renamed(name="short-lived")
    file = graph_file(graph, "gr", "peer:mine")
    assert file.exists()
    del graph
    assert not file.parent.exists()


def test_what_a_killed_run_left_behind_goes_and_what_a_live_one_uses_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gpugraph.ext.peers import graph_files

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    live = graph_files.graph_file(zoo("triangle").renamed(name="a"), "gr", "peer:mine")  # goes at once: nobody holds it
    assert not live.exists()
    held = zoo("triangle").renamed(name="b")
    used = graph_files.graph_file(held, "gr", "peer:mine").parent
    left = tmp_path / f"{graph_files.PREFIX}dead"
    left.mkdir()
    (left / "lock").touch()
    young = tmp_path / f"{graph_files.PREFIX}young"
    young.mkdir()
    (young / "lock").touch()
    for folder in (used, left):
        os.utime(folder, (0, 0))
    other = zoo("triangle").renamed(name="c")
    graph_files.graph_file(other, "gr", "peer:mine")
    assert used.exists()
    assert young.exists()
    assert not left.exists()


def test_a_format_that_cannot_hold_the_weights_is_a_refusal(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1')")
    with pytest.raises(PeerRefused, match=r"ECL \.egr holds integer weights only"):
        measured(zoo("float64"), "peer:mine")


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    program = tmp_path / "hang.sh"
    program.write_text(f"sleep 1000 &\necho $! > '{tmp_path / 'child'}'\nsleep 1000\n")
    for limit_s in ("1.5", "60"):
        command = {"command": f"sh '{program}' {{graph.egr}}", "time": "(.)", "timeout": f"{limit_s}s"}
        register_commands({"mine": command})
        with pytest.raises(PeerTimedOut, match=rf"still ran after {limit_s} s and was killed") as caught:
            measured(zoo("random"), "peer:mine")
        assert caught.value.outcome == "timeout"
        if (tmp_path / "child").exists():  # else it was ended while the shell started
            break
    _assert_gone(int((tmp_path / "child").read_text()))


def test_a_program_does_not_outlive_a_measurement_that_is_killed(tmp_path: Path) -> None:
    words = script(
        tmp_path, f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(1000)"
    )
    import shlex

    caller = f"from gpugraph.ext.peers.command_peer import run_command; run_command({shlex.split(words)!r}, 1000, 'x')"
    process = subprocess.Popen([sys.executable, "-c", caller], cwd=Path(__file__).parents[3])
    pid = _wait_for(tmp_path / "pid")
    process.kill()
    process.wait()
    _assert_gone(pid)


def _wait_for(file: Path) -> int:
    for _ in range(6000):
        if file.exists() and file.read_text():
            return int(file.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{file} never appeared")


def _assert_gone(pid: int) -> None:
    for _ in range(6000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return
        if state in "ZX":  # killed; whoever inherited it has not collected it yet
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} still runs")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import sys; sys.exit('out of cheese')", "it ended with exit code 1: out of cheese"),
        ("import os; os.abort()", "it ended by SIGABRT"),
        ("print('done')", r"no time that 'took .*' matches; it ends in: done"),
        ("pass", "it printed nothing"),
        ("print('took nan')", "printed the time 'nan'"),
        ("print('took 0')", "printed the time '0'"),
        ("print('took 1e-320')", "printed the time '1e-320'"),
        ("print('took 1e307')", "printed the time '1e307'"),
    ],
)
def test_a_program_that_says_nothing_useful_threw(tmp_path: Path, body: str, message: str) -> None:
    register(tmp_path, body)
    with pytest.raises(PeerThrew, match=message) as caught:
        measured(zoo("random"), "peer:mine")
    assert caught.value.outcome == "threw"


@pytest.mark.parametrize("text", ["sNaN", "0,234", "1,234", "1e-320", "later", "1_0"])
def test_a_text_that_may_mean_another_time_is_none(tmp_path: Path, text: str) -> None:
    register(tmp_path, f"print('took {text}')", time="took (.+)", unit="us")
    with pytest.raises(PeerThrew, match=f"printed the time '{text}', which is no time to rate"):
        measured(zoo("random"), "peer:mine")


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        ("took ([0-9.]+)", "took 1.5e-05", "1.5e-05"),
        ("took ([0-9]+)", "took 12.75", "12.75"),
        ("took .*([0-9.]+)", "took 0.234", "0.234"),
        ("took ([0-9]{3})", "took 12345", "12345"),
        ("took ([0-9]+)", "took 12.000 s", ""),
        (r"took (\S+)", "took 1.5e-05", ""),
    ],
)
def test_a_pattern_that_captures_a_part_of_a_number_is_named(
    tmp_path: Path, pattern: str, text: str, whole: str
) -> None:
    register(tmp_path, f"print({text!r})", time=pattern)
    with pytest.raises(PeerThrew, match=f"captures a part of the number {whole}") if whole else nullcontext():
        measured(zoo("random"), "peer:mine")


def test_a_program_that_prints_no_weight_although_asked_threw(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1')", weight="weight (.+)")
    with pytest.raises(PeerThrew, match="no total weight"):
        measured(zoo("random"), "peer:mine")


def test_a_program_that_is_not_there_is_refused() -> None:
    register_commands({"mine": {"command": "no-such-program-anywhere {graph.egr}", "time": "(.)"}})
    with pytest.raises(PeerRefused, match="there is no program on PATH 'no-such-program-anywhere'"):
        measured(zoo("random"), "peer:mine")


def test_a_file_that_cannot_be_executed_threw(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("no program")
    path.chmod(0o755)
    register_commands({"mine": {"command": f"{path} {{graph.egr}}", "time": "(.)"}})
    with pytest.raises(PeerThrew, match="Exec format error"):
        measured(zoo("random"), "peer:mine")


def test_a_command_for_another_problem_or_device_says_so(tmp_path: Path) -> None:
    register(tmp_path, "", device="cuda")
    with pytest.raises(InputError, match="it solves mst, not sssp"):
        load_peer("peer:mine", "sssp", "cuda")
    with pytest.raises(InputError, match="runs on 'cuda'"):
        load_peer("peer:mine", "mst", "cpu")


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    register(
        tmp_path, "import sys; print('took 1', sys.argv[2:])", "{graph.egr} '$HOME' ';' 'a b' '*'", weight=r"(\[.*\])"
    )
    assert measured(zoo("random"), "peer:mine").data["result"]["total_weight"] == "['$HOME', ';', 'a b', '*']"


def test_the_version_changes_with_the_program_and_with_its_table(tmp_path: Path) -> None:
    register(tmp_path, "print('took 1')")
    before = load_peer("peer:mine", "mst", "cpu").version
    assert load_peer("peer:mine", "mst", "cpu").version == before
    register(tmp_path, "print('took 1')", weight="weight (.+)")
    assert load_peer("peer:mine", "mst", "cpu").version != before


def test_a_program_that_prints_its_times_is_started_for_samples_only(tmp_path: Path) -> None:
    count = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); print('took 1')"
    register(tmp_path, count)
    measured(zoo("random"), "peer:mine", warmup=3, repeat=2)
    assert (tmp_path / "starts").read_text() == "xx"
    register(tmp_path, count, time="whole")
    measured(zoo("random"), "peer:mine", warmup=3, repeat=2)
    assert (tmp_path / "starts").read_text() == 7 * "x"


def test_what_an_algorithm_of_ours_found_right_is_not_computed_again(tmp_path: Path) -> None:
    graph = generate("random:n=50,m=200")
    register(tmp_path, f"print('took 1'); print('weight {weight_of(graph)}')", weight="weight (.+)")
    same: dict[str, Any] = {"device": "cpu", "phases": False}
    cells = [Cell("mst", graph, "boruvka", **same), Cell("mst", graph, "peer:mine", **same)]
    found = measure(cells, Sampling.fixed(2, 0)).records[1].data["verification"]
    assert (found["status"], found["method"]) == ("passed", "certificate")
    assert "that of boruvka, which passed its check" in found["detail"]


def test_a_bench_leaves_nothing_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    table = 'mine = {command = "cat {graph.wel}", time = "whole"}'
    words = ["bench", "grid:3x3", "--algo", "kruskal", "--device", "cpu", "--max-seconds", "0.01", "--peer", "mine"]
    succeed(*words, "--peer-command", table, "--save", tmp_path / "r.jsonl")
    assert "peer:mine" in (tmp_path / "r.jsonl").read_text()
    assert list((tmp_path / "temporary").iterdir()) == []
