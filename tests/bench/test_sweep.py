from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.bench import estimate
from gpugraph.bench.axes import parse_settings
from gpugraph.bench.expand import expand_sweep
from gpugraph.bench.plan import Plan
from gpugraph.bench.sweep_file import read_sweep, shipped
from gpugraph.ext.findings.paper import paper_of
from gpugraph.ext.peers import register_commands
from gpugraph.measure.cell import Cell

CPU = {"auto": "cpu", "cpu": "cpu"}
BOTH = {"auto": "cuda", "cuda": "cuda", "cpu": "cpu", **{f"cuda:0{part}": "cuda" for part in ("", "/66", "/33", "/16")}}
Make = Callable[..., Plan]


@pytest.fixture
def plan(tmp_path: Path) -> Make:
    """Return a function from the text of a sweep to its plan."""

    def make(text: str, *settings: str, kinds: dict[str, str] = CPU, peers: tuple[str, ...] = ()) -> Plan:
        (tmp_path / "s.toml").write_text(text)
        return expand_sweep(read_sweep(str(tmp_path / "s.toml"), parse_settings(settings)), kinds, peers)

    return make


def words(plan: Plan) -> list[str]:
    return [f"{p.cell.problem} {p.cell.algorithm} {p.cell.device} {p.cell.graph}" for p in plan.cells]


AXES = """
title = "t"
[axes]
graph = ["rmat:{scale},ef=4", "path:9"]
scale = "4..6 step 2"
algorithm = ["kruskal", "prim"]
device = "cpu"
"""


def test_cells_are_the_product_of_the_axes_small_graphs_first(plan):
    assert words(plan(AXES)) == [
        "mst kruskal cpu path:9",
        "mst prim cpu path:9",
        "mst kruskal cpu rmat:4,ef=4",
        "mst prim cpu rmat:4,ef=4",
        "mst kruskal cpu rmat:6,ef=4",
        "mst prim cpu rmat:6,ef=4",
    ]


def test_a_cell_says_where_it_lies_and_which_cells_differ_from_it_in_scale_alone(plan):
    last = plan(AXES).cells[-1].cell
    assert last.axes == {"scale": 6, "graph": "rmat:{scale},ef=4", "algorithm": "prim", "device": "cpu"}
    assert last.series == "mst · prim · cpu · rmat:{scale},ef=4"
    assert last.sweep is not None
    assert plan(AXES, "graph=rmat:6,ef=4").cells[-1].cell.series == last.series


@pytest.mark.parametrize(
    ("graph", "series"),
    [
        ("grid:64x8", "grid:{width}x{height}"),
        ("random:n=16,deg=3", "random:n={n},deg=3"),
        ("knn:n=64,k=4", "knn:n={n},k=4"),
        ("path:9,w=unit", "path:{n},w=unit"),
        ("regular:n=64,in=7,dtype=float32", "regular:n={n},in=7,dtype=float32"),
        ("counterexample", "counterexample:{n}"),
    ],
)
def test_a_series_leaves_open_what_makes_its_graph_large(plan, graph, series):
    cells = plan(f'[axes]\ngraph = ["{graph}"]\nalgorithm = "auto"').cells
    assert cells[0].cell.series.endswith(series)


def test_settings_of_the_command_line_replace_axes_and_add_up(plan):
    made = plan(AXES, "scale=5,7", "algorithm=kruskal", "graph=rmat:{scale}", "graph=star:4")
    assert words(made) == ["mst kruskal cpu star:4", "mst kruskal cpu rmat:5", "mst kruskal cpu rmat:7"]


@pytest.mark.parametrize(("target", "limit"), [("5", '"1500ms"'), ('"5%"', "1.5"), ("0.05", '"1.5"')])
def test_the_precision_and_the_time_of_samples_have_units(tmp_path, target, limit):
    text = f"[axes]\ngraph = 'path:4'\n[sampling]\ntarget = {target}\ntime_limit_s = {limit}\n"
    (tmp_path / "s.toml").write_text(text)
    assert read_sweep(str(tmp_path / "s.toml"), {}).sampling == {"target": 0.05, "time_limit_s": 1.5}


