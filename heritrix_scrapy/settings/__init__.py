"""Room: settings."""
