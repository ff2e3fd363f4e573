"""Graph file formats: a module each; ``known.py`` lists and recognises them, and imports them all."""
