"""How do I steer a crawl? The control socket and what answers on it."""
