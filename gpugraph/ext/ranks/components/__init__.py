"""Components by several ranks."""
