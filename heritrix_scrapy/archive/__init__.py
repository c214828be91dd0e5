"""What do we keep of each fetch, and in what form?

``records`` says what is written of an exchange and ``alone`` what besides, ``warcfile`` where and how safely,
``repair`` what becomes of a file that a crash left, ``pipeline`` is the item pipeline Scrapy sees.
"""