def test_settings_may_be_toml_and_reach_limits_sampling_and_options(tmp_path):
    (tmp_path / "s.toml").write_text(AXES + "[limits]\ntime = '1s'\n")
    texts = (
        "w=['1..9']",
        "limits.time=30s",
        "limits.memory=1GB",
        "sampling.max_samples=20",
        "prim.delta=1..4x2",
    )
    read = read_sweep(
        str(tmp_path / "s.toml"), parse_settings((*texts[1:], "graph=['rmat:4', 'path:{scale}']", "scale=8"))
    )
    (block,) = read.blocks
    assert (block.limits.time_s, block.limits.memory_bytes) == (30, 10**9)
    assert read.sampling == {"max_samples": 20}
    assert block.options["prim"] == {"delta": [1, 2, 4]}
    assert block.axes["graph"] == ["rmat:4", "path:{scale}"]


def test_algorithms_differ_by_problem_and_sources_are_those_of_shortest_paths(plan):
    made = plan(
        """
        [axes]
        problem = ["mst", "sssp"]
        graph = "grid:4x4"
        source = ["0", "random:2"]
        [axes.algorithm]
        mst = "kruskal"
        sssp = ["dijkstra", "delta-stepping"]
        [options.delta-stepping]
        delta = "1..4 x2"
        """
    )
    assert [p.cell.source for p in made.cells if p.cell.problem == "mst"] == [None]
    deltas = [(p.cell.source, p.cell.options["delta"]) for p in made.cells if p.cell.algorithm == "delta-stepping"]
    assert deltas == [(s, d) for s in ("0", "random:2") for d in ("1", "2", "4")]
    assert len({p.cell.series for p in made.cells}) == len(made.cells)


def test_an_algorithm_may_carry_its_device_options_and_preparations(plan):
    made = plan(
        """
        [axes]
        graph = "complete:8"
        device = ["cuda", "cpu"]
        algorithm = ["kruskal@cpu", { name = "prim", device = "cuda", options = { threads = 128 } },
                     { name = "boruvka", prepare = "sort-adjacency+rank-weights" }]
        """,
        kinds=BOTH,
    )
    assert words(made) == ["mst kruskal cpu complete:8", "mst prim cuda complete:8", "mst boruvka cuda complete:8"]
    assert made.cells[1].cell.options == {"threads": "128"}
    assert made.cells[2].cell.preparations == ("sort-adjacency", "rank-weights")
    assert made.left_out == {"boruvka on cpu does not take the preparation sort-adjacency": 1}


def test_cases_bind_several_variables_at_once(plan):
    made = plan(
        """
        cases = [{ n = 8, deg = 3 }, { n = 16, deg = 5 }]
        [axes]
        graph = "random:n={n},deg={deg}"
        algorithm = "kruskal"
        """
    )
    assert [p.cell.graph for p in made.cells] == ["random:n=8,deg=3", "random:n=16,deg=5"]


def test_an_empty_list_of_blocks_is_none(plan):
    assert words(plan("block = []\n[axes]\ngraph = 'path:4'\nalgorithm = 'kruskal'")) == ["mst kruskal cpu path:4"]


def test_blocks_override_what_the_file_says_for_all(plan):
    made = plan(
        """
        [axes]
        graph = "path:{n}"
        n = [4, 5]
        algorithm = "kruskal"
        [[block]]
        name = "small"
        [[block]]
        axes = { graph = "star:{n}", n = 6, algorithm = "prim" }
        limits = { time = "5s" }
        """
    )
    assert words(made) == ["mst kruskal cpu path:4", "mst kruskal cpu path:5", "mst prim cpu star:6"]
    assert [p.limits.time_s for p in made.cells] == [120, 120, 5]


def test_rules_leave_cells_out_by_axis_and_by_size_and_say_why(plan):
    rules = """
    [[skip]]
    algorithm = "prim"
    scale = "6.."
    reason = "prim takes too long"
    [[skip]]
    vertices = "..9"
    """
    made = plan(AXES + rules)
    assert words(made) == [
        "mst kruskal cpu rmat:4,ef=4",
        "mst prim cpu rmat:4,ef=4",
        "mst kruskal cpu rmat:6,ef=4",
    ]
    assert made.left_out["prim takes too long"] == 1
    assert made.left_out["rule vertices = ..9"] == 2


