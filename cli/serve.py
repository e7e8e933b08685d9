"""Implements `svc serve`: the API on SVC_HOST:SVC_PORT, which answers 503 until there is a generation."""

import os
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from cli.connections import TimedHttpProtocol
from cli.environment import as_environment, effective_settings
from cli.http_server import serve_until_signal
from cli.output import note, operator_problems, print_json
from cli.ports import require_free_port
from contracts.errors import ForeignGeneration
from contracts.logs import log_config
from contracts.secrets import require_secrets
from contracts.settings import Settings
from warehouse.file_modes import correct_modes
from warehouse.publish.generations import current_generation
from warehouse.publish.served_address import refuse_other_address

APPLICATION = "api.app:app_from_environment"
STOP_WITHIN_S = 5


def serve(workers: int, as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        refuse_foreign_generation(settings)
        require_secrets(settings)
        correct_modes(settings.data_dir, gates_only=True)
        require_free_port(settings.host, settings.port, "SVC_PORT")
    if as_json:
        print_json({"ok": True, "baseUrl": settings.public_base_url, "workers": workers})
    elif current_generation(settings.data_dir) is None:
        note(
            f"svc: Nothing is published in {settings.data_dir} yet, so /health is 503.\n"
            "     Publish with `svc pipeline run`; the service need not be restarted afterwards."
        )
    # Workers are separate processes, which read their settings from the environment.
    os.environ.update(as_environment(settings))
    options: dict[str, Any] = {
        "factory": True,
        "http": TimedHttpProtocol,
        # A WebSocket handshake thus reaches the front as a plain request.
        "ws": "none",
        "host": settings.host,
        "port": settings.port,
        "access_log": False,
        "server_header": False,
        # The front itself decides whose forwarding headers to trust.
        "proxy_headers": False,
        "timeout_graceful_shutdown": STOP_WITHIN_S,
        "log_config": log_config(settings.log_format),
        "log_level": "warning",
    }
    if workers == 1:
        serve_until_signal(uvicorn.Config(APPLICATION, **options))
    else:
        config = uvicorn.Config(APPLICATION, workers=workers, **options)
        Workers(config, [config.bind_socket()]).run()


class Workers(Multiprocess):
    """uvicorn's worker processes, changed so that their port closes as soon as no worker accepts requests.

    uvicorn's parent would keep it open until all workers have ended. A client that connects while the last answers are
    under way would wait for them and then get no answer.
    """

    def terminate_all(self) -> None:
        for listening in self.sockets:
            listening.close()
        super().terminate_all()


def refuse_foreign_generation(settings: Settings) -> None:
    """Raises `ForeignGeneration` if the published generation, or a running service, has an address other than that of
    the settings."""
    refuse_other_address(settings)
    generation = current_generation(settings.data_dir)
    if generation is not None and generation.manifest.base_url != settings.public_base_url:
        raise ForeignGeneration(
            f"Generation {generation.id} was built for {generation.manifest.base_url}, not {settings.public_base_url}.",
            cure="Run `svc publish` to build one for this address, or change SVC_BASE_URL back.",
        )
