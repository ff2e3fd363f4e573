"""The format that the core reads, ``.csr``, and what formats are; all others are in ``ext/formats``."""
