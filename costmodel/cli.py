"""The command line: finds the command, and turns bad input into one message. Each command imports what it needs."""

from __future__ import annotations

import gc
import sys
from importlib import import_module

import click

from . import __version__
from .commands import FILES
from .commands.common import fail


class Commands(click.Group):
    """Turns bad input into one message on stderr and exit code 2."""

    def list_commands(self, ctx):
        """Every command, in the order of :data:`FILES`."""
        return list(FILES)

    def get_command(self, ctx, cmd_name):
        """The command, imported now; None where there is none."""
        if cmd_name not in FILES:
            return None
        return import_module(f".commands.{FILES[cmd_name]}", __package__).command

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        """Run a command and exit: 0, the command's own code, 2 for bad input or 130 when interrupted."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            sys.exit(super().main(args, prog_name, complete_var, standalone_mode=False, **extra) or 0)
        except click.exceptions.Exit as stop:
            sys.exit(stop.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            fail("interrupted", 130)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(0)
        except (OSError, UnicodeError, RecursionError) as error:
            fail(f"error: {error}")
        except Exception as error:
            from .language.problem import SpecError

            if not isinstance(error, SpecError):
                raise
            fail(f"error: {error}")

    def resolve_command(self, ctx, args):
        """The command that the arguments name; an unknown one raises a usage error with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from .language.problem import suggest

            raise click.UsageError(f"no command `{args[0]}`: {suggest(args[0], FILES)}", ctx) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="costmodel")
def main():
    """How fast a language model should run on given hardware, and why."""


def run():
    """The `costmodel` program: `main` in a process of its own, where collecting garbage costs more than it frees."""
    gc.set_threshold(1_000_000, 20, 20)
    try:
        main()
    finally:
        gc.freeze()  # nor is there anything to collect at exit


if __name__ == "__main__":
    run()
