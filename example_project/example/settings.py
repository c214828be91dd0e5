"""Settings of the example project: the two lines below the first block are all that archiving needs."""

BOT_NAME = "example"
SPIDER_MODULES = ["example.spiders"]
NEWSPIDER_MODULE = "example.spiders"
TELNETCONSOLE_ENABLED = False

ADDONS = {"heritrix_scrapy.Addon": 500}
# A page that tells webmasters who crawls them and why. It goes into the User-Agent: put your own here.
HERITRIX_OPERATOR_CONTACT_URL = "https://example.org/about-this-crawl"
