"""What happened? The crawl log and the other logs, counters, progress.

``log_line``, ``tally`` and ``progress`` think; ``logs`` keeps the files; ``extension`` is what Scrapy sees.
"""
