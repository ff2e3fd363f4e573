"""The Graph500 benchmark of shortest paths, by its rules: docs/graph500.md."""
