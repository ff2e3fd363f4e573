"""The tool that doubles and halves tuned constants finds them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.devices.discovery import select_device
from tests.measure import flatness
from tests.tiers import extended


@pytest.mark.parametrize("problem", flatness.TUNED)
def test_every_tuned_constant_is_one_of_the_kernel_file_or_of_its_driver(problem: str) -> None:
    tuned = flatness.TUNED[problem]
    _, dtypes = flatness.with_variables(tuned.driver.FILE.name, tuned.kernel, "__constant__")
    assert set(dtypes) == set(tuned.kernel)
    assert all(isinstance(getattr(tuned.driver, name), int | float) for name in tuned.host)


@extended
def test_a_constant_changes_in_the_compiled_kernels_and_changes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, _ = select_device("emulated")
    tuned = flatness.TUNED["mst"]
    text, dtypes = flatness.with_variables(
        tuned.driver.FILE.name, ("MERGED",), '__attribute__((visibility("default")))'
    )
    file = tmp_path / tuned.driver.FILE.name
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(tuned.driver.FILE, "name", str(file))
    variables = flatness.Variables(device, str(file), dtypes)
    monkeypatch.setitem(flatness.TUNED, "mst", flatness.Tuned(tuned.driver, ("MERGED",), (), {}))
    _, view, queries = flatness.drawn_input(device, "mst", "drawn:1,least=2^6,most=2^8", 1)
    times = flatness.measure(device, "mst", variables, view, queries, 0.0)
    assert list(times) == [None, flatness.Variant("MERGED", 0.5), flatness.Variant("MERGED", 2.0)]
    (address,) = variables._addresses("MERGED")
    assert variables._initial == {("MERGED", address): 12}