def test_the_same_cell_is_kept_once_and_auto_is_the_device_it_stands_for(plan):
    assert words(plan('[axes]\ngraph = ["path:4", "path:4"]\nalgorithm = "prim"\ndevice = ["auto", "cpu"]')) == [
        "mst prim cpu path:4"
    ]


def test_what_does_not_run_on_a_device_is_counted_and_no_cell_at_all_is_an_error(plan):
    made = plan('[axes]\ngraph = "path:4"\nalgorithm = ["kruskal", "filter-boruvka"]')
    assert made.left_out == {"filter-boruvka does not run on cpu": 1}
    with pytest.raises(InputError, match="no cell is left to run: filter-boruvka does not run on cpu"):
        plan('[axes]\ngraph = "path:4"\nalgorithm = "filter-boruvka"')


def test_peers_run_beside_the_algorithms_where_they_solve_the_problem(plan):
    assert words(plan('[axes]\ngraph = "path:4"\nalgorithm = "kruskal"', peers=("scipy",))) == [
        "mst kruskal cpu path:4",
        "mst peer:scipy cpu path:4",
    ]


def test_points_of_a_paper_go_to_the_cells_they_concern(plan, tmp_path):
    text = (
        AXES
        + """
    [paper]
    title = "P"
    hardware = "H"
    year = 2011
    claim = ["it is fast"]
    [[paper.point]]
    algorithm = "prim"
    vertices = 64
    kernel_s = 0.5
    where = "figure 3"
    """
    )
    made = plan(text)
    paper = read_sweep(str(tmp_path / "s.toml")).paper
    assert paper is not None
    prim = next(p for p in made.cells if p.cell.algorithm == "prim")
    kruskal = next(p for p in made.cells if p.cell.algorithm == "kruskal")
    point = {"kernel_s": 0.5, "vertices": 64, "where": "figure 3"}
    said = {"year": 2011, "claims": ["it is fast"]}
    assert paper_of(paper, prim.cell) == [
        {"name": "P", "hardware": "H", "where": "figure 3", "points": [point], **said}
    ]
    assert paper_of(paper, kruskal.cell) == [{"name": "P", "hardware": "H", "points": [], **said}]


def test_a_point_may_have_hardware_of_its_own_and_be_a_speedup(plan, tmp_path):
    text = (
        AXES
        + """
    [paper]
    title = "P"
    hardware = "H"
    [[paper.point]]
    scale = 6
    speedup = 2.5
    over = "one thread"
    hardware = "another GPU"
    """
    )
    made = plan(text)
    paper = read_sweep(str(tmp_path / "s.toml")).paper
    assert paper is not None
    (told,) = paper_of(paper, made.cells[0].cell)
    assert told["hardware"] == "another GPU"
    assert told["points"] == [{"speedup": 2.5, "scale": 6, "over": "one thread"}]


def test_the_graphs_of_a_users_files_come_before_generated_ones_each_kind_small_ones_first(plan, tmp_path):
    for name, edges in (("big", 40), ("small", 2)):
        (tmp_path / f"{name}.wel").write_text("".join(f"{i} {i + 1} 3\n" for i in range(edges)))
    files = [str(tmp_path / f"{name}.wel") for name in ("small", "big")]
    made = plan(f'[axes]\ngraph = ["path:9", "{files[1]}", "path:4", "{files[0]}"]\nalgorithm = "kruskal"')
    assert [planned.cell.graph for planned in made.cells] == [*files, "path:4", "path:9"]


def test_a_file_whose_name_looks_like_a_template_is_a_file(plan, tmp_path):
    (tmp_path / "{n}.wel").write_text("0 1 3\n")
    (tmp_path / "4.wel").write_text("0 1 3\n1 2 3\n")
    made = plan(f'[axes]\ngraph = ["{tmp_path}/{{n}}.wel", "{tmp_path}/{{m}}.wel"]\nm = 4\nalgorithm = "kruskal"')
    assert [planned.cell.graph for planned in made.cells] == [f"{tmp_path}/{{n}}.wel", f"{tmp_path}/4.wel"]


