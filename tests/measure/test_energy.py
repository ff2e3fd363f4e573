from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.instruments import energy
from gpugraph.ext.instruments.energy import Counter, Process, measure_energy, processor_counter, window
from tests.cli.runner import refuse, run, succeed
from tests.measure.fakes import FakeTime
from tests.peers.helpers import script


class Meter:
    """A GPU of constant power, another one while it runs, whose counter moves every 100 ms, on a clock of its own."""

    def __init__(self, watts: float, run_s: float, step_s: float = 0.1, idle_w: float | None = None):
        self.watts, self.run_s = watts, run_s
        self.idle_w = watts if idle_w is None else idle_w
        self._ns, self._step_ns = 30_000_000, round(step_s * 1e9)
        self._joules, self.counted = 0.0, 0.0

    def perf_counter(self) -> float:
        return self._ns * 1e-9

    def sleep(self, seconds: float) -> None:
        self._pass(seconds, self.idle_w)

    def run(self) -> None:
        self._pass(self.run_s, self.watts)

    def _pass(self, seconds: float, watts: float) -> None:
        until = self._ns + round(seconds * 1e9)
        while (step := self._ns - self._ns % self._step_ns + self._step_ns) <= until:
            self._joules += watts * (step - self._ns) * 1e-9
            self._ns, self.counted = step, self._joules
        self._joules += watts * (until - self._ns) * 1e-9
        self._ns = until

    def read(self) -> float:
        return self.counted


@pytest.mark.parametrize("run_s", [1e-4, 3e-3, 0.07, 0.9])
def test_joules_a_run_are_power_times_time_however_coarse_the_counter(monkeypatch, run_s):
    meter = Meter(500, run_s)
    monkeypatch.setattr(energy, "time", meter)
    found = measure_energy(meter.run, Counter("gpu", meter.read), edges=10**6)
    assert found["joules_per_run"] == pytest.approx(500 * run_s, rel=0.03 if run_s < 0.05 else 0.12)
    assert found["nanojoules_per_edge"] == pytest.approx(found["joules_per_run"] * 1e3)
    assert found["window_s"] >= 2.0
    assert found["window_s"] == pytest.approx(found["runs"] * run_s, rel=1e-6)
    assert found["per"] == "run"


def test_idle_power_is_told_apart_and_a_repeat_agrees(monkeypatch):
    meter = Meter(450, 3e-3, idle_w=120)
    monkeypatch.setattr(energy, "time", meter)
    found, again = (measure_energy(meter.run, Counter("gpu", meter.read), edges=10**6) for _ in range(2))
    assert found["idle_w"] == pytest.approx(120, rel=0.01)
    assert found["mean_w"] == pytest.approx(450, rel=0.01)
    assert found["net_joules_per_run"] == pytest.approx(330 * 3e-3, rel=0.02)
    assert again["joules_per_run"] == pytest.approx(found["joules_per_run"], rel=0.03)


def test_a_counter_that_is_slow_to_read_does_not_dilute_short_runs(monkeypatch):
    """Reading NVML takes 4 ms, in which a GPU whose runs take 1 ms would idle."""
    meter = Meter(500, 1e-3, idle_w=120)
    monkeypatch.setattr(energy, "time", meter)

    def read() -> float:
        meter.sleep(4e-3)
        return meter.read()

    found = measure_energy(meter.run, Counter("gpu", read), edges=None)
    assert found["joules_per_run"] == pytest.approx(0.5, rel=0.06)
    assert found["mean_w"] == pytest.approx(500, rel=0.06)


class Program(Meter):
    """A process that takes 200 W for 0.5 s to start, and then makes runs of 2 ms, with a pause of 1 ms behind each."""

    def __init__(self, watts: float = 450, runs: int = 5) -> None:
        super().__init__(watts, 2e-3, step_s=0.02, idle_w=120)
        self.asked = self.usual = self.most_asked = runs

    def lengthen(self, more: int) -> int:
        self.asked = self.usual + more
        self.most_asked = max(self.most_asked, self.asked)
        return self.usual

    def process(self) -> None:
        self._pass(0.5, 200)
        for _ in range(self.asked):
            self.run()
            self.sleep(1e-3)

    def energy(self, monkeypatch: pytest.MonkeyPatch, **changed: object) -> dict[str, object]:
        monkeypatch.setattr(energy, "time", self)
        inside = {"inside": lambda: (self.asked, 2e-3), "lengthen": self.lengthen, **changed}
        return measure_energy(self.process, Counter("gpu", self.read), edges=10**6, process=Process(**inside))


