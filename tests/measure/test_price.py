"""What answers cost, where a device is paid by the hour."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.instruments.price import costs
from gpugraph.measure.sampling import Sampling
from tests.cli.runner import refuse, succeed

WORDS = ("mst", "rmat:6", "--device", "cpu")


def test_a_million_answers_of_a_second_cost_a_million_seconds() -> None:
    assert costs(3.6, 1.0, 1e-9) == {
        "per_hour": 3.6,
        "per_million_answers": 1e3,
        "per_billion_edges": pytest.approx(1e-3),
    }
    assert costs(3.6, 1.0, None)["per_billion_edges"] is None


def test_a_record_has_the_price_of_its_median_kernel_time() -> None:
    data: dict[str, Any] = json.loads(succeed(*WORDS, "--price", "7.2", "--format", "json", "-q").out)
    kernel_s, edges = data["phases_s"]["kernel"], data["graph"]["edges"]
    assert data["price"]["per_million_answers"] == pytest.approx(7.2 / 3600 * kernel_s * 1e6)
    assert data["price"]["per_billion_edges"] == pytest.approx(7.2 / 3600 * kernel_s / edges * 1e9)


def test_costs_are_shown_on_the_page_and_in_columns(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    shown = succeed("mst", "rmat:6", "--device", "cpu", "--price", "7.2", "--save", path).out
    assert "for 10⁶ answers" in shown
    assert "at 7.2 an hour of a device" in " ".join(shown.split())
    assert "price.per_million_answers" in succeed("report", path, "--format", "csv").out.splitlines()[0]
    assert "cost" not in succeed("mst", "rmat:6", "--device", "cpu").out


def test_the_users_own_file_may_have_the_price_and_advice_states_costs() -> None:
    shown = succeed("info", "--advise", "rmat:6", "--price", "2").out
    assert "mst on the CPU:" in shown
    assert "for 10⁶ answers" in shown
    assert "for 10⁶ answers" not in succeed("info", "--advise", "rmat:6").out


@pytest.mark.parametrize("price", ["-1", "nan", "inf"])
@pytest.mark.parametrize("words", [("mst", "rmat:6", "--device", "cpu"), ("info", "--advise", "rmat:6")])
def test_a_price_that_is_none_is_refused_in_one_line(price: str, words: tuple[str, ...]) -> None:
    line = refuse(2, *words, "--price", price)
    assert "an hour is none" in line
    with pytest.raises(InputError, match="an hour is none"):
        Sampling(price=float(price))
