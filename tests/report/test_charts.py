from __future__ import annotations

import json
import re

import pytest

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import percent
from gpugraph.ext.charts.chart import DARK, LIGHT, PAGE, colors, draw, entries, paint
from gpugraph.ext.charts.curves import Look, Point, curves, log_axis, log_domain
from gpugraph.ext.charts.figure import Choice, chosen_points, figure, one_axis
from gpugraph.ext.charts.page import colours
from gpugraph.ext.charts.rates import bandwidth, energy, roofline, speedups, strong, throughput, weak
from gpugraph.ext.charts.times import MOST, MOST_PANELS, answers, inner_shares, samples, shares, transfers
from gpugraph.ext.comparing.cells import label, ordered
from gpugraph.ext.reports.panels import panels
from gpugraph.ext.reports.versus import gains
from gpugraph.records.record import Record
from tests.report.canned import emulated, mst_record, sssp_record
from tests.report.sweep import cell, sweep
from tests.tiers import extended, first


@pytest.fixture(scope="module")
def rows():
    return [Record.of(record) for record in sweep()]


@pytest.fixture(scope="module")
def cells(rows):
    return label(rows)


def test_cells_of_a_family_share_a_figure_over_scale_and_the_rest_one_by_graph(cells):
    found = panels(cells)
    assert [(p.problem, p.family, p.names) for p in found] == [
        ("mst", "rmat", False), ("sssp", "rmat", False), ("mst", None, True),
    ]  # fmt: skip
    assert sum(len(p.members) for p in found) == len(cells)
    assert [p.key for p in found] == ["mst-rmat", "sssp-rmat", "mst-graphs"]


def test_throughput_has_every_rated_cell_failures_and_the_papers_points(cells):
    first = throughput(cells)[0]
    values = first.spec["data"]["values"]
    rated = [c for c in cells if c.record.mteps and c.record.problem == "mst" and c.record.family == "rmat"]
    assert [v["y"] for v in values] == [c.record.mteps for c in sorted(rated, key=lambda c: c.record.scale)]
    marks = [layer["data"]["values"] for layer in first.spec["layer"] if "data" in layer]
    papers = next(values for values in marks if any(v.get("y") == 640.0 for v in values))
    assert [(v["x"], v["y"]) for v in papers] == [(16.0, 310.0), (18.0, 640.0), (20.0, 910.0)]
    failed = next(values for values in marks if values[0].get("text") == "out of memory" or "wrong" in str(values))
    assert len(failed) == 3
    for text in ("Kolganov 2015, NVIDIA GTX Titan", "NVIDIA H200", "AMD EPYC"):
        assert text in first.caption
    assert "filter-boruvka on NVIDIA H200: " in first.description


def test_a_stated_time_counts_for_its_own_scale_alone():
    paper = {
        "name": "P",
        "hardware": "H",
        "points": [{"scale": 16, "kernel_s": 0.917504}, {"scale": 17, "kernel_s": 9}],
    }
    records = [cell("mst", "boruvka", "cuda", scale) | {"paper": paper} for scale in (16, 18)]
    (chart,) = throughput(label([Record.of(record) for record in records]))
    stated = chart.spec["layer"][-2]["data"]["values"]
    assert [(v["x"], v["y"]) for v in stated] == [(16.0, pytest.approx(1.0))]


def test_a_stated_speed_up_is_in_the_figure_of_speed_ups_with_what_it_is_over():
    point = {"vertices": 2**17, "speedup": 2.5, "over": "one thread of a Core i7"}
    paper = {"name": "P", "hardware": "GTX 460", "points": [point]}
    records = [cell("mst", "boruvka", "cuda", scale) | {"paper": paper} for scale in (16, 18)]
    records += [cell("mst", "kruskal", "cpu", scale) for scale in (16, 18)]
    rows = [Record.of(record) for record in records]
    (chart,) = speedups(label(rows), gains(label(rows)))
    stated = chart.spec["layer"][-2]["data"]["values"]
    assert [(v["x"], v["y"]) for v in stated] == [(17.0, 2.5)]
    for text in ("P, GTX 460", "NVIDIA H200", "Theirs are over one thread of a Core i7"):
        assert text in chart.caption
    (throughput_,) = throughput(label(rows))
    assert "GTX 460" not in throughput_.caption
    drawn = figure(rows, LIGHT, Choice(x="scale", y="speedup"))
    assert any(v.get("y") == 2.5 for layer in drawn["layer"] for v in layer.get("data", {}).get("values", ()))


