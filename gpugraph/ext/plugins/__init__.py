"""Algorithms of users and of installed packages, and what keeps a measurement safe from them."""
