"""Who has logged in with a browser, and did a form come from our own page? No clock of its own; bounded memory."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from heritrix_scrapy.operate.web.auth import Account

COOKIE: Final = "heritrix_session"
#: Field of a form, and header of a script's request, that shows that the page is ours.
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "X-CSRF-Token"

#: Seconds without a request after which a session is over, and after which it is over in any case.
IDLE: Final = 3600.0
LONGEST: Final = 12 * 3600.0
#: Sessions at once; the one that was idle longest gives way.
MOST: Final = 256


@dataclass(slots=True)
class Session:
    """A login of a browser. ``csrf``: what its forms have to hold."""

    key: str
    account: Account
    csrf: str
    began: float
    seen: float


class Sessions:
    """The sessions. Only a digest of each token is kept."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._secret = secrets.token_bytes(32)

    def __len__(self) -> int:
        return len(self._known)

    def begin(self, account: Account) -> tuple[str, Session]:
        """A new session, and the token for its cookie."""
        token, now = secrets.token_urlsafe(32), self._now()
        key = _digest(token)
        session = Session(key, account, hmac.new(self._secret, key.encode(), "sha256").hexdigest(), now, now)
        self._known[key] = session
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return token, session

    def of(self, token: str | None) -> Session | None:
        """The session of a cookie's token, if it goes on."""
        if not token or len(token) > 128:
            return None
        key = _digest(token)
        session, now = self._known.get(key), self._now()
        if session is None:
            return None
        if now - session.seen > IDLE or now - session.began > LONGEST:
            del self._known[key]
            return None
        session.seen = now
        self._known.move_to_end(key)
        return session

    def end(self, session: Session) -> None:
        """Log out."""
        self._known.pop(session.key, None)


def genuine(session: Session, said: str | None) -> bool:
    """Whether a form or script of the session's own pages sent this."""
    return hmac.compare_digest(session.csrf.encode(), (said or "").encode("utf-8", "surrogateescape"))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
