"""What a machine offers: its devices listed and measured, and which of them suits a graph."""
