"""How does a document want to be read: as Heritrix reads it, or as the standards say?

Each way is a setting of its own, and the profile's choice where nothing else is said.
"""

from __future__ import annotations

from typing import Any

#: The annotation of a document that took its time before it was read to its end.
TIMEOUT = "extractTimeout"

#: Option → (modern, heritrix).
WAYS: dict[str, tuple[Any, Any]] = {
    "html_reader": ("standard", "heritrix"),
    "css_reader": ("standard", "heritrix"),
    "speculative_hosts": ("cautious", "heritrix"),
    "speculative_paths": ("cautious", "heritrix"),
    "strict_uri_fixup": (False, True),
    "speculative_misses": (20, 0),
    "max_extract_seconds": (1.5, 0),
    "extract_aside_bytes": (256 * 1024, 0),
    "max_extract_bytes": (8 * 1024 * 1024, 0),
}


def option(settings: Any, name: str) -> Any:
    """An option as a View has it; a way that the View does not name follows its profile."""
    if name in WAYS:
        value = getattr(settings, name, None)
        return WAYS[name][settings.profile == "heritrix"] if value is None else value
    return getattr(settings, name)


#: Robots policies under which a page's own ``nofollow`` is not heeded (Heritrix: RobotsPolicy.obeyMetaRobotsNofollow).
DEAF_POLICIES = frozenset({"ignore", "robotsTxtOnly", "IgnoreRobotsPolicy", "RobotsTxtOnlyPolicy"})


def heeds_meta_nofollow(policy: Any, available: Any = None) -> bool:
    """Whether a robots policy heeds ``<meta name=robots>``.

    ``policy``: a name, or ``[name, {property: value}]``; ``available``: policies that go by names of the
    operator's own.
    """
    if isinstance(available, dict):
        available = available.get("map", available)
        if isinstance(policy, str) and policy in available:
            policy = available[policy]
    if isinstance(policy, (list, tuple)) and policy:
        properties = policy[1] if len(policy) > 1 and isinstance(policy[1], dict) else {}
        if "obey_meta_robots_nofollow" in properties:
            return bool(properties["obey_meta_robots_nofollow"])
        policy = policy[0]
    return policy not in DEAF_POLICIES
