"""Renderers: from records to text; they know nothing of devices or files."""
