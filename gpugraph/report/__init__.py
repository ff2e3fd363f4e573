"""The command line's renderers: from a record to text; they know nothing of devices or files."""
