"""Extensions: what ``mst``, ``sssp`` and ``bench`` on CSR files do without; nothing outside imports them."""
