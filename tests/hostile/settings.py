"""Damaged configuration files and odd environment variables: one line that names the mistake, or none is needed."""

from __future__ import annotations

import json

from tests.hostile.commands import check, run
from tests.hostile.trials import Part, Trial
from tests.mutate import MUTATORS

CONFIG = """\
[default]
graph = "grid:4x4"
device = "cpu"

[measure]
warmup = 1
"""
MISTAKES = (
    '[default]\ngrph = "x"\n',
    "[default\n",
    "default = 3\n",
    "[measure]\nwarmup = true\n",
    '[default]\ndevice = "cpu*2"\n',
    "[default]\ndevice = 3\n",
    "[nothing]\n",
    "\x00",
    "",
)
SOLVE = ("mst", "grid:9x9", "--device", "cpu", "--repeat", "1", "--format", "json")
COMMANDS = (("--version",), ("config", "--path"), ("--help",), SOLVE)
ODD = (
    "",
    " ",
    "0",
    "-1",
    "abc",
    "²",
    "1e9",
    "99999999999999999999",
    "0/2",
    "0/2 99 1:98",
    "\udcff",
    "é",
    "/dev/null/x",
    "1",
)
VARIABLES = (
    "NUMBA_NUM_THREADS",
    "NUMBA_DISABLE_JIT",
    "NUMBA_OPT",
    "NUMBA_THREADING_LAYER",
    "GPUGRAPH_RANK",
    "GPUGRAPH_CACHE_DIR",
    "GPUGRAPH_CONFIG",
    "GPUGRAPH_MIRROR",
    "PMI_SIZE",
    "PMI_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "SLURM_NTASKS",
    "COLUMNS",
    "LINES",
    "TERM",
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "TMPDIR",
    "NO_COLOR",
    "LANG",
    "TZ",
    "CUDA_VISIBLE_DEVICES",
    "PYTHONHASHSEED",
)
PYTHON_REFUSES = {"PYTHONHASHSEED"}
"""What Python itself ends at before gpugraph's code runs, unless the value is one that it takes."""


def _answered(words: tuple[str, ...], out: str) -> None:
    if words == SOLVE:
        assert json.loads(out)["verification"]["status"] == "passed"


def try_config(trial: Trial) -> str:
    """Run a command with a damaged configuration file."""
    draw, path = trial.draw, trial.folder / "config.toml"
    data = draw.choice(MISTAKES).encode() if draw.random() < 0.3 else draw.choice(MUTATORS)(CONFIG.encode(), draw)
    if draw.random() < 0.05:
        path.mkdir()
    else:
        path.write_bytes(data)
    words = draw.choice(COMMANDS)
    end = run(words, trial.folder, {"GPUGRAPH_CONFIG": str(path)})
    check(end, (0, 2))
    if end.code:
        assert str(path) in end.err, f"does not name the file: {end.err}"
        return "refused"
    _answered(words, end.out)
    return "answered"


def try_environment(trial: Trial) -> str:
    """Run a command with one to three variables of odd values."""
    draw = trial.draw
    changes = {name: draw.choice(ODD) for name in draw.sample(VARIABLES, draw.choice((1, 1, 2, 3)))}
    for name in PYTHON_REFUSES & changes.keys():
        changes[name] = str(draw.randrange(2**32))
    words = draw.choice((SOLVE, SOLVE, ("--version",), ("info", "grid:9x9")))
    end = run(words, trial.folder, changes)
    check(end, (0, 2, 3))
    if end.code:
        return f"refused with {end.code}"
    _answered(words, end.out)
    return "answered"


PARTS = (
    Part("config", "damaged configuration files, met by four commands", 400, try_config, 2),
    Part("environment", "odd values of twenty-four environment variables", 400, try_environment, 2),
)
