"""Entry of ``./gpufleet``. Verbs are imported when called, so that help stays fast."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Mapping
from importlib import import_module

import click

BAD_INPUT = 2
"""Exit code for input that cannot be used; 1 is for a preview with errors, 130 for Ctrl-C."""

VERBS: Mapping[str, tuple[str, str]] = {
    "preview": ("cli.preview", "Show what every stack would declare, offline and without credentials."),
    "rehearse": ("cli.rehearse", "Run the declared fleet on real control planes, on this machine; clouds are simulated."),
    "catalogue": ("cli.catalogue", "Show which cards can be had where, at what price, until when."),
    "inventory": ("cli.inventory", "Check an inventory, or print its schema or the reference of its settings."),
}


class LazyGroup(click.Group):
    """A group that knows its verbs' names and imports a verb's module only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb, None for an unknown one."""
        del ctx
        return import_module(VERBS[cmd_name][0]).command if cmd_name in VERBS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """GPU clusters on four clouds from one inventory, previewed offline.

    Exit codes: 0 all is well; 1 a preview found errors; 2 the input cannot be used; 130 stopped by Ctrl-C.
    """


def run() -> None:
    """Run the command line; refused input ends in its message alone."""
    from fleet.errors import FleetErrors  # noqa: PLC0415 -- after click has answered --help

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended in an orderly way like Ctrl-C: workers stop, trees go
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a tree's lines still gets its words
    try:
        sys.exit(main(prog_name="gpufleet", standalone_mode=False))  # click hands back the exit code of a verb that ended early
    except FleetErrors as errors:
        click.echo(str(errors), err=True)
        sys.exit(BAD_INPUT)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)


if __name__ == "__main__":
    run()
