"""Algorithms of papers, as their authors describe them."""
