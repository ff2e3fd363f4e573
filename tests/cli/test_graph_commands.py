from __future__ import annotations

import json

import pytest

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.cli.options import defaults, read_defaults
from tests.cli.runner import refuse, succeed


def test_generate_writes_the_graph_of_the_spec_and_says_what_it_is(tmp_path):
    outcome = succeed("generate", "grid:5x4", "-o", tmp_path / "g.csr")
    assert outcome.out == f"{tmp_path / 'g.csr'}: grid:5x4: 20 vertices, 31 edges, uint32 weights\n"
    assert gpugraph.load(tmp_path / "g.csr").digest == gpugraph.generate("grid:5x4").digest


@pytest.mark.parametrize("name", ["g.gr", "g.gr.gz", "g.mtx", "g.csr", "g.wel.zst", "g.npz"])
def test_convert_keeps_the_graph(tmp_path, name):
    succeed("convert", "grid:5x4", tmp_path / name)
    assert gpugraph.load(tmp_path / name).edges == 31
    assert succeed("convert", tmp_path / name, tmp_path / "back.csr").out.endswith("31 edges, uint32 weights\n")


def test_convert_keeps_the_ids_of_a_file_or_says_that_it_cannot(tmp_path):
    path = tmp_path / "g.wel"
    path.write_text("10 20 5\n20 30 7\n")
    succeed("convert", path, path)
    assert path.read_text() == "10 20 5\n20 30 7\n"
    assert "--renumber" in refuse(2, "convert", path, tmp_path / "g.csr")
    assert not (tmp_path / "g.csr").exists()
    assert "10, 20, 30, are not in it" in succeed("convert", path, tmp_path / "g.csr", "--renumber").err


def test_convert_changes_direction_and_weights(tmp_path):
    (tmp_path / "d.gr").write_text("p sp 3 3\na 1 2 -5\na 2 1 -3\na 2 3 4\n")
    succeed("convert", tmp_path / "d.gr", tmp_path / "u.csr", "--symmetrize", "--reweight", "abs")
    graph = gpugraph.load(tmp_path / "u.csr")
    assert not graph.directed
    assert sorted(graph.weights.tolist()) == [3, 3, 4, 4]
    succeed("convert", tmp_path / "d.gr", tmp_path / "w.csr", "--reweight", "uniform:1..9", "--seed", "4")
    assert gpugraph.load(tmp_path / "w.csr").weights.max() <= 9


@pytest.mark.parametrize("changes", [("--reweight", "abs"), ("--reweight", "uniform:1..99", "--seed", 5)])
def test_verify_and_info_take_the_changes_that_the_result_was_made_with(tmp_path, changes):
    (tmp_path / "d.gr").write_text("p sp 3 4\na 1 2 -50\na 2 1 -50\na 2 3 4\na 3 2 4\n")
    succeed("mst", tmp_path / "d.gr", *changes, "--device", "cpu", "-o", tmp_path / "f.npz")
    assert "passed" in succeed("verify", tmp_path / "d.gr", tmp_path / "f.npz", *changes).out
    assert "weighs -50" in refuse(1, "verify", tmp_path / "d.gr", tmp_path / "f.npz")
    assert json.loads(succeed("info", tmp_path / "d.gr", *changes, "--format", "json").out)["weight_dtype"] == "uint32"


def test_info_of_a_spec_and_of_a_file_agree(tmp_path):
    succeed("generate", "star:7", "-o", tmp_path / "s.csr")
    spec = json.loads(succeed("info", "star:7", "--format", "json").out)
    file = json.loads(succeed("info", tmp_path / "s.csr", "--format", "json").out)
    changing = ("name", "source")
    assert {k: v for k, v in spec.items() if k not in changing} == {k: v for k, v in file.items() if k not in changing}
    assert (spec["vertices"], spec["components"], spec["degrees"]["greatest"]) == (7, 1, 6)


def test_info_shows_degrees_components_weights_and_memory():
    shown = succeed("info", "rmat:8").out
    for label in ("size", "components", "weights", "memory", "digest", "degrees"):
        assert f"\n{label}" in shown
    assert "on a device" in shown
    assert all(len(line) <= 80 and line == line.rstrip() for line in shown.splitlines())


def test_info_of_a_directed_graph_shows_both_degrees():
    shown = succeed("info", "regular:n=64,in=7").out
    assert "out-degrees" in shown
    assert "in-degrees  7 to 7" in shown


def test_algos_lists_every_algorithm_with_its_source():
    found = json.loads(succeed("algos", "--format", "json").out)
    assert {"kruskal", "boruvka", "prim"} <= {a["name"] for a in found if a["problem"] == "mst"}
    assert {"dijkstra", "dijkstra-fibonacci", "delta-stepping"} <= {a["name"] for a in found if a["problem"] == "sssp"}
    shown = " ".join(succeed("algos").out.split())
    for algorithm in found:
        assert algorithm["authors"]
        assert algorithm["year"] > 1900
        assert algorithm["section"]
        assert f"{algorithm['authors']}, {algorithm['year']}, {algorithm['section']}" in shown
    assert {a["problem"] for a in json.loads(succeed("algos", "--problem", "mst", "--format", "json").out)} == {"mst"}


