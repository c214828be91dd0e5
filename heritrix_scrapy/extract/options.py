"""Which settings does extraction read, and what do they say where the settings table is not at hand?

Names are Heritrix's properties; a crawl's View has each as an attribute. ``DEFAULTS`` serves the callers that
have no crawl: the link extractor of a callback, and tests.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

#: Option → (modern, heritrix).
DEFAULTS: dict[str, tuple[Any, Any]] = {
    "max_outlinks": (6000, 6000),
    "extract404s": (True, True),
    "extract_independently": (False, False),
    "default_encoding": ("ISO-8859-1", "ISO-8859-1"),
    "max_extract_bytes": (8 * 1024 * 1024, 0),
    "robots_policy": ("obey", "obey"),
    # ExtractorHTTP
    "infer_root_page": (False, False),
    "infer_paths": ([], []),
    # ExtractorHTML
    "max_element_length": (64, 64),
    "max_attribute_name_length": (64, 64),
    "max_attribute_val_length": (2048, 2048),
    "treat_frames_as_embed_links": (True, True),
    "ignore_form_action_urls": (False, False),
    "extract_only_form_gets": (True, True),
    "extract_javascript": (True, True),
    "extract_value_attributes": (True, True),
    "ignore_unexpected_html": (True, True),
    "obey_rel_nofollow": (False, False),
    # ways of reading
    "html_reader": ("standard", "heritrix"),
    "css_reader": ("standard", "heritrix"),
    "speculative_hosts": ("cautious", "heritrix"),
}


def defaults(profile: Literal["modern", "heritrix"] = "modern", **changes: Any) -> SimpleNamespace:
    """A View of the defaults of one profile, with changes."""
    column = 1 if profile == "heritrix" else 0
    return SimpleNamespace(**{name: values[column] for name, values in DEFAULTS.items()} | changes)


#: Policies under which a page's own ``nofollow`` is not heeded (Heritrix: RobotsPolicy.obeyMetaRobotsNofollow).
DEAF_POLICIES = frozenset({"ignore", "robotsTxtOnly"})


def heeds_meta_nofollow(policy: Any) -> bool:
    """Whether a robots policy, given by name or as ``[name, {property: value}]``, heeds ``<meta name=robots>``."""
    if isinstance(policy, (list, tuple)) and policy:
        properties = policy[1] if len(policy) > 1 and isinstance(policy[1], dict) else {}
        if "obey_meta_robots_nofollow" in properties:
            return bool(properties["obey_meta_robots_nofollow"])
        policy = policy[0]
    return policy not in DEAF_POLICIES
