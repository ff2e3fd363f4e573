"""What a user is told of devices: what is missing, what to install, and what --profile does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.runner import refuse, succeed
from tests.devices.fake_cupy import FakeCupy

Install = Callable[[Any], Any]
ROOT = Path(__file__).resolve().parents[2]
GRID = "grid:3x3"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (None, " — "),
        (FakeCupy(status=35), "driver is missing, or older"),
        (FakeCupy(status=100), "no NVIDIA GPU was found"),
        (FakeCupy(gpus=0), "no NVIDIA GPU was found"),
    ],
    ids=["no CuPy", "no driver", "no GPU", "none of them"],
)
def test_cuda_without_what_it_needs_exits_3_and_auto_takes_the_cpu_in_one_line(
    install: Install, module: Any, said: str
) -> None:
    install(module)
    told = refuse(3, "mst", GRID, "--device", "cuda")
    assert said in told
    assert " — " in told
    assert module is not None or "pip install" in told
    outcome = succeed("mst", GRID, "--format", "json")
    assert json.loads(outcome.out)["device"]["kind"] == "cpu"
    assert len([line for line in outcome.err.splitlines() if "no usable GPU" in line]) == 1


def test_devices_without_a_gpu_lists_the_others_and_what_is_missing(install: Install) -> None:
    install(None)
    found = {entry["device"]: entry for entry in json.loads(succeed("devices", "--format", "json").out)}
    assert found.keys() == {"cuda", "cpu", "emulated"}
    assert not found["cuda"]["usable"]
    assert "pip install" in found["cuda"]["detail"]
    assert found["cpu"]["usable"]


def test_without_a_compiler_the_emulated_device_exits_3_with_the_remedy(tmp_path: Path) -> None:
    bare = {key: value for key, value in os.environ.items() if key != "CXX"} | {"PATH": str(tmp_path)}
    for extra, said in (({}, "none of c++, g++ and clang++ was found"), ({"CXX": "nothing++"}, "$CXX ('nothing++')")):
        done = subprocess.run(
            [sys.executable, "-m", "gpugraph", "mst", GRID, "--device", "emulated"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**bare, **extra},
        )
        assert done.returncode == 3, done.stderr
        assert said in done.stderr
        assert "install g++" in done.stderr
        assert done.stderr.count("gpugraph: error: ") == 1


PLUGIN = """
import numpy as np

class Driver:
    problem = "mst"
    def prepare(self, view, device):
        return device, device.kernel("probe.cu", "probe_nothing"), device.upload(np.array({edges}, np.int32))
    def run(self, state, clock):
        device, kernel, edges = state
        for _ in range(2):
            with clock.phase("find_min"):
                kernel(1, 32, ())
        return edges

driver = Driver()
"""


@pytest.mark.parametrize("profile", [False, True])
def test_profile_runs_once_and_wraps_every_phase_in_a_range(cupy: FakeCupy, tmp_path: Path, profile: bool) -> None:
    from gpugraph import generate, mst

    (tmp_path / "mine.py").write_text(PLUGIN.format(edges=np.asarray(mst(generate(GRID), device="cpu").edges).tolist()))
    own = ["mst", GRID, "--device", "cuda", "--algo", tmp_path / "mine.py", "--repeat", 3, "--warmup", 2]
    record = json.loads(succeed(*own, *(["--profile"] if profile else []), "--format", "json").out)
    assert record["verification"]["status"] == "passed"
    launches = [launch for launch in cupy.launches if launch[0] == "probe_nothing"]
    if profile:
        assert len(record["samples_s"]["kernel"]) == 1
        assert len(launches) == 2
        assert cupy.marks == ["find_min", "pop"] * 2
    else:
        assert len(record["samples_s"]["kernel"]) == 3
        assert len(launches) > 10
        assert cupy.marks == []
    assert cupy.live == {}
