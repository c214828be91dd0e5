"""What can I type? ``scrapy heritrix SUBCOMMAND ...``

Scrapy loads this module at every command, so a subcommand's own module is imported when it is called.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    import argparse

#: name → (arguments, one line of help); the module of that name, or the one in ``MODULES``, has
#: ``run(arguments, options) -> exit status``.
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "convert": (
        "JOBFILE",
        "make settings of a Heritrix job, with a report; --output, --check, --strict",
    ),
    "explain": ("CODE...", "what a status of crawl.log means, and what to do; all: every status"),
    "init": ("DIR", "make a project, ready to edit: settings with every choice as a comment, seeds file, spider"),
    "links": ("URI-or-FILE", "what would be found in a page or file, by which extractor, with hop and context"),
    "pause": ("JOBDIR", "hand out nothing more in a running crawl; what is in flight goes on"),
    "terminate": ("JOBDIR", "end a running crawl; what is queued stays queued"),
    "unpause": ("JOBDIR", "go on after a pause, or after HERITRIX_PAUSE_AT_START"),
    "checkpoint": ("JOBDIR", "save a running or a stopped crawl, so that others can begin there; --remark"),
    "checkpoints": ("JOBDIR", "list the checkpoints that a crawl can begin with"),
    "set": ("JOBDIR [NAME=VALUE...]", "change settings, while the crawl runs too; --file, --reset NAME, --check"),
    "add": ("JOBDIR NAME VALUE", "add an entry to a setting that is a list; --check"),
    "remove": ("JOBDIR NAME VALUE", "remove an entry from a setting that is a list; --check"),
    "changes": ("JOBDIR", "which settings were changed so, and hold"),
    "scope": ("[URI...]", "whether URIs are in the project's scope, and why; --list prints its rules"),
    "cdxj": ("PATH...", "print one index of WARC files, or of a job's"),
    "wacz": ("JOBDIR FILE", "pack a job's WARC files, index, pages and logs into one file for replay"),
    "warc": ("verify|repair|stats PATH...", "check WARC files, cut torn ends off, or count records"),
    "queues": ("JOBDIR", "list queues with what they wait for; --state, --queue, --name, --report"),
    "urls": ("JOBDIR", "list queued URIs; --name, --queue, --uri"),
    "delete": ("JOBDIR", "delete queued URIs by --uri and --queue; --count only counts them"),
    "drop": ("JOBDIR", "drop queued URIs that the scope does not accept any more; --count only counts them"),
    "retire": ("JOBDIR", "take the queues of --queue out of the crawl"),
    "reconsider": ("JOBDIR", "let retired queues take their turn again"),
    "reset-quota": ("JOBDIR", "have quotas begin anew: --host, --server, --queue or --source; retired queues go on"),
    "wake": ("JOBDIR", "end the rests of queues"),
    "force": ("JOBDIR URI", "queue a URI whether it is known or not; --now before all else of its queue"),
    "kill": ("JOBDIR URI", "cut off the fetch of a URI in flight"),
    "seeds": ("JOBDIR FILE", "add the seed lines of a file"),
    "import": ("JOBDIR FILE", "import a recovery journal, a list of URIs, a crawl.log or JSON lines"),
    "import-job": ("DIR [JOBDIR...]", "go on with a Heritrix job that is under way: its journal, WARC names, cookies"),
    "export": ("JOBDIR FILE", "write the queued URIs to a file"),
    "serve": ("DIR", "serve a folder of jobs: Heritrix's web API and pages; -a LOGIN, -b HOSTS, -p PORT"),
    "report": ("JOBDIR NAME", "one of the reports: crawl, seeds, hosts, source, mimetypes, responsecode ..."),
    "tail": ("JOBDIR [LOG...]", "the last lines of a log (default: crawl.log); -n, --follow, --filter"),
    "doctor": ("[JOBDIR...]", "what is wrong with the project's settings, with this machine or with a job"),
    "why": ("URI JOBDIR", "why a URI was fetched, or not, or not yet; --via, --path, --explain"),
    "watch": ("JOBDIR", "show a running crawl until it ends, or Ctrl-C; --every SECONDS, --json for all that happens"),
    "status": ("JOBDIR", "counts, queues and what waits, of a running or a stopped crawl"),
}


#: Subcommands that share a module.
MODULES: dict[str, str] = {
    **dict.fromkeys(("unpause", "terminate"), "pause"),
    "import-job": "import_job",
    **dict.fromkeys(("queues", "urls"), "listing"),
    **dict.fromkeys(
        (
            "delete",
            "drop",
            "retire",
            "reconsider",
            "reset-quota",
            "wake",
            "force",
            "kill",
            "seeds",
            "import",
            "export",
            "checkpoint",
            "checkpoints",
            "set",
            "add",
            "remove",
            "changes",
        ),
        "operation",
    ),
}


class Command(ScrapyCommand):
    """The one command that the package adds to Scrapy's."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "<subcommand> [arguments]"

    def short_desc(self) -> str:
        return "Look at and steer archival crawls"

    def long_desc(self) -> str:
        lines = [f"  {name} {arguments:12} {text}" for name, (arguments, text) in SUBCOMMANDS.items()]
        return "Subcommands:\n" + "\n".join(lines)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from heritrix_scrapy.commands import serve

        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        serve.options(parser)
        scope = parser.add_argument_group("scope")
        scope.add_argument("--via", metavar="URI", help="the page that the URIs were found on")
        scope.add_argument("--path", metavar="LETTERS", help="their hop path (default: L; of a forced URI: none)")
        scope.add_argument("--explain", action="store_true", help="what each rule says, and how the URI is treated")
        scope.add_argument("--list", action="store_true", help="the rules in force, with their properties")

        frontier = parser.add_argument_group("queues and URIs")
        frontier.add_argument("--queue", metavar="REGEX", help="queues whose whole name it matches")
        frontier.add_argument("--uri", metavar="REGEX", help="URIs that it matches as a whole")
        frontier.add_argument("--name", metavar="QUEUE", help="one queue")
        frontier.add_argument("--state", help="inactive, ready, in_process, snoozed, retired or exhausted")
        frontier.add_argument("--report", metavar="KIND", help="Heritrix's report: summary, nonempty, all or line")
        frontier.add_argument("--host", metavar="NAME", help="a host, with all its ports")
        frontier.add_argument("--server", metavar="HOST:PORT", help="one server of a host")
        frontier.add_argument("--source", metavar="SEED", help="what came from that seed")
        frontier.add_argument("--limit", type=int, help="how many to list (default: 1000)")
        frontier.add_argument("--count", action="store_true", help="only count what would be done")
        frontier.add_argument("--remark", metavar="TEXT", help="goes into the job's log")
        frontier.add_argument("--forget", action="store_true", help="deleted URIs may be found again")
        frontier.add_argument("--quiet", action="store_true", help="deleted URIs are neither logged nor counted")
        frontier.add_argument("--seed", action="store_true", help="the URI, or each of the file, is a seed")
        frontier.add_argument("--now", action="store_true", help="before everything else of its queue")
        frontier.add_argument("--keep", action="store_true", help="archive what has come of a killed fetch")
        reading = parser.add_argument_group("tail")
        reading.add_argument("-n", "--lines", type=int, metavar="N", help="how many lines (default: 10)")
        reading.add_argument("-f", "--follow", action="store_true", help="go on with what is written, until Ctrl-C")
        reading.add_argument("--filter", metavar="REGEX", help="only lines in which it is found")
        watching = parser.add_argument_group("watch")
        watching.add_argument("--every", type=float, metavar="SECONDS", help="default: 1 on a terminal, else 10")
        changing = parser.add_argument_group("changes of settings")
        changing.add_argument("--file", metavar="FILE", help="a JSON object with names and values")
        changing.add_argument("--reset", metavar="NAME", action="append", help="the project's word holds again")
        changing.add_argument("--check", action="store_true", help="only see what would come of it; of convert too")
        converting = parser.add_argument_group("convert")
        converting.add_argument("-o", "--output", metavar="FILE", help="write the settings there (default: print them)")
        converting.add_argument("--strict", action="store_true", help="write nothing when something would be lost")
        moving = parser.add_argument_group("import and export")
        moving.add_argument("--format", help="recover, crawl.log (import only), uris or json")
        moving.add_argument("--include", metavar="TAGS", help="lines whose URIs are taken for seen: Fs,Fi or 200,404")
        moving.add_argument("--schedule", metavar="TAGS", help="lines whose URIs are queued; * for all, - for none")
        moving.add_argument("--force", action="store_true", help="queue each line, seen or not")
        moving.add_argument("--scope", action="store_true", help="only what the scope accepts")
        moving.add_argument("--again", action="store_true", help="though the file was imported before")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError(self.long_desc(), print_help=False)
        entry = SUBCOMMANDS.get(args[0])
        if entry is None:
            raise UsageError(f"unknown subcommand {args[0]!r}\n{self.long_desc()}", print_help=False)
        arguments, _ = entry
        expected = len(arguments.split())
        given = len(args) - 1
        optional = arguments.endswith("...]")
        if optional and given < expected - 1:
            raise UsageError(f"usage: scrapy heritrix {args[0]} {arguments}", print_help=False)
        if not optional and (given < expected or (given > expected and not arguments.endswith("..."))):
            raise UsageError(f"usage: scrapy heritrix {args[0]} {arguments}", print_help=False)
        opts.project = self.settings
        opts.subcommand = args[0]
        run = import_module(f"{__name__}.{MODULES.get(args[0], args[0])}").run
        try:
            self.exitcode = run(args[1:], opts)
            sys.stdout.flush()
        except BrokenPipeError:
            # whoever read it has had enough (``… | head``); what is left is written to nobody
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 0
