"""Room: uri."""
