from __future__ import annotations

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.charts.figure import Choice, sketch
from gpugraph.records.record import Record
from gpugraph.report.terminal import plain
from tests.report.canned import mst_record, records
from tests.report.sweep import cell, sweep


@pytest.fixture(scope="module")
def rows():
    return [Record.of(record) for record in sweep()]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_series_has_a_letter_that_rises_with_its_values(rows, width):
    where = ("problem=mst", "family=rmat")
    text = plain(sketch(rows, Choice(by=["algorithm", "device"], where=where), width=width, unicode=True))
    assert max(map(len, text.splitlines())) <= width
    drawn = [line.partition("│")[2] for line in text.splitlines() if "│" in line]
    for letter, name in (("a", "boruvka, NVIDIA H200"), ("b", "filter-boruvka, NVIDIA H200"), ("c", "kruskal, CPU")):
        assert f"\n  {letter}  {name}: " in text.replace("\n     ", " ")
        places = sorted((x, -y) for y, line in enumerate(drawn) for x, mark in enumerate(line) if mark == letter)
        heights = [height for _, height in places]
        assert len(places) > 2
        assert heights == sorted(heights)
    assert "×  out of memory" in text
    assert "million edges per second (MTEPS) over scale, logarithmic" in text.replace("over\n", "over ")


def test_more_series_than_letters_are_all_there():
    made = [mst_record(algorithm=f"own{i}") for i in range(60)]
    for i, record in enumerate(made):
        record["graph"] |= {"name": f"rmat:{16 + i % 2}", "vertices": 2 ** (16 + i % 2)}
    text = plain(sketch(records(*made), Choice(by=["algorithm"]), width=80, unicode=True))
    assert all(f"  own{i}: " in text for i in range(60))
    assert "+  several in one place" in text


def test_over_names_and_at_one_place_alone_a_value_is_a_bar_the_best_on_top(rows):
    for x in ("graph", "problem", "scale"):
        where = ("problem=mst", "family=rmat", *(("scale=20",) if x == "scale" else ()))
        lines = plain(sketch(rows, Choice(x=x, y="kernel", where=where), width=80, unicode=True)).splitlines()
        bars = [line for line in lines if line.startswith("    ") and line.strip() not in ("skipped", "wrong")]
        assert len(bars) >= 3
        assert all(len(line) <= 80 for line in lines)
    assert "kruskal" in bars[-1]


def test_letters_and_signs_stand_in_where_lines_cannot_be_shown(rows):
    text = plain(sketch(rows, Choice(title="Forests", where=("problem=mst",)), width=80, unicode=False))
    assert text.isascii()
    assert text.startswith("Forests\n")


def test_equal_values_zero_and_vertices_are_drawn(rows):
    same = [Record.of(cell("mst", "boruvka", "cuda", scale) | {"mteps": {"kernel": 5.0}}) for scale in (16, 17)]
    assert "a  boruvka" in plain(sketch(same, Choice(), width=60, unicode=True))
    assert "1.05M" in plain(sketch(rows, Choice(x="vertices", where=("problem=mst",)), width=80, unicode=True))
    assert "%" in plain(sketch(rows, Choice(y="roof", where=("problem=mst",)), width=80, unicode=True))


def test_what_cannot_be_drawn_is_refused_as_for_a_file(rows):
    with pytest.raises(InputError, match="did you mean 'scale'"):
        sketch(rows, Choice(x="scael"))
    with pytest.raises(InputError, match="no record has a value for 'energy'"):
        sketch([row for row in rows if row.device_kind == "cpu"], Choice(y="energy"))
