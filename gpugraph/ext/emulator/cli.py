"""``gpugraph races`` and ``gpugraph demo``: data races hunted, and shown."""

from typing import Any

import click

from gpugraph.base.clock import HostClock, NullClock
from gpugraph.base.errors import DeviceUnavailable, InputError, VerificationFailed, check_name
from gpugraph.base.quantities import counted
from gpugraph.cli.options import command, device_option, draw_option, input_options, table_or_json, timeout_option
from gpugraph.cli.output import Progress, check_drawing, draw_counter_example, show_as, tell
from gpugraph.graph.read_options import AS_GIVEN, ReadOptions
from gpugraph.problems.contract import PROBLEMS, Input
from gpugraph.report.terminal import Line, can_draw, page_width


@command
@click.argument("problem", metavar="|".join(PROBLEMS))
@click.argument("graph")
@input_options
@click.option("--algo", default="auto", show_default=True, metavar="NAME", help="A name, or FILE.py:OBJECT.")
@click.option("--source", metavar="SOURCE", help="Source of shortest paths [default: max-degree].")
@click.option("--schedules", type=click.IntRange(1), default=5, show_default=True, help="Number of schedules.")
@timeout_option
@draw_option
@table_or_json
def races(
    problem: str,
    graph: str,
    algo: str,
    source: str | None,
    schedules: int,
    timeout: float | None,
    draw: str | None,
    style: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Find data races of an algorithm's kernels on the emulated device, and name their lines.

    Every run shuffles threads and blocks in another way, and its result is checked. An intended race has a comment,
    race-allowed: REASON, and is listed with it. The exit code is 1 for any other race and for a wrong result.

    Example:
      gpugraph races sssp rmat:6 --algo delta-stepping
    """
    from gpugraph.ext.charts.counter_example import shape_of_verdict, sketch
    from gpugraph.graph.csr import notices_of
    from gpugraph.problems.registry import load_problem

    check_name("problem", problem, PROBLEMS)
    check_drawing(draw)
    solved = load_problem(problem)
    asked, options = {"source": source, "seed": given["seed"]}, ReadOptions(**given)
    if source is not None and problem != "sssp":
        raise InputError(f"{problem} has no source", remedy="leave out --source")
    if not solved.command.on_graph and options != AS_GIVEN:
        raise InputError(f"{problem} takes an array, and none of the options of graphs", remedy="leave them out")
    with Progress(quiet=quiet) as progress:
        progress(f"loading {graph}")
        opened = solved.admit(solved.open(Input(problem, graph, options), HostClock(), progress))
        queries = solved.queries(opened, asked)
        algorithm = _algorithm(problem, solved.auto(opened, "emulated") if algo == "auto" else algo)
        queries = [solved.batch(queries)] if algorithm.batched else queries
        found: dict[tuple[Any, ...], Any] = {}
        excused: dict[tuple[Any, ...], str] = {}
        wrong = []
        shape = None
        for seed in range(1, schedules + 1):
            progress(f"{algorithm.name}: schedule {seed} of {schedules}")
            verdicts, met = _run(solved, algorithm, opened, queries, seed)
            found = {(race.kernel, race.lines): race for race in met if race.allowed is None} | found
            excused |= {(race.kernel, race.lines): race.excuse for race in met if race.allowed is not None}
            failed = [verdict for verdict in verdicts if verdict.status == "failed"]
            wrong += [f"schedule {seed}: {verdict.detail}" for verdict in failed]
            shape = shape or next((shape_of_verdict(one) for one in failed if one.counter_example is not None), None)
    tell(notices_of(opened), quiet=quiet)
    lines = [str(race) for race in found.values()]
    facts = {
        "algorithm": algorithm.name,
        "runs": schedules,
        "races": lines,
        "excused": [*excused.values()],
        "wrong": wrong,
    }
    count = f"{len(lines)} {'race' if len(lines) == 1 else 'races'}, {len(wrong)} wrong results"

    def report() -> list[Line]:
        shown = [line for race in found.values() for line in (str(race), *race.excerpt)]
        head = f"{algorithm.name}: {count} in {counted(schedules, 'schedule')}"
        page: list[Line] = [[(text, "")] for text in (head, *shown, *wrong, *excused.values())]
        return page if shape is None else [*page, [("", "")], *sketch(shape, width=page_width(), unicode=can_draw())]

    show_as(style, facts, report)
    draw_counter_example(draw, shape, quiet=quiet)
    if lines or wrong:
        what = lines[0] if lines else wrong[0]
        remedy = "let an atomic or a barrier order the two accesses" if lines else ""
        raise VerificationFailed(what, where=algorithm.name, remedy=remedy)


def _algorithm(problem: str, name: str) -> Any:
    """Return an algorithm that runs on the emulated device, of ours or a user's own."""
    from gpugraph.problems.registry import find_algorithm

    if name.startswith("peer:"):
        raise InputError("a peer has no kernels of ours", where=name, remedy="name an algorithm of: gpugraph algos")
    try:
        return find_algorithm(problem, name, "emulated")
    except InputError as error:
        if "does not run on device" in error.what:  # this command has no other
            error.remedy = f"name one that runs on 'emulated' in: gpugraph algos --problem {problem}"
        raise


def _run(solved: Any, algorithm: Any, graph: object, queries: Any, seed: int) -> tuple[list[Any], list[Any]]:
    """Return the verdicts of all queries under one schedule, and the races met."""
    from gpugraph.ext.plugins.isolation import ForeignCodeGuard
    from gpugraph.measure.check import check

    device = _race_detector(seed)
    try:
        host = solved.view(graph, (), None)
        view, _, _ = solved.to_device(host, device)
        guard = ForeignCodeGuard(algorithm.name, graph, host) if algorithm.foreign else None
        options = {option.name: option.default for option in algorithm.options}
        state = algorithm.prepare(view, device, **options)
        verdicts = []
        for query in queries:
            raw = algorithm.fetch(state, algorithm.run(state, NullClock(), *query))
            result = algorithm.finish(state, raw, *query)
            if guard is not None:
                with guard:
                    guard.check_input(view, device)
            verdicts.append(check(solved, graph, query, result, "reference"))
        return verdicts, device.races(allowed=True)
    finally:
        device.close()


@command
@click.argument("demonstration", metavar="NAME")
@click.option("--repeat", type=int, help="Runs of each algorithm [default: 1000 on a GPU, 200 schedules emulated].")
@device_option("auto, cuda[:i] or emulated[:SEED].", "auto")
@table_or_json
def demo(demonstration: str, repeat: int | None, device: str, style: str, quiet: bool) -> None:
    """Show that an algorithm without atomics gives wrong distances. NAME is race.

    The algorithm of Harish and Narayanan (2007), which loses updates, and ours run many times on the counter-example
    of Martín, Torres and Gavilanes (2009). The exit code is 0 if theirs was wrong at least once on the directed and on
    the undirected graph, and ours never. Without a GPU they run on the emulated device.

    Example:
      gpugraph demo race
    """
    from gpugraph.ext.emulator.race_page import race_page
    from gpugraph.ext.papers.sssp.gpu_harish_narayanan import show_race

    check_name("demonstration", demonstration, ["race"])
    opened, seed, notice = _racing_device(device)
    try:
        with Progress(quiet=quiet) as progress:
            shown = show_race(opened, seed, _race_detector, repeat, progress) | {"notice": notice}
    finally:
        opened.close()
    tell([notice] if notice else [], quiet=quiet)
    show_as(style, shown, lambda: race_page(shown))
    if not shown["shown"]:
        wrong = ", ".join(f"{case['algorithm']} {case['wrong']} of {case['runs']}" for case in shown["cases"])
        raise VerificationFailed(f"the race was not shown; wrong answers: {wrong}", remedy="try a larger --repeat")


def _racing_device(text: str) -> tuple[Any, int, str | None]:
    """Open a device to show a race on: ``auto`` is a GPU, else the emulated device; the caller closes it.

    Returns the device, the seed of the first schedule where it is the emulated one, and a notice where no GPU was
    found. Raises InputError if ``text`` names no device that runs kernels, DeviceUnavailable if it cannot be used.
    """
    from gpugraph.devices.discovery import parse_device, select_device

    kind, number = parse_device(text)
    if kind == "cpu":
        raise InputError("a race needs a device that runs kernels", remedy="use --device cuda or --device emulated")
    notice = None
    if kind == "auto":
        try:
            return select_device("cuda")[0], 0, None
        except DeviceUnavailable as missing:
            notice = f"no usable GPU: {missing.what}; racing on the emulated device"
    if kind == "cuda":
        return select_device(text)[0], 0, None
    seed = max(1, number)  # a seed of 0 shuffles nothing
    return _race_detector(seed), seed, notice


def _race_detector(seed: int) -> Any:
    """Return the emulated device under the schedule of a seed, with the race detector."""
    from gpugraph.ext.emulator.device import EmulatedDevice

    return EmulatedDevice(seed=seed, races=True)
