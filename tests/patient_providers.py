"""RPC providers of the API that wait for as long as a busy machine takes. No test that uses them waits it out."""

from collections.abc import Sequence

from patience import HANG_S

from api.access.rpc import Providers


def patient_providers(urls: Sequence[str]) -> Providers:
    return Providers(urls, timeout_s=HANG_S, all_calls_timeout_s=HANG_S)