def test_a_stated_value_of_the_only_size_there_is_is_over_its_graph():
    paper = {"name": "P", "hardware": "H", "points": [{"scale": 16, "mteps": 3.0}, {"scale": 17, "mteps": 9.0}]}
    (chart,) = throughput(label([Record.of(cell("mst", "boruvka", "cuda", 16) | {"paper": paper})]))
    stated = chart.spec["layer"][-2]["data"]["values"]
    assert [(v["x"], v["y"]) for v in stated] == [("rmat:16", 3.0)]


def test_shares_are_those_of_the_phases_and_no_more_figures_than_a_reader_bears(cells):
    found = shares(cells)
    assert {chart.title for chart in found} >= {"filter-boruvka, NVIDIA H200", "boruvka, NVIDIA H200"}
    (first,) = (chart for chart in found if chart.title == "filter-boruvka, NVIDIA H200" and "rmat" in chart.key)
    value = next(v for v in first.spec["data"]["values"] if v["part"] == "kernel")
    assert value["y"] == cells[0].record.kernel_s
    many = [cell("mst", "boruvka", "cuda", s) | {"algorithm": f"a{i}"} for i in range(20) for s in (16, 17)]
    assert len(shares(label([Record.of(record) for record in many]))) == MOST_PANELS
    assert inner_shares(cells)[0].title == "boruvka, NVIDIA H200"


def test_a_figure_of_shares_in_one_colour_is_left_out():
    phases = {"load": 1.0, "transfer": 0.0, "prepare": 0.001, "kernel": 2.0, "d2h": 0.0}
    alone = [Record.of(cell("mst", "boruvka", "cuda", s, phases_s=phases)) for s in (16, 17)]
    assert shares(label(alone)) == []
    assert len(shares(label([*alone, Record.of(cell("mst", "boruvka", "cuda", 18))]))) == 1
    inner = {"kernel_phases_shares": {"sort": [0.9, 0.99, 1.0], "rest": [0.0, 0.01, 0.1]}}
    assert inner_shares(label([Record.of(cell("mst", "boruvka", "cuda", s) | inner) for s in (16, 17)])) == []


def test_over_names_a_figure_lies_on_its_side_the_greatest_value_on_top():
    rows = [cell("mst", "boruvka", "cuda", 16 + i) | {"cell": {}} for i in range(3)]
    for name, row in zip("bca", rows, strict=True):
        row["graph"] = {**row["graph"], "name": f"{name}.gr", "digest": name, "vertices": 65536}
    (chart,) = throughput(label([Record.of(row) for row in rows]))
    shown = chart.spec["layer"][-1]["encoding"]
    assert shown["y"]["sort"] == ["a.gr", "c.gr", "b.gr"]
    assert (shown["x"]["field"], shown["y"]["field"]) == ("y", "x")
    assert [row[0] for row in chart.rows] == ["a.gr", "b.gr", "c.gr"]


def test_a_bar_leads_from_the_command_to_the_answer_of_every_cell_that_knows_its_total(cells):
    assert answers(cells) == []
    phases = {
        "start": 0.5,
        "compile": 0.25,
        "load": 1.0,
        "check": 0.5,
        "transfer": 0.125,
        "kernel": 2.0,
        "sampling": 9.0,
    }
    new = cell("mst", "boruvka", "cuda", 16) | {"phases_s": {**phases, "sampling": 9.0, "total": 13.375}}
    alone = new | {"cell": new["cell"] | {"axes": {}}}
    for record, start in ((alone, {"start": 0.75}), (new, {})):  # in a sweep the first cell would start for all of them
        (chart,) = answers(label([Record.of(record)]))
        parts = {value["part"]: value["y"] for value in chart.spec["data"]["values"]}
        assert parts == {**start, "input": 1.5, "transfer": 0.125, "kernel": 2.0}
        assert chart.spec["encoding"]["x"]["stack"] == "zero"
        assert Record.of(record).answer_s == sum(parts.values())


