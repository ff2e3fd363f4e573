"""Lines of text: looked at, read by many threads, and written; what all formats of text share."""
