"""``gpugraph graph500``: the Graph500 benchmark of shortest paths."""

import os
from pathlib import Path

import click

from gpugraph.base.clock import PhaseTimer
from gpugraph.base.errors import DeviceUnavailable, InputError
from gpugraph.base.files import is_same_file
from gpugraph.cli.options import command, device_option, table_or_json
from gpugraph.cli.output import Progress, check_destination, show, tell
from gpugraph.cli.process import Command


@command
@click.option("--scale", type=click.IntRange(5, 30), required=True, help="log2 of the number of vertices.")
@device_option("auto, cuda[:i], cpu, cpu*N or emulated.")
@click.option("--roots", type=click.IntRange(1), default=64, show_default=True, help="Searches; the rules ask for 64.")
@click.option("--peer", type=click.Choice(["cugraph"]), help="Run a library's kernels 1 and 3 in place of ours.")
@click.option("--reuse", metavar="FILE", help="Read the edge list, as the reference code wrote it (REUSEFILE).")
@click.option("--keep", metavar="FILE", help="Write the edge list for the reference code (TMPFILE).")
@click.option("--results", metavar="FOLDER", help="Write parents (int64) and distances (float32) of each search.")
@click.option("--energy", is_flag=True, help="Measure the energy of a search, in additional searches.")
@click.option("--save", metavar="FILE.jsonl", help="Append the record to a file.")
@table_or_json
def graph500(
    scale: int,
    device: str,
    roots: int,
    peer: str | None,
    reuse: str | None,
    keep: str | None,
    results: str | None,
    energy: bool,
    save: str | None,
    style: str,
    quiet: bool,
) -> None:
    """Run Graph500's shortest paths (kernels 1 and 3) by its rules, every search validated.

    The results have the names that the reference code prints. If a search breaks a rule, the first counter-example is
    shown and no results. `gpugraph help graph500` describes the rules and the phases.

    Example:
      gpugraph graph500 --scale 16
    """
    from gpugraph.bench.store import WAIT_S, Store, append_record
    from gpugraph.devices.discovery import select_device
    from gpugraph.ext.graph500.benchmark import ROOTS, Files, Place, run
    from gpugraph.ext.graph500.generator import both_files
    from gpugraph.ext.graph500.record import check_peer, record_of
    from gpugraph.ext.ranks.measuring import open_own_device
    from gpugraph.ext.ranks.world import world
    from gpugraph.records.columns import energy_words
    from gpugraph.records.record import EMULATED

    phase_timer, comm = PhaseTimer("start", Command.began), world()
    files = Files(*(None if path is None else Path(path) for path in (reuse, keep, results)))
    for path in both_files(files.keep):
        check_destination(str(path))
    if save is not None:
        check_destination(save, append=True)
        if any(is_same_file(save, str(path)) for path in (*both_files(files.keep), *both_files(files.reuse))):
            raise InputError("is given for the edge list and for the record", where=save, remedy="name another file")
        if os.path.isfile(save):
            Store(save, resume=True, wait_s=WAIT_S).close()  # one of records, or refused before the work
    with Progress(quiet=quiet) as progress:
        progress("opening the device")
        if comm is None:
            opened, notice = select_device(device)
            description = opened.describe()
            tell([notice] if notice else [], quiet=quiet)
        else:
            own = open_own_device(device, comm)
            opened, description = own.device, own.description
        try:
            if comm is not None and opened.kind != "cpu":
                what = "several ranks run Graph500 on processors alone"
                raise InputError(what, remedy="use --device cpu*N, or one GPU")
            if peer is not None:
                check_peer(peer, opened.kind)
            place = Place(opened, comm, peer)
            done = run(scale, place, roots=roots, files=files, report=progress, phase_timer=phase_timer, energy=energy)
        finally:
            phase_timer.switch_phase("close")
            opened.close()
    record = record_of(done, description, phase_timer).with_phases(phase_timer, Command.interpreter_s)
    notices = [EMULATED] if opened.kind == "emulated" else []
    if len(done.roots) != ROOTS:
        notices.append(f"Graph500's rules ask for {ROOTS} searches, these are {len(done.roots)}")
    tell(notices, quiet=quiet)
    if save is not None and (comm is None or comm.rank == 0):
        append_record(record, save)
    show(record.to_json(indent=2) if style == "json" else done.text(rates=opened.kind != "emulated"))
    if energy and (why := record.shape.energy.absent):
        raise DeviceUnavailable(f"the energy was not measured: {why}", remedy="leave out --energy")
    if energy and style != "json":
        show(f"energy of a search: {energy_words(record)}")