def test_a_run_of_a_program_takes_what_further_runs_of_its_process_take_and_no_part_of_its_start(monkeypatch):
    found = Program().energy(monkeypatch)
    assert found["joules_per_run"] == pytest.approx(450 * 2e-3, rel=0.03)
    assert found["net_joules_per_run"] == pytest.approx(330 * 2e-3, rel=0.03)
    assert found["nanojoules_per_edge"] == pytest.approx(450 * 2e-3 * 1e3, rel=0.03)
    assert found["mean_w"] == pytest.approx(450, rel=0.03)
    assert found["process_joules"] == pytest.approx(0.5 * 200 + 5 * (2e-3 * 450 + 1e-3 * 120), rel=0.05)
    assert found["per"] == "process"
    ten = Program(runs=10).energy(monkeypatch)
    assert ten["joules_per_run"] == pytest.approx(found["joules_per_run"], rel=0.03)


@pytest.mark.parametrize("run_s", [3.6e-3, 2e-3, 1.5001e-3])
def test_one_time_for_all_runs_of_a_process_counts_if_the_clock_agrees_that_it_made_them(monkeypatch, run_s):
    found = Program().energy(monkeypatch, inside=lambda: (1, run_s))  # a run takes 3 ms with the pause behind it
    assert found["net_joules_per_run"] == pytest.approx(330 * 2e-3, rel=0.03)
    assert found["joules_per_run"] == pytest.approx(330 * 2e-3 + 120 * run_s, rel=0.03)


@pytest.mark.parametrize("made", [lambda n: 1 << (n - 1).bit_length(), lambda n: max(n, 20), lambda n: 2 * n])
def test_a_program_may_make_more_runs_than_it_is_asked_for(monkeypatch, made):
    program = Program()

    def process() -> None:
        usual, program.asked = program.asked, made(program.asked)
        Program.process(program)
        program.asked = usual

    monkeypatch.setattr(program, "process", process)
    found = program.energy(monkeypatch, inside=lambda: (made(program.asked), 2e-3))
    assert found["net_joules_per_run"] == pytest.approx(330 * 2e-3, rel=0.005)


def test_a_process_may_be_asked_for_one_run_that_comes_after_its_warm_up(monkeypatch):
    """It prints the times of two, the first of which does not count."""
    assert Program(runs=1).energy(monkeypatch)["net_joules_per_run"] == pytest.approx(330 * 2e-3, rel=0.02)


def test_a_start_that_takes_longer_by_chance_leaves_a_longer_process_as_long(monkeypatch):
    program, delays = Program(), iter([0.1])

    def process() -> None:
        if program.asked > program.usual:
            program.sleep(next(delays, 0))
        Program.process(program)

    monkeypatch.setattr(program, "process", process)
    assert program.energy(monkeypatch)["net_joules_per_run"] == pytest.approx(330 * 2e-3, rel=0.03)
    assert program.most_asked == pytest.approx(5 + 2 / 3e-3, rel=0.01)  # two seconds of runs and pauses


def test_one_time_for_all_runs_that_a_process_did_not_make_gives_the_reason(monkeypatch):
    lazy = Program()
    found = lazy.energy(monkeypatch, inside=lambda: (1, 4.1e-3))  # longer than the 3 ms of a run
    assert found == {"absent": "its process takes 73 % of the time that it prints for 488 more runs"}


def test_where_a_run_cannot_be_told_from_the_start_of_its_process_the_reason_is_given(monkeypatch):
    assert "has no {runs}" in str(Program().energy(monkeypatch, lengthen=None)["absent"])
    deaf = Program().energy(monkeypatch, inside=lambda: (5, 2e-3), lengthen=lambda more: 5)
    assert deaf == {"absent": "its process takes 0 % of the time that it prints for 1,000 more runs"}
    still = Program(watts=110).energy(monkeypatch)  # below the idle power
    assert still == {"absent": "the counter does not tell its runs from the start of its process"}


