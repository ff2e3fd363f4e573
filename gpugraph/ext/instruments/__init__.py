"""Instruments of options: cold caches, the energy of a run, ranges for a profiler."""
