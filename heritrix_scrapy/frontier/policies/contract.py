"""What is a policy, and how do you write one of your own?

A policy of your own is a subclass of one of these, named by dotted path in its setting, made by ``from_crawler`` if
it has one; ``[path, {name: value}]`` sets attributes on it. It is given the CrawlURI, whose ``settings`` are those
that hold for it. Where it raises an exception, or answers with another type, the URI is treated as the default policy
would treat it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heritrix_scrapy.frontier.queue import QueueRecord
    from heritrix_scrapy.model.crawluri import CrawlURI


class QueueAssignmentPolicy(ABC):
    """In which queue does a URI wait? (``HERITRIX_QUEUE_ASSIGNMENT_POLICY``)"""

    #: Whether the key follows from scheme and authority of the URI alone.
    by_authority = False
    #: Whether a URI may have another queue by the time its turn comes, ``HERITRIX_DEFER_TO_PREVIOUS`` or not.
    moves = False

    @abstractmethod
    def class_key(self, curi: CrawlURI) -> str:
        """The queue's name: any text. A prerequisite should go where the URI that needs it waits
        (``curi.policy_basis``)."""


class CostAssignmentPolicy(ABC):
    """What does a URI cost its queue? (``HERITRIX_COST_ASSIGNMENT_POLICY``)"""

    @abstractmethod
    def cost_of(self, curi: CrawlURI) -> int:
        """The cost, 0 or more; asked once, when the URI is first queued."""


class UriPrecedencePolicy(ABC):
    """How far in front of its queue does a URI belong? (``HERITRIX_URI_PRECEDENCE_POLICY``)"""

    @abstractmethod
    def precedence(self, curi: CrawlURI) -> int:
        """The lower, the earlier: 0 to 127, and -64 to 191 outside the heritrix profile. The cost is known by then."""


class QueuePrecedencePolicy(ABC):
    """Which queue comes before others? (``HERITRIX_QUEUE_PRECEDENCE_POLICY``)"""

    #: Whether the precedence is what ``precedence`` says plus the lowest precedence of a URI that waits in the queue.
    by_highest_uri = False

    @abstractmethod
    def precedence(self, queue: QueueRecord, curi: CrawlURI) -> int:
        """The lower, the earlier. Asked when a URI makes the queue, and after each URI that leaves it; ``queue`` holds
        its counts (``count``, ``enqueued``, ``spent``, ``errors``, ``tally``)."""


class Given:
    """What a shipped policy is made from: the View that holds, properties that were written beside its name, and what
    is known of hosts. ``base``: the View where no sheet applies."""

    def __init__(self, setting: str, view: Any, properties: dict[str, Any], base: Any, hosts: Any) -> None:
        self.setting = setting
        self.view = view
        self.properties = properties
        self.base = base
        self.hosts = hosts

    def value(self, name: str, attribute: str) -> Any:
        """A property: as it was written beside the policy's name, else the setting ``attribute``. A sheet that gives
        the setting another value, and no policy of its own, has the last word."""
        view, base = self.view, self.base
        if name not in self.properties:
            return getattr(view, attribute)
        if base is not view and getattr(view, self.setting) == getattr(base, self.setting):
            mine = getattr(view, attribute)
            if mine != getattr(base, attribute):
                return mine
        return self.properties[name]
