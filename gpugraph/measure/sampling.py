"""How many samples are taken, and how: the policy of a bench, of one cell by itself, and of what competes."""

import math
from dataclasses import dataclass, replace

from gpugraph.base.errors import InputError

COMPETING = {"together": True, "min_samples": 20}
"""Of what competes, where the command line does not say otherwise: with fewer, correlated samples mislead."""

PROCESSES, PATIENCE = 3, 10.0
"""A program that measures itself is started so often, even past the cell's limit of time, but not past so many limits:
its own runs do not show how much processes differ, and fewer than three rank nothing."""


@dataclass(frozen=True)
class Sampling:
    """When to stop taking samples, and how each is taken.

    A cell ends as soon as it has ``min_samples`` and the interval of its median is narrow enough, or has
    ``max_samples``, or its own samples have taken ``time_limit_s``; it always has one.  With several sources a
    sample is one run from each of them.  A program that measures itself is started three times, even if that takes
    up to ten times ``time_limit_s``.

    Attributes:
        target: relative half width of the 95 % interval of the median kernel time, e.g. 0.02.
        min_samples: fewest samples before the target counts.
        time_limit_s: seconds that a cell's runs may take together; setting up and the check of the first result
            do not count.
        cold: flush the GPU's second-level cache before every sample.
        energy: measure the energy of a run too, over a window of its own.
        counters: count the work of a run on the emulated device, in runs of their own.
        price: what an hour of a device costs, in any currency, to state what answers cost; 0: do not.
        bandwidth: measure the device's copy bandwidth, once a session, to hold the traffic against; None: a GPU's,
            where it takes milliseconds; that of a CPU takes seconds.
        transfers: copies of the graph to a GPU, each timed.
        seed: of the order in which competing cells take turns.
        processes: worker processes that a bench spreads the samples of a cell over, one after another.
        together: a cell whose target is reached goes on while another that it competes with has not got there, so that
            whatever drifts drifts for both; limits of samples and of time end it all the same.
    """

    target: float = 0.02
    min_samples: int = 10
    max_samples: int = 1000
    time_limit_s: float = 15.0
    warmup: int = 1
    cold: bool = False
    energy: bool = False
    counters: bool = False
    price: float = 0.0
    bandwidth: bool | None = None
    transfers: int = 3
    seed: int = 1
    processes: int = 1
    together: bool = False

    def __post_init__(self) -> None:
        if self.min_samples < 1:
            raise InputError(f"{self.min_samples} samples are none", remedy="take 1 or more")
        if self.max_samples < self.min_samples:
            raise InputError(f"at most {self.max_samples} samples, but at least {self.min_samples}")
        if not 1 <= self.processes <= self.max_samples:
            what = f"at most {self.max_samples} samples cannot be spread over {self.processes} processes"
            raise InputError(what, remedy=f"give 1 to {self.max_samples}")
        if self.warmup < 0:
            raise InputError(f"{self.warmup} warm-up runs cannot be made", remedy="give 0 or more")
        if not 0 <= self.target < 1e300:
            raise InputError(f"the target {self.target} is no relative half width", remedy="give e.g. 0.02 for 2 %")
        if self.price and not 1e-99 <= self.price < 1e300:
            raise InputError(f"a price of {self.price:g} an hour is none", remedy="give 0 or more, e.g. --price 2.50")
        if not self.time_limit_s > 0:
            raise InputError(f"a limit of {self.time_limit_s} seconds leaves no time", remedy="give more than 0")

    def asks_bandwidth(self, kind: str) -> bool:
        """Return whether the copy bandwidth of a device of this kind is to be measured."""
        return kind != "cpu" if self.bandwidth is None else self.bandwidth

    @classmethod
    def fixed(cls, samples: int, warmup: int) -> "Sampling":
        """Return the sampling that takes a fixed number of samples, whatever they say, and one transfer."""
        unlimited = math.inf
        return cls(0.0, min_samples=samples, max_samples=samples, time_limit_s=unlimited, warmup=warmup, transfers=1)

    @classmethod
    def of(cls, repeat: int | None, warmup: int, target: float | None = None) -> "Sampling":
        """Return how one cell by itself is sampled: so many times, for about a second, or until a target is met."""
        from gpugraph.records.statistics import INTERVAL_SAMPLES

        if target is not None:
            least = repeat or cls.min_samples
            return cls(target, least, max_samples=max(least + 1, cls.max_samples), warmup=warmup)
        if repeat is not None:
            return cls.fixed(repeat, warmup)
        return cls(0.0, INTERVAL_SAMPLES, max_samples=100, time_limit_s=1.0, warmup=warmup, transfers=1)

    def share(self) -> "Sampling":
        """Return what one process of several takes: its part of samples, time and transfers."""
        n = self.processes
        return replace(
            self,
            target=self.target * math.sqrt(n),
            min_samples=-(-self.min_samples // n),
            max_samples=-(-self.max_samples // n),
            time_limit_s=self.time_limit_s / n,
            transfers=-(-self.transfers // n),
            processes=1,
        )

    @property
    def adaptive(self) -> bool:
        """True where the samples decide how many there are."""
        return self.max_samples > self.min_samples
