"""Serve WARC files with pywb. Run by the Python of pywb's own environment: nothing of ours can be imported here.

``python replay.py FOLDER WARC ...`` makes a collection ``all`` in FOLDER, prints the port once it listens,
and serves ``http://127.0.0.1:PORT/all/id_/URL``: the payload as it was archived.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from gevent import monkey

monkey.patch_all()

from gevent.pywsgi import WSGIServer  # noqa: E402
from pywb.apps import frontendapp  # noqa: E402
from pywb.manager.manager import main as manage  # noqa: E402

LOOPBACK = "127.0.0.1"


class FrontEnd(frontendapp.FrontEndApp):
    """Talks to its own parts by address: a minimal system has no hosts file, and knows no ``localhost``."""

    REPLAY_API = frontendapp.FrontEndApp.REPLAY_API.replace("localhost", LOOPBACK)
    CDX_API = frontendapp.FrontEndApp.CDX_API.replace("localhost", LOOPBACK)


frontendapp.GeventServer = partial(frontendapp.GeventServer, hostname=LOOPBACK)


def main(folder: str, *warcs: str) -> None:
    os.chdir(folder)
    manage(["init", "all"])
    manage(["add", "all", *warcs])
    server = WSGIServer((LOOPBACK, 0), FrontEnd(), log=None)
    server.start()
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
