"""Which errors do all rooms share?

Each says what was wrong, where, and what to do about it.
"""

from __future__ import annotations


class HeritrixError(Exception):
    """Base of the errors that are ours and leave the process running."""


class ConfigurationError(SystemExit):
    """The operator asked for something that cannot be done; the process ends with one line and status 1.

    A ``SystemExit``, because Scrapy lets a crawl go on unarchived after any other exception of an add-on.
    """

    def __init__(self, setting: str, value: object, expected: str) -> None:
        self.setting, self.value, self.expected = setting, value, expected
        shown = repr(value)
        if len(shown) > 200:
            shown = shown[:197] + "..."
        self.message = f"heritrix_scrapy: {setting} = {shown}: {expected}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class StoreInUse(ConfigurationError):
    """Another process, or another part of this one, has the store open: a crawl, or a command for some moments."""


class StorageFull(HeritrixError):
    """A record or a row could not be written: no room, or the disk refused.

    ``path``: the file or directory, by which is seen whether there is room again; ``need``: bytes that were to be
    written (-1 when unknown); ``of``: what is kept there, for a path that says nothing.
    """

    def __init__(self, path: str, need: int = -1, cause: BaseException | None = None, *, of: str = "") -> None:
        self.path, self.need, self.cause = path, need, cause
        super().__init__(
            f"cannot write {need if need >= 0 else 'some'} bytes to {f'{of} in ' if of else ''}{path}:"
            f" {cause or 'no space left'};"
            " make room, and the crawl goes on by itself"
        )


class TooManyFiles(HeritrixError):
    """The system lets this process open no further file or connection. ``limit``: how many it may have."""

    def __init__(self, limit: int, cause: BaseException | None = None) -> None:
        self.limit, self.cause = limit, cause
        super().__init__(
            f"too many open files: the limit is {limit}; raise it (ulimit -n) or lower CONCURRENT_REQUESTS"
        )


class StoreError(HeritrixError):
    """The store is of another schema, damaged, or held by another process."""


class UnpackError(HeritrixError):
    """A stored row does not have the shape this version writes."""
