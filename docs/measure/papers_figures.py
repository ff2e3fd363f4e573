"""Check what the four papers claim:

    python docs/measure/papers_figures.py [PAPER ...] [--device cuda] [--save records.jsonl]

Prints the rows of docs/papers.md: each claim with its place, the paper's figure, ours, and whether it holds
(papers_claims.py).  The papers' own families, weights and densities, at sizes that take minutes; --full takes the
papers' largest for the forests of Sun and Skadron, --small tries the script itself, --list prints the rows unmeasured.
No result counts that is not verified; a run on one thread is held against the verified forest of the same graph.
Whole curves: gpugraph bench --sweep papers/NAME.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import numba
from papers_claim import ONE_THREAD, Claim, Found, Run
from papers_claims import PAPERS

from gpugraph.bench.store import append_record
from gpugraph.errors import GpuGraphError
from gpugraph.measure.cell import Cell
from gpugraph.measure.record import Record
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.session import Session

RACE_OF = "martin2009"
RACE = "the algorithm of Harish and Narayanan gives random answers on the counter-example, ours the right one"
HEAD = "| claim, its place | the paper | ours | holds? |\n|---|---|---|---|"
NOT_YET = "**not measured yet**"
TOGETHER = 8
"""Most runs that compete at once: each holds its arrays on the device until it ends."""


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run parallel loops on so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def cell_of(run: Run, device: str) -> Cell:
    """Return a run as a cell."""
    named = {"gpu": device, ONE_THREAD: "cpu"}.get(run.device, run.device)
    return Cell(
        run.problem,
        run.graph,
        run.algorithm,
        named,
        source="0" if run.problem == "sssp" else None,
        preparations=run.prepare,
        options={name: str(value) for name, value in run.options},
        phases=run.phases,
        transfers="separate",
        verify="none" if run.device == ONE_THREAD else "certificate",
    )


def measure(runs: Sequence[Run], device: str, save: Path | None) -> tuple[Found, dict[Run, str]]:
    """Measure every run once, those on one graph side by side; return the records, and why other runs have none."""
    found: Found = {}
    missing: dict[Run, str] = {}
    by_graph: dict[tuple[str, str], list[Run]] = {}
    for run in dict.fromkeys(runs):
        by_graph.setdefault((run.problem, run.graph), []).append(run)
    sampling = Sampling(min_samples=3, max_samples=15, time_limit_s=2.0, bandwidth=False)
    with Session() as session:
        for (_, graph), group in by_graph.items():
            start = time.perf_counter()
            alone = [run for run in group if run.device == ONE_THREAD]
            others = [run for run in group if run not in alone]
            for some in [others[i : i + TOGETHER] for i in range(0, len(others), TOGETHER)]:
                measure_some(session, some, device, sampling, found, missing, save)
            if alone:
                with threads(1):
                    measure_some(session, alone, device, sampling, found, missing, save)
            print(f"{graph}: {len(group)} runs in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    for run in [run for run in found if run.device == ONE_THREAD and not same_as_verified(run, found)]:
        missing[run] = "no verified run found the same forest"
        del found[run]
    return found, missing


def measure_some(
    session: Session,
    runs: Sequence[Run],
    device: str,
    sampling: Sampling,
    found: Found,
    missing: dict[Run, str],
    save: Path | None,
) -> None:
    """Measure runs that compete, and note each in ``found`` or ``missing``."""

    def finished(index: int, record: Record) -> None:
        run = runs[index]
        wrong_on_purpose = run.algorithm.endswith("no-atomic")
        if record.outcome != "ok" and not wrong_on_purpose:
            missing[run] = f"{record.outcome}: {record.data['verification']['detail']}"
            return
        found[run] = record.data
        if save is not None:
            append_record(record, save)

    def failed(index: int, error: Exception) -> None:
        if not isinstance(error, GpuGraphError):
            raise error
        missing[runs[index]] = str(error)

    session.measure([cell_of(run, device) for run in runs], sampling, lambda what: None, finished, failed)


def same_as_verified(run: Run, found: Found) -> bool:
    """Tell whether a verified run of the same graph found the same forest."""
    forest = found[run]["result"]["edges_sha256"]
    return any(
        data["result"]["edges_sha256"] == forest
        for other, data in found.items()
        if other.graph == run.graph and data["verification"]["status"] == "passed"
    )


def row(claim: Claim, found: Found, missing: dict[Run, str]) -> str:
    """Return the claim as a line of the table."""
    reasons = [f"{run.algorithm} on {run.graph}: {missing[run]}" for run in claim.needs if run in missing]
    ours, verdict = (f"not measured: {reasons[0]}", "–") if reasons else claim.judge(found)
    return f"| {claim.text} ({claim.place}) | {claim.stated} | {ours} | {verdict} |"


def race(device: str, runs: int | None) -> str:
    """Return the line that says how often the algorithm that the paper refutes was wrong."""
    from gpugraph.devices.discovery import race_detector, select_racing_device
    from gpugraph.problems.sssp.race_demo import show_race

    opened, seed, _ = select_racing_device(device)
    shown = show_race(opened, seed, race_detector, runs, lambda what, done: None)
    opened.close()
    told = ", ".join(f"{case['algorithm']} {case['wrong']} of {case['runs']}" for case in shown["cases"])
    return f"| {RACE} (4.3) | no figure | wrong: {told} | {'yes' if shown['shown'] else 'no'} |"


@click.command()
@click.argument("papers", nargs=-1, type=click.Choice(list(PAPERS)))
@click.option("--device", default="cuda", help="cuda, or emulated to try the script itself.")
@click.option("--save", type=click.Path(path_type=Path), help="Append every record to this file, one JSON line each.")
@click.option("--small", is_flag=True, help="Tiny sizes, to try the script.")
@click.option("--full", is_flag=True, help="The papers' largest sizes where the default is smaller.")
@click.option("--list", "list_", is_flag=True, help="Print the rows without measuring.")
def main(papers: tuple[str, ...], device: str, save: Path | None, small: bool, full: bool, list_: bool) -> None:
    """Check the claims of PAPERS, or of all four."""
    for name in papers or PAPERS:
        hardware, claims_of = PAPERS[name]
        claims = list(claims_of(small, full))
        print(f"\n### {name} ({hardware})\n\n{HEAD}", flush=True)
        if list_:
            for claim in claims:
                print(f"| {claim.text} ({claim.place}) | {claim.stated} | {NOT_YET} | |")
            if name == RACE_OF:
                print(f"| {RACE} (4.3) | no figure | {NOT_YET} | |")
            continue
        found, missing = measure([run for claim in claims for run in claim.needs], device, save)
        for claim in claims:
            print(row(claim, found, missing), flush=True)
        if name == RACE_OF:
            print(race(device, 20 if small else None), flush=True)


if __name__ == "__main__":
    main()
