"""Profiling: the phases of a run become ranges of NVTX."""

from gpugraph.measure.instruments import Instrument, Run


class Profile(Instrument):
    """Gives a run the device's clock of phases, which marks the ranges."""

    def before(self, run: Run) -> None:
        """Exchange the clock."""
        run.clock = run.measurement.device.phase_clock()
