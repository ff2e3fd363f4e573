"""Sweeps on other machines, and several at once on one: Slurm, Dask, a bench per GPU."""
