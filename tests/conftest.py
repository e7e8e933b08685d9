"""The fixtures of every room, one plugin module each, and what Hypothesis does everywhere."""

from hypothesis import HealthCheck, settings

# Both count wall time, which on a machine that others use says nothing about the code.
settings.register_profile("house", parent=settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

pytest_plugins = [
    "anvil_fixtures",
    "postgres_fixtures",
    "web_fixtures",
]
