"""``python -m gpugraph``, and the script ``gpugraph``."""

import time

_BEGAN = time.perf_counter(), time.process_time()

from gpugraph.cli import main as _main  # noqa: E402  # a command begins before anything is imported


def main() -> None:
    """Run the command line; its time to answer begins with the first line of this file."""
    _main(*_BEGAN)


if __name__ == "__main__":
    main()
