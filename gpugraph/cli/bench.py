"""``gpugraph bench``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, defaults, peer_command

_BUDGET = f"For the cells of each device [default: the sweep's, else {defaults().budget}]."


@command
@click.option(
    "--sweep", metavar="NAME|FILE", default="smoke", show_default=True, help="A shipped sweep, or a TOML file."
)
@click.option("--set", "settings", multiple=True, metavar="AXIS=VALUES", help="Other values for an axis; repeatable.")
@click.option("--budget", metavar="TIME", help=_BUDGET)
@click.option("--peer", "peers", multiple=True, metavar="NAMES", help="Peers that run beside, e.g. scipy,igraph.")
@peer_command
@click.option("--save", metavar="FILE.jsonl", help="Where records go [default: a dated file here].")
@click.option("--resume", is_flag=True, help="Go on with the file; without --save, with this sweep's newest here.")
@click.option("--retry", is_flag=True, help="Go on, and try again what did not go well.")
@click.option("--cold", is_flag=True, help="Flush the GPU's second-level cache before every sample.")
@click.option(
    "--processes", metavar="N", type=click.IntRange(min=1), help="Spread a cell's samples over N worker processes."
)
@click.option("--energy", is_flag=True, help="Measure the energy of a run too.")
@click.option("--list", "list_", is_flag=True, help="Show the cells and the memory each will need, and end.")
@click.option("--dry-run", is_flag=True, help="Show what each cell will take of the budget, and end.")
@click.option("--sweeps", is_flag=True, help="List the sweeps that come with gpugraph, and end.")
def bench(**options: Any) -> None:
    """Run a sweep: many cells, each verified, one line of a file for each as it ends.

    A sweep is a TOML file of axes (docs/bench.md); smoke, scales, families, weights and sources come with gpugraph.
    A kill loses at most the running cell, --resume goes on. Cells run in a process of their own, with limits of time
    and memory; what fails, hangs or does not fit is a row that says so.

    Example:
      gpugraph bench --sweep scales --set scale=12..14 --save scales.jsonl
    """
    from gpugraph.cli.run_sweep import run_bench

    run_bench(**options)
