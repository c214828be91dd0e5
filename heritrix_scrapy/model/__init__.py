"""Which words do all rooms speak? The travelling CrawlURI, recorded bytes, statuses, hops, hosts, errors.

Nothing here imports Scrapy, opens a socket or reads a clock.
"""
