"""Room: fetch."""
