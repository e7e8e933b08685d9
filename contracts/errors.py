"""Defines every error that a caller or an operator can see, as one tree.

Missing or stale data is a value, never an error.

ServiceError
├── RequestProblem                a fault of a request, rendered as RFC 9457 problem+json
│   ├── BadRequest        400     RequestUnreadable, ParameterInvalid, CursorInvalid, SnapshotUnknown, DateInFuture,
│   │                             BodyInvalid (IdTaken), ProposalRejected,
│   │                             ImportInvalid (ImportVersionUnsupported), UpgradeUnsupported; SecretInText in
│   │                             contracts/secret_texts.py
│   ├── Unauthorized      401     no valid key
│   ├── PaymentRequired   402     an x402 challenge; PaymentRefused, PaymentFailed: with the offers again
│   ├── OriginForbidden   403     a page of another origin
│   ├── OperatorRoleNeeded 403    the key does not have the operator role
│   ├── OwnApproval       403     an operator tries to approve its own action
│   ├── StandingTooLow    403     the change needs a higher class of sources than the key may claim
│   ├── TrialExcluded     403     a trial key requests something that it does not include
│   ├── TrialFull         403     the owner of a trial key already has as many nodes as it includes
│   ├── NotFound          404     RouteUnknown, NodeUnknown, ImportUnknown, PendingUnknown, ClaimTokenUnknown,
│   │                             BeforeToken
│   ├── PaymentNotMatched 402     and the other refusals of a claim, in contracts/access/refusals.py
│   ├── MethodNotAllowed  405
│   ├── NotAcceptable     406     the client excluded every encoding of a published file
│   ├── Conflict          409     RevisionConflict, PendingSettled, ImportIncomplete, ImportsExceeded,
│   │                             IdempotencyKeyReused, IdempotencyMismatch, BlockNotProven, OntologyUnfit,
│   │                             PaymentUsed, PaymentAnswered
│   ├── BodyTooLarge      413
│   ├── TargetTooLong     414
│   ├── MediaTypeUnsupported 415
│   ├── EncodingUnsupported 415   the body is compressed
│   ├── RangeNotSatisfiable 416   no byte of the range lies within the file
│   ├── HostUnknown       421     the Host header names another service
│   ├── RateLimited       429     QuotaExceeded, SessionLimited
│   ├── HeadersTooLarge   431
│   ├── InternalFault     500
│   ├── NotReady          503     no generation is published yet
│   ├── StoreUnavailable  503     an OperatorProblem in the form for clients
│   ├── SettlementUnavailable 503 no signed payment can be accepted
│   └── WorkersBusy       503     no process is free for heavy work
├── ToolProblem                   the isError answer of a tool of connect, in contracts/connect/tool_problems.py
└── OperatorProblem               a problem that an operator must fix; printed with its cure, never served
    ├── ConfigurationProblem      a retry can't help: exit code 2
    │   ├── SettingsInvalid
    │   ├── ForeignStore          a warehouse or ledger belongs to another chain or token
    │   ├── ForeignGeneration     a generation or a running service has another BASE_URL
    │   ├── ChainMismatch         the RPC answers for another chain id
    │   ├── OwnerInvalid          a text does not name an owner of private nodes
    │   ├── FinalityUnknown       the node has no `finalized` tag and SVC_CONFIRMATIONS is unset
    │   └── RulesetInvalid        catalogue or policy are unusable; in contracts/guardrail.py
    ├── StoreUnusable             a store can't be opened, read or written
    ├── StoreBusy                 other processes locked a store for longer than we wait
    ├── KeyUnknown                no API key with this id can be changed
    ├── PaymentUnknown            no case of unmatched money has this id
    ├── PaymentNotSettled         a case of unmatched money can't be settled in this way
    ├── ConstitutionRefused       the constitution breaks the graph's own rules
    ├── OntologyRefused           an owner's words can't be set
    ├── ImportRefused             a file can't be imported, and no more of it is written
    ├── RestoreRefused            a restored ledger is not the one from which its backup was made
    ├── ProposalUnknown           no proposal with this number waits for an operator
    ├── OwnerUnknown              nothing is stored for the owner to be erased
    ├── StoreTooNew               a later version of this service wrote the store
    ├── StartBlockAhead           the block to read from is above the chain's head
    ├── FinalizedMismatch         the chain contradicts finalized data: history is not rewritten
    ├── RpcUnavailable            no URL answered
    ├── ChainDataInvalid          no URL returned credible transfer rows
    │   └── NodesDisagree         nodes returned different rows, and there is no way to decide between them
    ├── CheckFailed               data broke its contract: none of it is published
    ├── RunBusy                   another run holds the lock
    ├── ObjectStoreAway           the object store is unavailable at the moment
    ├── PartitionNotFinal         some blocks of a partition are not final yet
    ├── PartitionBroken           a stored partition contradicts its manifest
    ├── PartitionNotSigned        no key of this host signed a partition's manifest
    ├── GenerationBroken          a generation is incomplete or contradicts its manifest
    ├── GenerationUnknown         no stored generation has this id
    ├── AnvilUnavailable          there is no local EVM: Node is missing, or Anvil does not install or start
    ├── DemoBusy                  another process holds the demo directory
    ├── DemoChainLost             the local chain ended although nobody stopped it
    ├── ErasureUnfinished         some files still contain erased data: the command must run again
    └── DiskFull                  the output of a run, a command or a generation does not fit on the disk
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

Lead = Literal["home", "docs", "description", "plans", "quote", "trial", "challenge", "account", "query", "register"]
"""A relation of the links that a problem offers; `contracts.problem_links` defines their targets."""

Leads = tuple[Lead, ...]


class ServiceError(Exception):
    """Root of every error that the service raises on purpose."""


class RequestProblem(ServiceError):
    """A problem with one request. `status`, `code` and `title` are stable; `detail` is for people.

    `errors` contains `(pointer, detail)` pairs. A pointer is a JSON pointer into the body, `/query/<name>` or
    `/path/<name>`. `extensions` contains further members of the body, which `contracts.problems.Problem` declares.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "The request can't be used"
    retryable: ClassVar[bool] = False
    violated_policies: ClassVar[tuple[str, ...]] = ()
    """Names of the RateLimit policies that refuse the request."""
    costs_day: ClassVar[bool] = True
    """False for a request that the service would refuse from any caller with this key, regardless of which component
    refuses it. Such a request counts against the per-minute limit of the caller's address, not against the key's
    day."""
    leads: ClassVar[Leads] = ("docs",)
    """Relations of the links that a client can follow next, the best first, in addition to those of the raised problem.
    Every problem also links to the front door."""

    def __init__(
        self,
        detail: str,
        *,
        errors: list[tuple[str, str]] | None = None,
        headers: dict[str, str] | None = None,
        extensions: dict[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors or []
        self.headers = headers or {}
        self.extensions = extensions or {}


class BadRequest(RequestProblem):
    """The service can't use the request."""

    costs_day = False


class RequestUnreadable(BadRequest):
    code = "request_unreadable"
    title = "The bytes that were sent are not an HTTP/1.1 request"


class ParameterInvalid(BadRequest):
    code = "parameter_invalid"
    title = "A parameter is out of range, unknown, repeated or malformed"


class CursorInvalid(BadRequest):
    code = "cursor_invalid"
    title = "The cursor is not from this service, contradicts the request, or its snapshot is no longer readable"


class SnapshotUnknown(BadRequest):
    code = "snapshot_unknown"
    title = "No readable snapshot has this id"


class DateInFuture(BadRequest):
    code = "date_in_future"
    title = "The day has not begun yet"


class BodyInvalid(BadRequest):
    code = "body_invalid"
    title = "The request body does not fit its schema"


class IdTaken(BodyInvalid):
    code = "id_taken"
    title = "A public node has this id"


class ImportInvalid(BadRequest):
    code = "import_invalid"
    title = "The imported file breaks its format; nothing of it is written"


class ImportVersionUnsupported(ImportInvalid):
    code = "import_version_unsupported"
    title = "The imported file is of another version of the format"


class UpgradeUnsupported(BadRequest):
    code = "upgrade_unsupported"
    title = "Connections are not upgraded here"


class NotFound(RequestProblem):
    status = 404
    code = "not_found"
    title = "Nothing exists at this address"
    leads: ClassVar[Leads] = ("docs", "description")


class RouteUnknown(NotFound):
    code = "route_unknown"
    leads: ClassVar[Leads] = ("home", "description", "plans", "quote")


class NodeUnknown(NotFound):
    code = "node_unknown"
    title = "You can see no node with this id"
    leads: ClassVar[Leads] = ("query", "docs")


class PendingUnknown(NotFound):
    code = "pending_unknown"
    title = "You have no pending write with this number"


class ImportUnknown(NotFound):
    code = "import_unknown"
    title = "You have no import with this id, or it expired"


class ClaimTokenUnknown(NotFound):
    code = "claim_token_unknown"
    title = "No capsule waits for this token"


class BeforeToken(NotFound):
    code = "before_token"
    title = "The token has no transfer yet at this block or day"


class MethodNotAllowed(RequestProblem):
    status = 405
    code = "method_not_allowed"
    title = "This path does not support this method"


class NotAcceptable(RequestProblem):
    status = 406
    code = "not_acceptable"
    title = "None of this path's encodings is acceptable to the client"


class Conflict(RequestProblem):
    status = 409
    code = "conflict"
    title = "Conflict with the current state"


class RevisionConflict(Conflict):
    code = "revision_conflict"
    title = "It was changed after the expected revision"
    leads: ClassVar[Leads] = ("query", "docs")


class BlockNotProven(Conflict):
    code = "block_not_proven"
    title = "The block or day is newer than the newest list"
    retryable = True


class PendingSettled(Conflict):
    code = "pending_settled"
    title = "The pending write was already confirmed or declined"


class OntologyUnfit(Conflict):
    code = "ontology_unfit"
    title = "Existing nodes or edges would not fit the ontology"


class ImportIncomplete(Conflict):
    code = "import_incomplete"
    title = "The received chunks are not the whole file"


class ImportsExceeded(Conflict):
    code = "imports_exceeded"
    title = "You have too many open imports, or this one is too large"


class IdempotencyKeyReused(Conflict):
    """An `IdempotencyMismatch` of a signal. Codes of a path are never renamed, so it keeps its own."""

    code = "idempotency_key_reused"
    title = "The same idempotency key came with another request"
    leads: ClassVar[Leads] = ("query", "docs")


class IdempotencyMismatch(Conflict):
    """Links lead to the first request's result only for a claim. Ids of registrations and capsules grant access, so
    they are not told to a caller that has the key but not the first request."""

    code = "idempotency_mismatch"
    title = "The same Idempotency-Key came with another request"


class PaymentUsed(Conflict):
    code = "payment_used"
    title = "The signed payment belongs to another request"


class PaymentAnswered(Conflict):
    code = "payment_answered"
    title = "The signed payment was answered, and the answer is no longer stored"


class BodyTooLarge(RequestProblem):
    status = 413
    code = "body_too_large"
    title = "The request body is too large"
    costs_day = False


class TargetTooLong(RequestProblem):
    status = 414
    code = "target_too_long"
    title = "Path and query are too long"


class HeadersTooLarge(RequestProblem):
    status = 431
    code = "headers_too_large"
    title = "The header fields of the request are too large"


class ProposalRejected(BadRequest):
    code = "proposal_rejected"
    title = "The validator rejected the proposed write"


class Unauthorized(RequestProblem):
    status = 401
    code = "unauthorized"
    title = "A valid API key is needed"
    leads: ClassVar[Leads] = ("plans", "quote", "trial", "docs")


class PaymentRequired(RequestProblem):
    """An x402 challenge: the PAYMENT-REQUIRED header field contains the offers."""

    status = 402
    code = "payment_required"
    title = "A key or a payment is needed"
    leads: ClassVar[Leads] = ("plans", "quote", "trial", "docs")


class PaymentRefused(PaymentRequired):
    code = "payment_refused"
    title = "The signed payment pays none of the offers"


class PaymentFailed(PaymentRequired):
    code = "payment_failed"
    title = "The signed payment could not be settled, and nothing was taken"


class OriginForbidden(RequestProblem):
    status = 403
    code = "origin_forbidden"
    title = "Pages of this origin may not send requests here"


class OperatorRoleNeeded(RequestProblem):
    status = 403
    code = "operator_role_needed"
    title = "Only a key of the role operator may do this"
    leads: ClassVar[Leads] = ("account", "docs")


class OwnApproval(RequestProblem):
    status = 403
    code = "own_approval"
    title = "Nobody can approve their own action"


class StandingTooLow(RequestProblem):
    status = 403
    code = "standing_too_low"
    title = "The change needs a higher class of sources than this key may claim"
    leads: ClassVar[Leads] = ("account", "docs")


class TrialExcluded(RequestProblem):
    status = 403
    code = "trial_excluded"
    title = "A trial key does not include this"
    costs_day = False
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class TrialFull(RequestProblem):
    status = 403
    code = "trial_full"
    title = "The owner of this trial key already has as many private nodes as it includes"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class HostUnknown(RequestProblem):
    status = 421
    code = "host_unknown"
    title = "The request is for another host"


class MediaTypeUnsupported(RequestProblem):
    status = 415
    code = "media_type_unsupported"
    title = "The operation does not accept this Content-Type"
    costs_day = False


class EncodingUnsupported(RequestProblem):
    status = 415
    code = "content_encoding_unsupported"
    title = "No operation accepts this Content-Encoding"
    costs_day = False


class RangeNotSatisfiable(RequestProblem):
    status = 416
    code = "range_not_satisfiable"
    title = "Range not satisfiable"


class RateLimited(RequestProblem):
    status = 429
    code = "rate_limited"
    title = "Too many requests"
    retryable = True
    violated_policies = ("permin",)
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class QuotaExceeded(RateLimited):
    code = "quota_exceeded"
    title = "The key's requests of this day are used up"
    violated_policies = ("daily",)
    leads: ClassVar[Leads] = ("account", "plans", "quote", "docs")


class SessionLimited(RateLimited):
    code = "session_limited"
    title = "The requests of this session's minute are used up"
    violated_policies = ("session",)
    leads: ClassVar[Leads] = ("docs",)


class InternalFault(RequestProblem):
    status = 500
    code = "internal_fault"
    title = "Something failed on our side"
    retryable = True


class NotReady(RequestProblem):
    status = 503
    code = "not_ready"
    title = "Nothing has been published yet"
    retryable = True


class StoreUnavailable(RequestProblem):
    status = 503
    code = "store_unavailable"
    title = "A store that the answer needs can't be used at the moment"
    retryable = True


class SettlementUnavailable(RequestProblem):
    status = 503
    code = "settlement_unavailable"
    title = "Signed payments can't be accepted at the moment, and nothing was taken"
    retryable = True


class WorkersBusy(RequestProblem):
    status = 503
    code = "workers_busy"
    title = "No process is free for a request of this size at the moment"
    retryable = True


class OperatorProblem(ServiceError):
    """A problem that an operator must fix. `what` states it in one sentence, `cure` states the fix in another."""

    code: ClassVar[str] = "operator_problem"
    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, cure: str) -> None:
        super().__init__(what)
        self.what = what
        self.cure = cure

    def __reduce__(self) -> tuple[Callable[..., OperatorProblem], tuple[object, ...]]:
        # An exception raised in a worker process is pickled, and raised again where its result is awaited.
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f"{self.what} {self.cure}"


class ConfigurationProblem(OperatorProblem):
    """Settings, stores and chain contradict each other, or an argument is wrong. A retry can't help."""

    exit_code = 2


class SettingsInvalid(ConfigurationProblem):
    code = "settings_invalid"


class ForeignStore(ConfigurationProblem):
    code = "foreign_store"


class ForeignGeneration(ConfigurationProblem):
    code = "foreign_generation"


class StoreUnusable(OperatorProblem):
    code = "store_unusable"


class StoreBusy(OperatorProblem):
    code = "store_busy"


class KeyUnknown(OperatorProblem):
    code = "key_unknown"


class PaymentUnknown(OperatorProblem):
    code = "payment_unknown"


class PaymentNotSettled(OperatorProblem):
    code = "payment_not_settled"


class ConstitutionRefused(OperatorProblem):
    code = "constitution_refused"


class OntologyRefused(OperatorProblem):
    code = "ontology_refused"


class ImportRefused(OperatorProblem):
    code = "import_refused"


class RestoreRefused(OperatorProblem):
    code = "restore_refused"


class ProposalUnknown(OperatorProblem):
    code = "proposal_unknown"


class OwnerInvalid(ConfigurationProblem):
    code = "owner_invalid"


class OwnerUnknown(OperatorProblem):
    code = "owner_unknown"


class StoreTooNew(OperatorProblem):
    code = "store_too_new"


class ChainMismatch(ConfigurationProblem):
    code = "chain_mismatch"


class FinalityUnknown(ConfigurationProblem):
    code = "finality_unknown"


class StartBlockAhead(OperatorProblem):
    code = "start_block_ahead"


class FinalizedMismatch(OperatorProblem):
    code = "finalized_mismatch"


class RpcUnavailable(OperatorProblem):
    code = "rpc_unavailable"


class ChainDataInvalid(OperatorProblem):
    code = "chain_data_invalid"


class NodesDisagree(ChainDataInvalid):
    code = "nodes_disagree"


class CheckFailed(OperatorProblem):
    code = "check_failed"


class RunBusy(OperatorProblem):
    code = "run_busy"


class ErasureUnfinished(OperatorProblem):
    code = "erasure_unfinished"


class DiskFull(OperatorProblem):
    code = "disk_full"


class ObjectStoreAway(OperatorProblem):
    code = "object_store_away"


class PartitionNotFinal(OperatorProblem):
    code = "partition_not_final"


class PartitionBroken(OperatorProblem):
    code = "partition_broken"


class PartitionNotSigned(OperatorProblem):
    code = "partition_not_signed"


class GenerationBroken(OperatorProblem):
    code = "generation_broken"


class GenerationUnknown(OperatorProblem):
    code = "generation_unknown"


class AnvilUnavailable(OperatorProblem):
    code = "anvil_unavailable"


class DemoBusy(OperatorProblem):
    code = "demo_busy"


class DemoChainLost(OperatorProblem):
    code = "demo_chain_lost"


def _restored(problem: type[OperatorProblem], args: tuple[object, ...], fields: dict[str, object]) -> OperatorProblem:
    restored = problem.__new__(problem, *args)
    restored.__dict__.update(fields)
    return restored


def problems_by_code() -> dict[str, type[RequestProblem]]:
    """Returns all request problems of the modules imported so far, by code."""
    found: dict[str, type[RequestProblem]] = {}
    waiting: list[type[RequestProblem]] = [RequestProblem]
    while waiting:
        problem = waiting.pop()
        found[problem.code] = problem
        waiting += problem.__subclasses__()
    return found
