"""A client for the service, sync and async. `api_types` contains the types of all bodies."""

from svc_client import api_types
from svc_client.clients import AsyncClient, Client
from svc_client.errors import (
    AddressInvalid,
    Altered,
    BadRequest,
    ClientError,
    Conflict,
    Forbidden,
    KeyInvalid,
    NotFound,
    NotProven,
    PaymentNeeded,
    Pending,
    Refused,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from svc_client.flows import Account
from svc_client.holders import VerifiedHolders

__all__ = [
    "Account",
    "AddressInvalid",
    "Altered",
    "AsyncClient",
    "BadRequest",
    "Client",
    "ClientError",
    "Conflict",
    "Forbidden",
    "KeyInvalid",
    "NotFound",
    "NotProven",
    "PaymentNeeded",
    "Pending",
    "Refused",
    "ServerFault",
    "TooManyRequests",
    "Unauthorized",
    "Unreachable",
    "VerifiedHolders",
    "api_types",
]
