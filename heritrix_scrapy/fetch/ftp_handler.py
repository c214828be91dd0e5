"""What did the FTP server give for this URI: a file, or the list of a directory?

Scrapy's download handler for ``ftp``. A path that CWD takes is a directory: NLST gives its names, and each becomes a
link; another one is a file, which RETR gives. The bytes of the data connection are the capture, the control
connection's text becomes a record of its own (Heritrix: FetchFTP).

| outcome | modern | heritrix |
|---|---|---|
| all came | the server's last reply, 226 as a rule | the same |
| 5xx in place of a transfer | -404; -62 where the login was refused | that reply |
| 4xx in place of a transfer | -2, to be tried again | that reply |
| a limit of time or size | 226, timeTrunc or lenTrunc | -2 |
| the data connection broke | 226, truncated: disconnect | -2 |
| no data connection | -3 | -3 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heritrix_scrapy.fetch.conversation import Conversation, ConversationHandler, Failed
from heritrix_scrapy.fetch.ftp import (
    MAX_LINE,
    BadReply,
    Reply,
    ReplyReader,
    extended_port,
    found,
    login,
    passive_port,
    path_of,
)
from heritrix_scrapy.fetch.stamp import Why
from heritrix_scrapy.model import status
from heritrix_scrapy.model.crawluri import Outlink
from heritrix_scrapy.model.hops import NAVLINK
from heritrix_scrapy.model.hosts import numeric_address
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import fix, split

if TYPE_CHECKING:
    from heritrix_scrapy.fetch.stream import Stream

CONTEXT = "=NAVLINK_MISC"
DONE = 226
#: Replies that say that nobody gets in (RFC 959).
NOT_LOGGED_IN = frozenset((430, 530, 532))
#: Bytes that are kept of what is said on the control connection.
MAX_CONVERSATION = 1 << 20


class FtpFetch(Conversation):
    """One file or directory."""

    port = 21
    processor = "FetchFTP"

    async def converse(self) -> None:
        curi = self.curi
        path = path_of(curi.uri)
        user, password = login(curi.uri, self.view, self.request.meta if curi.spider_request else None)
        parts = split(curi.uri, strict=False)
        self._said: list[str] = []
        self._size = 0
        self._host = curi.host
        self._addresses = await self._resolved(self._host)
        self._control = await self.connect(self._host, _port(parts.authority), self._addresses)
        curi.server_ip = self._address_of(self._control)
        self._replies = ReplyReader()
        self.step = "logging in"
        await self._greet(user, password)
        self.is_directory = (await self._ask(b"CWD " + path)).is_positive
        curi.content_type = "text/plain" if self.is_directory else "application/octet-stream"
        if self.is_directory:
            curi.annotate("ftpDirectoryList")
        await self._ask(b"TYPE A" if self.is_directory else b"TYPE I")
        await self._transfer(b"NLST ." if self.is_directory else b"RETR " + path)
        self._control.say(b"QUIT\r\n")
        self._note("QUIT\r\n")

    def stamp(self) -> None:
        curi, view = self.curi, self.view
        self.recorder.conversation = "".join(self._said)
        curi.digest = self.recorder.body_digest if view.digest_content else None
        listing = self.recorder.response.chunks() if self.is_directory else None
        links, left_out = found(curi.uri, listing, view)
        curi.discarded_outlinks += left_out
        for uri in links:
            try:
                curi.outlinks.append(Outlink(fix(uri, strict=view.strict_uri_fixup), NAVLINK, CONTEXT))
            except UriError as error:
                curi.link_errors.append((uri, str(error)))

    # -- what is said ---------------------------------------------------------------------------------------

    async def _greet(self, user: str, password: str) -> None:
        greeting = await self._reply()
        if not greeting.is_positive and not self.heritrix:
            raise self._refused(greeting)
        reply = await self._ask(b"USER " + user.encode())
        if 300 <= reply.code < 400:
            secret = not self.heritrix and user != "anonymous"
            reply = await self._ask(b"PASS " + password.encode(), "PASS ****\r\n" if secret else None)
        if not self.heritrix and (reply.code >= 300):
            raise self._refused(reply)

    async def _transfer(self, command: bytes) -> None:
        self.step = "opening the data connection"
        reply, data = await self._open_data()
        if data is not None:
            reply = await self._ask(command)
        if data is None or not (reply.is_preliminary or (reply.code < 300 and not self.heritrix)):
            self._no_transfer(reply)
            return
        whole = await self.record(data)
        data.abort()
        if not whole:
            self.curi.status = DONE
            return
        if reply.is_preliminary:
            self.step = "waiting for the end"
            try:
                reply = await self._reply()
            except OSError:
                # the data are there, and nobody says whether they are all
                if self.heritrix or not self.recorder.response.size:
                    raise
                self.cut("", "disconnect")
                self.curi.status = DONE
                return
        self.recorder.reply = reply.lines[0]
        self.curi.status = reply.code
        if not reply.is_positive and not self.heritrix:
            if not self.recorder.response.size:
                raise self._refused(reply)
            self.cut("", "disconnect")

    async def _open_data(self) -> tuple[Reply, Stream | None]:
        """The passive connection, or the reply that refused it. Raises Failed when it cannot be made."""
        address = self._control.connection.address or self._addresses[0]
        reply, port = None, 0
        if ":" not in address:
            reply = await self._ask(b"PASV")
            if reply.code == 227:
                port = passive_port(reply)
        if not port and (":" in address or not self.heritrix):
            reply = await self._ask(b"EPSV")
            if reply.code == 229:
                port = extended_port(reply)
        assert reply is not None
        if not port:
            return reply, None
        try:
            return reply, await self.connect(self._host, port, [address])
        except (Failed, OSError) as error:
            if isinstance(error, Failed) and error.failure.code == status.BLOCKED_BY_USER:
                raise
            raise Failed(status.CONNECT_LOST, Why.LOST, f"no data connection: {error}", error) from error

    def _no_transfer(self, reply: Reply) -> None:
        self.recorder.reply = reply.lines[0]
        if not self.heritrix:
            raise self._refused(reply)
        self.curi.status = reply.code

    def _refused(self, reply: Reply) -> Failed:
        """What a refusal means for the URI: a file that is not there needs no second try."""
        text = f"the server said: {reply.text[:200]}"
        self.recorder.reply = reply.lines[0]
        if reply.code in NOT_LOGGED_IN:
            return Failed(status.OTHER_PREREQUISITE_FAILURE, Why.FAILED, text)
        return Failed(status.DEEMED_NOT_FOUND if reply.code >= 500 else status.CONNECT_FAILED, Why.FAILED, text)

    async def _ask(self, command: bytes, shown: str | None = None) -> Reply:
        self._note(shown or command.decode("utf-8", "replace") + "\r\n")
        self._control.say(command + b"\r\n")
        return await self._reply()

    async def _reply(self) -> Reply:
        """The next reply. Raises BadReply, and OSError when none comes."""
        while True:
            line = await self._control.line(MAX_LINE)
            if not line.endswith(b"\n"):
                raise BadReply("the server closed the control connection")
            self._note(line.rstrip(b"\r\n").decode("utf-8", "replace") + "\r\n")
            reply = self._replies.feed(line)
            if reply is not None and reply.code == 421 and self.heritrix:
                raise BadReply(f"the server hangs up: {reply.text[:200]}")
            if reply is not None:
                return reply

    def _note(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_CONVERSATION:
            raise BadReply(f"more than {MAX_CONVERSATION} bytes on the control connection")
        self._said.append(text)

    # -- where ----------------------------------------------------------------------------------------------

    async def _resolved(self, host: str) -> list[str]:
        addresses = self.known_addresses(host)
        pinned = self.curi.server_ip
        if pinned in addresses:
            addresses = [pinned, *(address for address in addresses if address != pinned)]
        if not addresses and self._proxy() is None:
            raise Failed(status.DOMAIN_PREREQUISITE_FAILURE, Why.NO_ADDRESS, f"no address is known for {host}")
        return addresses

    def _address_of(self, stream: Stream) -> str | None:
        return stream.connection.address or numeric_address(self._host)


def _port(authority: str | None) -> int:
    _, colon, digits = (authority or "").rpartition("@")[2].rpartition("]")[2].rpartition(":")
    return int(digits) if colon and digits else FtpFetch.port


class FtpDownloadHandler(ConversationHandler):
    """Download handler for ``ftp``."""

    talk = FtpFetch
