"""The entry point of the `svc` process."""

from cli.signals import end_on_signals


def command_line() -> None:
    """Runs `svc`. From here on, a signal ends it in the same way at any time."""
    end_on_signals()

    from cli.app import app
    from cli.process_end import run_and_end

    run_and_end(app)
