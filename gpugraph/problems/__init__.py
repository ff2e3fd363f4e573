"""Problems and the algorithms that solve them; ``contract.py`` and ``algorithm.py`` say what each must offer."""
