"""Which jobs lie in an engine's folder, and what is done with one of them?

A job is a folder: of a Heritrix job file (``crawler-beans.cxml``) or of a Scrapy project (``scrapy.cfg``), and the
JOBDIR of its crawls. No HTTP here.
"""
