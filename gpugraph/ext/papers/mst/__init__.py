"""Forests of papers."""