def test_transfers_energy_roof_and_speed_up_are_shown_where_they_were_measured(rows, cells):
    cpu = label([row for row in rows if row.device_kind == "cpu"])
    over = gains(cells)
    for make in (transfers, bandwidth, energy, roofline):
        assert make(cells)
        assert make(cpu) == []
    assert speedups(cells, over)
    assert speedups(cpu, []) == []
    points = entries(roofline(cells)[0].spec, "share")
    assert f"{cells[0].record.share * 100:.3g} %" == points[0]


def test_a_roofline_has_a_row_for_each_algorithm_and_each_row_its_own_roof(cells):
    (chart,) = roofline(cells)
    roofs = chart.spec["layer"][0]["data"]["values"]
    assert len({roof["row"] for roof in roofs}) == len(roofs) >= 3
    rated = {cell.record.mteps: cell.record for cell in cells}
    for roof in roofs:
        record = rated[roof["best"]]
        assert roof["roof"] == pytest.approx(record.mteps / record.share)
        assert roof["text"] == f"at {percent(record.share)}"


def test_every_sample_is_drawn_and_too_many_are_thinned_to_their_extremes():
    (chart,) = samples(label([Record.of(cell("mst", "boruvka", "cuda", s)) for s in (16, 17)]))
    assert len(chart.spec["data"]["values"]) == 40
    many = [Record.of(cell("mst", "boruvka", "cuda", s, samples=MOST)) for s in (16, 17)]
    (chart,) = samples(label(many))
    drawn = [v["y"] for v in chart.spec["data"]["values"]]
    assert len(drawn) == MOST
    assert max(drawn) == pytest.approx(max(max(r.samples) / r.kernel_s - 1 for r in many), abs=1e-6)
    assert f"{2 * MOST:,} samples" in chart.caption


def test_samples_of_several_sources_stand_beside_their_own_median():
    record = sssp_record(sources=2) | {"samples_s": {"kernel": [1.0, 1.1, 0.9, 10.0, 11.0, 9.0]}}
    (chart,) = samples(label([Record.of(record)]))
    assert [v["y"] for v in chart.spec["data"]["values"]] == pytest.approx([0, 0.1, -0.1] * 2)


def test_the_emulated_device_is_on_no_figure():
    cells = label([Record.of(emulated())])
    for make in (throughput, shares, inner_shares, transfers, samples, bandwidth, energy, roofline):
        assert make(cells) == []


def test_a_variant_has_one_colour_on_all_figures(cells):
    palette = colors(cells, PAGE)
    for chart in throughput(cells):
        painted = json.dumps(paint(chart.spec, palette))
        for name in dict.fromkeys(entries(chart.spec, "variant")):
            assert palette[name] in painted


def test_no_two_variants_of_a_page_share_a_colour_and_no_order_of_running_changes_one():
    peers = [cell("sssp", "dijkstra", "cpu", s) | {"algorithm": f"peer:p{i}"} for i in range(20) for s in (16, 17)]
    rows = [Record.of(record) for record in [*sweep(), *peers]]
    for ink in (LIGHT, DARK, PAGE):
        palette = colors(label(rows), ink)
        assert len(set(palette.values())) == len(palette) > 20
        assert colors(label(rows[::-1]), ink) == palette
    page_style = colours(len(palette))
    assert all(f"--{colour[6:-1]}:#" in page_style for colour in palette.values())


