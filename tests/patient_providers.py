"""RPC providers of the API with time-outs long enough for a busy machine. No test that uses them reaches one."""

from collections.abc import Sequence

from patience import HANG_S

from api.access.rpc import Providers


def patient_providers(urls: Sequence[str]) -> Providers:
    return Providers(urls, timeout_s=HANG_S, all_calls_timeout_s=HANG_S)
