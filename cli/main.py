"""The process of `svc`."""

from cli.signals import end_on_signals


def command_line() -> None:
    """Runs `svc`, which a signal ends alike from here on."""
    end_on_signals()

    from cli.app import app
    from cli.process_end import run_and_end

    run_and_end(app)
