"""Forests by several ranks."""
