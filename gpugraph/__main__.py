"""``python -m gpugraph``."""

from gpugraph.cli import main

if __name__ == "__main__":
    main()
