"""Defines the failures of tools, which answer with `isError`: each with its code and texts."""

from collections.abc import Sequence
from typing import ClassVar

from contracts.errors import ServiceError


class ToolProblem(ServiceError):
    """A failed tool call. `detail` states what happened and `fix` what to do about it.

    Both default to the class's texts; others name something that the call sent. No text contains a pairing code or a
    session token. `retryable` is True if the same call may succeed later. `errors` contains pairs of a JSON pointer and
    a detail.
    """

    code: ClassVar[str]
    meaning: ClassVar[str]
    advice: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(
        self, detail: str | None = None, *, fix: str | None = None, errors: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.detail = detail or self.meaning
        self.fix = fix or self.advice
        self.errors = errors
        super().__init__(f"{self.code}: {self.detail} {self.fix}")


class CodeNeeded(ToolProblem):
    """A failure after which only a fresh pairing code helps. `app_url` is the companion application's address."""

    then: ClassVar[str] = "Then call svc_connect_handshake with it."

    def __init__(self, app_url: str | None) -> None:
        super().__init__(fix=f"{how_to_get_a_code(app_url)} {self.then}")


class PairingCodeRejected(CodeNeeded):
    """The only problem for every code that opens no session, regardless of the cause."""

    code = "pairing_code_rejected"
    meaning = "No session was opened."
    then = "A code works once and for a few minutes. If fresh ones are refused too, wait ten minutes."


class SessionRequired(CodeNeeded):
    """The call has no session token, or one that we never issued."""

    code = "session_required"
    meaning = "This tool needs the session_token of a paired session."


class SessionEnded(CodeNeeded):
    code = "session_ended"
    meaning = "This session was closed, or its 30 minutes are over."


class StoreUnavailable(ToolProblem):
    code = "store_unavailable"
    meaning = "A store that the answer needs can't be used at the moment."
    advice = "Try again in a few seconds."
    retryable = True


class KeyRejected(ToolProblem):
    """A presented key is not valid, or a request presents none."""

    code = "key_rejected"
    meaning = "No valid key was presented, and the session sees the same graph as before."
    advice = "Send a valid API key as the request's Bearer token or in api_key, or an address to sign with."


class SignatureRejected(ToolProblem):
    code = "signature_rejected"
    meaning = "The signature is not the address's signature of a recent challenge of this session."
    advice = "Call again with only the address, sign the typed_data in the answer, and send issued_at and proof."


class ContractUnsure(ToolProblem):
    """Only the address's contract can check the signature, and it can't be queried."""

    code = "contract_unsure"
    meaning = "The address's contract can't be queried now, so its signature was neither accepted nor refused."
    advice = "Send the same issued_at and proof again in a few seconds."
    retryable = True


class PlanRequired(ToolProblem):
    code = "plan_required"
    meaning = "This session has no plan yet."
    advice = "Call svc_connect_plan, and report its steps."


class IntakeUnknown(ToolProblem):
    """A report names an intake that does not exist."""

    code = "intake_unknown"
    meaning = "No intake has this intake_id; nothing was recorded."
    advice = "Send the `id` from the answer of POST /api/intake, or omit intake_id."


class ArgumentsInvalid(ToolProblem):
    code = "arguments_invalid"
    meaning = "The arguments don't fit the tool."
    advice = "Send arguments that fit the tool's inputSchema."


class InternalFault(ToolProblem):
    code = "internal_fault"
    meaning = "Something failed on our side."
    advice = "Try again; if it persists, tell the operator."
    retryable = True


class NotConfirmed(ToolProblem):
    code = "not_confirmed"
    meaning = "The owner did not agree, and nothing was written."
    advice = "Leave it, or ask your user what to write instead."


class IntakeNotFound(ToolProblem):
    code = "intake_not_found"
    meaning = "This session has registered no intake."
    advice = "Send the intake_id, or register with POST /api/intake as the plan says."


class ProfileUnknown(ToolProblem):
    code = "profile_unknown"
    meaning = "There is no such runtime profile."
    advice = "Choose one that `fix` names."


class AddressUnsafe(ToolProblem):
    """The service's URL has characters that a shell would interpret."""

    code = "address_unsafe"
    meaning = "The service's address has characters that must not occur in commands."
    advice = "The operator must set SVC_BASE_URL to an address of only letters, digits and . _ ~ : / -"


class PlanChanged(ToolProblem):
    code = "plan_changed"
    meaning = "The plan has changed since the set-up began."
    advice = "Ask for the plan once more: unchanged steps remain done."


class StepUnknown(ToolProblem):
    code = "step_unknown"
    meaning = "The plan has no such step."
    advice = "Name a step that `fix` names."


class StepNotReady(ToolProblem):
    code = "step_not_ready"
    meaning = "An earlier step is not done."
    advice = "Do that step and report it first."


class NeedsSkipped(ToolProblem):
    code = "needs_skipped"
    meaning = "A step that this one needs was skipped."
    advice = "Do that step and report it first."


class StepRequired(ToolProblem):
    code = "step_required"
    meaning = "The step can't be skipped."
    advice = "Do it, or roll back what was done and close the session."


class StepIsDone(ToolProblem):
    code = "step_is_done"
    meaning = "The step is done."
    advice = "Roll it back and report rolled_back first."


class NothingToRollBack(ToolProblem):
    code = "nothing_to_roll_back"
    meaning = "The step was not begun."
    advice = "Report the step that was undone."


class OthersNeedIt(ToolProblem):
    code = "others_need_it"
    meaning = "A step that is done needs this one."
    advice = "Roll that step back first."


class EvidenceUnusable(ToolProblem):
    code = "evidence_unusable"
    meaning = "The step can't use this evidence."
    advice = "Send the evidence that `fix` names, and nothing else."


class SecretInReport(ToolProblem):
    code = "secret_in_report"
    meaning = "The report contains an API key or a session token. A key belongs only in the environment file."
    advice = "Report without it. Rotate a key that was shown to others."


def how_to_get_a_code(app_url: str | None) -> str:
    """Returns how to get a pairing code: from the companion application's profile page, or by `svc pair`."""
    if app_url is None:
        return "Ask the user for a fresh pairing code, which `svc pair` prints on the machine that runs this service."
    return f"Ask the user for a fresh pairing code from {app_url}/profile."


def tool_failures(app_url: str | None) -> tuple[ToolProblem, ...]:
    """Returns the tool failures that HTTP operations do not have. `app_url` is the companion application's address."""
    return (
        *(kind(app_url) for kind in CodeNeeded.__subclasses__()),
        *(kind() for kind in ToolProblem.__subclasses__() if kind is not CodeNeeded),
    )
