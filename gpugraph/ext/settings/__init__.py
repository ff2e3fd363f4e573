"""A user's defaults, and shells that complete commands."""
