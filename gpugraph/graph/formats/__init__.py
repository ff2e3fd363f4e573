"""Graph file formats: a module each; ``known.py`` finds and recognises them, and imports those that are used."""
