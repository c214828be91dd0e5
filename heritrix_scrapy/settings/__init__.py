"""What does the operator want, for this URI?

``settings_of(crawler)`` gives the Settings of a crawler; ``Settings.for_uri(curi)`` the View that holds for a
URI, with one attribute a setting.
"""

from __future__ import annotations

from heritrix_scrapy.settings.project import read, settings_of
from heritrix_scrapy.settings.view import Settings, View, default_view, views

__all__ = ["Settings", "View", "default_view", "read", "settings_of", "views"]
