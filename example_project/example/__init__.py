"""An ordinary Scrapy project, turned into an archival crawler by one line of its settings."""
