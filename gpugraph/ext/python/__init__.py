"""Interfaces of other libraries to gpugraph, and graphs resident on a device for many calls."""
