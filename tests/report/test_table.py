from __future__ import annotations

import re
from typing import Any

import pytest

from gpugraph.base.quantities import rate
from gpugraph.records.record import Record
from gpugraph.records.statistics import median
from gpugraph.report.markdown_csv import markdown
from gpugraph.report.table import first_screen, table
from gpugraph.report.terminal import plain, print_rich
from tests.report.canned import emulated, failed, mst_record, records, sssp_record

RECORDS: dict[str, dict[str, Any]] = {
    "mst": mst_record(),
    "failed": failed(),
    "emulated": emulated(),
    "sssp": sssp_record(),
    "sources": sssp_record(12),
}

MST_TABLE = """\
graph       rmat:16: 65,536 vertices, 909,957 edges, uint32 weights
algorithm   boruvka (share=0.25, rank-weights) — O. Borůvka, 1926, §1
device      cuda: NVIDIA H200
memory      20.4 MiB at most

phase                     time   share
build                   250 ms    67%  ████████████████████
stage                  1.10 ms     0%
h2d                     412 µs     0%
prepare                1.02 ms     0%
kernel                  641 µs     0%
  find_min                        80%  78% to 85% of the kernel
  merge                           20%  15% to 22% of the kernel
d2h                    21.4 µs     0%
verify                  118 ms    32%  ██████████
            7 samples of the kernel, 640 µs to 700 µs; Borůvka rounds: 7; its
            phases are the medians of 5 more runs

MTEPS       1,419.6 (1,299.9 to 1,421.8 in 7 samples)
            = undirected edges of the graph / kernel time, in millions per
            second
end to end  438.20
            = the same count / (transfer + kernel + d2h)

result      total weight 2618234
            tree edges 60000
            components 5536
            edges sha256 abababababababab…
verdict     passed by reference: all 60000 edges equal SciPy's"""


def test_a_record_is_shown_as_one_page():
    citation = {"authors": "O. Borůvka", "year": 1926, "section": "§1"}
    assert plain(table(Record.of(mst_record(algorithm_source=citation)))) == MST_TABLE


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_asked_for_or_ends_in_a_space(name, width):
    for line in plain(table(Record.of(RECORDS[name]), width=width)).split("\n"):
        assert len(line) <= max(width, 68)  # the bars have a fixed width
        assert line == line.rstrip()


def test_a_failed_verification_shows_no_rate_but_the_counter_example():
    text = plain(table(Record.of(failed())))
    assert "no MTEPS is given" in text
    assert "end to end" not in text
    assert "failed by reference: edge 3-9 is missing" in text


def test_a_rate_that_slipped_into_an_unverified_record_is_not_shown():
    text = plain(
        table(Record.of(mst_record(verification={"status": "skipped", "method": "none", "detail": "not asked for"})))
    )
    assert "1,419" not in text
    assert "skipped: not asked for" in text


def test_the_emulated_device_shows_no_rate_and_says_why():
    text = plain(table(Record.of(emulated())))
    assert "times on the emulated device are not performance" in " ".join(text.split())
    assert "1,419" not in text


def test_several_sources_are_listed_up_to_a_page_and_the_mean_is_named():
    text = plain(table(Record.of(sssp_record(12))))
    assert "harmonic mean over 12 sources" in text
    assert "sources     17: 60,001 reached, 2.10 ms" in text
    assert text.count(" reached, 2.10 ms") == 10
    assert "and 2 more" in text
    assert "sources     12 in all: -v" in plain(first_screen(Record.of(sssp_record(12))))


def test_the_terminal_gets_the_same_text(capsys):
    print_rich(table(Record.of(mst_record())))
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    shown = "\n".join(line.rstrip() for line in out.rstrip("\n").split("\n"))
    assert shown == plain(table(Record.of(mst_record())))


def test_predecessors_are_shown_apart_from_the_phases():
    text = plain(table(Record.of({**sssp_record(), "predecessors_s": 0.0021})))
    assert "predecessors           2.10 ms         after the run, a part of finish" in text
    assert "predecessors" not in plain(table(Record.of(sssp_record())))


