"""Which queue, at what cost, and how far in front?

The base classes here are what a policy of your own derives from; ``named`` finds the one that a setting names.
"""

from heritrix_scrapy.frontier.policies.contract import (
    CostAssignmentPolicy,
    QueueAssignmentPolicy,
    QueuePrecedencePolicy,
    UriPrecedencePolicy,
)

__all__ = [
    "CostAssignmentPolicy",
    "QueueAssignmentPolicy",
    "QueuePrecedencePolicy",
    "UriPrecedencePolicy",
]