def test_computed_colours_stand_out_from_their_ground():
    def brightness(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for ink in (LIGHT, DARK):
        for i in range(60):
            light, dark = sorted((brightness(ink.colour(i)), brightness(ink.paper)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3, (ink.paper, i, ink.colour(i))


def test_names_are_listed_by_letters_and_by_the_size_of_numbers_peers_last():
    names = ["peer:a", "prim", "gap, delta=16", "boruvka", "gap, delta=4", "prim"]
    assert ordered(names) == ["boruvka", "gap, delta=4", "gap, delta=16", "prim", "peer:a"]


def test_an_axis_of_whole_numbers_marks_each_once():
    def axis(places):
        points = [Point(x, 1.0 + x, "a", "d") for x in places]
        return curves(points, LIGHT, Look("y", "x"))["layer"][0]["encoding"]["x"]["axis"]

    assert axis([12.0, 13.0, 14.0, 13.0]) == {"values": [12, 13, 14], "format": "d"}
    assert axis([float(x) for x in range(31)])["values"] == list(range(0, 31, 3))
    assert "values" not in axis([12.5, 13.0])


def test_an_algorithm_of_two_files_is_two_series_and_each_is_whole():
    small = [Record.of(cell("mst", "kruskal", "cpu", s), file="smoke.jsonl") for s in (12, 14)]
    large = [Record.of(cell("mst", "kruskal", "cpu", s), file="scales.jsonl") for s in (10, 11, 12, 13, 14)]
    assert [c.variant for c in label([*small, *large])] == ["kruskal, smoke"] * 2 + ["kruskal, scales"] * 5
    assert {c.variant for c in label([small[0], *large[:2]])} == {"kruskal"}


def test_inner_phases_are_median_shares_of_five_runs_or_none():
    record = cell("mst", "boruvka", "cuda", 16)
    kernel = record["phases_s"]["kernel"]
    shares = {"filter": [0.4, 0.5, 0.7], "rest": [0.2, 0.25, 0.3], "other": [0.0, 0.25, 0.3]}
    runs = {"kernel_phases_runs": 5, "kernel_phases_shares": shares}
    found = Record.of(record | runs)
    assert found.inner == pytest.approx({"filter": kernel / 2, "rest": kernel / 4, "other": kernel / 4})
    assert found.inner_shares["filter"] == (0.4, 0.5, 0.7)
    for few in (4, 1, None):
        assert Record.of(record | runs | {"kernel_phases_runs": few}).inner == {}
    nothing = {**shares, "other": [0.0, 0.004, 0.1]}
    assert "other" not in Record.of(record | runs | {"kernel_phases_shares": nothing}).inner


def test_axes_end_at_round_numbers():
    assert log_domain([3.0, 4800.0]) == [2.0, 5000.0]
    assert log_axis([3.0, 4800.0])["values"] == [10.0, 100.0, 1000.0]
    assert log_axis([30.0, 480.0])["values"] == [20.0, 50.0, 100.0, 200.0, 500.0]


def test_a_value_of_nothing_is_not_drawn_on_a_logarithmic_axis():
    points = [Point(1, 0.0, "a", "d"), Point(2, 1.0, "a", "d"), Point(3, 1000.0, "a", "d")]
    assert entries(curves(points, LIGHT, Look("y", "x")), "x") == [2, 3]


@pytest.mark.parametrize("look", [Look("y", "x", log=True), Look("y", "x", log_x=True)])
def test_what_is_nothing_alone_or_begins_with_nothing_has_a_linear_axis(look):
    points = [Point(0, 0.0, "a", "d"), Point(10**9, 0.0, "a", "d")]
    assert b"NaN" not in draw(curves(points, LIGHT, look), ".svg")


@pytest.mark.parametrize("ending", first(1, [".svg", ".pdf", ".png"]))
def test_figures_are_drawn_without_a_browser(rows, ending):
    drawn = draw(figure(rows, LIGHT, Choice(where=("problem=mst", "family=rmat"), title="T")), ending)
    assert drawn[:5].lstrip() in (b"<svg ", b"%PDF-", b"\x89PNG\r")


def test_a_figure_takes_any_axis_and_any_condition(rows):
    for y in ("mteps", "end-to-end", "kernel", "transfer", "speedup", "roof", "energy", "memory"):
        assert entries(figure(rows, LIGHT, Choice(y=y, where=["device=NVIDIA*"] if y != "speedup" else [])), "y")
    spec = figure(rows, LIGHT, Choice(x="graph", by=["algorithm"], where=["problem=sssp"]))
    assert set(entries(spec, "variant")) == {"delta-stepping", "dijkstra"}
    assert "rmat:16" in entries(spec, "x")
    scales = figure(rows, LIGHT, Choice(x="scale"))
    assert set(entries(scales, "variant")) >= {
        "mst, rmat, boruvka",
        "sssp, rmat, dijkstra",
    }


def test_without_options_a_figure_shows_what_the_data_are():
    def drawn(*cells, **how):
        return figure([Record.of(one) for one in cells], LIGHT, Choice(**how))

    boruvka, kruskal = (cell("mst", name, "cpu", 16) for name in ("kruskal", "kruskal"))
    kruskal |= {"algorithm": "prim", "mteps": {**kruskal["mteps"], "kernel": 7.0}}
    boruvka |= {"algorithm": "boruvka", "mteps": {**boruvka["mteps"], "kernel": 9.0}}
    for y, order in (("mteps", ["boruvka", "prim"]), ("kernel", ["boruvka", "prim"])):
        prim = kruskal | {"phases_s": {**kruskal["phases_s"], "kernel": 0.02}, "samples_s": {"kernel": [0.02]}}
        one_graph = drawn(prim, boruvka, y=y)
        assert one_graph["title"]["text"] == "rmat:16"
        assert one_graph["layer"][0]["mark"]["type"] == "bar"
        assert one_graph["layer"][0]["encoding"]["y"]["sort"] == order  # the fastest on top
        assert one_graph["layer"][0]["encoding"]["color"]["legend"] is None
    larger = cell("mst", "kruskal", "cpu", 17)
    sizes = drawn(larger, cell("mst", "kruskal", "cpu", 16))
    assert (sizes["title"]["text"], sizes["layer"][0]["mark"]["type"]) == ("Minimum spanning forest", "line")
    other = larger | {"graph": {**larger["graph"], "name": "roads"}}
    graphs = drawn(boruvka, other)
    assert set(entries(graphs, "x")) == {"rmat:16", "roads"}
    assert "all" not in [*entries(one_graph, "variant"), *entries(sizes, "variant"), *entries(graphs, "variant")]


@extended
def test_a_figure_is_as_wide_as_a_column_in_every_format(rows):
    spec = figure(rows, LIGHT, Choice(where=("problem=mst", "family=rmat")), width=317)
    assert b'width="317"' in draw(spec, ".svg")
    (width,) = re.findall(rb"MediaBox \[0 0 ([0-9.]+)", draw(spec, ".pdf"))
    assert abs(float(width) / 72 * 25.4 - 84) < 1
    png = draw(spec, ".png")
    assert abs(int.from_bytes(png[16:20]) / 300 * 25.4 - 84) < 1


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"x": "scael"}, "did you mean 'scale'"),
        ({"y": "mtep"}, "did you mean 'mteps'"),
        ({"by": ["devise"]}, "did you mean 'device'"),
        ({"where": ["problem"]}, "NAME=VALUE"),
        ({"where": ["colour=red"]}, "unknown axis 'colour'"),
        ({"where": ["problem=flow"]}, "no record meets problem=flow"),
        ({"y": "energy", "where": ["algorithm=kruskal"]}, "no record has a value for 'energy'"),
    ],
)
def test_what_a_figure_cannot_show_is_refused(rows, asked, reason):
    with pytest.raises(InputError, match=reason):
        figure(rows, LIGHT, Choice(**asked))


