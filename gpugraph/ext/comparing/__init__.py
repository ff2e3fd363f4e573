"""Which of several records is the faster, and whether their samples prove it."""