def sampled(half: float, **sampling: Any) -> str:
    """Return the page of a record whose median of 641 µs is known to so much, as one line."""
    ends = [0.000641 * max(1 - half, 0.0), 0.000641 * (1 + half)]
    return " ".join(plain(table(Record.of(mst_record(confidence_s={"kernel": ends}, sampling=sampling)))).split())


def test_a_median_is_shown_with_its_precision_and_noise_is_warned_of_with_a_remedy():
    steady = sampled(0.01, target=None, outliers=[2])
    assert "640 µs to 700 µs, median ± 1 %, 1 outlier; Borůvka rounds: 7" in steady
    assert "MTEPS 1,419.6 ± 1 %" in steady
    assert "noisy" not in steady
    assert "known to ± 40 % only; close other programs, or take more samples: --target 2%" in sampled(0.4, target=None)


def test_a_median_whose_interval_is_lopsided_is_shown_with_its_ends() -> None:
    record = mst_record(confidence_s={"kernel": [0.000635, 0.000680]}, sampling={"target": None})
    text = " ".join(plain(table(Record.of(record))).split())
    assert "640 µs to 700 µs, median 635 µs to 680 µs (95 %)" in text
    assert "MTEPS 1,419.6 (1,338.2 to 1,433.0)" in text


def test_a_median_that_is_hardly_known_is_shown_as_a_range_with_its_cause_and_a_rate_with_its_ends():
    text = sampled(0.6, target=None, other_cores=1.5)
    assert "± 60 %" not in text
    assert "640 µs to 700 µs, median 256 µs to 1.03 ms (95 %)" in text
    assert "MTEPS 1,419.6 (887.25 to 3,549.0)" in text
    crowded = mst_record(
        confidence_s={"kernel": [1e-6, 9e-3]}, sampling={"other_cores": 1.53}, environment={"cores": 2}
    )
    text = " ".join(plain(table(Record.of(crowded))).split())
    assert "busy other programs kept 1.5 of 2 cores busy: its times are longer and scatter" in text
    assert "641 µs, 640 µs to 700 µs" in markdown([Record.of(crowded)])


@pytest.mark.parametrize(
    ("samples", "known"),
    [([1e-3], "(1 sample)"), ([1e-3, 4e-3], "(56.85 to 227.41 in 2 samples)"), ([1e-3] * 5, "(227.41 to 227.41 in 5")],
)
def test_a_rate_of_few_samples_is_printed_with_their_range_or_their_number(samples: list[float], known: str) -> None:
    middle, edges = median(samples), 227411
    record = mst_record(
        samples_s={"kernel": samples},
        phases_s={"kernel": middle},
        confidence_s={"kernel": None},
        mteps={"kernel": edges / middle / 1e6, "count": edges},
    )
    assert f"MTEPS {rate(edges / middle / 1e6)} {known}" in " ".join(plain(table(Record.of(record))).split())


def test_a_machine_that_was_busy_is_named_with_the_share_that_the_runs_got() -> None:
    starved = {"wall_s": [4e-3, 5e-3, 9e-3], "cpu_s": [2e-3, 2e-3, 8e-3]}
    record = mst_record(sampling=starved, device={"kind": "cpu"})
    assert "busy the machine was busy: its runs had a processor for 50 %" in sampled_text(record)
    assert "machine was busy" not in sampled_text(mst_record(sampling={**starved, "cpu_s": [4e-3, 5e-3, 1e-3]}))
    assert "machine was busy" not in sampled_text(mst_record(sampling=starved, device={"kind": "cuda"}))


def sampled_text(record: dict[str, Any]) -> str:
    return " ".join(plain(table(Record.of(record))).split())


def test_a_first_run_that_stands_out_and_a_throttled_gpu_are_warned_of_with_the_remedy():
    slow = mst_record(samples_s={"kernel": [0.0016, 0.00064, 0.000641, 0.000642]}, sampling={"outliers": [0]})
    text = " ".join(plain(table(Record.of(slow))).split())
    assert "first run its first run took 2.49 times the median: something was still cold; warm up longer" in text
    hot = " ".join(plain(table(Record.of(mst_record(sampling={"throttled_repeated": 1})))).split())
    assert "throttled 1 sample taken again: the GPU was held down" in hot