def on_ranks(scale: int, ranks: int, seconds: float, **changes):
    """Return a record of rmat of a scale, found on so many ranks in so many seconds."""
    name = "NVIDIA H200" if ranks == 1 else f"{ranks} × NVIDIA H200"
    device = {"kind": "cuda", "name": name, **({"ranks": ranks} if ranks > 1 else {})}
    graph = {**mst_record()["graph"], "name": f"rmat:{scale}", "vertices": 2**scale}
    times = {"phases_s": {**mst_record()["phases_s"], "kernel": seconds}, "samples_s": {"kernel": [seconds]}}
    return mst_record(**{"device": device, "graph": graph, **times, **changes})


def drawn(chart):
    return {(v["variant"], v["x"]): v["y"] for v in chart.spec["data"]["values"]}


def test_strong_scaling_is_against_the_fastest_on_one_device_beside_the_ideal():
    rows = [on_ranks(20, 1, 8.0), on_ranks(20, 1, 9.0, algorithm="slower"), on_ranks(20, 2, 5.0), on_ranks(20, 4, 2.0)]
    rows += [on_ranks(21, 2, 6.0), on_ranks(21, 4, 4.0), on_ranks(22, 1, 1.0)]
    unverified = {"status": "skipped", "method": "none", "detail": ""}
    rows.append(on_ranks(20, 8, 0.1, verification=unverified, mteps={"kernel": None}))
    (chart,) = strong(label([Record.of(row) for row in rows]))
    points = drawn(chart)
    assert {key: y for key, y in points.items() if key[0] == "rmat:20"} == {
        ("rmat:20", 1): 1.0,
        ("rmat:20", 2): 1.6,
        ("rmat:20", 4): 4.0,
    }
    assert (points["rmat:21", 2], points["rmat:21", 4]) == (2.0, 3.0)  # the fewest ranks stand on the ideal
    assert [points["ideal", n] for n in (1, 2, 4)] == [1.0, 2.0, 4.0]
    assert not any(name == "rmat:22" or x == 8 for name, x in points)
    draw(chart.spec, "svg")


