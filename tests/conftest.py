"""The fixtures of every room, one plugin module each."""

pytest_plugins = [
    "postgres_fixtures",
]
