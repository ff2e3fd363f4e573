"""Lists of the algorithms, peers and devices that there are, and the pages of help."""