def test_whether_the_target_was_reached_is_said():
    assert "target ± 2 % reached" in sampled(0.015, target=0.02, stopped_by="target")
    late = sampled(0.08, target=0.02, stopped_by="time")
    assert "target ± 2 % not reached: its time was up; give it more with --max-seconds" in late
    assert "noisy" in late
    assert "all its samples were taken" in sampled(0.03, target=0.02, stopped_by="count")
    assert "target ± 2 % not reached" in " ".join(
        plain(table(Record.of(mst_record(sampling={"target": 0.02})))).split()
    )


def test_on_a_cpu_end_to_end_would_be_the_same_again_and_is_left_out():
    record = mst_record(device={"kind": "cpu", "name": "a processor"})
    assert "end to end" not in plain(table(Record.of(record)))
    assert "| 1,419.6 | - | passed" in markdown(records(record))
    assert "| 1,419.6 | 438.20 | passed" in markdown(records(mst_record()))


def test_ranks_are_described_by_their_number_their_most_bytes_and_what_their_time_is_spent_on() -> None:
    members = [{"host": host, "bytes_sent": sent} for host, sent in (("a", 1024), ("b", 4096), ("a", 2048))]
    phases = {
        "hook": {"work_s": [1.0, 2.0], "wait_s": [0.5, 0.5], "communication_s": [0.25, 0.75]},
        "rounds": {"work_s": [3.0], "wait_s": [1.0], "communication_s": [1.0]},
    }
    ranks = {"size": 3, "talk_through": "sockets", "members": members, "phases": phases}
    words = plain(table(Record.of(mst_record(ranks=ranks)), width=200))
    assert "ranks       3 on 2 machines through sockets, each sends up to 4 KiB a run" in words
    assert "of their time 60 % is work, 20 % waiting, 20 % communication" in words
    phases["rounds"]["communication_s"] = [6.0]
    words = plain(table(Record.of(mst_record(ranks=ranks)), width=200))
    assert "of their time 40 % is work, 13.3 % waiting, 46.7 % communication" in words


def screen(record: dict[str, Any]) -> list[str]:
    return plain(first_screen(Record.of(record))).splitlines()


def test_the_first_screen_has_at_most_20_lines_and_its_phases_sum_to_the_total_of_the_page():
    lines = screen(mst_record())
    assert lines[:3] == [line.partition(" — ")[0] for line in MST_TABLE.splitlines()[:3]]
    assert "load graph              250 ms    67%  ████████████████████" in lines
    assert "transfer               1.53 ms     0%" in lines
    assert "other                  1.02 ms     0%  sampling and the rest: -v" in lines
    assert ": million edges per second, kernel only" in " ".join(" ".join(lines).split())
    assert "result      total weight 2618234, tree edges 60000, components 5536" in lines
    assert not any("unsteady" in line or "sha256" in line for line in lines)
    for name in RECORDS.keys() - {"failed"}:
        assert len(screen(RECORDS[name])) <= 20


def test_one_field_of_the_first_screen_has_all_that_makes_times_unsteady_and_each_remedy_once():
    unsteady = mst_record(
        samples_s={"kernel": [0.0016, 0.00064, 0.000641, 0.000642]},
        confidence_s={"kernel": [0.0006, 0.0007]},
        sampling={"outliers": [0], "target": 0.02, "other_cores": 1.53},
        environment={"cores": 2},
    )
    text = " ".join(" ".join(screen(unsteady)).split())
    assert "unsteady its first run took 2.49 times the median; other programs kept 1.5 of 2 cores busy; " in text
    assert "; ± 2 % not reached (warm up longer: --warmup 3, close other programs, " in text
    assert len(screen(unsteady)) <= 20
    longer = {**unsteady, "result": {**unsteady["result"], "of_a_long_name": "word " * 20}}
    assert "unsteady    --warmup 3, close other programs, --max-seconds" in screen(longer)
    assert "unsteady" not in " ".join(screen({**emulated(), "sampling": unsteady["sampling"]}))  # no time of it counts
