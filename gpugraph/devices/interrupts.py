"""Ctrl-C while a GPU is at work: launches that can be stopped, and a wait for them that can be interrupted.

CUDA's own waits know nothing of signals, and a search in one launch may take longer than anybody wants to wait.  So
where such a launch is under way the host asks again and again instead: at once for as long as a short search takes,
and then with pauses that are short beside what has passed, so that no timing of the host shows them.  A launch is
stopped by a word on the device, copied there beside the kernel.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NOT_READY = 600  # cudaErrorNotReady
_TO_DEVICE = 1  # cudaMemcpyKind
_EAGER_S = 0.1
"""For so long the host asks without a pause, as CUDA's own wait does."""
_PAUSE_SHARE = 1e-3
"""A pause, as a part of the time waited so far."""
_LONGEST_PAUSE_S = 0.01
_REPEAT_S = 1e-3
"""Between two orders to stop: a launch behind the one that ends may reset its word."""


class Interrupts:
    """The launches on a stream that Ctrl-C can end.

    Args:
        cupy: CuPy.
        stream: pointer of the stream on which they run.
        word: (4,) uint8, pinned.
    """

    def __init__(self, cupy: Any, stream: int, word: NDArray[np.uint8]):
        self._runtime = cupy.cuda.runtime
        self._stream = stream
        self._orders = cupy.cuda.Stream(non_blocking=True)
        self._word = word
        self._word.view(np.uint32)[0] = 1
        self._stops: set[int] = set()

    def add(self, stop: int) -> None:
        """Take note of a launch that ends when the word at ``stop`` on the device is not 0."""
        self._stops.add(stop)

    def wait(self) -> None:
        """Wait for the stream if a launch on it can be stopped, and stop it on Ctrl-C; else return at once.

        Raises:
            KeyboardInterrupt: after the kernels have ended; what they were to compute is not there.
        """
        if not self._stops:
            return
        try:
            start = time.perf_counter()
            while self._runtime.streamQuery(self._stream) == _NOT_READY:
                waited = time.perf_counter() - start
                if waited > _EAGER_S:
                    time.sleep(min(_PAUSE_SHARE * waited, _LONGEST_PAUSE_S))
        except KeyboardInterrupt:
            self.stop()
            raise
        self._stops.clear()

    def stop(self) -> None:
        """End the launches that can be stopped, and wait for it."""
        while self._stops and self._runtime.streamQuery(self._stream) == _NOT_READY:
            for stop in self._stops:
                self._runtime.memcpyAsync(stop, self._word.ctypes.data, 4, _TO_DEVICE, self._orders.ptr)
            self._runtime.streamSynchronize(self._orders.ptr)
            time.sleep(_REPEAT_S)
        self._stops.clear()

    def close(self) -> None:
        """Give the pinned word back."""
        self._word = np.empty(0, np.uint8)
