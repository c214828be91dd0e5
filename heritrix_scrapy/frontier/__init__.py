"""Room: frontier."""
