"""Does our engine serve the clients that people have? ``python -m tests.clients [--python PYTHON] [--jars DIR]``

For each client: an engine, the little web of the transcript, and a whole life of a job. ``--python``: one that has
heritrix3; ``--jars``: heritrix3-wrapper and what it needs. A third one is twenty lines in the way of hapy, which does
not follow a 303 and refuses any other answer to an action. The last line is ``clients: N of M``.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import golden, rest

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "golden" / "rest" / "site"
FORM = {"Accept": "application/xml", "Content-Type": "application/x-www-form-urlencoded"}


def as_hapy(engine: rest.Engine) -> None:
    """A life without following redirects: actions answer 303, files 200 or 201, everything else is wrong."""
    job = "/engine/job/hapy"

    def act(path: str, **form: str) -> None:
        status = engine.send({"method": "POST", "path": path, "headers": FORM, "form": form})["status"]
        assert status == 303, f"{form}: {status}"

    def told(name: str) -> str | None:
        body = engine.send({"method": "GET", "path": job, "headers": FORM})["body"]["body"]
        return str(body.get(name))

    def until(state: str) -> None:
        end = time.monotonic() + 120
        while told("crawlControllerState") != state:
            assert time.monotonic() < end, f"never {state}: {told('statusDescription')}"
            time.sleep(0.2)

    act("/engine", action="create", createpath="hapy")
    put = {"method": "PUT", "path": f"{job}/jobdir/crawler-beans.cxml", "body": rest.job_file()}
    assert engine.send(put)["status"] == 200
    for action, state in (("build", "NASCENT"), ("launch", "PAUSED"), ("unpause", "RUNNING"), ("pause", "PAUSED")):
        act(job, action=action)
        until(state)
    act(job, action="checkpoint")
    act(job, action="unpause")
    until("FINISHED")
    assert told("crawlExitStatus") == "FINISHED"
    script = {"engine": "groovy", "script": "rawOut.println(job.shortName)"}
    answer = engine.send({"method": "POST", "path": f"{job}/script", "headers": FORM, "form": script})
    assert (answer["status"], answer["body"]["body"]["rawOutput"]) == (200, "hapy\n")
    act(job, action="teardown")
    act(job, action="build")
    act(job, action="launch", checkpoint="latest")
    until("PAUSED")
    act(job, action="terminate")
    until("FINISHED")
    act(job, action="teardown")
    act(job, copyTo="hapy2")
    act("/engine", action="rescan")
    print("life: whole")


def command(client: str, args: argparse.Namespace, engine: rest.Engine, file: Path) -> list[str]:
    """The command line of a client of others."""
    if client == "heritrix3":
        url = f"https://{engine.host}:{engine.port}/engine"
        return [args.python, str(HERE / "with_heritrix3.py"), url, str(engine.jobs), str(file)]
    # without its logger it is quiet
    jars = ":".join(str(path) for path in sorted(Path(args.jars).glob("*.jar")) if "logback" not in path.name)
    life = [engine.host, str(engine.port), str(engine.jobs), str(file)]
    return ["java", "-cp", jars, str(HERE / "Life.java"), *life]


def run(client: str, args: argparse.Namespace) -> bool:
    """One client's life; whether it was whole."""
    with tempfile.TemporaryDirectory(prefix="clients-") as made, contextlib.ExitStack() as stack:
        work = Path(made).resolve()
        stack.enter_context(golden.served(SITE, work))
        engine = rest.Engine(work)
        stack.callback(engine.close)
        file = work / "job.cxml"
        file.write_text(rest.job_file())
        if client == "hapy":
            as_hapy(engine)
            return True
        done = subprocess.run(
            command(client, args, engine, file), capture_output=True, text=True, timeout=400, check=False
        )
        print(done.stdout + done.stderr[-3000:])
        return done.returncode == 0 and "life: whole" in done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python")
    parser.add_argument("--jars")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    namespace = golden.namespace_command()
    if not args.inside and namespace is not None:
        again = [*namespace, sys.executable, "-m", "tests.clients", "--inside", *sys.argv[1:]]
        return subprocess.run(again, check=False).returncode
    if args.inside:
        golden.raise_loopback()
    clients = ["hapy", *(["heritrix3"] if args.python else [])]
    if args.jars and list(Path(args.jars).glob("*.jar")) and shutil.which("java"):
        clients.append("heritrix3-wrapper")
    whole = 0
    for client in clients:
        print(f"-- {client}")
        right = run(client, args)
        whole += right
        print(f"{client}: {'whole' if right else 'BROKEN'}")
    print(f"clients: {whole} of {len(clients)}")
    return 0 if whole == len(clients) else 1


if __name__ == "__main__":
    raise SystemExit(main())
