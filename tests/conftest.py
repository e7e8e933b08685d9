"""The fixtures of every room, one plugin module each."""

pytest_plugins = [
    "anvil_fixtures",
    "postgres_fixtures",
]
