"""Defines the errors of tools, which answer with `isError`: one class, and the problems of pairing and sessions."""

from contracts.errors import ServiceError


class ToolProblem(ServiceError):
    """A failed tool call. `code` is stable, `detail` states what happened, and `fix` what to do about it.

    `retryable` is True if the same call may succeed later. No text contains a pairing code or a session token.
    """

    def __init__(self, code: str, detail: str, *, fix: str, retryable: bool = False) -> None:
        super().__init__(f"{code}: {detail} {fix}")
        self.code = code
        self.retryable = retryable
        self.detail = detail
        self.fix = fix


def pairing_code_rejected(app_url: str | None) -> ToolProblem:
    """Returns the one problem for every code that opens nothing, whatever its cause."""
    return ToolProblem(
        "pairing_code_rejected",
        "No session was opened.",
        fix=f"{how_to_get_a_code(app_url)} A code works once and for a few minutes. If fresh ones are refused too, "
        "wait ten minutes.",
    )


def session_required(app_url: str | None) -> ToolProblem:
    """Returns the problem for a call without a session token, or with one that we never issued."""
    return ToolProblem(
        "session_required",
        "This tool needs the session_token of a paired session.",
        fix=f"{how_to_get_a_code(app_url)} Then call svc_connect_handshake with it.",
    )


def session_ended(app_url: str | None) -> ToolProblem:
    """Returns the problem for a session that was closed or has ended."""
    return ToolProblem(
        "session_ended",
        "This session was closed, or its 30 minutes are over.",
        fix=f"{how_to_get_a_code(app_url)} Then call svc_connect_handshake with it.",
    )


def store_unavailable() -> ToolProblem:
    """Returns the problem for a store that can't be read or written at the moment."""
    return ToolProblem(
        "store_unavailable",
        "A store that the answer needs can't be used at the moment.",
        fix="Try again in a few seconds.",
        retryable=True,
    )


def key_rejected() -> ToolProblem:
    """Returns the problem for a presented key that is not valid, and for a request that presents none."""
    return ToolProblem(
        "key_rejected",
        "No valid key was presented, and the session sees what it saw.",
        fix="Send a valid API key as Bearer token of the request or in api_key, or an address to sign with.",
    )


def signature_rejected() -> ToolProblem:
    """Returns the problem for a signature that does not open a graph."""
    return ToolProblem(
        "signature_rejected",
        "The signature is not the address's over a recent challenge of this session.",
        fix="Call again with the address only, sign the typed_data that it answers, and send issued_at and proof.",
    )


def contract_unsure() -> ToolProblem:
    """Returns the problem for a signature that only the address's contract can check, while nobody can ask it."""
    return ToolProblem(
        "contract_unsure",
        "The address's contract can't be asked at the moment, so its signature was neither accepted nor refused.",
        fix="Send the same issued_at and proof again in a few seconds.",
        retryable=True,
    )


def plan_required() -> ToolProblem:
    """Returns the problem for a report before there is a plan."""
    return ToolProblem(
        "plan_required", "This session has no plan yet.", fix="Call svc_connect_plan, and report its steps."
    )


def intake_unknown() -> ToolProblem:
    """Returns the problem for a reported intake that does not exist."""
    return ToolProblem(
        "intake_unknown",
        "No intake has this intake_id; nothing was recorded.",
        fix="Send the `id` that POST /api/intake answered with, or leave intake_id out.",
    )


def how_to_get_a_code(app_url: str | None) -> str:
    """Returns the way to get a pairing code: from the companion application's profile page, or by `svc pair`."""
    if app_url is None:
        return "Ask the user for a fresh pairing code, which `svc pair` prints on the machine that runs this service."
    return f"Ask the user for a fresh pairing code from {app_url}/profile."
