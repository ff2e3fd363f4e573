"""Measurement: cells, trials, verification, records, and the files that results are kept in."""
