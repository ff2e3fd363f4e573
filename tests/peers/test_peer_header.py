"""``docs/examples/gpugraph_peer.h`` makes a C++ program a peer, and its record names the program."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from gpugraph.base.files import resource_dir
from gpugraph.ext.check_record.plausibility import findings
from gpugraph.ext.peers import parse_commands, read_tables, register_commands
from gpugraph.ext.peers.peer import PeerThrew
from tests.measure.test_plausibility import changed
from tests.peers.helpers import measured
from tests.zoo import zoo

HEADER = Path(__file__).resolve().parents[2] / "docs" / "examples" / "gpugraph_peer.h"

KRUSKAL = """
#include <algorithm>
#include <fstream>
#include <numeric>
#include <vector>
#include "gpugraph_peer.h"

struct Edge { int u, v; long long w; };

int main(int, char** argv) {
    std::ifstream file(argv[1]);
    std::vector<Edge> edges;
    int most = 0;
    for (Edge e; file >> e.u >> e.v >> e.w; most = std::max({most, e.u, e.v})) edges.push_back(e);
    long long weight = 0;
    gpugraph_peer peer("kruskal 0123abc", std::atoi(argv[2]));
    while (peer.run()) {
        std::vector<int> parent(most + 1);
        std::iota(parent.begin(), parent.end(), 0);
        auto root = [&](int v) { while (parent[v] != v) v = parent[v]; return v; };
        std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.w < b.w; });
        weight = 0;
        for (const Edge& e : edges)
            if (int u = root(e.u), v = root(e.v); u != v) { parent[u] = v; weight += e.w; }
        OWN
    }
    peer.answer("weight", weight);
}
"""


@pytest.fixture(scope="module")
def compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        pytest.skip("there is no g++")
    return found


def built(folder: Path, compiler: str, own: str = "") -> Path:
    (folder / "main.cpp").write_text(KRUSKAL.replace("OWN", own))
    program = folder / "kruskal"
    words = [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HEADER.parent}"]
    subprocess.run([*words, str(folder / "main.cpp"), "-o", str(program)], check=True)
    return program


def test_three_lines_make_a_program_a_peer_and_its_record_names_it(tmp_path: Path, compiler: str) -> None:
    program = built(tmp_path, compiler)
    table = {
        "command": f"env A=1 '{program}' {{graph.wel}} 3",
        "time": r"^time_ms: (\S+)",
        "unit": "ms",
        "warmup": 1,
    }
    register_commands({"kruskal": table | {"weight": "^weight: ([0-9]+)"}})
    record = measured(zoo("random"), "peer:kruskal", repeat=6)
    assert (record.status, len(record.samples)) == ("passed", 6)
    env, own = record.shape.provenance.programs
    assert (env.name, env.version) == ("env", None)
    assert (own.name, own.sha256) == ("kruskal", hashlib.sha256(program.read_bytes()).hexdigest())
    assert str(own.version).startswith("kruskal 0123abc, C++ compiler ")
    assert not [one for one in findings(record) if one.kind == "peer"]


HALVE = """
#include "gpugraph_peer.h"
__global__ void halve(float* x) { x[threadIdx.x] /= 2; }
int main(int, char** argv) {
    float* x = nullptr;
    cudaStream_t stream = nullptr;
    cudaMalloc(&x, 128);
    cudaStreamCreate(&stream);
    gpugraph_peer peer("halve 0123abc", std::atoi(argv[1]), stream);
    while (peer.run()) halve<<<1, 32, 0, stream>>>(x);
    gpugraph_peer other("halve 0123abc", 1);
    while (other.run()) halve<<<1, THREADS>>>(x);
    other.answer("weight", 7LL);
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_the_half_for_cuda_compiles_without_a_warning_and_ends_with_one_line_where_there_is_no_gpu(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.cu").write_text(HALVE.replace("THREADS", "32"))
    words = ["nvcc", "-std=c++17", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]
    subprocess.run([*words, f"-I{HEADER.parent}", tmp_path / "main.cu", "-o", tmp_path / "halve"], check=True)
    ended = subprocess.run([tmp_path / "halve", "2"], capture_output=True, text=True, env={"CUDA_VISIBLE_DEVICES": ""})
    assert ended.returncode == 1
    assert ended.stdout.startswith("version: halve 0123abc, nvcc ")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
@pytest.mark.parametrize(("threads", "code"), [("32", 0), ("5000", 1)])
def test_on_a_gpu_each_run_has_both_times_and_a_refused_launch_is_no_fast_one(
    tmp_path: Path, threads: str, code: int
) -> None:
    (tmp_path / "main.cu").write_text(HALVE.replace("THREADS", threads))
    words = ["nvcc", f"-I{HEADER.parent}", tmp_path / "main.cu", "-o", tmp_path / "halve"]
    subprocess.run(words, check=True)
    ended = subprocess.run([tmp_path / "halve", "2"], capture_output=True, text=True)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.count("time_ms: ") == ended.stdout.count("wall_ms: ") == (5 if code == 0 else 3)


def test_a_program_may_hand_over_the_time_of_its_own_stopwatch(tmp_path: Path, compiler: str) -> None:
    program = built(tmp_path, compiler, "peer.own_ms(1234.5);")
    (tmp_path / "g.wel").write_text("0 1 7\n1 0 7\n")
    printed = subprocess.run([program, tmp_path / "g.wel", "2"], capture_output=True, text=True, check=True).stdout
    lines = printed.splitlines()
    assert lines.count("time_ms: 1234.500000") == 3
    assert lines[-1] == "weight: 7"
    assert sum(line.startswith("wall_ms: ") for line in lines) == 3


def test_the_last_process_of_a_program_may_bring_more_runs_than_were_asked_for(tmp_path: Path, compiler: str) -> None:
    program = built(tmp_path, compiler)
    table = {"command": f"'{program}' {{graph.wel}} 3", "time": r"^time_ms: (\S+)", "unit": "ms", "warmup": 1}
    register_commands({"kruskal": table | {"weight": "^weight: ([0-9]+)"}})
    record = measured(zoo("random"), "peer:kruskal", repeat=4)
    assert (len(record.samples), record.shape.parameters.repeat) == (6, 4)
    for asked, told in ((4, False), (7, True)):
        found = findings(changed(record, "parameters.repeat", asked))
        assert any("parameters.repeat is" in one.what for one in found) == told


@pytest.mark.parametrize("time", ["-1.0", "std::numeric_limits<double>::quiet_NaN()"])
def test_a_stopwatch_that_shows_no_time_is_not_replaced_by_the_clock_of_the_host(
    tmp_path: Path, compiler: str, time: str
) -> None:
    program = built(tmp_path, compiler, f"peer.own_ms({time});")
    table = {"command": f"'{program}' {{graph.wel}} 3", "time": r"^time_ms: (\S+)", "unit": "ms"}
    register_commands({"kruskal": table})
    with pytest.raises(PeerThrew, match="which is no time to rate"):
        measured(zoo("random"), "peer:kruskal")


def test_the_tables_of_the_peers_that_are_measured_come_with_gpugraph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = parse_commands(read_tables("peers.toml"))
    assert {"ecl-mst", "raft-pr3118", "adds", "near-far", "near-far-x16", "gunrock"} <= commands.keys()
    (tmp_path / "peers.toml").write_text("[peer.mine]\ncommand = 'mine {graph.egr}'\ntime = 'whole'\n")
    assert parse_commands(read_tables("peers.toml")).keys() == {"mine"}
    assert (resource_dir("configs") / "peers.toml").exists()
