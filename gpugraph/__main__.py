"""``python -m gpugraph``, and the script ``gpugraph``."""

import os
import sys
import time

_BEGAN = time.perf_counter(), time.process_time()

if sys.platform != "win32":
    import resource

    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        # Python 3.11 would keep what the limit leaves of its compiled code, and take it for the whole ever after.
        sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"

try:
    from gpugraph.cli import main as _main  # a command begins before anything is imported
except KeyboardInterrupt:  # before it takes signals itself
    print("gpugraph: interrupted", file=sys.stderr)
    sys.exit(130)


def main() -> None:
    """Run the command line; its time to answer begins with the first line of this file."""
    _main(*_BEGAN)


if __name__ == "__main__":
    main()
