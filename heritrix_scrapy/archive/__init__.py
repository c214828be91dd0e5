"""Room: archive."""
