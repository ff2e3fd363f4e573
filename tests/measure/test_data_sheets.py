"""Estimates for GPUs by data sheet: their constants are those of the records, and they say how far they are off."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import quantiles

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.check_record.plausible_figures import GPUS
from gpugraph.ext.machine.data_sheets import (
    ALGORITHMS,
    LEAST_ARCS,
    MEASURED,
    NAMES,
    OF_ESTIMATE,
    RATES,
    best_rates,
    parse_gpus,
    shares_of_estimate,
)
from gpugraph.problems.registry import find_algorithm
from gpugraph.records.record import Record
from gpugraph.records.record_file import read_record_file
from tests.cli.runner import refuse, succeed


@cache
def stored() -> list[Record]:
    """Return the records of docs/records, without those of graphs that were made to be hard."""
    files = (Path(__file__).resolve().parents[2] / "docs" / "records").glob("*")
    return [row for path in files if "cliffs" not in path.name for row in read_record_file(path).records]


def test_the_rates_are_the_first_and_the_last_tenth_of_those_measured_on_an_h200() -> None:
    rates = best_rates(stored())
    for problem, ends in RATES.items():
        of = quantiles(rates[problem, MEASURED].values(), n=10)
        assert ends == pytest.approx((of[0], of[-1]), rel=0.005)
        assert find_algorithm(problem, ALGORITHMS[problem], "cuda").devices[0] == "cuda"


def test_the_h100s_measured_times_are_as_far_from_the_estimate_as_is_stated() -> None:
    shares = shares_of_estimate(stored(), "H100")
    assert {problem: len(of) for problem, of in shares.items()} == {"mst": 16, "sssp": 25, "components": 17}
    for problem, of in shares.items():
        assert OF_ESTIMATE[problem] == pytest.approx((of[0], of[-1]), abs=0.005)
    (h100,), inside = parse_gpus(["H100"], 0.0), 0
    rates = best_rates(stored())
    for problem in RATES:
        for rate in rates[problem, NAMES["H100"]].values():
            least, most = h100.seconds(problem, 10**8) or (0.0, 0.0)
            inside += least <= 1e8 / rate <= most
    assert inside == 49  # of 63, in the range that is given where no such graph was measured on an H200


def test_times_scale_with_the_bandwidth_and_small_graphs_have_an_upper_end_alone() -> None:
    h200, l4, priced = parse_gpus(["H200,L4", "A100=3.5"], 2.0)
    assert (h200.price, l4.price, priced.price) == (2.0, 2.0, 3.5)
    mine, other = h200.seconds("mst", 10**9) or (0, 0), l4.seconds("mst", 10**9) or (0, 0)
    assert [b / a for a, b in zip(mine, other, strict=True)] == pytest.approx([16, 16])
    assert mine == pytest.approx((1e9 / RATES["mst"][1], 1e9 / RATES["mst"][0]))
    assert l4.seconds("sssp", 1000) == (0.0, (l4.seconds("sssp", LEAST_ARCS) or (0, 0))[1])
    assert l4.seconds("scan", 1000) is None
    assert {NAMES[name] for name in NAMES} <= GPUS.keys()


def test_memory_is_that_of_the_data_sheets_of_which_cuda_reports_up_to_a_tenth_more() -> None:
    sheets = {name: gpu.sheet.memory_bytes / 1e9 for name in NAMES for gpu in parse_gpus([name], 0.0)}
    assert (sheets["RTX3090"], sheets["RTX4090"], sheets["H100"], sheets["H200"]) == (24, 24, 80, 141)
    reported = {(row.device, row.shape.device.memory_bytes or 0) for row in stored() if row.device in GPUS}
    assert {name for name, _ in reported} == {NAMES["H100"], NAMES["H200"]}
    assert all(1 < memory / GPUS[name].memory_bytes < 1.1 for name, memory in reported)


def test_advice_lists_the_gpus_that_are_named_with_what_fits_and_what_answers_cost() -> None:
    words = ("info", "--advise", "rmat:24", "--gpu", "T4,H100=2.5")
    shown = " ".join(succeed(*words).out.split())
    assert "Estimated from bandwidth" in shown
    assert "An H100 took 0.83 to 0.99 (mst)" in shown
    assert "mst on H100" in shown
    assert "mst on T4" not in shown
    t4, h100 = json.loads(succeed(*words, "--format", "json").out)["gpus"]
    least, most = h100["problems"]["mst"]["seconds"]
    assert h100["problems"]["mst"]["cost"] == pytest.approx([2.5 / 3600 * least * 1e6, 2.5 / 3600 * most * 1e6])
    assert t4["problems"]["mst"] == {
        "seconds": pytest.approx([least / 0.32 * 3.35, most / 0.32 * 3.35]),
        "fits": True,
        "cost": None,
    }
    small = succeed("info", "--advise", "rmat:28", "--gpu", "T4").out
    assert "too large" in small


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("rmat:8", "--advise", "--gpu", "H1000"), "unknown GPU 'H1000' — did you mean 'H100'?"),
        (("rmat:8", "--advise", "--gpu", "L4=-1"), "'-1' is no price — write L4=2.5"),
        (("rmat:8", "--advise", "--gpu", "L4=cheap"), "'cheap' is no price"),
        (("rmat:8", "--gpu", "L4"), "--gpu is for estimates — add --advise"),
        (("rmat:8", "--price", "3"), "--price is for estimates — add --advise"),
    ],
)
def test_a_gpu_or_a_price_that_is_none_is_refused_in_one_line(words: tuple[str, ...], reason: str) -> None:
    assert reason in refuse(2, "info", *words)
    with pytest.raises(InputError):
        parse_gpus(["L4=nan"], 0.0)
