"""Processes that solve one problem together: how they talk, who starts them, which part of a graph each has."""
