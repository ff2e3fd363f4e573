"""Algorithms for processors that are tuned to them: threads that run compiled code together and share its data."""
