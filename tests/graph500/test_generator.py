"""Graph500's edge list and roots: digests of what its reference code (graph500@f89d643) makes with seeds 2 and 3."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from gpugraph.base.errors import InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.graph500.generator import Tuples, generate, load, root_candidates, save, weights_file

SHA256 = {
    8: "a54cf63da35c6c21724f3add83799092e34daf0154f81d024bfc09997ea9800b",
    9: "b30486a76c6da16ae5730b2409738ebcf89c5d7a4824032bb7bddae871bbb68b",
    10: "c1efe130e43cdbd403e878b388d6dac79c13e194dd154526531670acabcbb0f0",
    11: "5a4505a0f438f0ebbe8013c95b2520d61302525e54c4367cd4dd067739f09f56",
    12: "2fbe29ab63620bc1947b9447607b240a5ff26865e42b2f979ea5b7473e945a42",
    13: "ed3b4fca0c1bdc91425a056b1aa74dad583e28884d2edb71c2df84e3f5ffb98a",
    14: "f03a49ac084559923f0eab3de38f74629922d484df787e4bf74c38d2d5765ffa",
}
"""Of the packed edges followed by the weights."""


def digest(tuples: Tuples) -> str:
    return hashlib.sha256(tuples.edges.tobytes() + tuples.weights.tobytes()).hexdigest()


@pytest.mark.parametrize("scale", SHA256)
def test_the_edge_list_is_that_of_the_reference(scale: int) -> None:
    assert digest(generate(scale, None)) == SHA256[scale]


def test_kernels_make_the_same_edge_list() -> None:
    device = select_device("emulated")[0]
    assert digest(generate(8, device)) == SHA256[8]
    assert digest(generate(11, device)) == SHA256[11]
    device.close()


def test_roots_are_looked_for_in_the_order_of_the_reference() -> None:
    assert list(islice(root_candidates(14), 4)) == [7337, 3434, 3526, 2016]


def test_an_edge_list_is_read_back_from_the_files_of_the_reference(tmp_path: Path) -> None:
    made, file = generate(8, None), tmp_path / "edges"
    save(made, file, None)
    assert file.stat().st_size == 12 * len(made)
    assert weights_file(file) == tmp_path / "edges.weights"
    np.testing.assert_array_equal(load(8, file, None).weights, made.weights)
    assert digest(load(8, file, select_device("emulated")[0])) == SHA256[8]
    with pytest.raises(InputError, match="an edge list of scale 9"):
        load(9, file, None)