def test_weak_scaling_follows_graphs_that_grow_as_the_ranks_do():
    rows = [on_ranks(20, 1, 2.0), on_ranks(21, 2, 2.5), on_ranks(22, 4, 4.0), on_ranks(22, 1, 8.0)]
    (chart,) = weak(label([Record.of(row) for row in rows]))
    assert [(v["x"], v["y"]) for v in chart.spec["data"]["values"]] == [(1, 1.0), (2, 0.8), (4, 0.5)]
    draw(chart.spec, "svg")


def test_nothing_is_said_of_scaling_where_nothing_ran_on_several_ranks(cells):
    assert strong(cells) == weak(cells) == []


def test_more_threads_are_compared_with_the_fewest_of_the_same_algorithm_on_the_same_graph():
    def on(threads: int, seconds: float, graph: int = 16) -> Record:
        made = cell("mst", "kruskal", "cpu", graph)
        phases = made["phases_s"] | {"kernel": seconds}
        return Record.of(made | {"phases_s": phases, "device": made["device"] | {"threads": threads}})

    rows = [on(1, 8.0), on(4, 2.5), on(2, 6.0, 18), on(8, 2.0, 18)]
    drawn = chosen_points(rows, Choice("threads", "scaling", ["problem", "graph"]))
    assert [(p.x, p.y) for p in drawn.points if "16" in p.variant] == [(1, 1.0), (4, pytest.approx(3.2))]
    assert [(p.x, p.y) for p in drawn.points if "18" in p.variant] == [(2, 2.0), (8, pytest.approx(6.0))]


def test_names_with_digits_that_are_no_numbers_are_put_in_order() -> None:
    assert ordered(["b", "a²", "²", "a10", "a9"]) == ["a9", "a10", "a²", "b", "²"]


def test_conditions_of_one_name_are_alternatives_and_may_be_regular_expressions(rows):
    def drawn(*where):
        return {cell.record.algorithm for cell in chosen_points(rows, Choice(where=["problem=mst", *where])).cells}

    both = drawn("algorithm=kruskal", "algorithm=boru*")
    assert both == {name for name in drawn() if name == "kruskal" or name.startswith("boru")}
    assert len(both) > 1
    assert drawn("algorithm=~(k|boru).*") == both
    with pytest.raises(InputError, match="no record meets"):
        drawn("algorithm=~krus")  # the whole value
    with pytest.raises(InputError, match=r"=~.* is no regular expression"):
        drawn("algorithm=~(")


def test_an_empty_title_leaves_a_figure_without_one(rows):
    where = ["problem=mst"]
    assert figure(rows, LIGHT, Choice(where=where))["title"]
    assert figure(rows, LIGHT, Choice(where=where, title=""))["title"] is None


def test_problems_do_not_share_an_axis_unless_it_is_their_own_or_a_ratio(rows):
    problems = {row.problem for row in rows}
    assert [one.where[-1] for one in one_axis(rows, Choice())] == [
        f"problem={name}" for name in dict.fromkeys(row.problem for row in rows)
    ]
    assert len(problems) > 1
    for choice in (Choice(x="problem"), Choice(by=["problem"]), Choice(y="speedup"), Choice(where=["problem=mst"])):
        assert one_axis(rows, choice) == [choice]


def test_a_legend_beside_bars_has_their_order():
    timed = [{**cell("mst", "kruskal", "cpu", 16), "algorithm": name, "cell": {}} for name in ("a", "b", "c")]
    for record, rate in zip(timed, (2.0, 3.0, 1.0), strict=True):
        record["mteps"] = {**record["mteps"], "kernel": rate}
    spec = figure([Record.of(record) for record in timed], LIGHT, Choice(x="graph"))
    (domain,) = {tuple(one["scale"]["domain"]) for one in encodings(spec, "color") if "domain" in one.get("scale", {})}
    assert domain == ("b", "a", "c")


def encodings(spec, channel):
    return [one["encoding"][channel] for one in spec["layer"] if channel in one["encoding"]]
