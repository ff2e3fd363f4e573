"""Families of generated graphs beside R-MAT."""
