"""Graphs: how they are held, built, read, written, generated and prepared."""
