"""What does a text that cannot be made a URI raise?"""

from __future__ import annotations


class UriError(ValueError):
    """The text is not a URI and cannot be made one; the message says what was wrong with which part."""
