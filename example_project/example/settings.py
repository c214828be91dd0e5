"""Settings of the example project: the two lines below the first block are all that archiving needs."""

BOT_NAME = "example"
SPIDER_MODULES = ["example.spiders"]
NEWSPIDER_MODULE = "example.spiders"
TELNETCONSOLE_ENABLED = False

ADDONS = {"heritrix_scrapy.Addon": 500}
# A page that tells webmasters who crawls them and why. It goes into the User-Agent: put your own here.
HERITRIX_OPERATOR_CONTACT_URL = "https://example.org/about-this-crawl"

# Parts of the project's own are named by dotted path. Each of these works by itself: take the # away.
# HERITRIX_SCOPE = "example.scopes.WithBlogs"
# HERITRIX_SCOPE = ["RejectDecideRule", "acceptSurts", "transclusion", "example.rules.NoPrintVersions"]
# HERITRIX_COST_ASSIGNMENT_POLICY = "example.policies.ByDepth"
# HERITRIX_EXTRACTORS = ["ExtractorHTTP", "ExtractorHTML", "ExtractorCSS", "example.extractors.DataLinks"]
# HERITRIX_SEED_SOURCE = "example.seeds.Spreadsheet"
# SITES = "sites.csv"
# DOWNLOAD_HANDLERS = {"gopher": "example.fetchers.GopherDownloadHandler"}
# HERITRIX_STEPS = {
#     "before_fetch": ["example.steps.OnlyShort"],
#     "after_fetch": ["example.scanning.Scan", "example.steps.NoteServer"],
#     "after_extract": ["example.steps.NoCalendar", "example.steps.StopAtArticles"],
#     "disposition": ["example.steps.Provenance", "example.steps.TopicSooner"],
# }
# CLAMD = "127.0.0.1:3310"
# TOPIC = ["flood", "storm"]
# EXTENSIONS = {"example.extensions.TooManyErrors": 0}
