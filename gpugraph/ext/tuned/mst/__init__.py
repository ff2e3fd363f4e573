"""Forests on processors."""
