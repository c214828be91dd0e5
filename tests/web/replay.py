"""Serve WARC files with pywb. Run by the Python of pywb's own environment: nothing of ours can be imported here.

``python replay.py FOLDER WARC ...`` makes a collection ``all`` in FOLDER, prints the port once it listens,
and serves ``http://127.0.0.1:PORT/all/id_/URL``: the payload as it was archived.
"""

from __future__ import annotations

import os
import sys

from gevent import monkey

monkey.patch_all()

from gevent.pywsgi import WSGIServer  # noqa: E402
from pywb.apps.frontendapp import FrontEndApp  # noqa: E402
from pywb.manager.manager import main as manage  # noqa: E402


def main(folder: str, *warcs: str) -> None:
    os.chdir(folder)
    manage(["init", "all"])
    manage(["add", "all", *warcs])
    server = WSGIServer(("127.0.0.1", 0), FrontEndApp(), log=None)
    server.start()
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
