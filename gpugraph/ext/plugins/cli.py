"""``gpugraph new``: an algorithm of one's own to begin with."""

import contextlib
import os
import shlex
from pathlib import Path

import click

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.base.files import atomic_write, resource_dir
from gpugraph.cli.options import command
from gpugraph.cli.output import show, tell
from gpugraph.problems.contract import PROBLEMS

KINDS = ("python", "numba", "cuda")


@command
@click.argument("what", metavar="algorithm")
@click.argument("file", metavar="FILE.py")
@click.option(
    "--problem", default=next(iter(PROBLEMS)), show_default=True, metavar="|".join(PROBLEMS), help="Problem to solve."
)
@click.option("--kind", default=KINDS[0], show_default=True, metavar="|".join(KINDS), help="Language.")
def new(what: str, file: str, problem: str, kind: str, quiet: bool) -> None:
    """Write a working algorithm as a starting point for your own.

    A kernel is in a second file, FILE.cu. `gpugraph help your_algorithm` describes arguments and results.

    Example:
      gpugraph new algorithm mine.py --problem sssp
    """
    if what != "algorithm":
        raise unknown_name("thing to make", what, ("algorithm",))
    for noun, name, names in (("problem", problem, PROBLEMS), ("kind of algorithm", kind, KINDS)):
        check_name(noun, name, names)
    examples = resource_dir("docs") / "examples"
    stem = f"{problem}_{kind}"
    parts = sorted(examples.glob(f"{stem}.*"), key=lambda part: part.suffix != ".py")
    if not parts:
        others = " or ".join(one for one in KINDS if (examples / f"{problem}_{one}.py").exists())
        remedy = f"take --kind {others}" if others else "begin with that of another problem: --problem mst"
        raise InputError(f"there is no example in {kind} for {problem}", remedy=remedy)
    if Path(file).suffix != ".py":
        raise InputError("an algorithm is a Python file", where=file, remedy="end its name in .py")
    driver = shlex.quote(f"{file}:driver")
    in_text = driver.replace("\\", r"\\").replace('"', r"\"")  # of Python
    targets = [Path(file).with_suffix(part.suffix) for part in parts]
    for target in targets:
        if os.path.lexists(target):
            raise InputError("is there already, and is not overwritten", where=target, remedy="choose another name")
    with contextlib.ExitStack() as stack:  # all of them or none
        for part, target in zip(parts, targets, strict=True):
            stream = stack.enter_context(atomic_write(target, "w"))
            stream.write(part.read_text("utf-8").replace(f"{stem}.py:driver", in_text))
            stream.flush()
    usage = parts[0].read_text("utf-8").split("gpugraph ", 1)[1].split('."""', 1)[0]
    show("\n".join(map(str, targets)))
    tell([f"try it: gpugraph {usage.replace(f'{stem}.py:driver', driver)}"], quiet=quiet)