SCAN = """
[axes]
problem = "scan"
graph = "array:size={size},dtype={dtype},exclusive=yes"
size = ["4KiB", "1MiB"]
dtype = ["uint32", "float64"]
algorithm = ["cpu", "look-back"]
"""


def test_a_sweep_may_scan_arrays_small_ones_first(plan):
    made = plan(SCAN)
    assert [(p.cell.axes["size"], p.cell.axes["dtype"], p.size.arcs) for p in made.cells] == [
        ("4KiB", "float64", 512),
        ("4KiB", "uint32", 1024),
        ("1MiB", "float64", 1 << 17),
        ("1MiB", "uint32", 1 << 18),
    ]
    assert {p.size.nbytes for p in made.cells} == {4096, 1 << 20}
    assert made.cells[0].cell.series == "scan · cpu · cpu · array:size={size},dtype=float64,exclusive=yes"


def test_arrays_are_for_scans_and_graphs_for_the_other_problems(plan):
    text = '[axes]\nproblem = ["mst", "scan"]\ngraph = ["path:4", "array:n=2^10,segments=8"]\nalgorithm = "auto"'
    made = plan(text)
    assert words(made) == ["mst auto cpu path:4", "scan auto cpu array:n=2^10,segments=8"]
    assert made.left_out == {"mst takes inputs of another kind": 1, "scan takes inputs of another kind": 1}
    assert made.cells[1].size.nbytes == 1024 * 5  # a byte for each head
    with pytest.raises(InputError, match="no cell is left to run: mst takes inputs of another kind"):
        plan('[axes]\ngraph = "array:n=8"')


def test_the_size_of_a_file_of_elements_is_known_without_reading_it(plan, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(300, np.int64))
    made = plan(f'[axes]\nproblem = "scan"\ngraph = "{tmp_path}/a.npy"\nalgorithm = "cpu"')
    assert (made.cells[0].size.arcs, made.cells[0].size.nbytes) == (300, 2400)


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_sweep_is_sound_on_the_cpu_and_on_a_gpu(name):
    sweep = read_sweep(name)
    assert sweep.title != name
    register_commands(sweep.peers, sweep.path)
    assert expand_sweep(sweep, BOTH).cells
    if "/" not in name:  # others are about kernels
        assert expand_sweep(sweep, CPU).cells


