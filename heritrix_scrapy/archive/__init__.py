"""What do we keep of each fetch, and in what form?

``records`` says what is written, ``warcfile`` where and how safely, ``pipeline`` is the item pipeline Scrapy sees.
"""
