"""A kernel that keeps the GPU busy until the timed run is queued, behind a run that may end before that."""

import numpy as np

from gpugraph.devices.bandwidth import FILE
from gpugraph.measure.instruments import Instrument, Run

LAUNCH_NS = 50_000


class Busy(Instrument):
    """Launches it, as the last of all that happens before the timed run."""

    def before(self, run: Run) -> None:
        """Queue the kernel."""
        if run.is_brief:
            run.measurement.device.kernel(FILE, "probe_wait")(1, 1, (np.uint64(LAUNCH_NS),))
