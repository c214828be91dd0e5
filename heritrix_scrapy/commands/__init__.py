"""What can I type? ``scrapy heritrix SUBCOMMAND ...``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from heritrix_scrapy.commands import status

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

#: name → (arguments, one line of help, what runs it: arguments and options → exit status)
SUBCOMMANDS: dict[str, tuple[str, str, Callable[[list[str], Any], int]]] = {
    "status": ("JOBDIR", "counts, queues and what waits, of a running or a stopped crawl", status.run),
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
        lines = [f"  {name} {arguments:12} {text}" for name, (arguments, text, _) in SUBCOMMANDS.items()]
        return "Subcommands:\n" + "\n".join(lines)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError(self.long_desc(), print_help=False)
        entry = SUBCOMMANDS.get(args[0])
        if entry is None:
            raise UsageError(f"unknown subcommand {args[0]!r}\n{self.long_desc()}", print_help=False)
        arguments, _, run = entry
        expected = len(arguments.split())
        if len(args) - 1 != expected:
            raise UsageError(f"usage: scrapy heritrix {args[0]} {arguments}", print_help=False)
        self.exitcode = run(args[1:], opts)
