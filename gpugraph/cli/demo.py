"""``gpugraph demo``."""

from __future__ import annotations

import click

from gpugraph.cli.options import command, table_or_json
from gpugraph.errors import VerificationFailed, unknown_name


@command
@click.argument("demonstration", metavar="NAME")
@click.option("--runs", type=int, help="Of each algorithm [default: 1000 on a GPU, 200 schedules emulated].")
@click.option(
    "--device", default="auto", show_default=True, metavar="DEVICE", help="auto, cuda[:i] or emulated[:SEED]."
)
@table_or_json
def demo(demonstration: str, runs: int | None, device: str, style: str, quiet: bool) -> None:
    """Show what goes wrong without atomics, and that ours goes right. NAME is race.

    race runs the shortest paths of Harish and Narayanan (2007), which loses updates, and ours many times on the
    counter-example of Martín, Torres and Gavilanes (2009). It exits with 0 if theirs was wrong at least once on the
    directed and on the undirected graph, and ours never. Without a GPU it runs on the emulated device.

    Example:
      gpugraph demo race
    """
    import json

    from gpugraph.cli.output import show, show_lines, tell
    from gpugraph.cli.progress import Progress
    from gpugraph.devices.discovery import race_detector, select_racing_device
    from gpugraph.problems.contract import PROBLEMS
    from gpugraph.problems.registry import load_problem
    from gpugraph.report.race import race_page

    shows = {name: show for problem in PROBLEMS for name, show in load_problem(problem).demonstrations.items()}
    if demonstration not in shows:
        raise unknown_name("demonstration", demonstration, shows)
    opened, seed, notice = select_racing_device(device)
    try:
        with Progress(quiet=quiet) as progress:
            shown = shows[demonstration](opened, seed, race_detector, runs, progress) | {"notice": notice}
    finally:
        opened.close()
    tell([notice] if notice else [], quiet=quiet)
    if style == "json":
        show(json.dumps(shown, ensure_ascii=False))
    else:
        show_lines(race_page(shown))
    if not shown["shown"]:
        wrong = ", ".join(f"{case['algorithm']} {case['wrong']} of {case['runs']}" for case in shown["cases"])
        raise VerificationFailed(f"the race was not shown; wrong answers: {wrong}", remedy="try more --runs")