def test_a_longer_process_that_fails_or_prints_the_time_of_a_part_gives_the_reason_and_does_not_last(monkeypatch):
    cut = Program()  # only the end of its output is kept
    found = cut.energy(monkeypatch, inside=lambda: (min(cut.asked, 90), 2e-3))
    assert found == {"absent": "its process tells the time of 90 runs where {runs} is for 672"}
    part = Program()
    found = part.energy(monkeypatch, inside=lambda: (part.asked, 1e-4))
    assert found == {"absent": "it times only a part of each of its runs: 100 µs of 3.00 ms"}
    assert part.most_asked < 1000  # of the 20,000 that its times suggest


def test_no_edges_give_no_energy_per_edge(monkeypatch):
    meter = Meter(500, 0.01)
    monkeypatch.setattr(energy, "time", meter)
    assert measure_energy(meter.run, Counter("gpu", meter.read), edges=0)["nanojoules_per_edge"] is None


def test_a_counter_that_stands_still_or_is_missing_gives_the_reason(monkeypatch):
    meter = Meter(0, 0.01)
    monkeypatch.setattr(energy, "time", meter)
    found = measure_energy(meter.run, Counter("gpu", meter.read), edges=1)
    assert found == {"absent": "the energy counter did not move within 1 s"}

    def missing() -> float:
        raise DeviceUnavailable("this GPU does not tell it")

    assert measure_energy(meter.run, Counter("gpu", missing), edges=1) == {"absent": "this GPU does not tell it"}
    assert measure_energy(meter.run, "there is none", edges=1) == {"absent": "there is none"}


def test_a_counter_that_cannot_be_read_after_a_while_or_counts_downwards_gives_the_reason(monkeypatch, tmp_path: Path):
    meter = Meter(100, 0.01)
    monkeypatch.setattr(energy, "time", meter)
    falls = measure_energy(meter.run, Counter("gpu", lambda: -meter.read()), edges=1)
    assert falls == {"absent": "the energy counter does not count upwards"}
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    (package := tmp_path / "intel-rapl:0").mkdir()
    (package / "energy_uj").write_text("5")
    counter = Counter("cpu", processor_counter())
    (package / "energy_uj").unlink()
    reason = "the processors' energy (RAPL) cannot be read: no such file or directory"
    assert measure_energy(meter.run, counter, edges=1) == {"absent": reason}


def test_a_gpu_without_an_id_gives_the_reason_and_costs_no_cell():
    def uuid() -> str:
        raise DeviceUnavailable("this GPU does not tell it")

    opened = SimpleNamespace(device=SimpleNamespace(kind="cuda"), nvml=SimpleNamespace(uuid=uuid))
    assert energy.counter_of(opened) == "this GPU does not tell it"


class Together:
    """Two ranks in threads, which gather by a barrier."""

    def __init__(self) -> None:
        self._barrier, self._own = threading.Barrier(2, timeout=300), dict[int, object]()

    def gather_of(self, rank: int):
        def gather(own: object) -> list[object]:
            self._own[rank] = own
            self._barrier.wait()
            found = [self._own[0], self._own[1]]
            self._barrier.wait()
            return found

        return gather


class OwnTime(FakeTime, threading.local):
    """A clock of each thread's own."""


