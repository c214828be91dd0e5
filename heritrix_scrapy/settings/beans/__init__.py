"""What does a Heritrix job file say, and how is that said here?

``read_job`` reads a ``crawler-beans.cxml`` and gives settings and a report. In order: ``elements`` reads XML,
``reader`` makes beans of it, ``overrides`` and ``expressions`` change values as Spring would, ``mapping`` and its
neighbours say them in our settings. Nothing of Spring, no script and no class is run.
"""

from __future__ import annotations

from heritrix_scrapy.settings.beans.job import Job, read_job
from heritrix_scrapy.settings.beans.model import JobError
from heritrix_scrapy.settings.beans.report import Entry, Report, Verdict

__all__ = ["Entry", "Job", "JobError", "Report", "Verdict", "read_job"]
