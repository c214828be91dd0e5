"""Which proxy does a Request go through: its own, the one of the settings, or the environment's?

Decided before the preconditions, since robots.txt and look-ups of a host take the way of the Requests that need
them, and since a name that our servers cannot resolve is no obstacle when a proxy resolves it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from heritrix_scrapy.fetch import proxies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from heritrix_scrapy.model.crawluri import CrawlURI

#: In the meta of a Request whose proxy we chose: a redirect copies it, and is chosen for anew.
CHOSEN = "heritrix_proxy"
#: Hosts whose Requests brought a proxy of their own, remembered for their prerequisites.
REMEMBERED = 10_000


class ProxyChoice:
    """``environment``: proxies by scheme, as ``urllib.request.getproxies`` gives them; ``bypassed(host)``: whether
    the environment wants a direct connection."""

    def __init__(self, environment: Mapping[str, str], bypassed: Callable[[str], bool]) -> None:
        self._environment = environment
        self._bypassed = bypassed
        self._own: OrderedDict[str, str] = OrderedDict()

    def settle(self, meta: MutableMapping[str, Any], curi: CrawlURI, view: Any) -> None:
        """Write the proxy into the meta of a http or https Request that has none of its own.

        Raises ValueError for one that cannot be used.
        """
        if curi.scheme not in ("http", "https"):
            return
        if meta.pop(CHOSEN, False):
            meta.pop("proxy", None)
        if "proxy" in meta:
            if meta["proxy"]:
                proxies.parse(str(meta["proxy"]))
                self._own[curi.host] = str(meta["proxy"])
                if len(self._own) > REMEMBERED:
                    self._own.popitem(last=False)
            return
        if curi.is_prerequisite and (own := self._own.get(curi.host)) is not None:
            meta["proxy"] = own
            return
        if (ours := proxies.configured(view)) is not None:
            meta["proxy"] = ours.url
        elif (theirs := self._from_environment(curi)) is not None:
            proxies.parse(theirs)
            meta["proxy"] = theirs
        else:
            return
        meta[CHOSEN] = True

    def _from_environment(self, curi: CrawlURI) -> str | None:
        found = self._environment.get(curi.scheme) or self._environment.get("all")
        return found if found and not self._bypassed(curi.host) else None

    def resolves(self, curi: CrawlURI, view: Any) -> bool:
        """Whether a proxy may resolve the name that a ``dns:`` URI asks for."""
        return curi.host in self._own or proxies.configured(view) is not None or bool(self._environment)
