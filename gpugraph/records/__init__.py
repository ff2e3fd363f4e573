"""Records: their shape, their files, their statistics, and what compares and ranks them."""
