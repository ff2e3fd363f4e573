"""The work of a run on the emulated device, counted in runs of their own."""

from typing import Any

from gpugraph.base.clock import NullClock
from gpugraph.base.errors import InputError
from gpugraph.ext.counters.count import PHASED, CountingClock, Counts, count_run, total_of
from gpugraph.measure.instruments import Instrument
from gpugraph.measure.measurement import Measurement
from gpugraph.measure.open_device import OpenDevice


class Work(Instrument):
    """Counts one run from each source, and the phases of the first."""

    @staticmethod
    def check(open_device: OpenDevice) -> None:
        """Raise InputError where work is not counted."""
        if (kind := open_device.device.kind) != "emulated":
            what = f"work is counted on the emulated device, not on '{kind}'"
            raise InputError(what, remedy="leave out --counters, or add --device emulated")

    @classmethod
    def of(cls, measurement: Measurement) -> "Work":
        """Return the instrument; kernels that are loaded from now on are those that count."""
        device: Any = measurement.device  # an emulated one
        device.count_into(None)
        return cls()

    def ending_s(self, measurement: Measurement) -> float:
        """Return about how many seconds the runs take."""
        return sum(trial.last_s for trial in measurement.trials) + len(PHASED) * measurement.trials[0].last_s

    def section(self, measurement: Measurement) -> dict[str, Any]:
        """Return ``work``, and the algorithm's own counters of a run whose phases are counted."""
        if measurement.is_wrong:
            return {"work": {"absent": "the result is wrong"}}
        measurement.setup.progress(f"{measurement.algorithm.name}: counting its work")
        device, trials = measurement.device, measurement.trials
        clocks: dict[str, CountingClock] = {}

        def run_all(counts: Counts) -> None:
            for trial in trials:
                measurement.algorithm.run(measurement.state, NullClock(), *trial.query)

        def run_phases(counts: Counts) -> None:
            clocks[counter] = CountingClock(counts, counter)
            measurement.algorithm.run(measurement.state, clocks[counter], *trials[0].query)

        with measurement.guard:
            kernels = count_run(device, run_all).by_kernel()
            for counter in PHASED:
                count_run(device, run_phases, counter)
        names = dict.fromkeys(name for clock in clocks.values() for name in clock.phases)
        phases = {name: {counter: clock.phases.get(name, 0) for counter, clock in clocks.items()} for name in names}
        work = {"total": total_of(kernels), "kernels": kernels, "phases": phases, "runs": len(trials)}
        return {"work": work, "counters": clocks[PHASED[0]].counters}
