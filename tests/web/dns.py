"""What does the web's DNS server answer?

Of a host's declaration it reads: ``dns`` (below), ``ttl`` (3600), ``cname`` (a name, followed inside the
site), ``aaaa`` (list), ``dns_delay`` seconds, ``dns_failures`` n (SERVFAIL for the first n questions).
Names that no site declares do not exist.
"""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

# mode -> (rcode, with answers)
MODES: dict[str, tuple[dns.rcode.Rcode, bool]] = {
    "ok": (dns.rcode.NOERROR, True),
    "nxdomain": (dns.rcode.NXDOMAIN, False),
    "servfail": (dns.rcode.SERVFAIL, False),
    "refused": (dns.rcode.REFUSED, False),
    "empty": (dns.rcode.NOERROR, False),
    "truncated": (dns.rcode.NOERROR, True),  # UDP: the TC flag and nothing else
    "wrong-id": (dns.rcode.NOERROR, True),
    "garbage": (dns.rcode.NOERROR, False),
    "tcp-only": (dns.rcode.NOERROR, True),  # UDP: silence
    "timeout": (dns.rcode.NOERROR, False),  # silence
}

Lookup = Callable[[str], Mapping[str, Any] | None]


class Answers:
    """Question in, reply out, without a socket. *lookup*: name -> declaration with its ``ips`` filled in."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._asked: Counter[str] = Counter()

    def question(self, query: bytes) -> tuple[str, str] | None:
        """(name, type) of a well-formed query."""
        try:
            asked = dns.message.from_wire(query).question[0]
        except (dns.exception.DNSException, IndexError):
            return None
        return asked.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(asked.rdtype)

    def reply(self, query: bytes, over: str) -> bytes | None:
        """The reply, or None for silence. *over*: udp or tcp."""
        try:
            message = dns.message.from_wire(query)
            asked = message.question[0]
        except (dns.exception.DNSException, IndexError):
            return None
        name = asked.name.to_text(omit_final_dot=True).lower()
        host = self._lookup(name)
        mode = host.get("dns", "ok") if host is not None else "nxdomain"
        if host is not None and "dns_failures" in host:
            self._asked[name] += 1
            if self._asked[name] <= host["dns_failures"]:
                mode = "servfail"
        if mode == "timeout" or (mode == "tcp-only" and over == "udp"):
            return None
        if mode == "garbage":
            return query[:2] + b"\x81\x80" + b"\xff" * 20
        rcode, full = MODES[mode]
        response = dns.message.make_response(message, recursion_available=True)
        response.flags |= dns.flags.AA
        response.set_rcode(rcode)
        if mode == "truncated" and over == "udp":
            response.flags |= dns.flags.TC
        elif full and host is not None:
            self._fill(response, name, host, dns.rdatatype.to_text(asked.rdtype))
        wire = response.to_wire()
        if mode == "wrong-id":
            wire = struct.pack(">H", struct.unpack(">H", wire[:2])[0] ^ 0xFFFF) + wire[2:]
        return wire

    def _fill(self, response: dns.message.Message, name: str, host: Mapping[str, Any], kind: str) -> None:
        owner: str = name
        current: Mapping[str, Any] | None = host
        for _ in range(20):  # a CNAME loop is answered as far as it goes
            if current is None:
                return
            ttl = current.get("ttl", 3600)
            target = current.get("cname")
            if target:
                response.answer.append(dns.rrset.from_text(owner + ".", ttl, "IN", "CNAME", target + "."))
                owner, current = target, self._lookup(target)
                continue
            found = {"A": current.get("ips", ()), "AAAA": current.get("aaaa", ())}.get(kind, ())
            if found:
                response.answer.append(dns.rrset.from_text(owner + ".", ttl, "IN", kind, *found))
            return

    def delay(self, name: str) -> float:
        host = self._lookup(name)
        return float(host.get("dns_delay", 0)) if host is not None else 0.0


class DnsServer:
    """UDP and TCP on one free port of 127.0.0.1. *note* is called with (name, type, "udp" or "tcp")."""

    def __init__(self, answers: Answers, note: Callable[[str, str, str], object]) -> None:
        self._answers = answers
        self._note = note
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        server = self

        class Udp(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: Any) -> None:
                task = loop.create_task(server._udp_answer(data, addr))
                server._tasks.add(task)
                task.add_done_callback(server._tasks.discard)

        for _ in range(20):  # the TCP port may be taken over UDP
            self._tcp = await asyncio.start_server(self._tcp_answer, "127.0.0.1", 0)
            self.port = self._tcp.sockets[0].getsockname()[1]
            try:
                self._udp, _ = await loop.create_datagram_endpoint(Udp, local_addr=("127.0.0.1", self.port))
                return
            except OSError:
                self._tcp.close()
        raise OSError("no port is free over both UDP and TCP")

    async def _answer(self, query: bytes, over: str) -> bytes | None:
        asked = self._answers.question(query)
        if asked is None:
            return None
        self._note(*asked, over)
        pause = self._answers.delay(asked[0])
        if pause:
            await asyncio.sleep(pause)
        return self._answers.reply(query, over)

    async def _udp_answer(self, query: bytes, peer: Any) -> None:
        reply = await self._answer(query, "udp")
        if reply and self._udp:
            self._udp.sendto(reply, peer)

    async def _tcp_answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (size,) = struct.unpack(">H", await reader.readexactly(2))
                reply = await self._answer(await reader.readexactly(size), "tcp")
                if reply is None:
                    await reader.read()  # silence until the client has had enough
                    return
                writer.write(struct.pack(">H", len(reply)) + reply)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._udp:
            self._udp.close()
        if self._tcp:
            self._tcp.close()
