"""Room: operate."""
