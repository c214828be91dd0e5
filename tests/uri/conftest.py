"""How long may an example take?  As long as a busy machine needs."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("uri", deadline=None)
settings.load_profile("uri")
