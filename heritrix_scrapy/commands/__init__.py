"""What can I type? ``scrapy heritrix SUBCOMMAND ...``

Scrapy loads this module at every command, so a subcommand's own module is imported when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    import argparse

#: name → (arguments, one line of help); the module of that name has ``run(arguments, options) -> exit status``.
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "links": ("URI-or-FILE", "what would be found in a page or file, by which extractor, with hop and context"),
    "pause": ("JOBDIR", "hand out nothing more in a running crawl; what is in flight goes on"),
    "unpause": ("JOBDIR", "go on after a pause, or after HERITRIX_PAUSE_AT_START"),
    "scope": ("[URI...]", "whether URIs are in the project's scope, and why; --list prints its rules"),
    "cdxj": ("PATH...", "print one index of WARC files, or of a job's"),
    "wacz": ("JOBDIR FILE", "pack a job's WARC files, index, pages and logs into one file for replay"),
    "warc": ("verify|repair|stats PATH...", "check WARC files, cut torn ends off, or count records"),
    "status": ("JOBDIR", "counts, queues and what waits, of a running or a stopped crawl"),
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
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        scope = parser.add_argument_group("scope")
        scope.add_argument("--via", metavar="URI", help="the page that the URIs were found on")
        scope.add_argument("--path", metavar="LETTERS", default="L", help="their hop path (default: L)")
        scope.add_argument("--explain", action="store_true", help="what each rule says, and how the URI is treated")
        scope.add_argument("--list", action="store_true", help="the rules in force, with their properties")

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
        if not optional and (given < expected or (given > expected and not arguments.endswith("..."))):
            raise UsageError(f"usage: scrapy heritrix {args[0]} {arguments}", print_help=False)
        opts.project = self.settings
        self.exitcode = import_module(f"{__name__}.{args[0]}").run(args[1:], opts)