def test_on_two_ranks_the_energy_is_that_of_both_and_one_that_fails_ends_both(monkeypatch):
    monkeypatch.setattr(energy, "time", OwnTime())
    monkeypatch.setattr(energy, "WINDOW_S", 0.05)
    monkeypatch.setattr(energy, "STEP_LIMIT_S", 0.2)
    for watts, expected in (((300, 500), 800), ((300, 0), "did not move within 0.2 s"), ((300, None), "is not told")):
        together, found = Together(), dict[int, dict[str, object]]()

        def measure(rank: int, together=together, found=found, watts=watts) -> None:
            def read() -> float:
                now = energy.time.perf_counter()
                if watts[rank] is None and now > 0.03:
                    raise DeviceUnavailable("the energy counter is not told")
                return (watts[rank] or 300) * now if watts[rank] != 0 else 0.0

            run = lambda: energy.time.sleep(0.002)  # noqa: E731
            found[rank] = measure_energy(run, Counter(str(rank), read), edges=10, gather=together.gather_of(rank))

        threads = [threading.Thread(target=measure, args=(rank,)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=600)
        assert found[0] == found[1]
        if isinstance(expected, str):
            assert found[0] == {"absent": f"the energy counter {expected}"}
        else:
            assert found[0]["mean_w"] == pytest.approx(expected, rel=0.01)


def test_processors_are_read_by_packages_and_across_the_end_of_their_counters(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    assert processor_counter() == f"the processors' energy (RAPL) is not in {tmp_path}"
    for name in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "max_energy_range_uj").write_text("10000000")
        (tmp_path / name / "energy_uj").write_text("9000000")
    read = processor_counter()
    assert not isinstance(read, str)
    before = read()
    (tmp_path / "intel-rapl:0" / "energy_uj").write_text("1000000")
    (tmp_path / "intel-rapl:1" / "energy_uj").write_text("9500000")
    assert read() - before == pytest.approx(2.0 + 0.5)
    (tmp_path / "intel-rapl:0" / "energy_uj").write_text("nothing")
    assert "(RAPL) cannot be read: invalid literal" in str(processor_counter())


def test_a_window_is_as_long_as_it_must_be(monkeypatch):
    meter = Meter(500, 5.0)
    monkeypatch.setattr(energy, "time", meter)
    found = window(meter.run, meter.read)
    assert (found.runs, found.seconds) == (1, pytest.approx(5.0))


class LastLook:
    """The clock, and what it showed last: a counter of that loses nothing between the two."""

    sleep = staticmethod(time.sleep)

    def perf_counter(self) -> float:
        self.shown = time.perf_counter()
        return self.shown


@pytest.fixture
def hundred_watts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors that take 100 W whatever they do."""
    monkeypatch.setattr(energy, "WINDOW_S", 0.3)
    monkeypatch.setattr(energy, "LEAST_TIMED", 0.2)  # the start of a process scatters by as much
    monkeypatch.setattr(energy, "MOST_UNTIMED", 5.0)
    monkeypatch.setattr(energy, "time", clock := LastLook())
    monkeypatch.setattr(energy, "processor_counter", lambda: lambda: 100 * clock.shown)


@pytest.mark.usefixtures("hundred_watts")
def test_a_run_on_processors_takes_power_times_time_and_shows_it():
    data = json.loads(succeed("mst", "rmat:6", "--device", "cpu", "--energy", "--format", "json", "-q").out)
    found = data["energy"]
    assert found["joules_per_run"] == pytest.approx(100 * found["window_s"] / found["runs"], rel=0.01)
    assert found["nanojoules_per_edge"] == pytest.approx(found["joules_per_run"] / data["graph"]["edges"] * 1e9)
    assert (found["mean_w"], found["idle_w"]) == (pytest.approx(100, rel=0.01), pytest.approx(100, rel=0.01))
    assert "100 W on average, 100 W idle" in succeed("mst", "rmat:6", "--device", "cpu", "--energy").out


@pytest.mark.usefixtures("hundred_watts")
@pytest.mark.parametrize("printed", ["for _ in range(int(sys.argv[2])): print('took 0.01')", "print('took 0.01')"])
def test_a_program_that_times_itself_has_energy_by_windows_around_its_processes(monkeypatch, tmp_path: Path, printed):
    """Each of its runs takes 2 J, told by a file that grows, and each process what 100 W are while it lasts."""
    (made := tmp_path / "made").touch()
    monkeypatch.setattr(energy, "processor_counter", lambda: lambda: 100 * energy.time.shown + 2 * made.stat().st_size)
    body = f"import sys, time\ntime.sleep(0.012 * int(sys.argv[2]))\n{printed}\nprint('weight 3')\n"
    body += f"open('{made}', 'a').write('x' * int(sys.argv[2]))"
    command = f"{script(tmp_path, body)} {{graph.egr}}"
    times = "time = 'took (.+)', weight = 'weight (.+)'"
    words = ("path:4,w=unit", "--energy", "--device", "cpu", "--format", "json", "-q", "--peer-command")
    found = json.loads(succeed("mst", *words, f'mine = {{command = "{command} {{runs}}", {times}}}').out)["energy"]
    assert found["per"] == "process"
    assert found["process_joules"] == pytest.approx(100 * found["window_s"] / found["runs"] + 5 * 2, rel=0.01)
    assert found["net_joules_per_run"] == pytest.approx(2, rel=0.02)
    assert found["joules_per_run"] == pytest.approx(2 + 100 * 0.01, rel=0.02)
    line = refuse(3, "mst", *words, f'mine = {{command = "{command} 4", {times}}}')
    assert "the energy was not measured: its runs cannot be told from the start of its process" in line


@pytest.mark.usefixtures("hundred_watts")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if n > 9: sys.exit('no more')", "a process of 35 runs failed: it ended with exit code 1: no more"),
        ("if n > 9: weight = 4", "the answer of a process of more runs differs from that of sample 1"),
    ],
)
def test_a_longer_process_that_crashes_or_answers_otherwise_costs_the_energy_and_no_sample(
    monkeypatch, tmp_path: Path, body, reason
):
    (made := tmp_path / "made").touch()
    monkeypatch.setattr(energy, "processor_counter", lambda: lambda: 100 * energy.time.shown + 2 * made.stat().st_size)
    text = "import sys, time\nn, weight = int(sys.argv[2]), 3\ntime.sleep(0.01 * n)\n"
    text += f"{body}\nprint('took 0.01\\n' * n, 'weight', weight)\n"
    program = script(tmp_path, f"{text}open('{made}', 'a').write('x' * n)")
    table = f"mine = {{command = \"{program} {{graph.egr}} {{runs}}\", time = 'took (.+)', weight = 'weight (.+)'}}"
    words = ("path:4,w=unit", "--energy", "--device", "cpu", "--peer-command", table, "--save", tmp_path / "r.jsonl")
    assert f"the energy was not measured: {reason}" in refuse(3, "mst", *words, "-q")
    assert json.loads((tmp_path / "r.jsonl").read_text("utf-8"))["outcome"] == "ok"


@pytest.mark.usefixtures("hundred_watts")
def test_a_whole_process_is_a_run_and_a_part_of_a_run_has_no_energy(tmp_path: Path):
    command = f"{script(tmp_path, 'print(3)')} {{graph.egr}}"
    whole = f"mine = {{command = \"{command}\", time = 'whole', weight = '(3)'}}"
    words = ("--energy", "--device", "cpu", "--format", "json", "-q")
    found = json.loads(succeed("mst", "path:4,w=unit", *words, "--peer-command", whole).out)["energy"]
    assert found["per"] == "run"
    assert found["joules_per_run"] == pytest.approx(100 * found["window_s"] / found["runs"], rel=0.01)
    line = refuse(3, "scan", "array:n=1000", *words)
    assert "the energy was not measured: it times only a part of each of its runs" in line


def test_graph500_has_the_energy_of_a_search(monkeypatch, hundred_watts):
    words = ("graph500", "--scale", "5", "--roots", "2", "--device", "cpu", "--energy")
    data = json.loads(succeed(*words, "--format", "json", "-q").out)
    found = data["energy"]
    assert found["mean_w"] == pytest.approx(100, rel=0.01)
    tuples = sum(data["mteps"]["count"]) / 2
    assert found["nanojoules_per_edge"] == pytest.approx(found["joules_per_run"] / tuples * 1e9)
    assert "J a run" in succeed(*words, "-q").out


@pytest.mark.parametrize("words", [("mst", "rmat:6"), ("graph500", "--scale", "5", "--roots", "2")])
def test_energy_without_a_counter_ends_with_one_line_that_names_it(monkeypatch, tmp_path: Path, words):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    line = refuse(3, *words, "--device", "cpu", "--energy")
    assert f"the energy was not measured: the processors' energy (RAPL) is not in {tmp_path}" in line


def test_rows_without_energy_are_named_and_none_has_a_0(tmp_path: Path):
    words = ("mst", "rmat:6", "--algo", "kruskal,boruvka", "--device", "cpu", "--energy", "--repeat", "2")
    outcome = run(*words, "--export", tmp_path / "rows.csv")
    assert outcome.code == 0, outcome.err
    head, *rows = (line.split(",") for line in (tmp_path / "rows.csv").read_text("utf-8").splitlines())
    joules = [row[head.index("energy.joules_per_run")] for row in rows]
    if isinstance(reason := processor_counter(), str):  # not a machine whose processors are counted
        assert f"energy not measured in 2 cells: {reason}" in outcome.err
        assert joules == ["", ""]
    else:
        assert all(float(one) > 0 for one in joules)


def test_rows_of_other_commands_in_the_file_are_not_said_to_lack_their_energy(tmp_path: Path):
    words = ("--algo", "kruskal@cpu", "--save", tmp_path / "r.jsonl", "--resume", "--max-seconds", "0.1")
    succeed("bench", "path:9", *words)
    shown = succeed("bench", "path:12", *words, "--energy").err
    counter = processor_counter()
    assert ("energy not measured in 1 cell" in shown) == isinstance(counter, str)
    assert "not asked for" not in shown
    assert "2 cells" not in shown
