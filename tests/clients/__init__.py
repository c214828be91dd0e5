"""Clients that others wrote for Heritrix, and their whole lives with our engine."""