WRONG = [
    ("[axes]\ngraph = 'path:4'\nalgorithm = 'krusskal'", "line 3, axes.algorithm: unknown algorithm", "kruskal"),
    ("[axes]\ngraph = 'path:4'\ndevice = 'gpu'", "line 3, axes.device: unknown device 'gpu'", "cuda"),
    ("[axis]\ngraph = 'path:4'", "line 1, axis: unknown key 'axis'", "did you mean 'axes'?"),
    ("[axes]\ngraph = 'path:4'\nscle = 3", "line 3, axes.scle: unknown axis 'scle'", ""),
    ("[axes]\ngraph = 'path:{scal}'\nscale = 3", "unknown", "scal"),
    ("[axes]\ngraph = 'path:{n}'\nn = '9..4'", "line 3, axes.n: '9..4' ends before it begins", "4..9"),
    ("[axes]\ngraph = 'paht:4'", "unknown graph family 'paht'", "did you mean 'path'?"),
    ("[axes]\ngraph = 'nowhere.gr'", "nowhere.gr: there is no such file", "spec"),
    ("[axes]\ngraph = '/dev'", "/dev: is no file that can be read again and again", "spec"),
    ("[axes]\ngraph = '-'", "-: is no file that can be read again and again", "spec"),
    ("[axes]\ngraph = 'path:4'\nproblem = 'msst'", "line 3, axes.problem: unknown problem 'msst'", "mst"),
    ("[axes]\ngraph = 'path:4'\nprepare = 'renumbr'", "line 3, axes.prepare: unknown preparation", "renumber"),
    ("[axes]\ngraph = 'path:4'\n[limits]\ntime = 'long'", "line 4, limits.time: 'long' is no length of time", "90s"),
    ("[axes]\ngraph = 'path:4'\n[limits]\ntimes = 3", "line 4, limits.times: unknown key 'times'", "time"),
    ("[axes]\ngraph = 'path:4'\n[sampling]\ntarget = 'little'", "'little' is no share", "0.02 or 2%"),
    ("[axes]\ngraph = 'path:4'\n[sampling]\ntime_limit_s = 0", "'0' is no length of time", "90s"),
    ("[axes]\ngraph = 'path:4'\n[sampling]\nsamples = 3", "unknown setting of 'sampling' 'samples'", "min_samples"),
    ("[axes]\ngraph = 'path:4'\n[[skip]]\nalgorithm = 'x'\n[[skip]]\nsize = 3", "line 6, skip.size: unknown key", ""),
    ("[axes]\ngraph = 'path:4'\n[[skip]]\nreason = 'x'", "no condition", ""),
    ("[axes]\ngraph = 'path:4'\n[[skip]]\nvertices = '1..9 step 2'", "line 4, skip.vertices: no value meets", "22.."),
    ("[axes]\ngraph = 'path:4'\n[[skip]]\nvertices = [3, '9..1']", "no value meets the condition '9..1'", "22.."),
    ("[axes]\ngraph = 'path:4'\n[[table]]\ntitle = 't'\ncolumns = { k = 'kernel' }\neach = { vertices = '1..8 x2' }",
     "line 6, table.each: no value meets the condition '1..8 x2'", "16..24"),
    ("cases = [{ n = 4, seed = 2 }]\n[axes]\ngraph = 'path:{n}'", "line 1, cases: a case sets variables", "'seed'"),
    ("[axes]\ngraph = 'path:4'\nverify = 'refrence'", "line 3, axes.verify: unknown verification", "'reference'"),
    ("[axes]\ngraph = 'path:4'\nvertices = -1", "line 3, axes.vertices: -1 is no value of 'vertices'", ""),
    ("[axes]\nproblem = 'sssp'\ngraph = 'path:4'\nalgorithm = 'delta-stepping'\n[options.delta-stepping]\ndelt = 3",
     "line 6, options.delta-stepping.delt: unknown option", "did you mean 'delta'?"),
    ("[axes]\nproblem = 'sssp'\ngraph = 'path:4'\nalgorithm = 'delta-stepping'\n[options.delta-stepping]\ndelta = 'x'",
     "line 6, options.delta-stepping.delta: option 'delta' takes float, not 'x'", ""),
    ("[axes]\ngraph = 'path:4'\nalgorithm = [", "line 3", "correct that line"),
    ("title = 'x'", "names no graph", "rmat:{scale}"),
    ("budget = 'all'\n[axes]\ngraph = 'path:4'", "line 1, budget: 'all' is no length of time", ""),
    ("[axes]\nproblem = 'scan'\ngraph = 'array:siz=4KB'", "unknown key of 'array' 'siz'", "did you mean 'size'?"),
    ("[axes]\nproblem = 'scan'\ngraph = 'gone.npy'", "gone.npy: no such file", "array:n=2^20"),
    ("[axes]\ngraph = 'path:4'\n[paper]\ntitle = 'x'\nhardware = 'y'\n[[paper.point]]\nscale = 3",
     "line 6, paper.point: number 1 states no value", "give kernel_s, mteps or speedup"),
    ("[axes]\ngraph = 'path:4'\n[paper]\ntitle = 'x'", "line 3, paper: lacks 'hardware'", ""),
    ("[axes]\ngraph = 'path:4'\n[[expect]]\nsays = 'x'\nvalue = 'kernel'\nmost = 1.0\nat = '< 1'",
     "line 7, expect.at: its at is an invalid enum value '< 1'", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "what", "advice"), WRONG, ids=[what for _, what, _ in WRONG])
