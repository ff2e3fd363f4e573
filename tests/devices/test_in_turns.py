"""Launches that take turns with two sets of words: each finds its own clear, and clears the other's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpugraph.devices.base import InTurns


class Filling:
    """As much of a device as fills arrays, and counts how often."""

    fills = 0

    def fill(self, array: Any, value: int) -> None:
        self.fills += 1
        array[:] = value


def launches(fails: Callable[[str], bool]) -> tuple[Filling, InTurns, list[tuple[str, list[int]]]]:
    """Return a device, launches of a kernel that writes all over its own set, and what each found there.

    ``fails``: asked before and after the kernel has run whether Ctrl-C comes then.
    """
    device, found = Filling(), []

    def prepare(own: Any, following: Any) -> Callable[[str], None]:
        def launch(name: str) -> None:
            if fails(f"before {name}"):
                raise KeyboardInterrupt
            found.append((name, own.tolist()))
            own[:], following[:] = 7, 0
            if fails(f"after {name}"):
                raise KeyboardInterrupt

        return launch

    sets = np.full(3, 205, np.uint32), np.full(3, 205, np.uint32)
    return device, InTurns(device, sets, prepare), found  # type: ignore[arg-type]


def test_every_launch_finds_its_words_clear_and_only_the_first_has_them_filled() -> None:
    device, launch, found = launches(lambda when: False)
    owners = []
    for name in "abcde":
        launch(name)
        owners.append(id(launch.own))
        assert launch.own.tolist() == [7, 7, 7]
    assert found == [(name, [0, 0, 0]) for name in "abcde"]
    assert device.fills == 2
    assert owners[0] == owners[2] != owners[1] == owners[3]


@pytest.mark.parametrize("when", ["before a", "after a", "before c", "after c"])
def test_behind_a_launch_that_failed_both_sets_are_filled(when: str) -> None:
    device, launch, found = launches(lambda now: now == when)
    for name in "abcde":
        try:
            launch(name)
        except KeyboardInterrupt:
            assert when.endswith(name)
    assert all(words == [0, 0, 0] for _, words in found)
    assert device.fills == 4
