"""A run before the timed one, untimed, for a GPU that has idled.

Between two samples the GPU idles while results are checked, and its clock falls.  A run shorter than ``WAKE_LIMIT_S``
is made once more right before the timed one, so that every sample meets the GPU as steady work does.  The host does not
wait for it: the timed run is queued behind it, so that its launch is not timed.
"""

from gpugraph.base.clock import NullClock
from gpugraph.devices.bandwidth import FILE
from gpugraph.measure.instruments import Instrument, Run

WAKE_LIMIT_S = 0.02
LAUNCH_LIMIT_S = 1e-4
"""A run shorter than this may end before the timed one is queued: behind it the GPU is kept busy (``busy.py``)."""


class Wake(Instrument):
    """Makes the run."""

    def before(self, run: Run) -> None:
        """Queue it, unless the program measures itself or has just warmed up."""
        last_s, algorithm = run.trial.last_s, run.measurement.algorithm
        if not (run.is_sample and run.trial.kernel_s and last_s < WAKE_LIMIT_S and algorithm.own_seconds is None):
            return
        run.is_brief = last_s < LAUNCH_LIMIT_S
        if run.is_brief:  # compiled before the GPU is at work
            run.measurement.device.kernel(FILE, "probe_wait")
        algorithm.run(run.measurement.state, NullClock(awaited=False), *run.trial.query)