def test_what_is_wrong_with_a_sweep_is_reported_with_its_place_and_the_right_way(plan, text, what, advice):
    with pytest.raises(InputError) as caught:
        plan(text)
    assert what in str(caught.value)
    assert advice in str(caught.value)
    assert "s.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("scal=3", "did you mean 'scale'?"),
        ("scale", "is not NAME=VALUES"),
        ("scale=9..4", "ends before it begins"),
        ("limits.tim=3s", "did you mean 'time'?"),
        ("sampling.targe=3", "did you mean 'target'?"),
        ("algorithm=krusskal", "--axis algorithm: unknown algorithm 'krusskal'"),
        ("graph=['x", "is no TOML"),
    ],
)
def test_a_wrong_setting_is_reported_likewise(plan, setting, what):
    with pytest.raises(InputError) as caught:
        plan(AXES, setting)
    assert what in str(caught.value)


def test_an_option_set_like_an_axis_is_reported_where_it_belongs(plan):
    with pytest.raises(InputError, match=r"no axis .* but an option of prim — write --set prim.threads="):
        plan(AXES + "[options.prim]\nthreads = [32, 64]\n", "threads=32")


def test_an_option_is_set_for_each_algorithm_that_has_it(plan):
    made = plan(AXES, "delta=4,8", "problem=sssp", "algorithm=dijkstra,delta-stepping", "graph=path:9")
    found = {(one.cell.algorithm, one.cell.options.get("delta")) for one in made.cells}
    assert found == {("dijkstra", None), ("delta-stepping", "4"), ("delta-stepping", "8")}
    with pytest.raises(InputError, match=r"unknown axis of .*'dleta'"):
        plan(AXES, "dleta=4", "problem=sssp", "algorithm=delta-stepping")


def test_an_unknown_sweep_suggests_the_nearest_and_a_missing_file_is_named():
    with pytest.raises(InputError, match="did you mean 'smoke'"):
        read_sweep("smok")
    with pytest.raises(InputError, match=r"gone\.toml: cannot be read"):
        read_sweep("gone.toml")


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ("device=gpu", "--axis device"),
        ("prepare=sort", "--axis prepare"),
        ("problem=mts", "--axis problem"),
        ("boruvka.jumps=2", "--set boruvka.jumps"),
        ("limits.time=soon", "--axis limits.time"),
    ],
)
def test_a_bad_value_of_the_command_line_is_placed_there(plan, setting, place):
    with pytest.raises(InputError) as caught:
        plan(AXES, setting)
    assert caught.value.where == place


def test_a_key_that_bears_the_name_of_an_axis_given_by_the_command_line_keeps_its_place(plan):
    text = AXES + '[paper]\ntitle = "T"\nhardware = "H"\n[[paper.point]]\nmteps = 1\nscale = -1\n'
    with pytest.raises(InputError, match=r"s\.toml line \d+, paper\.point\.scale: -1 is no number above 0"):
        plan(text, "scale=4")


def test_a_bad_device_of_a_block_is_found_in_its_line(plan):
    text = 'title = "t"\n[[block]]\naxes.graph = "path:4"\n[[block]]\naxes.graph = "path:5"\naxes.device = "gpu"\n'
    with pytest.raises(InputError, match=r"s\.toml.*device.*unknown device 'gpu'"):
        plan(text)


def test_what_a_file_does_not_say_is_an_axis_too(plan: Make, tmp_path: Path) -> None:
    graph = tmp_path / "own.csv"
    graph.write_text("src,dst,weight\n0,1,3\n1,2,4\n")
    settings = ("columns=src,dst,weight", "directed=true,false", "vertices=9", f"graph={graph}")
    made = [p.cell for p in plan('[axes]\nproblem = "mst"\nalgorithm = "kruskal"\ndevice = "cpu"\n', *settings).cells]
    assert {(cell.read.columns, cell.read.vertices, cell.read.directed) for cell in made} == {
        ("src,dst,weight", 9, True),
        ("src,dst,weight", 9, False),
    }
    assert len({cell.input for cell in made}) == 2


def test_a_number_of_sources_that_is_none_counts_as_one():
    assert estimate._sources(Cell("sssp", "grid:4x4", source="random:²")) == 1
    assert estimate._sources(Cell("sssp", "grid:4x4", source="random:12")) == 12
