"""``gpugraph scan`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gpugraph
from tests.cli.runner import refuse, succeed
from tests.emulator.compiler import needs_compiler


def test_sums_are_scanned_verified_and_shown_with_their_rates() -> None:
    command = ("scan", "--size", "64KiB", "--device", "cpu", "--exclusive")
    out = succeed(*command).out
    assert "16,384 elements of uint32, exclusive sums" in " ".join(out.split())
    assert "passed by reference" in out
    assert "GB/s" in out
    assert json.loads(succeed(*command, "--format", "json").out)["throughput"]["kernel_gb_s"] > 0


@needs_compiler
def test_look_back_is_what_a_device_with_kernels_runs() -> None:
    data = json.loads(succeed("scan", "--size", "32KiB", "--device", "emulated", "--format", "json").out)
    assert (data["problem"], data["algorithm"], data["verification"]["status"]) == ("scan", "look-back", "passed")
    assert data["mteps"]["kernel"] is None
    assert "throughput" not in data


def test_json_holds_the_throughput_and_the_array() -> None:
    data = json.loads(succeed("scan", "--size", "64KiB", "--device", "cpu", "--format", "json").out)
    assert data["throughput"]["array_bytes"] == data["graph"]["bytes"] == 65536
    assert data["graph"]["operator"] == "add"
    assert data["mteps"]["count"] == 16384


@pytest.mark.parametrize("device", ["cpu", pytest.param("emulated", marks=needs_compiler)])
def test_a_scan_of_segments_without_segments_says_what_is_missing(device: str) -> None:
    told = refuse(2, "scan", "--algo", "segmented-min", "--size", "64KiB", "--device", device)
    assert "this algorithm scans segments, the input has none — give --segments LENGTH" in told


def test_a_scan_of_sums_refuses_segments() -> None:
    told = refuse(2, "scan", "--algo", "cpu", "--size", "64KiB", "--segments", 4, "--device", "cpu")
    assert "the input has segments — use --algo segmented-min" in told


def test_a_file_is_scanned_into_a_file(tmp_path: Path) -> None:
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, np.array([3, 1, 2], np.int64))
    succeed("scan", source, "--device", "cpu", "--exclusive", "-o", target)
    assert np.load(target).tolist() == [0, 3, 4]
    target = tmp_path / "minima.npz"
    succeed("scan", source, "--device", "cpu", "--segments", "1", "-o", target)
    assert np.load(target)["index"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("--size", "5"), 2, "no whole number of uint32"),
        (("--dtype", "float"), 2, "did you mean 'float64'"),
        (("array:n=5", "--size", "4KiB"), 2, "--size is that of a generated array"),
        (("array:n=5,exclusive=no", "--exclusive"), 2, "exclusive is given twice"),
        (("--segments", "x"), 2, "segments takes a whole number"),
        (("--segments", "5", "--exclusive"), 2, "inclusive"),
        (("no.npy",), 2, "no such file"),
        (("--size", "4KiB", "--algo", "brent"), 2, "did you mean 'brent-kung'"),
        (("--size", "4KiB", "--algo", "cub", "--device", "cpu"), 2, "use --device cuda"),
        (("--size", "4KiB", "--algo", "cpu", "--segments", "4", "--device", "cpu"), 2, "--algo segmented-min"),
        (("--size", "4KiB", "--prepare", "renumber", "--device", "cpu"), 2, "renumber"),
        (("--size", "4KiB", "-o", "scan.mtx"), 2, ".npy or .npz"),
        (("--size", "4KiB", "--device", "cpu", "--set", "buffers=1"), 2, "no options"),
    ],
)
def test_what_cannot_be_scanned_is_refused_in_one_line(words: tuple[str, ...], code: int, reason: str) -> None:
    assert reason in refuse(code, "scan", *words)


def test_the_array_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.zeros(3, np.uint32))
    assert "would be overwritten" in refuse(2, "scan", path, "-o", path)


def test_python_scans_arrays_too() -> None:
    values = np.array([5, 3, 4, 1], np.uint32)
    assert gpugraph.scan(values, device="cpu").array.tolist() == [5, 8, 12, 13]
    assert gpugraph.scan(values, device="cpu", exclusive=True).array.tolist() == [0, 5, 8, 12]
    minima = gpugraph.scan(values, device="cpu", heads=[1, 0, 1, 0])
    assert minima.array.tolist() == [5, 3, 4, 1]
    assert minima.index is not None
    assert minima.index.tolist() == [0, 1, 2, 3]
