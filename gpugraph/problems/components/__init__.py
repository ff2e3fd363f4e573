"""Connected components: labels, algorithms, oracle and certificate."""
