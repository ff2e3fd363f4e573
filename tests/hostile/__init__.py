"""The hostile test: everything that gpugraph is given is damaged, killed, full or closed, by the thousand and by seed.

``python -m tests.hostile`` runs it, see docs/hostile.md.  A part is a module here, or two of them where they share what
they do.
"""
