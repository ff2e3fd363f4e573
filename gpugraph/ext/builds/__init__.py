"""Code that is compiled ahead: what a wheel brings, and what kernels use of a multiprocessor."""
