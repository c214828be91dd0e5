"""An engine for a folder of jobs: Heritrix's web API and pages, and pages of our own."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import getpass
import logging
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import argparse
    import ssl
    from collections.abc import Sequence

    from heritrix_scrapy.operate.web.auth import Account

#: Where a password may stand, other than on the command line.
VARIABLE: Final = "ARCHIVE_WEB_ADMIN"
READER_VARIABLE: Final = "ARCHIVE_WEB_READER"

LOOPBACK: Final = "localhost"
#: Threads in which files are read and jobs are asked.
THREADS: Final = 48


def run(args: list[str], opts: argparse.Namespace) -> int:
    """Serve until Ctrl-C, SIGTERM or the page's exit; exit status 1 when it cannot begin, 2 for a wrong command line.
    Crawls that were launched go on."""
    # before anything imports aiohttp: its parser in Python takes every method that RFC 9110 allows, so that an unknown
    # one is answered 405
    os.environ.setdefault("AIOHTTP_NO_EXTENSIONS", "1")
    from heritrix_scrapy.operate.web.auth import PasswordError

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        accounts = logins(opts)
    except PasswordError as error:
        print(f"heritrix_scrapy: {error}", file=sys.stderr)
        return 2
    try:
        return asyncio.run(serve(Path(args[0]), accounts, opts))
    except OSError as error:
        print(f"heritrix_scrapy: cannot serve {args[0]}: {error}", file=sys.stderr)
        return 1


def logins(opts: argparse.Namespace) -> list[Account]:
    """Who may log in: from ``-a``, the environment, or asked for. There is no default. Raises PasswordError."""
    from heritrix_scrapy.operate.web.auth import READER, PasswordError, account, weak

    said = opts.web_admin or os.environ.get(VARIABLE)
    if not said:
        if not sys.stdin.isatty():
            raise PasswordError(f"a password is needed: -a user:password, -a @FILE, or {VARIABLE} in the environment")
        said = getpass.getpass("Password for the web page (user:password, or a password of admin): ")
    found = [account(said)]
    if weak(found[0].password):
        print("heritrix_scrapy: the password is weak: longer than 10, or letters and digits", file=sys.stderr)
    reader = opts.web_reader or os.environ.get(READER_VARIABLE)
    if reader:
        found.append(account(reader, READER))
        if found[0].user == found[1].user:
            raise PasswordError("the reader needs another name than the operator")
    return found


def said(pairs: Sequence[str]) -> dict[str, str]:
    """The settings that ``-s NAME=VALUE`` gives to every crawl that is launched."""
    return {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}


def bound(said: str | None) -> list[str | None]:
    """The hosts to listen on (Heritrix: option ``-b``); None: every interface."""
    hosts = [each.strip() for each in (said or LOOPBACK).split(",") if each.strip()]
    return [None] if "/" in hosts else list(hosts)


async def serve(folder: Path, accounts: Sequence[Account], opts: argparse.Namespace) -> int:
    """Raises OSError."""
    loop = asyncio.get_running_loop()
    # a job that does not answer keeps a thread: as many as there are processors would soon be gone
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="engine"))
    from heritrix_scrapy.operate.jobs.engine import Engine
    from heritrix_scrapy.operate.web import delay, tls
    from heritrix_scrapy.operate.web.auth import Gate
    from heritrix_scrapy.operate.web.context import Context
    from heritrix_scrapy.operate.web.server import Server, application

    context = Context(
        engine=await asyncio.to_thread(Engine, folder, said(opts.set)),
        gate=Gate(accounts, time.monotonic, schemes=opts.web_auth.split(",")),
        delays=delay.Delays(opts.web_delay),
        proxies=frozenset(opts.web_proxy or ()),
    )
    hosts = bound(opts.web_bind_hosts)
    secure: ssl.SSLContext | None = None
    if not opts.web_http:
        names = [each for each in hosts if each]
        certificate = Path(opts.web_cert) if opts.web_cert else tls.folder() / tls.NAME
        if not opts.web_cert and await asyncio.to_thread(
            tls.own, certificate, names, datetime.datetime.now(datetime.UTC)
        ):
            print(f"made a certificate: {certificate}", file=sys.stderr)
        secure = tls.context(certificate, Path(opts.web_key) if opts.web_key else None)
    server = Server(application(context))
    await server.start(hosts, opts.web_port, secure)
    for host, port in server.addresses:
        shown = f"[{host}]" if ":" in host else host
        print(f"{'http' if secure is None else 'https'}://{shown}:{port}/engine", flush=True)
    for each in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(each, context.leave.set)
    try:
        await context.leave.wait()
    finally:
        await server.close()
        await asyncio.to_thread(context.the_engine().close)
    return 0


def options(parser: Any) -> None:
    """The options, Heritrix's letters where they are free."""
    group = parser.add_argument_group("serve")
    group.add_argument("-a", "--web-admin", metavar="LOGIN", help="user:password, password (of admin), or @FILE")
    group.add_argument("--web-reader", metavar="LOGIN", help="a login that may look, and not steer")
    group.add_argument("-b", "--web-bind-hosts", metavar="HOSTS", help="default: localhost; / for every interface")
    group.add_argument(
        "-p", "--web-port", type=int, default=8443, metavar="N", help="default: 8443; 0 takes a free one"
    )
    group.add_argument("--web-auth", default="digest", choices=("digest", "basic", "digest,basic"))
    group.add_argument("--web-cert", metavar="FILE", help="a certificate in place of the one made at the first start")
    group.add_argument("--web-key", metavar="FILE", help="its key, where that is in another file")
    group.add_argument("--web-http", action="store_true", help="no TLS: for a proxy on this machine")
    group.add_argument("--web-proxy", action="append", metavar="ADDRESS", help="a proxy whose X-Forwarded-For counts")
    group.add_argument(
        "--web-delay", type=float, default=6.0, metavar="SECONDS", help="between two wrong passwords; default: 6"
    )
