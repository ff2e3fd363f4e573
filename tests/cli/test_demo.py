from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.emulator.race_page import race_page
from gpugraph.ext.papers.sssp import gpu_harish_narayanan as race_demo
from gpugraph.report.terminal import plain
from tests.cli.runner import refuse, run, succeed
from tests.emulator.compiler import needs_compiler
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]
VERTICES = race_demo.VERTICES


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_demo, "VERTICES", 64)
    monkeypatch.setitem(race_demo.RUNS, "emulated", 60)


@needs_compiler
def test_the_flawed_algorithm_is_wrong_at_times_and_ours_never():
    shown = json.loads(succeed("demo", "race", "--device", "emulated", "--format", "json").out)
    assert shown["shown"] is True
    assert (shown["runs"], shown["vertices"]) == (60, 64)
    assert (shown["device"]["kind"], shown["device"]["build"]) == ("emulated", "races")
    assert [(case["algorithm"], case["directed"]) for case in shown["cases"]] == [
        ("harish-narayanan", True),
        ("dijkstra", True),
        ("harish-narayanan", False),
        ("dijkstra", False),
    ]
    for case in shown["cases"]:
        assert case["right"] == 2
        assert sum(case["answers"].values()) == case["runs"] == 60
        assert case["answers"]["2"] == 60 - case["wrong"]
        assert (case["wrong"] > 0) == (case["algorithm"] == "harish-narayanan")
    (found,) = shown["races"]["harish-narayanan"]
    (line,) = found["lines"]
    assert (line["file"], line["text"]) == (
        "harish_narayanan.cu",
        "if (updating_cost[v] > sum) updating_cost[v] = sum;",
    )
    assert shown["races"]["dijkstra"] == []


@needs_compiler
def test_where_it_is_not_shown_it_exits_with_1_and_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(race_demo, "FLAWED", "u-gpu")
    outcome = run("demo", "race", "--device", "emulated", "--repeat", 2)
    assert outcome.code == 1
    assert "not shown: see the numbers of wrong runs above" in outcome.out
    assert "u-gpu 0 of 2, dijkstra 0 of 2" in outcome.err


@needs_compiler
@extended
def test_without_a_gpu_it_takes_the_emulated_device_and_says_so(monkeypatch: pytest.MonkeyPatch):
    def no_gpu(text: str) -> Any:
        raise DeviceUnavailable("there is none")

    monkeypatch.setattr("gpugraph.devices.discovery.select_device", no_gpu)
    outcome = succeed("demo", "race")
    assert "no usable GPU: there is none; racing on the emulated device" in outcome.err
    assert "emulated: SIMT emulator" in outcome.out
    assert "no usable GPU" not in run("demo", "race", "--quiet", "--repeat", 1).err


@needs_compiler
def test_the_seed_of_the_device_is_the_first_schedule():
    def answers(device: str, runs: int) -> Any:
        return json.loads(run("demo", "race", "--device", device, "--repeat", runs, "--format", "json").out)["cases"]

    assert answers("emulated:7", 3) == answers("emulated:7", 3)
    one_by_one = [answers(f"emulated:{seed}", 1)[0]["wrong"] for seed in range(7, 17)]
    assert sum(one_by_one) == answers("emulated:7", 10)[0]["wrong"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("rac",), 2, "did you mean 'race'?"),
        ((), 2, "missing argument 'NAME'"),
        (("race", "--repeat", "0"), 2, "--repeat 0 shows nothing — give 1 or more"),
        (("race", "--repeat", "many"), 2, "'many' is not a valid integer"),
        (("race", "--device", "cpu"), 2, "use --device cuda or --device emulated"),
        (("race", "--device", "tpu"), 2, "unknown device 'tpu'"),
        (("race", "--format", "csv"), 2, "unknown output format 'csv'"),
    ],
)
def test_what_cannot_be_run_is_reported(words: tuple[str, ...], code: int, told: str):
    assert told in refuse(code, "demo", *words)


def case(algorithm: str, answers: dict[str, int], *, directed: bool = True) -> dict[str, Any]:
    runs = sum(answers.values())
    wrong = runs - answers.get("2", 0)
    return {
        "algorithm": algorithm,
        "graph": "counterexample",
        "directed": directed,
        "runs": runs,
        "wrong": wrong,
        "right": 2,
        "answers": answers,
    }


def test_the_page_shows_the_distribution_the_most_frequent_first_and_the_lines_that_race():
    answers = {"2": 1000} | {str(i): 40 - i for i in range(3, 15)}
    line = {"file": "harish_narayanan.cu", "line": 49, "text": "if (a) b;"}
    shown = {
        "device": {"kind": "cuda", "name": "NVIDIA H200"},
        "vertices": 1024,
        "cases": [case("harish-narayanan", answers), case("dijkstra", {"2": 1378}, directed=False)],
        "races": {"harish-narayanan": [{"report": "a races with b", "lines": [line]}], "dijkstra": []},
        "detector": "the emulated device, 3 schedules",
        "shown": True,
    }
    page = plain(race_page(shown))
    assert "harish-narayanan  directed    1,378    378             2" in page
    assert "           2 right   1,000 times  " + "█" * 30 + "\n           3 wrong      37 times  █\n" in page
    assert "and 5 other answers in 140 runs" in page
    assert "harish-narayanan  1 unexplained race\n    a races with b\n    harish_narayanan.cu:49:  if (a) b;" in page
    assert "dijkstra  0 unexplained races" in page
    assert all(len(row) <= 80 for row in page.splitlines())


def test_the_page_says_why_there_is_no_detector():
    shown = {
        "device": {"kind": "cuda", "name": "NVIDIA H200"},
        "vertices": 1024,
        "cases": [case("harish-narayanan", {"2": 5})],
        "races": None,
        "detector": "not available: no C++ compiler",
        "shown": False,
    }
    assert "race detector: not available: no C++ compiler" in plain(race_page(shown))


@needs_compiler
@extended
def test_it_can_be_interrupted():
    words = [sys.executable, "-m", "gpugraph", "demo", "race", "--device", "emulated", "--repeat", "1000000"]
    child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    line = child.stderr.readline()
    child.send_signal(2)
    out, err = child.communicate(timeout=300)
    assert line.startswith("gpugraph: ")
    assert (child.returncode, out) == (130, "")
    assert err.endswith("gpugraph: interrupted\n")


@pytest.mark.gpu
def test_a_gpu_shows_it_in_1000_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_demo, "VERTICES", VERTICES)  # in a smaller graph chance may be against it
    shown = json.loads(succeed("demo", "race", "--device", "cuda", "--format", "json").out)
    assert (shown["runs"], shown["shown"]) == (1000, True)
