from __future__ import annotations

import base64
import gzip
import json
import math
import random
import re
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpugraph.ext.charts.assets import asset
from gpugraph.ext.charts.chart import DARK, LIGHT, config
from gpugraph.ext.charts.page import POLICY, page
from gpugraph.ext.charts.page_text import definitions
from gpugraph.ext.charts.plain_svg import plain_svg
from gpugraph.ext.comparing.cells import label
from gpugraph.ext.reports.headlines import headlines
from gpugraph.ext.reports.versus import gains, matrices, times_as_fast
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_records
from tests.report.browser import TIMEOUT_S, Browser, find_browser
from tests.report.canned import emulated, failed, mst_record, sssp_record
from tests.report.sweep import cell, sweep, write

EXAMPLE = ("mst-h200", "sssp-h200", "components-h200", "cpu-cpu16")
"""Of the files of records that the example report is made of."""

VOID = {"meta", "link", "br", "input"}


class Outline(HTMLParser):
    """Collects what a page is made of, and checks that its elements nest."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def html():
    return page([Record.of(record) for record in sweep()], title="A <sweep> & more")


@pytest.fixture(scope="module")
def outline(html):
    return Outline(html)


def test_the_page_nests_names_nothing_twice_and_points_to_nothing_outside(html, outline):
    assert len(outline.ids) == len(set(outline.ids))
    for tag, attributes in outline.elements:
        for name in ("src", "href"):
            if (address := attributes.get(name)) is not None:
                assert address.startswith(("#", "data:")), (tag, address)
                assert not address.startswith("#") or address[1:] in outline.ids
    style = html.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in POLICY
    assert "unsafe-eval" not in POLICY


def test_what_helps_to_listen_and_to_print_is_there(html, outline):
    assert {"header", "main", "nav", "footer"} <= {tag for tag, _ in outline.elements}
    for section in outline.all("section"):
        assert section["aria-labelledby"] in outline.ids
    for figure in outline.all("figure"):
        assert figure["aria-labelledby"] in outline.ids
    charts = [a for a in outline.all("div") if a.get("class") == "chart"]
    assert len(charts) > 20
    assert all(a["role"] == "img" and len(a["aria-label"]) > 30 for a in charts)
    assert len(outline.all("caption")) == 1
    heads = outline.all("th")
    assert all(a["scope"] in ("col", "row") for a in heads)
    assert len([a for a in heads if a.get("aria-sort") == "none"]) > 10
    assert "@media print" in html
    assert "prefers-color-scheme: dark" in html


def test_what_records_say_is_text_and_never_markup(html):
    assert "A &lt;sweep&gt; &amp; more</title>" in html
    assert "edge 3-9 is missing &lt;/script&gt;&lt;b&gt;&amp;amp;" in html
    data = html.split('id="data">')[1].split("</script>")[0]
    assert "<" not in data
    assert any("edge 3-9 is missing </script>" in str(cell) for cell in json.loads(data)["cells"])


def test_a_paper_has_a_section_with_its_figures_beside_ours_and_its_claims():
    said = {"claims": ["it is <fast>"], "note": "measured once", "authors": "A. Kolganov", "year": 2015}
    point = {"scale": 16, "speedup": 3, "over": "a Core i7"}
    paper = {"name": "P", "hardware": "GTX 460", "where": "figure 1", "points": [point], **said}
    shown = page(
        [Record.of(cell("mst", "boruvka", "cuda", 16, paper=paper)), Record.of(cell("mst", "kruskal", "cpu", 16))]
    )
    section = shown.split('<section id="papers"')[1].split("</section>")[0]
    for text in ("A. Kolganov, 2015; GTX 460. measured once", "3 times as fast as a Core i7", "<li>it is &lt;fast&gt;"):
        assert text in section
    assert "times as fast as kruskal on AMD EPYC 9575F 64-Core Processor, boruvka on NVIDIA H200" in section
    assert '<a href="#papers">' in shown
    bare = page([Record.of(cell("mst", "kruskal", "cpu", 16))])
    assert "#papers" not in bare
    assert 'id="papers"' not in bare


def test_the_script_comes_with_its_license(html):
    comment = html.split("<!--")[1].split("-->")[0]
    for text in ("University of Washington Interactive Data Lab", "Redistributions in binary form", "AS IS"):
        assert text in comment


def test_every_cell_is_a_row_and_a_failed_one_says_why(html, outline):
    assert html.count('<tr class="cell') == len(sweep())
    for text in ("out of memory", "needs 151 GB, the device has 150 GB free", "stopped after 60 s"):
        assert text in html
    words = re.sub(r"\s+", " ", html)
    assert "MTEPS, minimum spanning forest</dt><dd>undirected edges of the graph / kernel time" in words
    assert "gpugraph bench --sweep scales" in words


def answering(problem, algorithm, kind, scale, seconds, **changes):
    """Return a cell that knows its time to answer."""
    made = cell(problem, algorithm, kind, scale, **changes)
    return made | {"phases_s": {**made["phases_s"], "total": seconds}}


def test_the_cards_say_kernel_and_time_to_answer_as_large_as_each_other():
    rows = [
        Record.of(answering("mst", *who, scale, seconds))
        for scale in (16, 20)
        for who, seconds in ((("boruvka", "cuda"), 2.0), (("kruskal", "cpu"), 4.0))
    ]
    cells = label(rows)
    best, gain = headlines(cells, gains(cells))
    fastest = max(rows, key=lambda row: row.mteps)
    (kernel, alone), (answer, to_answer) = best.figures
    assert kernel == f"{fastest.mteps:,.0f} MTEPS"
    assert (alone.split(",")[0], answer, to_answer) == ("kernel alone", "2.000 s", "time to answer")
    mean = math.sqrt(math.prod(group[0].factor for group in gains(cells)))
    assert gain.figures == ((times_as_fast(mean), "kernel alone"), ("2×", "to the answer"))
    assert "(kruskal on AMD EPYC 9575F 64-Core Processor, 16 cores), geometric mean over 2 graphs" in gain.detail
    shown = page(rows)
    assert "<strong><span>2×</span> <small>to the answer</small></strong>" in shown
    cpu = [row for row in rows if row.device_kind == "cpu"]
    assert len(headlines(label(cpu), [])) == 1
    assert ">End to end</button>" not in page(cpu)
    assert ">End to end</button>" in shown


def test_where_no_time_to_answer_is_known_the_time_with_transfers_is_in_its_place():
    rows = [Record.of(cell("mst", *who, 16)) for who in (("boruvka", "cuda"), ("kruskal", "cpu"))]
    best, gain = headlines(label(rows), gains(label(rows)))
    assert best.figures[1][1] == "kernel and transfers"
    assert gain.figures[1] == (times_as_fast(rows[0].end_to_end / rows[1].end_to_end), "with transfers")


def test_a_peer_that_beats_our_own_cpu_algorithm_is_what_the_gpu_is_compared_with():
    gpu = answering("mst", "boruvka", "cuda", 20, 3.0)
    ours = answering("mst", "kruskal", "cpu", 20, 2.0)
    rates = {**ours["mteps"], "kernel": 4 * ours["mteps"]["kernel"]}
    peer = answering("mst", "kruskal", "cpu", 20, 5.0, mteps=rates) | {"algorithm": "peer:gbbs"}
    rows = [Record.of(one) for one in (gpu, ours, peer)]
    ((kernel, answer),) = gains(label(rows))
    assert (kernel.cpu.algorithm, kernel.factor) == ("peer:gbbs", rows[0].mteps / rows[2].mteps)
    assert (answer.cpu.algorithm, answer.factor) == ("kruskal", pytest.approx(2 / 3))
    assert "(gbbs and kruskal on AMD EPYC" in headlines(label(rows), gains(label(rows)))[1].detail


def test_a_matrix_says_who_wins_where_and_why_a_square_has_no_ratio():
    rows = [Record.of(one) for one in sweep()]
    first, best = matrices(label(rows))[0], "filter-boruvka, NVIDIA H200"
    assert (first.title, first.series[0]) == ("Minimum spanning forest", best)
    graphs = dict(first.rows)
    scores = dict(zip(first.series, graphs["rmat:16"], strict=True))
    same = [c for c in label(rows) if (c.record.problem, c.record.graph_name) == ("mst", "rmat:16")]
    rated = {c.series: c.record.mteps for c in same}
    for name, mteps in rated.items():
        assert scores[name].ratio == pytest.approx(max(rated.values()) / mteps)
    assert scores[best].text == "best"
    wrong = dict(zip(first.series, graphs["rmat:20"], strict=True))["mine.py:driver, NVIDIA H200"]
    assert (wrong.ratio, wrong.text) == (None, "wrong")
    assert sum(first.wins) == len(first.rows) == first.wins[0]
    shown = page(rows)
    assert '<section id="wins"' in shown
    assert matrices(label(rows[:1])) == []
    assert 'id="wins"' not in page(rows[:1])


def test_who_is_not_told_apart_is_tied_and_what_was_not_measured_is_no_loss():
    def timed(name, graph, samples):
        record = {**cell("mst", "kruskal", "cpu", 16), "algorithm": name, "cell": {}, "samples_s": {"kernel": samples}}
        record["graph"] = {**record["graph"], "name": graph, "digest": graph * 8}
        middle = sorted(samples)[len(samples) // 2]
        return {**record, "phases_s": {**record["phases_s"], "kernel": middle}, "mteps": {"kernel": 1e-6 / middle}}

    draws = random.Random(3)
    same = [[draws.uniform(0.01, 0.012) for _ in range(20)] for _ in range(2)]
    rows = [timed("a", "g", same[0]), timed("b", "g", same[1]), timed("c", "g", [0.1 + s for s in same[0]])]
    rows += [timed("a", "h", [3 * s for s in same[0]]), timed("c", "h", same[1])]
    rows = [Record.of(one) for one in rows]
    first = matrices(label(rows))[0]
    graphs = {graph: dict(zip(first.series, scores, strict=True)) for graph, scores in first.rows}
    a, b, c = ("a, CPU", "b, CPU", "c, CPU")
    assert [graphs["g"][name].text for name in (a, b)] == ["tied", "tied"]
    assert graphs["h"][c].text == "best"
    assert graphs["h"][b] is None
    assert dict(zip(first.series, first.wins, strict=True)) == {a: 0, b: 0, c: 1}
    other = Record.of({**rows[4].data, "environment": {**rows[4].shape.environment, "git_commit": "b" * 12}})
    apart = matrices(label([*rows[:4], other]))[0]
    assert (apart.rows[1][0], sum(apart.wins)) == ("h ‡", 0)
    assert "None of it is called the best." in page([*rows[:4], other])
    assert first.series == [b, a, c]  # by time
    few = [Record.of(timed("a", "g", same[0])), Record.of(timed("b", "g", [3.0] * 3))]
    assert [score.text for score in matrices(label(few))[0].rows[0][1]] == ["best*", "271×*"]
    assert any("is not clearly faster than" in one for one in first.sentences)
    assert any(re.match(r"h: c is .* times as fast as a", one) for one in first.sentences)
    shown = page(rows)
    assert ">not measured</td>" in shown
    assert "Proven differences" in shown


def test_sections_without_a_figure_are_left_out_and_nothing_points_to_them():
    shown = page([Record.of(cell("mst", "kruskal", "cpu", 16))])
    for key in ("cpu", "hardware", "wrong", "wins"):
        assert f'id="{key}"' not in shown
        assert f'#{key}"' not in shown
    assert 'id="throughput"' in shown


def test_every_figure_has_its_table_and_can_be_saved(html, outline):
    figures = outline.all("figure")
    tables = [a for a in outline.all("details") if a.get("class") == "numbers"]
    assert len(tables) == len(figures) > 20
    for kind in ("svg", "png"):
        assert len([a for a in outline.all("button") if a.get("data-save") == kind]) == len(figures)
    (figure,) = re.findall(r'<figure id="throughput-mst-rmat".*?</figure>', html, re.DOTALL)
    rows = re.findall(r"<tr>(?:<td>.*?</td>)+</tr>", figure)
    assert len(rows) == len([r for r in sweep() if r["problem"] == "mst" and r["graph"]["name"].startswith("rmat")]) + 3
    assert any("<td>out of memory</td>" in row for row in rows)


def test_a_counter_example_is_drawn_and_described(tmp_path):
    picture = {
        "directed": False, "whole": True,
        "vertices": [{"name": "<a>"}, {"name": "b", "note": "9, not 5", "wrong": True}],
        "edges": [{"from": 0, "to": 1, "text": "5", "mark": "missing"}, {"from": 0, "to": 7}, {"from": 1, "to": 0}],
    }  # fmt: skip
    wrong = cell("mst", "boruvka", "cuda", 16) | {"outcome": "wrong", "message": "vertex b is at 9"}
    wrong["verification"] = {"status": "failed", "method": "reference", "detail": "x", "counter_example": picture}
    shown = page([Record.of(wrong)])
    section = shown.split('<section id="wrong"')[1].split("</section>")[0]
    assert 'aria-label="Graph of 2 vertices. b: 9, not 5; missing: &lt;a&gt;–b of weight 5."' in section
    assert ">&lt;a&gt;</text>" in section
    assert "<figcaption>Vertex b is at 9.</figcaption>" in section
    for row in (("b", "9, not 5", "wrong"), ("&lt;a&gt; – b", "5", "missing from the answer")):
        assert "<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" in section
    assert '<a href="#wrong">' in shown
    Outline(shown)


def test_what_skipped_means_is_true_of_a_spent_budget_too():
    skipped = cell("mst", "kruskal", "cpu", 16) | {"outcome": "skipped", "message": "the budget of 10 s is spent"}
    (meaning,) = [text for name, text in definitions([Record.of(skipped)]) if name == "Skipped"]
    for cause in ("budget", "memory", "a graph no larger of its series"):
        assert cause in meaning


def test_old_failed_and_emulated_records_alone_make_a_page():
    for record in (mst_record(), failed(), emulated(), sssp_record(sources=3), {"problem": "mst", "algorithm": "a"}):
        Outline(page([Record.of(record)]))


def test_without_the_library_each_figure_is_plain_svg_and_the_page_has_no_vega(monkeypatch, html):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    outline, whole = Outline(plain := page([Record.of(record) for record in sweep()])), Outline(html)
    figures = len([one for one in outline.all("div") if one.get("class") == "chart"])
    assert figures == len([one for one in whole.all("div") if one.get("class") == "chart"]) > 10
    drawings = re.findall(r'<svg xmlns="http://www.w3.org/2000/svg" viewBox.*?</svg>', plain, re.S)
    assert len(drawings) == figures
    assert "vegaEmbed=" not in plain
    assert len(plain) < len(html)
    assert "pip install" in plain
    for drawing in drawings:
        content = ElementTree.fromstring(drawing)
        numbers = [float(n) for one in content.iter() for n in re.findall(r"-?\d+\.\d+", one.get("x", ""))]
        assert all(-5 <= number <= 640 for number in numbers)
        marks = [one for one in content.iter() if one.tag.endswith(("polyline", "rect", "path"))]
        assert len(marks) > 1


@pytest.mark.parametrize(
    ("field", "kind", "least"),
    [("y", "log", 1.0), ("y", "linear", 0.0)],
)
def test_a_plain_figure_has_its_values_at_their_places(field, kind, least):
    rows = [{"x": 0, field: 10.0, "variant": "a"}, {"x": 1, field: 100.0, "variant": "a"}]
    y = {"field": field, "type": "quantitative", "scale": {"type": kind, "domain": [least, 100.0]}}
    encoding = {"x": {"field": "x", "type": "quantitative"}, "y": y, "color": {"field": "variant"}}
    svg = plain_svg(
        {"data": {"values": rows}, "mark": {"type": "line"}, "encoding": encoding}, config(LIGHT), width=400, height=200
    )
    path = next(one for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("polyline"))
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in path.get("points").split())
    assert x2 == 386.0
    share = 0.5 if kind == "log" else 0.9
    assert y1 - y2 == pytest.approx(200 * share, abs=0.2)
    assert x1 < x2


# What follows happens in a real browser.


@pytest.fixture(scope="module")
def browser(html, tmp_path_factory):
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium is installed; CHROMIUM may name one")
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html, "utf-8")
    browser = Browser(program)
    browser.page = path
    yield browser
    browser.close()


UNFOLD = """(async () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
  while ([...document.querySelectorAll(".chart")].some((place) => !place.querySelector("svg, .broken")))
    await new Promise((done) => setTimeout(done, 20));
})()"""


@pytest.fixture
def opened(browser):
    browser.open(browser.page)
    browser.run(UNFOLD)
    yield browser
    assert browser.requests == []
    assert browser.complaints == []


def column(browser, title):
    """Return the texts of a column of the rows shown."""
    script = f"""(() => {{
      const at = [...document.querySelectorAll("#cells th")].find((h) => h.textContent === {title!r}).cellIndex;
      return [...document.querySelectorAll("#cells tr.cell:not([hidden])")].map((row) => row.cells[at].textContent);
    }})()"""
    return browser.run(script)


def press(browser, title):
    return browser.run(f"""(() => {{
      const header = [...document.querySelectorAll("#cells th")].find((h) => h.textContent === {title!r});
      header.querySelector("button").click();
      return header.getAttribute("aria-sort");
    }})()""")


def test_in_a_browser_a_figure_that_is_folded_away_is_drawn_when_it_is_unfolded(browser):
    browser.open(browser.page)
    drawn = "document.querySelectorAll('#samples .chart svg').length"
    assert browser.run(drawn) == 0
    browser.run(UNFOLD)
    assert browser.run(drawn) > 1


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_in_a_browser_all_cells_begin_within_six_screens(browser, width, height):
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.open(browser.page)
    assert browser.run("document.getElementById('all').getBoundingClientRect().top + scrollY") <= 6 * height
    browser.send("Emulation.clearDeviceMetricsOverride")


def test_in_a_browser_no_head_of_who_wins_is_broken(opened):
    heads = "[...document.querySelectorAll('.matrix thead th:not(:first-child)')]"
    assert opened.run(f"{heads}.length") > 3
    assert opened.run(f"Math.max(...{heads}.map((one) => one.clientHeight))") < 60  # algorithm and device, a line each


def test_in_a_browser_the_data_are_downloaded(opened, tmp_path):
    opened.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for name in ("cells.csv", "records.jsonl.gz"):
        opened.run(f"document.querySelector('a[download=\"{name}\"]').click()")
        deadline = time.monotonic() + TIMEOUT_S
        while not ((tmp_path / name).exists() and (tmp_path / name).stat().st_size):
            assert time.monotonic() < deadline, list(tmp_path.iterdir())
            opened.run("new Promise((done) => setTimeout(done, 50))")
    rows, _ = read_records([tmp_path / "records.jsonl.gz"])
    assert [row.data for row in rows] == [Record.of(one).data for one in sweep()]
    assert len((tmp_path / "cells.csv").read_text("utf-8").splitlines()) == len(sweep()) + 1


def test_in_a_browser_every_figure_is_drawn(opened, outline):
    drawn = opened.run("document.querySelectorAll('.chart svg').length")
    assert drawn == len([a for a in outline.all("div") if a.get("class") == "chart"])
    assert opened.run("document.querySelectorAll('.broken').length") == 0
    assert opened.run("document.querySelectorAll('#throughput-mst-rmat path[aria-roledescription=point]').length") > 10


def test_in_a_browser_a_series_has_one_colour_through_the_whole_page(opened):
    found = opened.run("""(() => {
      const colours = {};
      for (const mark of document.querySelectorAll('.chart path[aria-roledescription]')) {
        const said = mark.getAttribute('aria-label') ?? '';
        const name = said.match(/(?:^|; )(?:algorithm|time|variant|part|phase): ([^;]+)/)?.[1];
        const fill = mark.getAttribute('fill') ?? '';
        if (name && fill.startsWith('var')) (colours[name] ??= new Set()).add(fill);
      }
      return Object.entries(colours).map(([name, fills]) => [name, [...fills]]);
    })()""")
    assert len(found) > 8
    assert [name for name, fills in found if len(fills) > 1] == []
    assert len({fills[0] for _, fills in found}) == len(found)


def test_in_a_browser_a_figure_is_saved_as_svg_and_as_png_in_the_colours_shown(opened, tmp_path):
    opened.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for kind in ("svg", "png"):
        opened.run(f"document.querySelector('#throughput-mst-rmat [data-save={kind}]').click()")
        path = tmp_path / f"throughput-mst-rmat.{kind}"
        deadline = time.monotonic() + TIMEOUT_S
        while not (path.exists() and path.stat().st_size):
            assert time.monotonic() < deadline, list(tmp_path.iterdir())
            opened.run("new Promise((done) => setTimeout(done, 50))")
    drawn = (tmp_path / "throughput-mst-rmat.svg").read_text("utf-8")
    ElementTree.fromstring(drawn)
    assert "var(" not in drawn
    assert DARK.paper in drawn
    assert "Minimum spanning forest, rmat" in drawn
    assert (tmp_path / "throughput-mst-rmat.png").read_bytes()[:4] == b"\x89PNG"
    opened.send("Emulation.setEmulatedMedia", media="", features=[])


def test_in_a_browser_headers_sort_numbers_by_size_and_what_is_absent_last(opened):
    assert press(opened, "MTEPS") == "descending"
    shown = column(opened, "MTEPS")
    numbers = [float(text.replace(",", "")) for text in shown if text != "–"]
    assert numbers == sorted(numbers, reverse=True)
    assert shown[len(numbers) :] == ["–"] * 4
    assert press(opened, "MTEPS") == "ascending"
    assert [float(t.replace(",", "")) for t in column(opened, "MTEPS") if t != "–"] == numbers[::-1]
    assert press(opened, "Graph") == "ascending"
    graphs = [text for text in column(opened, "Graph") if text.startswith("rmat:")]
    assert graphs == sorted(graphs, key=lambda name: int(name[5:]))
    assert opened.run("document.querySelectorAll('th[aria-sort=none]').length") > 8


def test_in_a_browser_headers_sort_from_the_keyboard(opened):
    opened.run("document.querySelector('#cells th button').focus()")
    for kind in ("keyDown", "keyUp"):
        opened.send("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    assert opened.run("document.querySelector('#cells th').getAttribute('aria-sort')") == "ascending"


def test_in_a_browser_the_table_is_filtered_by_words_and_by_choices(opened):
    def search(text):
        opened.run(f"""(() => {{
          const field = document.getElementById("search");
          field.value = {text!r};
          field.dispatchEvent(new Event("input", {{ bubbles: true }}));
        }})()""")

    every = len(column(opened, "Graph"))
    search("BORUVKA rmat:1")
    assert set(column(opened, "Algorithm")) == {"filter-boruvka", "boruvka"}
    assert all(graph.startswith("rmat:1") for graph in column(opened, "Graph"))
    shown = len(column(opened, "Graph"))
    assert opened.run("document.getElementById('shown').textContent") == f"{shown} of {every} cells"
    search("")
    choose = """(() => {
      const selects = [...document.querySelectorAll("#filters select")];
      const select = selects.find((one) => one.parentNode.textContent.startsWith("Verdict"));
      select.value = "timeout";
      select.dispatchEvent(new Event("change", { bubbles: true }));
    })()"""
    opened.run(choose)
    assert column(opened, "Graph") == ["rmat:21"]


def test_in_a_browser_a_row_unfolds_to_everything_known(opened):
    button = "document.querySelector('button.more')"
    opened.run(f"{button}.click()")
    text = opened.run("document.querySelector('tr.details').textContent")
    assert "Every sample of the kernel (20)" in text
    assert "find_min" in text
    assert opened.run(f"{button}.getAttribute('aria-expanded')") == "true"
    opened.run(f"{button}.click()")
    assert opened.run("document.querySelector('tr.details').hidden") is True


def test_in_a_browser_the_pointer_finds_a_sample(opened):
    point = "document.querySelector('#samples-mst-rmat path[aria-roledescription=point]')"
    place = opened.run(f"""(() => {{
      const point = {point};
      point.scrollIntoView({{ block: "center", behavior: "instant" }});
      const box = point.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }})()""")
    opened.send("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    shown = opened.run("document.querySelector('#vg-tooltip-element')?.textContent ?? ''")
    assert re.search(r"sample.*\d+ of 20: \d+ µs", shown)


def test_in_a_browser_themes_change_every_colour(opened):
    def paper():
        return opened.run("getComputedStyle(document.body).backgroundColor")

    def line():
        return opened.run("getComputedStyle(document.querySelector('.mark-line path')).stroke")

    opened.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    light = (paper(), line())
    opened.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = (paper(), line())
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    opened.run("document.getElementById('theme').click()")
    assert opened.run("document.getElementById('theme').textContent") == "Theme: light"
    assert (paper(), line()) == light
    opened.send("Emulation.setEmulatedMedia", media="print")
    assert (paper(), line()) == light
    assert opened.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    opened.send("Emulation.setEmulatedMedia", media="", features=[])
    opened.run("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 390])
def test_in_a_browser_a_phone_scrolls_no_page_sideways_and_cuts_nothing(opened, width):
    opened.send("Emulation.setDeviceMetricsOverride", width=width, height=740, deviceScaleFactor=2, mobile=True)
    opened.open(opened.page)
    opened.run(UNFOLD)
    opened.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert opened.run("document.documentElement.scrollWidth") <= width
    beyond = opened.run(f"""[...document.querySelectorAll("main td, main th, main svg text, figcaption, header *")]
      .filter((one) => one.getClientRects().length && !one.closest("thead, .skip, .unseen"))
      .filter((one) => {{
        const box = one.getBoundingClientRect();
        return box.width && (box.right > {width} + 0.5 || box.left < -0.5);
      }}).map((one) => one.outerHTML.slice(0, 120))""")
    assert beyond == []
    opened.send("Emulation.clearDeviceMetricsOverride")


def test_in_a_browser_the_table_of_all_cells_fits_1280_pixels(opened):
    opened.send("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    opened.open(opened.page)
    room, taken = opened.run("(() => { const t = document.querySelector('#cells'); "
                             "return [t.parentElement.clientWidth, t.scrollWidth]; })()")  # fmt: skip
    assert taken <= room
    opened.send("Emulation.clearDeviceMetricsOverride")


def test_the_example_report_is_todays_page_of_todays_records():
    docs = Path(__file__).resolve().parents[2] / "docs"
    made = (docs / "example_report.html").read_text("utf-8")
    own = [asset("style.css"), asset("page.js"), *re.findall(r"<h2>[^<{]+</h2>", asset("page.html"))]
    assert not [text[:60] for text in own if text.strip() not in made], "they differ; run make pages"
    stored = b"".join((docs / "records" / f"figures-{name}.jsonl").read_bytes() for name in EXAMPLE)
    (packed,) = re.findall(r'href="data:application/gzip;base64,([^"]+)"', made)
    kept = [json.loads(line)["cell"]["id"] for line in gzip.decompress(base64.b64decode(packed)).splitlines()]
    assert kept == [json.loads(line)["cell"]["id"] for line in stored.splitlines()], "they differ; run make pages"


def test_in_a_browser_the_example_report_is_at_most_ten_screens_high(browser):
    browser.send("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    browser.open(Path(__file__).resolve().parents[2] / "docs" / "example_report.html")
    assert browser.run("document.documentElement.scrollHeight") <= 8000
    browser.send("Emulation.clearDeviceMetricsOverride")


def contrast(first, second):
    def brightness(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    light, dark = sorted((brightness(first), brightness(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_a_browser_text_and_lines_stand_out_from_their_ground(opened, theme):
    opened.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def colour(name):
        return opened.run(f"""(() => {{
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.color = "var(--{name})";
          const found = getComputedStyle(probe).color;
          probe.remove();
          return found;
        }})()""")

    for ground in ("paper", "raised"):
        for name in ("text", "faint", "accent", "good", "bad"):
            assert contrast(colour(name), colour(ground)) >= 4.5, (name, ground)
    for i in range(8):
        assert contrast(colour(f"series-{i}"), colour("paper")) >= 3, i
    opened.send("Emulation.setEmulatedMedia", media="", features=[])


def test_the_page_of_files_says_what_a_reader_should_know_of_them(tmp_path):
    path = write([sweep()[0], sweep()[0]], tmp_path / "twice.jsonl")
    rows, notices = read_records([path])
    assert (len(rows), len(notices)) == (1, 1)
    assert "1 cell more than once" in page(rows, notices=notices)
    (tmp_path / "link.jsonl").symlink_to("twice.jsonl")
    assert len(read_records([path, tmp_path / "link.jsonl", f"{tmp_path}/./twice.jsonl"])[0]) == 1
