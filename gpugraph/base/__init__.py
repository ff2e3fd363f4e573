"""The foundation: errors, files, the machine, clocks, compiled code and its cache; it knows no graphs."""
