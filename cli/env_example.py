"""Generates `.env.example` from the settings, so that the two can't disagree: `python -m cli.env_example`."""

from pathlib import Path

from contracts.settings import PREFIX, Settings

TARGET = Path(__file__).resolve().parents[1] / ".env.example"

HEADING = """\
# Every setting, generated from contracts/settings.py by `make contracts`. Copy to .env and uncomment what you set.
# An SVC_ name that is not listed here is refused at start, as is a line that is not NAME=value.
# If a name occurs twice, the last line counts. An environment variable overrides any line.
# Spaces around a value are ignored, and ~ at the start of a path is the home directory.
"""


def render() -> str:
    """Returns the file's text: one comment and one commented-out assignment per setting."""
    blocks = [HEADING]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        value = "" if default in (None, ()) else str(default)
        blocks.append(f"# {field.description}.\n#{PREFIX}{name.upper()}={value}\n")
    return "\n".join(blocks)


if __name__ == "__main__":
    TARGET.write_text(render())
