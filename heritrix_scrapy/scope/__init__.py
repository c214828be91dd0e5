"""Room: scope."""
