"""Whose turn it is among cells that compete: no graph, no device."""

from __future__ import annotations

from collections.abc import Iterator

from gpugraph.measure.sampling import Sampling
from gpugraph.measure.stopping import Turns


def never(index: int) -> bool:
    raise AssertionError(index)


def rounds(turns: Turns) -> Iterator[int]:
    """Yield whose turn it is, at most a hundred times."""
    for index, _ in zip(turns, range(100), strict=False):
        yield index


def test_every_cell_is_set_up_first_and_then_takes_a_turn_in_each_round() -> None:
    turns, seen = Turns(3, Sampling()), list[int]()
    for index in rounds(turns):
        seen.append(index)
        if seen.count(index) == 1:
            turns.begun(index)
        elif turns.end_of(index, "count" if seen.count(index) == 5 else None, never):
            turns.ended(index)
    assert seen[:3] == [0, 1, 2]
    assert [sorted(seen[low : low + 3]) for low in range(0, 15, 3)] == [[0, 1, 2]] * 5
    assert len(seen) == 15


def test_the_seed_decides_the_order_of_a_round() -> None:
    def order(seed: int) -> list[int]:
        turns = Turns(20, Sampling(seed=seed))
        seen = []
        for index in rounds(turns):
            seen.append(index)
            if len(seen) <= 20:
                turns.begun(index)
            else:
                turns.ended(index)
        return seen[20:]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(20))


def test_a_cell_that_fails_takes_no_more_turns() -> None:
    turns, seen = Turns(2, Sampling()), list[int]()
    for index in rounds(turns):
        seen.append(index)
        if index == 0 or seen.count(1) == 3:
            turns.ended(index)
        elif seen.count(1) == 1:
            turns.begun(1)
    assert seen == [0, 1, 1, 1]


def test_what_finds_no_room_is_tried_once_more_when_the_others_have_ended() -> None:
    turns, seen, later = Turns(3, Sampling()), list[int](), list[bool]()
    for index in rounds(turns):
        seen.append(index)
        if index == 1:
            later.append(turns.tried_later(1))
            if not later[-1]:
                turns.ended(1)
        elif seen.count(index) == 1:
            turns.begun(index)
        elif seen.count(index) == 3:
            turns.ended(index)
    assert later == [True, False]
    assert seen.count(1) == 2
    assert seen[-1] == 1


def test_a_single_cell_without_room_is_not_tried_again() -> None:
    assert not Turns(1, Sampling()).tried_later(0)


def started(together: bool) -> Turns:
    turns = Turns(2, Sampling(together=together))
    for index in (0, 1):
        turns.begun(index)
    return turns


def test_a_cell_whose_target_is_reached_ends_at_once_unless_it_waits_for_the_others() -> None:
    assert started(together=False).end_of(0, "target", never) == "target"
    turns = started(together=True)
    assert turns.end_of(0, "target", never) is None
    assert turns.takes_sample(0)
    assert turns.end_of(1, None, never) is None


def test_cells_that_waited_end_together_once_all_are_narrow_enough() -> None:
    turns = started(together=True)
    assert turns.end_of(0, "target", never) is None
    assert turns.end_of(1, "target", lambda index: True) == "target"
    turns.ended(1)
    assert not turns.takes_sample(0)
    assert turns.end_of(0, None, lambda index: True) == "target"


def test_a_cell_that_samples_since_then_have_widened_goes_on() -> None:
    turns = started(together=True)
    assert turns.end_of(0, "target", never) is None
    assert turns.end_of(1, "target", lambda index: index == 1) is None
    assert turns.end_of(0, None, never) is None
    assert turns.end_of(0, "target", lambda index: True) == "target"


def test_limits_of_samples_and_of_time_end_a_cell_that_waits() -> None:
    turns = started(together=True)
    assert turns.end_of(0, "target", never) is None
    assert turns.end_of(0, "count", never) == "count"
    assert turns.end_of(1, "time", never) == "time"
