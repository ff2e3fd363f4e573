"""``gpugraph config``, ``completion`` and ``new``: what suits the program to its user, and files to begin with."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import click

from gpugraph.base.errors import InputError, check_name, unknown_name
from gpugraph.base.files import atomic_write, resource_dir
from gpugraph.cli.completion import SHELLS
from gpugraph.cli.options import VARIABLE, command, defaults, table_or_json, users_file
from gpugraph.cli.output import show, show_json, tell
from gpugraph.problems.contract import PROBLEMS


@command
@click.option("--path", is_flag=True, help="Print where your own defaults stand, and end.")
@table_or_json
def config(path: bool, style: str, quiet: bool) -> None:
    """Show the defaults, and which file each comes from.

    Your own stand in a TOML file, by default ~/.config/gpugraph/config.toml, of which only what differs is needed:
    a table [measure] with repeat = 20, for instance. $GPUGRAPH_CONFIG names another file.

    Example:
      gpugraph config
    """
    own, found = users_file(), defaults()
    if path:
        show("none" if own is None else str(own))
        return
    values = {name: getattr(found, name.split(".")[1]) for name in found.origins}
    if style == "json":
        settings = {name: {"value": value, "origin": found.origins[name]} for name, value in values.items()}
        show_json(settings)
        return
    show("\n".join(f"{name:<16} {json.dumps(value):<12} {found.origins[name]}" for name, value in values.items()))
    if own is not None and not own.exists():
        tell([f"your own defaults may stand in {own}"], quiet=quiet)


@command
@click.argument("shell", metavar="|".join(SHELLS))
def completion(shell: str, quiet: bool) -> None:
    """Print what makes a shell complete commands, options, algorithms, sweeps and files.

    For bash, add to ~/.bashrc: source <(gpugraph completion bash)

    Example:
      gpugraph completion bash
    """
    from click.shell_completion import get_completion_class

    check_name("shell", shell, SHELLS)
    made = get_completion_class(shell)
    assert made is not None
    writer = made(click.get_current_context().find_root().command, {}, "gpugraph", VARIABLE)
    show(writer.source_template % writer.source_vars())  # source() would ask the bash at hand for its version


# ------------------------------------------------------------------ new

KINDS = ("python", "numba", "cuda")


@command
@click.argument("what", metavar="algorithm")
@click.argument("file", metavar="FILE.py")
@click.option(
    "--problem", default=next(iter(PROBLEMS)), show_default=True, metavar="|".join(PROBLEMS), help="What it solves."
)
@click.option("--kind", default=KINDS[0], show_default=True, metavar="|".join(KINDS), help="How it computes.")
def new(what: str, file: str, problem: str, kind: str, quiet: bool) -> None:
    """Write an algorithm of your own to begin with: one that works, to be changed.

    A kernel comes in a file beside it, FILE.cu. `gpugraph help your_algorithm` says what an algorithm gets and returns.

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
    if not file.endswith(".py"):
        raise InputError("an algorithm is a Python file", where=file, remedy="end its name in .py")
    targets = [Path(file).with_suffix(part.suffix) for part in parts]
    for target in targets:
        if os.path.lexists(target):
            raise InputError("is there already, and is not overwritten", where=target, remedy="choose another name")
    with contextlib.ExitStack() as stack:  # all of them or none
        for part, target in zip(parts, targets, strict=True):
            stream = stack.enter_context(atomic_write(target, "w"))
            stream.write(part.read_text("utf-8").replace(f"{stem}.py", file))
            stream.flush()
    usage = parts[0].read_text("utf-8").split("gpugraph ", 1)[1].split('."""', 1)[0]
    show("\n".join(map(str, targets)))
    tell([f"try it: gpugraph {usage.replace(f'{stem}.py', file)}"], quiet=quiet)