def test_devices_lists_all_and_says_what_is_missing():
    found = json.loads(succeed("devices", "--no-probe", "--format", "json").out)
    assert {device["kind"] for device in found} == {"cuda", "cpu", "emulated"}
    assert all(device["usable"] or device["detail"] for device in found)
    assert "\ncpu " in succeed("devices", "--no-probe").out


def test_devices_measures_a_gpu_and_reports_one_that_fails(monkeypatch):
    from gpugraph.base.errors import DeviceUnavailable
    from gpugraph.ext.machine.probes import Probes

    class Gpu:
        def __init__(self, name: str):
            self.name = name

        def close(self) -> None:
            closed.append(self.name)

    def probes(device: Gpu) -> Probes:
        if device.name == "cuda:1":
            raise DeviceUnavailable("the compiler is missing", remedy="install it")
        return Probes("cuda:0", "H200", kernel_runs=True, compile_s=0.1, copy=4.1e12, launch_s=2.1e-6)

    closed: list[str] = []
    common = {
        "kind": "cuda",
        "name": "H200",
        "usable": True,
        "detail": None,
        "memory_bytes": 1 << 37,
        "clock_khz": 1980000,
    }
    found = [{"device": f"cuda:{i}", **common} for i in range(2)]
    monkeypatch.setattr("gpugraph.ext.machine.listing.found_devices", lambda: [dict(device) for device in found])
    monkeypatch.setattr("gpugraph.devices.discovery.select_device", lambda name: (Gpu(name), None))
    monkeypatch.setattr("gpugraph.ext.machine.probes.run_probes", probes)
    shown = " ".join(succeed("devices").out.split())
    assert "copy kernel, read + written 4,100.0 GB/s" in shown
    assert "launch of an empty kernel 2.10 µs" in shown
    assert "128 GiB memory, 1980 MHz" in shown
    assert "the compiler is missing — install it" in shown
    assert closed == ["cuda:0", "cuda:1"]


def test_the_defaults_name_a_small_graph():
    assert set(defaults().origins.values()) == {"configs/default.toml"}
    assert succeed("info", defaults().graph).code == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[default]\ngrph = 'a'", "did you mean 'graph'"),
        ("[measrue]\nrepeat = 1", "did you mean 'measure'"),
        ("repeat = 1", "unknown table"),
        ("[measure]\nrepeat = 'five'", "measure.repeat is 'five' — give a whole number, 0 or more"),
        ("[measure]\nrepeat = true", "measure.repeat is True — give a whole number"),
        ("[default]\ngraph = 'a'", "lacks default.device, measure.repeat"),
        ("[bench]\nbudget = 600", "bench.budget is 600 — give a text in quotation marks"),
        ("[default", "cannot be read"),
    ],
)
def test_a_wrong_default_is_refused_with_its_file(tmp_path, text, reason):
    path = tmp_path / "default.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=reason) as caught:
        read_defaults(path)
    assert "default.toml" in str(caught.value)


def test_verify_needs_a_file_that_is_there():
    assert "there is no such file" in refuse(2, "verify", "grid:3x3", "none.npz")


def test_advice_on_a_folder_does_not_say_that_it_is_not_there(tmp_path):
    (tmp_path / "a.gr").mkdir()
    assert "is no file that can be read again and again" in refuse(2, "info", "--advise", tmp_path / "a.gr")


def test_ids_that_no_edge_meets_are_vertices_on_request(tmp_path):
    (tmp_path / "a.el").write_text("0 1\n5 1\n")
    assert "3 vertices" in succeed("info", tmp_path / "a.el").out
    assert "6 vertices" in succeed("info", tmp_path / "a.el", "--keep-ids").out
    data = json.loads(succeed("mst", tmp_path / "a.el", "--keep-ids", "--device", "cpu", "--format", "json").out)
    assert (data["graph"]["vertices"], data["result"]["components"]) == (6, 4)


def test_a_graph_that_does_not_fit_ends_with_the_code_of_memory(tmp_path):
    (tmp_path / "a.gr").write_text(f"p sp {2**39} 1\na 1 2 3\n")
    for graph in (tmp_path / "a.gr", "star:n=2^39"):
        assert "of memory and" in refuse(3, "info", graph)


def test_infinite_weights_are_text_in_json(tmp_path):
    (tmp_path / "a.wel").write_text("0 1 inf\n1 2 -inf\n")
    out = succeed("info", tmp_path / "a.wel", "--format", "json").out
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert (data["least_weight"], data["greatest_weight"]) == ("-inf", "inf")
