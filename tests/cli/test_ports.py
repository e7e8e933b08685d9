"""A port is tried before anything is started, and a problem with it is reported with its cure."""

import json
import socket

import pytest
from commands import called
from nginx import free_port

from cli.ports import require_free_port
from contracts.errors import OperatorProblem, SettingsInvalid


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_is_free_until_somebody_listens_on_it(host: str):
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        port = server.getsockname()[1]
        with pytest.raises(OperatorProblem, match=rf"{port} is taken\. .* set SVC_PORT to another port") as refused:
            require_free_port(host, port, "SVC_PORT")
        assert refused.value.exit_code == 1
    require_free_port(host, port, "SVC_PORT")


@pytest.mark.parametrize("host", ["256.1.1.1", "192.0.2.1", "2001:db8::1", "no..name"])
def test_a_host_that_is_not_this_machines_is_a_wrong_setting(host: str):
    with pytest.raises(SettingsInvalid, match=f"^SVC_HOST={host} is not an address of this machine"):
        require_free_port(host, free_port(), "SVC_PORT")


def test_serve_prints_one_refusal_where_its_port_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = called({"SVC_DATA_DIR": str(tmp_path), "SVC_PORT": str(port)}, "serve", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        1,
        {
            "ok": False,
            "code": "operator_problem",
            "detail": f"127.0.0.1:{port} is taken.",
            "cure": "Stop what listens there, or set SVC_PORT to another port.",
        },
    )


def test_serve_refuses_a_host_of_another_machine_as_a_wrong_setting(tmp_path):
    result = called({"SVC_DATA_DIR": str(tmp_path), "SVC_HOST": "192.0.2.1"}, "serve", "--json")
    said = json.loads(result.stdout)
    assert (result.exit_code, said["ok"], said["code"]) == (2, False, "settings_invalid")
