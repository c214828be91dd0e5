"""What happens when a policy of the user's own fails?

The URI it was asked about is treated as the shipped default would treat it, and is not lost: each kind of exception has
one line with its traceback in the log, and all of them are counted.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Guarded:
    """A policy of the user's own. ``method``: what it is asked by; ``otherwise``: answers, with the same arguments,
    where it fails or says what is not ``sound``; ``failures``: how often that was."""

    def __init__(self, policy: Any, method: str, sound: Callable[[Any], bool], otherwise: Callable[..., Any]) -> None:
        self.policy = policy
        self.failures = 0
        self._ask = getattr(policy, method)
        self._name = f"{type(policy).__module__}.{type(policy).__qualname__}.{method}()"
        self._sound = sound
        self._otherwise = otherwise
        self._told: set[str] = set()
        setattr(self, method, self._guarded)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the policy's own."""
        if name == "policy":
            raise AttributeError(name)
        return getattr(self.policy, name)

    def _guarded(self, *about: Any) -> Any:
        try:
            answer = self._ask(*about)
            if self._sound(answer):
                return answer
            raise ValueError(f"{answer!r} is no answer")
        except Exception as error:
            self.failures += 1
            text = f"{type(error).__name__}: {error}"[:200]
            if text not in self._told and len(self._told) < 20:
                self._told.add(text)
                logger.exception("%s failed on %s: the default is taken", self._name, about[-1].uri)
        return self._otherwise(*about)
