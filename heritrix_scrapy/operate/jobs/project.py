"""Settings module under which the engine runs a job that is a Heritrix job file: the package, and nothing else."""

from __future__ import annotations

BOT_NAME = "heritrix"
ADDONS = {"heritrix_scrapy.Addon": 500}
SPIDER_MODULES = ["heritrix_scrapy.spiders"]
HERITRIX_PROFILE = "heritrix"
TELNETCONSOLE_ENABLED = False
