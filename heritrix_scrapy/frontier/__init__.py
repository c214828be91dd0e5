"""Which URI next, and when?

``candidates`` and ``prepare`` decide what joins the crawl and where; ``core`` hands URIs out and takes them back;
``queues``, ``queue``, ``lists`` and ``states`` are the queues; ``ledger`` writes it all down, ``keys`` says under
which rows; ``recovery`` reads it back; ``scheduler`` is what Scrapy sees.
"""
