"""Chunks of edges on their way to the device: some buffers in turns, always as many copies ahead as there are buffers.

The copies run on a stream of their own.  A buffer is written only when the kernels that read it have ended, and read
only when its copy has: both are told to the streams, and the host goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpugraph.clock import Clock
from gpugraph.devices.base import Array, Device
from gpugraph.devices.streams import Mark
from gpugraph.problems.mst.streamed_edges import Part

BUFFERS = 3
"""One is read by the kernels, one is being copied, and one is ready, so that neither side waits for a late other."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive edges of a part."""

    part: Part
    first: int
    count: int


class Feed:
    """Brings chunks to the device in the order in which they are expected.

    Args:
        device: the device.
        chunk: edges of a buffer.
        weight: the dtype of a weight.

    Attributes:
        bytes: what was copied since ``start``.
    """

    def __init__(self, device: Device, chunk: int, weight: np.dtype[Any]):
        self._device, self.chunk = device, chunk
        buffers = [(device.empty(chunk, np.int32), device.empty(chunk, weight)) for _ in range(BUFFERS if chunk else 0)]
        self._idle: deque[tuple[tuple[Array, Array], Mark | None]] = deque((buffer, None) for buffer in buffers)
        self._expected: deque[Chunk] = deque()
        self._coming: deque[tuple[Chunk, tuple[Array, Array], Mark]] = deque()
        self._copies = device.copy_stream()
        self._timeline: list[tuple[Mark, Mark]] = []
        self.bytes = 0

    def start(self) -> None:
        """Count from here on; what waits for the device comes after what it was given so far."""
        self.bytes = 0
        self._timeline.clear()
        self._copies.wait_for(self._device.mark())

    def chunks(self, part: Part) -> list[Chunk]:
        """Return the chunks of what is not resident of a part."""
        firsts = range(part.resident, part.edges, self.chunk) if self.chunk else ()
        return [Chunk(part, first, min(self.chunk, part.edges - first)) for first in firsts]

    def expect(self, chunks: Iterable[Chunk]) -> None:
        """Bring these after those expected already."""
        self._expected.extend(chunks)
        self._copy_ahead()

    def again(self, part: Part) -> None:
        """Bring a part once more, before what is expected; what is already coming is brought again after it."""
        dropped = [chunk for chunk, _, _ in self._coming]
        self._idle.extend((buffer, None) for _, buffer, _ in self._coming)  # the next copy comes after the last one
        self._coming.clear()
        self._expected = deque([*self.chunks(part), *dropped, *self._expected])
        self._copy_ahead()

    def take(self, part: Part) -> Iterator[tuple[Chunk, Array, Array]]:
        """Yield the chunks of ``part`` that come next, with heads and weights on the device.

        What is launched before the next one is asked for may read them.
        """
        while self._coming and self._coming[0][0].part is part:
            chunk, buffer, ready = self._coming.popleft()
            self._device.wait_for(ready)
            yield chunk, *buffer
            self._idle.append((buffer, self._device.mark()))
            self._copy_ahead()

    def _copy_ahead(self) -> None:
        """Begin as many copies as there are buffers."""
        while self._idle and self._expected:
            buffer, read = self._idle.popleft()
            chunk = self._expected.popleft()
            if read is not None:
                self._copies.wait_for(read)
            begun = self._copies.mark()
            span = slice(chunk.first, chunk.first + chunk.count)
            for target, source in zip(buffer, (chunk.part.heads[span], chunk.part.weights[span]), strict=True):
                self._copies.upload(target[: chunk.count], source)
                self.bytes += source.nbytes
            ready = self._copies.mark()
            self._coming.append((chunk, buffer, ready))
            self._timeline.append((begun, ready))

    def tell_phases(self, clock: Clock) -> None:
        """Add the time of the copies to the clock's phases; they ran beside all others."""
        clock.add_seconds("copies", sum(ready.seconds_since(begun) for begun, ready in self._timeline))
