"""The bench: sweeps of many cells, run in a worker process, stored line by line, resumed and compared."""
