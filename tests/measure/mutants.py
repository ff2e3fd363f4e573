"""Changes of the program that publish a wrong figure, each of which a test of ``make test`` must notice.

``python -m tests.measure.mutants`` tries them all, and those of tests/problems/mutants.py, for some minutes.  Every
change is made in a copy of the package, and the tests named beside it are run there.  Words on the command line choose
the changes whose place or text has one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 600
FIGURES = "tests/measure/test_figures.py"


@dataclass(frozen=True)
class Mutant:
    """A text that stands once in a file of the package or of the kernels, what takes its place, and who must notice.

    Attributes:
        tests: the file of tests of which one must fail, among those that ``make test`` runs.
        words: which of its tests are run, as pytest's ``-k`` takes them.
    """

    file: str
    old: str
    new: str
    tests: str = FIGURES
    words: str = "not mutant"


_MEDIAN = "seconds[name] = median([second for group in samples for second in group])"
_BYTES = "needed / limit:\n        yield"
_MEASURE, _STATISTICS, _RECORD = "measure/assemble.py", "records/statistics.py", "records/record.py"
_CELLS, _OTHERS = "ext/comparing/cells.py", "ext/reports/against_others.py"
_FAKE_GPU = "tests/measure/test_on_fake_gpu.py"
_PAGES = "tests/report/test_template.py"
_PLAUSIBLE = "tests/measure/test_plausibility.py"
_MOMENTS, _SIMULATED = "tests/measure/test_statistics.py", "tests/measure/test_simulated.py"
_SHIM = "ext/emulator/shim/"

MUTANTS = (
    # what a review found unnoticed
    Mutant(_MEASURE, _MEDIAN, _MEDIAN.replace("median", "min")),
    Mutant(_MEASURE, "kernel = [mteps(c, median(t.kernel_s))", "kernel = [mteps(c, min(t.kernel_s))"),
    Mutant(_MEASURE, "there_s + median(t.kernel_s) + median(t.d2h_s)", "there_s + median(t.kernel_s)"),
    Mutant(_STATISTICS, "np.std(logs, ddof=1)", "np.std(logs, ddof=0)"),
    Mutant("graph/digest.py", 'return f"{len(values)} {lanes[0]:016x}{lanes[1]:016x}"', 'return f"{len(values)}"'),
    Mutant("base/exact.py", "_NARROW = (1 << 63) // _CHUNK - 1", "_NARROW = 1 << 45", "tests/test_exact.py"),
    Mutant("ext/check_record/plausible_figures.py", _BYTES, _BYTES.replace("limit", "limit / 10")),
    Mutant(
        "ext/check_record/plausibility.py",
        "!= WorkShape(absent=record.shape.work.absent)",
        "is None",
        "tests/measure/test_plausibility.py",
        "forged",
    ),
    Mutant(
        "devices/cuda_streams.py", "self._stop.record(self._device.stream)", "self._start.record(self._device.stream)"
    ),
    Mutant(_STATISTICS, "estimate(np.log(series / middle))", "estimate(series / middle - 1)", _MOMENTS, "logarithmic"),
    Mutant(
        "ext/comparing/claims.py", "    if drifts:\n        than", "    if False:\n        than", _SIMULATED, "drift"
    ),
    Mutant("ext/comparing/claims.py", "math.sqrt(2) * 0.1)", "math.sqrt(2) * 0.05)", _SIMULATED, "tenth"),
    Mutant("ext/check_record/plausible_figures.py", "for logs in (True, False)", "for logs in (True,)", _PLAUSIBLE),
    # which times, and which records, may be compared
    Mutant(
        _RECORD,
        "if self.finished and self.shape.call.samples_s else self.kernel_s",
        "if False else self.kernel_s",
        _PAGES,
    ),
    Mutant(_OTHERS, "and any(map(lacks_launch, known))", "and False", _PAGES),
    Mutant("ext/instruments/call.py", "        device.synchronize()\n        start", "        start", _FAKE_GPU),
    Mutant(
        _CELLS, 'environment.get("git_commit"), device.uuid or device.name', '"", device.uuid or device.name', _PAGES
    ),
    Mutant(_CELLS, "device.uuid or device.name", "device.name", _PAGES),
    Mutant(_CELLS, 'str(environment.get("command"))', '""', _PAGES),
    Mutant(_OTHERS, "apart or of_several_runs([best, *others])", "of_several_runs([best, *others])", _PAGES),
    Mutant(_OTHERS, "if (problem, _graph(best)) in failing:", "if False:", _PAGES),
    Mutant(_OTHERS, "if not all(ran)", "if False", _PAGES),
    Mutant("ext/comparing/versions.py", "measured in today:", "measured:", _PAGES),
    Mutant(
        "ext/reports/versus.py", "number if apart else", "number if False else", "tests/report/test_page.py", "tied"
    ),
    # measure
    Mutant(_MEASURE, 'phase_timer.move("sampling", name, seconds[name])', "pass"),
    Mutant(_MEASURE, '"kernel_s": median(t.kernel_s)', '"kernel_s": min(t.kernel_s)'),
    Mutant("measure/instruments/traffic.py", "least / kernel_s / bandwidth", "least * kernel_s / bandwidth"),
    Mutant(_MEASURE, "there_s = sum(phases.get(name, 0.0) for name in WAY_THERE)", "there_s = 0.0"),
    Mutant("measure/inputs.py", "h2d_s, median(whole_s)", "h2d_s, min(whole_s)"),
    Mutant("ext/instruments/energy.py", "last - first)", "last)"),
    Mutant("ext/instruments/energy.py", "joules / edges * 1e9", "joules / edges * 1e6"),
    Mutant("measure/measurement.py", "if first:  # the check of the first", "if not first:  # the check of the first"),
    Mutant(
        "measure/instruments/phases.py", "median(of), max(of)]", "min(of), max(of)]", "tests/measure/test_phases.py"
    ),
    Mutant(
        "ext/comparing/claims.py",
        "difference = logs[1][:both] - logs[0][:both]",
        "difference = logs[1] - np.median(logs[0])",
    ),
    Mutant(
        "base/clock.py",
        "self.add_seconds(self._open[-1], passed - compiling)",
        "self.add_seconds(self._open[-1], passed)",
    ),
    Mutant("ext/python/call_profile.py", "max(own - compiling, 0.0)", "own", "tests/adapters/test_call_profile.py"),
    Mutant("ext/graph500/record.py", '"kernel": median(run.times_s)}', '"kernel": min(run.times_s)}'),
    # statistics
    Mutant(_STATISTICS, "len(rates) / sum(1 / rate for rate in rates)", "sum(rates) / len(rates)"),
    Mutant(_STATISTICS, "(interval[1] - interval[0]) / 2 / middle", "(interval[1] - interval[0]) / middle"),
    Mutant(_STATISTICS, "error, error, len(logs) - 1)", "error, error, len(logs))"),
    Mutant("ext/findings/__init__.py", "1 - (1 - LEVEL) / choices", "LEVEL", "tests/bench/test_findings.py"),
    Mutant("ext/findings/formula.py", "node, several.index(found))", "node, 0)", "tests/bench/test_findings.py"),
    # report
    Mutant(_RECORD, 'apart = ("sampling", *self.once)', "apart = self.once"),
    Mutant(_RECORD, 'for name in (*WAY_THERE, "d2h"))', "for name in WAY_THERE)"),
    Mutant(
        "ext/comparing/cells.py",
        "row.kernel_s / high, row.mteps * row.kernel_s / low",
        "row.kernel_s / low, row.mteps * row.kernel_s / high",
    ),
    Mutant("records/columns.py", "return (row.kernel_s or 0.0) + row.transfer_s if", "return (row.kernel_s or 0.0) if"),
    Mutant("records/fields.py", '"transfer + d2h, ms", 1e3', '"transfer + d2h, ms", 1e6'),
    Mutant("report/table.py", "rate(mteps.end_to_end)", "rate(mteps.kernel or 0.0)"),
    Mutant("ext/charts/times.py", '"result": ("finish", "verify")', '"result": ("finish",)'),
    # loaders
    Mutant("graph/load.py", 'clock.phase("load"):  # a pipe', 'clock.phase("build"):  # a pipe'),
    Mutant(
        "ext/formats/dimacs.py",
        "base = 0 if columns.low == 0 else 1",
        "base = 1",
        "tests/graph/formats/test_dimacs.py",
    ),
    Mutant(
        "ext/formats/metis.py",
        "numbers[::2], numbers[1::2]",
        "numbers[1::2], numbers[::2]",
        "tests/graph/formats/test_metis.py",
    ),
    Mutant(
        "ext/formats/matrix_market.py",
        "one_sided=symmetric)",
        "one_sided=False)",
        "tests/graph/formats/test_matrix_market.py",
    ),
    # work counted without a GPU
    *(
        Mutant(file, old, new, "tests/emulator/test_counters.py")
        for file, old, new in (
            (_SHIM + "counters.h", "SECTOR_BYTES = 32", "SECTOR_BYTES = 64"),
            (_SHIM + "counters.h", "before / SECTOR_BYTES != address / SECTOR_BYTES", "before != address"),
            (_SHIM + "counters.h", "into.warps += !same;", "into.warps += 1;"),
            (_SHIM + "counters.h", "++newest_;", ""),
            (_SHIM + "counters.h", "const uint32_t number = turn.number++;", "const uint32_t number = 0;"),
            (_SHIM + "races.h", "    into.bytes += bytes;", "    into.bytes += 4;"),
            (_SHIM + "races.h", "(!shared && detector.is_own(at))", "false"),
            (
                "ext/counters/count.py",
                '"atomic_conflicts": n["lanes"] - n["addr',
                '"atomic_conflicts": n["lanes"] - n["warps"] + 0 * n["addr',
            ),
            ("ext/counters/count.py", "place.lanes // blocks", "place.lanes"),
            ("ext/counters/count.py", 'if at_barrier and kind == "load":', "if False:"),
            ("ext/comparing/compare.py", "if most > threshold", "if most > 2 * threshold"),
        )
    ),
)


def place(mutant: Mutant, root: Path = ROOT) -> Path:
    """Return the file that a mutant changes."""
    kernels = mutant.file.endswith((".cu", ".cuh"))
    return root / ("cuda_kernels" if kernels else "gpugraph") / mutant.file


def survives(tests: str, words: str, mutant: Mutant | None = None) -> bool:
    """Tell whether a file of tests passes with a change made, or with none."""
    with tempfile.TemporaryDirectory(prefix="gpugraph-mutant-") as folder:
        copy = Path(folder)
        for entry in ROOT.iterdir():
            if entry.name not in (".git", ".venv", "gpugraph", "cuda_kernels", "build"):
                (copy / entry.name).symlink_to(entry)
        for name in ("gpugraph", "cuda_kernels"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            file = place(mutant, copy)
            file.write_text(file.read_text("utf-8").replace(mutant.old, mutant.new), "utf-8")
        chosen = [tests, "-k", words, "-m", "not gpu and not thorough and not extended"]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"--rootdir={copy}", *chosen]
        try:
            return subprocess.run(command, cwd=copy, capture_output=True, timeout=LIMIT_S).returncode == 0
        except subprocess.TimeoutExpired:  # it never ends, and the limit of a test would say so
            return False


def main() -> None:
    """Try the mutants and exit by the number that survive."""
    from tests.problems.mutants import ANSWERS

    every = (*MUTANTS, *ANSWERS)
    wanted = [one for one in every if not sys.argv[1:] or any(w in f"{one.file} {one.old}" for w in sys.argv[1:])]
    for tests, words in dict.fromkeys((one.tests, one.words) for one in wanted):
        if not survives(tests, words):
            sys.exit(f"{tests} fails without any change")
    alive = 0
    for mutant in wanted:
        alive += (lives := survives(mutant.tests, mutant.words, mutant))
        print("SURVIVES" if lives else "killed  ", mutant.file, "|", mutant.new.strip() or "(nothing)", flush=True)
    print(f"{len(wanted)} mutants, {alive} survive")
    sys.exit(min(alive, 100))


if __name__ == "__main__":
    main()
