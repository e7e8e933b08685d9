"""Imports, for the fork server, what `svc serve` imports until it answers and what races on the stores need."""

import cli.serve  # noqa: F401
import warehouse.access.issue
import warehouse.guardrail.approvals
import warehouse.world.write  # noqa: F401
from api.app import build_rooms
from api.stores import Stores
from contracts.settings import Settings

build_rooms(Stores(Settings(_env_file=None)), lambda: None)
