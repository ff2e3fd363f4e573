"""Problems and the algorithms that solve them; ``registry.py`` says what each must offer."""
