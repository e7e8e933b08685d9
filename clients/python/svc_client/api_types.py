"""The bodies of the service's API. Made by clients/generate.py from the description: don't edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AccountDay(TypedDict):
    day: str
    requests: int


class AccountLinks(TypedDict):
    plans: str
    quote: str | None
    receipt: str | None
    recovery: str | None
    revoke: str
    rotate: str


class AccountQuota(TypedDict):
    remaining: int | None
    requestsPerDay: int | None
    resetsAt: str
    used: int


class ActionError(TypedDict):
    message: str


class ActionOption(TypedDict):
    label: str
    selected: NotRequired[bool | None]
    value: str


class ActionParameter(TypedDict):
    label: str
    name: str
    options: NotRequired[list[ActionOption] | None]
    required: bool
    type: Literal['text', 'textarea', 'select']


class ActionRule(TypedDict):
    apiPath: str
    pathPattern: str


class ActionsRegistry(TypedDict):
    rules: list[ActionRule]


class ActivationPackage(TypedDict):
    activationReview: str
    activationReviewNote: str
    billingMode: str
    billingNote: str
    executionSurfaces: list[str]
    firstDelivery: str
    firstDeliveryNote: str
    firstMission: str
    governanceBoundary: str
    governanceBoundaryNote: str
    includedEntitlements: list[str]
    includedEntitlementsNote: str
    operatorScope: str
    profileId: str
    profileLabel: str
    receiptSurface: str
    receiptSurfaceNote: str
    workspaceBoundary: str
    workspaceBoundaryNote: str
    worldSources: list[str]


Address: TypeAlias = str


AgentId: TypeAlias = str | None


class AgentSummary(TypedDict):
    agentId: str
    endpoint: str
    headline: str
    runtime: str
    serviceOffer: str


Amount: TypeAlias = str | None


class ApprovalRequest(TypedDict):
    digest: str
    expires_in: NotRequired[int]
    owner: str


class ApprovalResult(TypedDict):
    approval_token: str
    digest: str
    expires_at: str
    owner: str


Artifact: TypeAlias = str


class ArtifactLink(TypedDict):
    href: str
    rel: str


class ArtifactRule(TypedDict):
    id: str
    text: str


class Backfill(TypedDict):
    block: int | None
    finalizedBlock: int | None
    percent: float


BalanceEth: TypeAlias = str | None


BalanceWei: TypeAlias = str | None


Block: TypeAlias = int | None


class BudgetShare(TypedDict):
    share: float
    store: str
    tokens: int


class CacheInfo(TypedDict):
    ageS: int | None
    maxAgeS: int


class CallOffer(TypedDict):
    amount: str
    amountUnits: str
    description: str
    id: str
    name: str
    operation: str


class CapabilityLists(TypedDict):
    live: list[str]
    off: list[str]
    planned: list[str]


class CapsuleClaimRequest(TypedDict):
    claimToken: str


class CapsuleIdentity(TypedDict):
    displayName: str
    name: str
    nodeId: str
    ownerId: str
    type: Literal['Agent', 'Person']


class CapsuleLinks(TypedDict):
    claim: str
    plans: str
    query: str
    schema: str
    signal: str


class CapsuleReview(TypedDict):
    decision: int | None
    requested: Literal['public', 'private']
    state: Literal['not_required', 'pending']


class CapsuleStep(TypedDict):
    how: str
    nodeId: str
    step: int
    title: str


class CapsuleValue(TypedDict):
    nodeId: str
    title: str


class CaseNext(TypedDict):
    action: Literal['pay_difference', 'claim_with_signature', 'wait_for_operator', 'recover_key', 'none']
    detail: str
    missing: str | None
    missingUnits: str | None
    notAfter: str | None
    url: str | None


CasePayment = TypedDict(
    'CasePayment',
    {
        'asset': str,
        'blockNumber': int,
        'from': str,
        'logPosition': int,
        'network': str,
        'paidAt': str,
        'sent': str | None,
        'sentUnits': str,
        'to': str,
        'transactionHash': str,
    },
)


class CaseQuote(TypedDict):
    asked: str
    askedUnits: str
    expiresAt: str
    planId: str
    quoteId: str


class CaseRefund(TypedDict):
    amount: str | None
    amountUnits: str
    transactionHash: str | None


class ChangeCheck(TypedDict):
    agrees: bool | None
    change1h: float | None
    change24h: float | None


class CheckedColumn(TypedDict):
    column: str
    deciles: list[float] | None
    distinctAbout: int
    greatest: float | None
    least: float | None
    nulls: int
    rows: int


class CheckedFact(TypedDict):
    fact: str
    maximum: float | None
    minimum: float
    passed: bool
    value: float | None


class CheckedReceipts(TypedDict):
    blocks: int
    equal: int
    reproduced: int


class CheckedTable(TypedDict):
    blocking: bool
    check: str
    columns: list[CheckedColumn]
    facts: list[CheckedFact]
    judgedAt: str
    judgedBy: str
    passed: bool
    promise: str
    table: str


class ChecklistCounts(TypedDict):
    captured: int
    defined: int
    pendingInput: int
    pendingReview: int


class ChecklistItem(TypedDict):
    id: str
    label: str
    next: str
    state: Literal['captured', 'defined', 'pending_input', 'pending_review']
    summary: str


class ChunkDocument(TypedDict):
    bytes: int
    number: int
    sha256: str


class Churn(TypedDict):
    entered: int
    left: int
    rate: float | None
    retained: int


class CohortDelta(TypedDict):
    after: int
    before: int
    change: int
    cohort: str


class Cohorts(TypedDict):
    age: list[CohortDelta]
    held: list[CohortDelta]
    size: list[CohortDelta]


class ComparedBalances(TypedDict):
    compared: int
    complete: bool
    holders: int


class Concentration(TypedDict):
    gini: float
    hhi: float
    top10Share: float


Confidence: TypeAlias = float | None


class ConfirmRequest(TypedDict):
    client: NotRequired[str]
    confirm: bool


class ConfirmedRanges(TypedDict):
    confirmed: int
    ranges: int


ConsentAt: TypeAlias = str | None


ConsentAt2: TypeAlias = str


class ConsentRule(TypedDict):
    id: str
    text: str


class ConsentRules(TypedDict):
    contract: str
    rules: list[ConsentRule]
    version: str


ConsentVersion: TypeAlias = str | None


ConsistencyLevel: TypeAlias = Literal['finalized', 'confirmations']


Contract: TypeAlias = str | None


class ContradictingEdge(TypedDict):
    notTaken: str
    source: str
    taken: str
    type: str


Data: TypeAlias = str | list[str]


class DayCounts(TypedDict):
    agent: int
    day: str
    enterprise: int
    human: int


class DesignAgentInput(TypedDict):
    id: str
    role: NotRequired[str]


class DesignAgentOutput(TypedDict):
    id: str
    role: str


class DesignConstraints(TypedDict):
    budgetTokens: NotRequired[int]
    confirmation: NotRequired[Literal['owner'] | None]
    privacy: NotRequired[Literal['public', 'internal', 'private', 'regulated']]
    retention: NotRequired[str | None]


Direction: TypeAlias = Literal['outbound', 'inbound']


DisputedFact: TypeAlias = Literal['block_hash', 'total_supply', 'balance', 'transfers']


Document: TypeAlias = str | None


class DrawnDomain(TypedDict):
    name: str
    nodeCount: int
    x: float
    y: float


class DrawnEdge(TypedDict):
    source: str
    target: str
    type: str | None


class DrawnNode(TypedDict):
    domain: str
    id: str
    title: str | None
    type: str | None
    weight: int
    x: float
    y: float


Edge3 = TypedDict(
    'Edge3',
    {
        'amount': Amount | None,
        'amountRaw': str,
        'firstAt': str,
        'from': Address,
        'fromRank': int,
        'lastAt': str,
        'to': Address,
        'toRank': int,
        'transfers': int,
    },
)


EffectKind: TypeAlias = Literal['read', 'write', 'overwrite', 'delete', 'discard', 'create', 'alter', 'cancel', 'send', 'download', 'execute', 'install', 'publish', 'pay', 'grant', 'revoke', 'expose', 'disable', 'escalate', 'persist', 'inject', 'stop', 'disrupt', 'rotate', 'actuate', 'configure']


class Endpoint(TypedDict):
    capability: str
    method: str
    name: str
    url: str


class EnterpriseSummary(TypedDict):
    contactFullName: str
    headline: str
    orgName: str
    teamSize: str
    useCase: str


class EraseRequest1(TypedDict):
    confirm: NotRequired[str | None]
    everything: NotRequired[Literal[True] | None]
    source: str | None


class EraseRequest2(TypedDict):
    confirm: NotRequired[str | None]
    everything: Literal[True] | None
    source: NotRequired[str | None]


EraseRequest: TypeAlias = EraseRequest1 | EraseRequest2


class Erc8004Mapping(TypedDict):
    compatible: Literal[False]
    note: str
    tag1: str
    value: str
    valueDecimals: int


EventKind: TypeAlias = Literal['snapshot', 'large_mover', 'holder_milestone', 'threshold_crossed', 'attestation']


class ExampleClaim(TypedDict):
    paymentRequirementHash: str
    quoteHash: str
    quoteId: str
    transactionHash: str


class FailingJob(TypedDict):
    consecutiveFailures: int
    job: str
    reason: str | None
    since: str


class FeedAuthor(TypedDict):
    name: str
    url: str


class FeedFacts(TypedDict):
    block: int
    facts: dict[str, Any]
    kind: EventKind


class FeedItem(TypedDict):
    field_svc: FeedFacts
    content_text: str
    date_published: str
    id: str
    tags: list[str]
    title: str
    url: str


FetchedAt: TypeAlias = str | None


Finality: TypeAlias = Literal['final', 'pending']


class FirstColumn(TypedDict):
    kind: Literal['integer', 'number', 'decimal', 'string', 'boolean', 'datetime', 'date']
    name: str


class FirstRows(TypedDict):
    columns: list[FirstColumn]
    dataset: str
    file: str
    grain: str
    rows: list[list[str | None]]
    total: int


FirstUsedAt: TypeAlias = str | None


class Flow(TypedDict):
    activation: str
    claim: str
    discover: str
    pay: str
    quote: str
    receipt: str


class Form(TypedDict):
    example: str
    gives: str
    rule: str


GeneratedAt: TypeAlias = str


Generation: TypeAlias = str


class GraphCounts(TypedDict):
    domain_counts: dict[str, int]
    nodeCount: int
    revision: int


class GraphOverlay(TypedDict):
    events: int
    publishRequested: bool
    snapshotRevision: int


class GuardrailEvidence(TypedDict):
    end: int
    start: int
    text: str


class GuardrailProblem(TypedDict):
    code: Literal['action_empty', 'action_too_long', 'action_binary', 'severity_invalid', 'context_invalid', 'context_too_large', 'too_many_calls', 'too_many_effects', 'fault']
    message: str
    pointer: str


class GuardrailReliance(TypedDict):
    fact: str
    meaning: str
    source: str


class Branch(TypedDict):
    ahead: NotRequired[int | None]
    default: NotRequired[bool | None]
    name: NotRequired[str | None]
    protected: NotRequired[bool | None]
    pushed: NotRequired[bool | None]


class Workspace(TypedDict):
    branch: NotRequired[Branch | None]
    commits: NotRequired[dict[str, Literal['kept', 'only_here', 'missing']] | None]
    is_repository: NotRequired[bool | None]
    paths: NotRequired[dict[str, Literal['tracked', 'staged', 'ignored', 'ignored_work', 'dirty', 'untracked', 'missing']] | None]
    root: NotRequired[str | None]


class GuardrailUncovered(TypedDict):
    end: int
    executable: bool
    reason: str
    start: int


class HeldByLargest(TypedDict):
    holders: int
    share: float


HolderKind: TypeAlias = Literal['contract', 'wallet']


class HolderListFile(TypedDict):
    bytes: int
    path: str
    rows: int
    sha256: str


class HumanSummary(TypedDict):
    activationPreference: str
    assistantId: Literal['codex', 'claude-code', 'gemini', 'grok', 'custom']
    billingReadiness: str
    executionSurfaces: list[str]
    experiencePath: Literal['new_to_agents', 'existing_agent_operator']
    firstMission: str
    governanceMode: str
    headline: str
    launchPath: Literal['/create-my-agent', '/upgrade-my-agent', '/launch-builder']
    modelAccess: str
    modelProvider: str
    operatorScope: str
    priceShape: str
    runtimeLabel: str
    runtimeProfile: str
    workspaceName: str
    worldSources: list[str]


class ImportApplication(TypedDict):
    sha256: str


class IndexColumn(TypedDict):
    description: str
    name: str
    required: bool
    type: str


class IndexFile(TypedDict):
    bytes: int | None
    day: str | None
    firstBlock: int | None
    format: Literal['parquet', 'csv', 'csv.gz']
    lastBlock: int | None
    rows: int | None
    sha256: str | None
    url: str
    writtenAt: FirstUsedAt | None


class IntakeActivationStatus(TypedDict):
    activationState: Literal['not_started', 'awaiting_payment', 'activated', 'suspended']
    publicLaunch: Literal['closed', 'cohort', 'open']
    reviewState: Literal['pending_review', 'approved', 'changes_requested']
    selfServeActivation: Literal['enabled', 'disabled']


class IntakeCommercialModel(TypedDict):
    priceShape: str
    runtime: Literal['recurring']
    setup: Literal['one_time']
    usage: Literal['metered']


class IntakeEraseRequest(TypedDict):
    eraseToken: str


class IntakeLinks(TypedDict):
    activationContract: str
    activationPackage: str
    activationState: str
    activationTimeline: str
    app: str
    authContract: str
    authState: str
    billingContract: str
    cohortContract: str
    entitlementsArtifact: str
    entitlementsState: str
    firstMissionPack: str
    intakeStatus: str
    intakeTemplate: str
    launchChecklist: str
    launchStatus: str
    plansArtifact: str
    pricingArtifact: str
    provisioningCapsule: str
    provisioningSchema: str
    registrationContract: str
    resumeApp: str


IssuedAt: TypeAlias = int


class JsonFeed(TypedDict):
    authors: list[FeedAuthor]
    description: str
    feed_url: str
    home_page_url: str
    items: list[FeedItem]
    language: str
    title: str
    version: Literal['https://jsonfeed.org/version/1.1']


class JsonRpcError(TypedDict):
    code: int
    data: NotRequired[Any]
    message: str


class Jwk(TypedDict):
    alg: str
    crv: str
    kid: str
    kty: str
    use: str
    x: str


class Jwks(TypedDict):
    keys: list[Jwk]


Kinds: TypeAlias = list[Literal['messages', 'contacts', 'calendar', 'tasks', 'activity', 'logs', 'incidents', 'documents', 'reference', 'code', 'procedures', 'decisions', 'agreements', 'payments', 'measurements', 'risks']] | None


Lane: TypeAlias = Literal['agent', 'human', 'enterprise']


class LaneCounts(TypedDict):
    active: int
    approved: int
    distinct: int
    registrations: int


class LaneTemplate(TypedDict):
    body: dict[str, Any]
    lane: Lane
    optional: list[str]
    required: list[str]


class LaterErasure(TypedDict):
    by: str
    place: str


class LaunchChecklist(TypedDict):
    counts: ChecklistCounts
    items: list[ChecklistItem]
    profileId: str
    profileLabel: str
    reviewState: Literal['pending_review', 'approved', 'changes_requested']


class LegacyTerm(TypedDict):
    note: str
    supersededBy: str
    term: str


class LinkedAction(TypedDict):
    href: str
    label: str
    parameters: NotRequired[list[ActionParameter] | None]
    type: Literal['post', 'external-link']


class Links(TypedDict):
    next: str | None


Links2: TypeAlias = None


Links3: TypeAlias = list[ArtifactLink]


class ListedAgent(TypedDict):
    agent: Address
    attestationCount: int
    lastAttestedAt: str
    level: Literal['none', 'low', 'medium', 'high']
    trustScore: int
    weightedScore: int


class ListedAttestation(TypedDict):
    agent: Address
    attestedAt: str
    attester: Address
    block: int
    jobId: str
    score: int
    weightedScore: int


class ListedAttester(TypedDict):
    agentCount: int
    attestationCount: int
    attester: Address
    lastAttestedAt: str
    meanScore: int


class LiveCount(TypedDict):
    field: str
    name: str
    url: str


class LiveState(TypedDict):
    checkedAt: FirstUsedAt | None
    determinedBy: str | None
    name: str
    reason: str | None
    state: str


MappingOrder: TypeAlias = Literal['solidity', 'vyper', 'solady']


class MaxAmount1(TypedDict):
    amount: NotRequired[float | str | Links2]
    currency: NotRequired[str | None]


MaxAmount: TypeAlias = float | str | MaxAmount1


class McpEndpoint(TypedDict):
    appUrl: str | None
    codes: list[Literal['companion_application', 'operator']]
    firstTool: str
    protocolVersions: list[str]
    serverCard: str
    tools: list[str]
    url: str


class MemoryStore(TypedDict):
    calledForBy: list[str]
    domains: list[str]
    holdsPersonalData: bool
    id: str
    keepFor: str
    keepForReason: Literal['requested', 'session', 'privacy', 'usefulness']
    nodeId: str
    nodeTypes: list[str]
    purpose: str
    recordSchema: dict[str, Any]
    sources: list[str]
    specialCategories: list[str]
    title: str


class Mission(TypedDict):
    firstDelivery: str
    firstMission: str
    lane: Lane
    profileId: str
    profileLabel: str
    steps: list[str]


class MovedParts(TypedDict):
    edges: int
    left: int
    nodes: int


class Mover(TypedDict):
    address: Address
    afterRaw: str
    beforeRaw: str
    changeRaw: str
    rankAfter: int | None
    rankBefore: int | None


class Movers(TypedDict):
    down: list[Mover]
    up: list[Mover]


Name: TypeAlias = str


class NamedText(TypedDict):
    description: str
    name: str


Network: TypeAlias = str | None


class NextStep(TypedDict):
    name: str
    path: str


class NodeActDocument(TypedDict):
    by: str
    kind: Literal['corrects', 'retracts', 'confirms']
    reason: str
    recordedAt: str


class NodeAnswer(TypedDict):
    answer: str
    host: str


class NodeStanding(TypedDict):
    agreed: bool
    answered: bool
    delivered: bool
    host: str
    reason: str | None


NodeTypes: TypeAlias = str


class Normalized(TypedDict):
    pass


ObjectKind: TypeAlias = Literal['path', 'repository', 'branch', 'commit', 'database', 'table', 'rows', 'schema', 'queue', 'index', 'snapshot_or_backup', 'resource', 'container', 'volume', 'registry_key', 'service', 'scheduled_task', 'kernel_module', 'permission', 'secret', 'credential', 'personal_data', 'message', 'issue', 'project', 'order', 'event', 'payment', 'account', 'package', 'process', 'device', 'thing', 'network', 'guard']


ObservedAt: TypeAlias = str | None


Ok: TypeAlias = Literal[True]


class OntologyVersionDocument(TypedDict):
    recordedAt: str
    version: int


class OperatorProof(TypedDict):
    signature: str
    type: Literal['eip712', 'eip191', 'erc1271']


class OperatorProofToFill(TypedDict):
    signature: str
    type: Literal['eip712']


class OperatorState(TypedDict):
    address: Address
    consentUrl: str
    reason: str | None
    state: Literal['proven', 'unproven', 'unsure']


class OperatorStep(TypedDict):
    address: Address
    field: Literal['integrity.operator']
    later: str
    text: str
    typedData: dict[str, Any]


OrgName: TypeAlias = str


Origin: TypeAlias = Literal['user', 'agent', 'untrusted_content', 'unknown']


class OriginDocument(TypedDict):
    author: Literal['owner', 'pipeline', 'intake', 'constitution', 'operator', 'other']
    decision: str | None
    recordedAt: str


Origin2: TypeAlias = OriginDocument | Links2


Outcome: TypeAlias = Literal['accepted', 'malformed', 'forged', 'other_action', 'other_owner', 'expired', 'taken']


OverviewMode: TypeAlias = Literal['live', 'fallback']


PayTransfer = TypedDict(
    'PayTransfer',
    {
        'amount': str,
        'amountUnits': str,
        'asset': str,
        'assetSymbol': str,
        'call': str,
        'chainId': int,
        'decimals': int,
        'from': str,
        'method': Literal['erc20_transfer'],
        'network': str,
        'notAfter': str,
        'notBefore': str,
        'qrCode': str,
        'to': str,
        'uri': str,
    },
)


class PaymentLinks(TypedDict):
    payment: str
    receipt: str | None


class PaymentPending(TypedDict):
    code: Literal['settlement_pending']
    links: PaymentLinks
    ok: Ok
    paymentId: str
    retryAfter: int


class PendingAct(TypedDict):
    id: str
    kind: Literal['corrects', 'retracts', 'confirms']
    reason: str


class PendingAnswer(TypedDict):
    code: Literal['unknown_tx', 'confirmations', 'not_canonical', 'rpc_unavailable', 'rpc_disagree']
    depth: int | None
    neededDepth: int | None
    ok: Ok
    quoteId: str
    retryAfter: int
    secondsLeft: int | None


class PendingStatement(TypedDict):
    id: str
    properties: dict[str, Any]
    title: str
    type: str
    visibility: Literal['public', 'private']


Place: TypeAlias = Literal['workspace', 'rebuildable', 'ignored', 'temporary', 'home', 'system', 'remote', 'production', 'unknown']


class PlanPayment(TypedDict):
    asset: str | None
    assetSymbol: str
    decimals: int
    network: str
    payTo: str | None
    scheme: Literal['exact']


class PlanPrice(TypedDict):
    amount: str
    amountUnitsFrom: str
    amountUnitsTo: str
    billing: Literal['one_time', 'recurring']
    currency: Literal['USD']
    periodDays: int | None


class PlanRisk(TypedDict):
    id: str
    impact: Literal['low', 'medium', 'high']
    likelihood: Literal['low', 'medium', 'high']
    mitigation: str
    title: str


class PlanWarning(TypedDict):
    code: Literal['plan_active', 'checksum_wrong']
    detail: str
    links: dict[str, str]


PolicyVersion: TypeAlias = str | None


class PossibleDuplicate(TypedDict):
    nodes: list[str]
    reason: Literal['same_title', 'same_words', 'handle_of_name', 'in_live_graph']


class ProblemError(TypedDict):
    detail: str
    pointer: str


class ProjectedEdge(TypedDict):
    source: str
    target: str
    type: str


class ProjectedNode(TypedDict):
    description: str | None
    domain: str
    id: str
    recordedAt: str
    source: str | None
    title: str
    type: str
    url: str | None
    validFrom: str


class ProofToFill(TypedDict):
    signature: str
    type: Literal['eip712']


Properties: TypeAlias = dict[str, Literal['text', 'texts', 'integer', 'fraction', 'instant', 'level']]


class PublishedChecks(TypedDict):
    failed: int
    ok: Ok
    tables: list[CheckedTable]


class PublishedFirstRows(TypedDict):
    ok: Ok
    tables: list[FirstRows]


class PublishedPath(TypedDict):
    maxAgeS: int | None
    mediaType: str
    path: str
    summary: str


Quality: TypeAlias = Literal['exact', 'derived', 'estimated', 'unavailable']


class QuoteIntegrity(TypedDict):
    algorithm: Literal['SHA-256']
    canonicalization: Literal['RFC 8785']
    keysUrl: str
    paymentRequirementHashOf: Literal['data.paymentRequirement']
    quoteHashOf: Literal['data.quote']
    signatureOf: Literal['quoteHash']


class QuotePrice(TypedDict):
    amount: str
    currency: Literal['USD']
    exactAmount: str
    exactAmountUnits: str


class QuoteProof(TypedDict):
    issuedAt: int
    signature: str
    type: Literal['eip712', 'erc1271']


class QuoteRequest1(TypedDict):
    agentId: NotRequired[AgentId | None]
    agentName: NotRequired[str | None]
    assistantId: NotRequired[str | None]
    callbackUrl: NotRequired[str | None]
    integrity: NotRequired[QuoteProof | Links2]
    operatorAddress: NotRequired[str | None]
    payerAddress: str | None
    planId: NotRequired[str]
    userId: NotRequired[str | None]


class QuoteRequest2(TypedDict):
    agentId: NotRequired[AgentId | None]
    agentName: NotRequired[str | None]
    assistantId: NotRequired[str | None]
    callbackUrl: NotRequired[str | None]
    integrity: NotRequired[QuoteProof | Links2]
    operatorAddress: str | None
    payerAddress: NotRequired[str | None]
    planId: NotRequired[str]
    userId: NotRequired[str | None]


QuoteRequest: TypeAlias = QuoteRequest1 | QuoteRequest2


class QuoteToFill(TypedDict):
    payerAddress: str
    planId: str


class RankPoint(TypedDict):
    block: int
    rank: int | None
    time: str


class ReadinessItem(TypedDict):
    next: str
    note: str
    state: Literal['ready', 'action_required', 'pending', 'not_required']


Reason: TypeAlias = str | None


Reason2: TypeAlias = str | None


class ReceiptIntegrity(TypedDict):
    algorithm: Literal['SHA-256']
    canonicalization: Literal['RFC 8785']
    hashedFields: list[str]
    signatureOf: Literal['receiptHash']


class ReceiptLinks(TypedDict):
    keys: str
    plans: str
    receipt: str
    recovery: str


ReceiptPayment = TypedDict(
    'ReceiptPayment',
    {
        'amount': str,
        'amountUnits': str,
        'asset': str,
        'assetSymbol': str,
        'blockHash': str,
        'blockNumber': int,
        'decimals': int,
        'from': str,
        'logPosition': int,
        'network': str,
        'paidAt': str,
        'to': str,
        'transactionHash': str,
    },
)


class ReceiptRecovery(TypedDict):
    method: Literal['payer_signed_rotation', 'owner_signed_rotation']
    signer: str
    url: str


class RecentIntake(TypedDict):
    currentState: Literal['received', 'provisioned', 'awaiting_activation', 'active']
    day: str
    lane: Lane
    profileId: str


class RecentIntakes(TypedDict):
    items: list[RecentIntake]
    ok: Ok


class RecoveryProof(TypedDict):
    signature: str
    type: Literal['eip712', 'erc1271']


class RecoveryRequest(TypedDict):
    issuedAt: IssuedAt
    proof: RecoveryProof


RenderView: TypeAlias = Literal['app-hero', 'hero', 'shell', 'full']


class RequestSchema(TypedDict):
    jsonSchema: dict[str, Any]
    url: str


RequestsPerDay: TypeAlias = int | None


class RetrievalRoute(TypedDict):
    budgetTokens: int
    method: Literal['recent', 'full_text', 'traverse']
    query: dict[str, Any]
    store: str


class RevenuePoint(TypedDict):
    fetchedAt: str
    grossUsd: BalanceEth | None
    revenueUsd: BalanceEth | None


Reversible: TypeAlias = Literal['yes', 'with_backup', 'no']


Revision: TypeAlias = int


class RevocationData(TypedDict):
    keyId: str
    recovery: str | None
    revokedAt: str
    state: Literal['revoked']


Role: TypeAlias = Literal['caller', 'operator']


class Route(TypedDict):
    method: str
    url: str


class SaidToo(TypedDict):
    id: str
    title: str
    type: str


class SampledBalances(TypedDict):
    checked: int
    equal: int


class SampledScores(TypedDict):
    checked: int
    equal: int
    reason: str | None
    verdict: Literal['proven', 'failed', 'unproven']


class SchemaDomain(TypedDict):
    description: str
    name: str
    node_count: int


class SchemaEnds(TypedDict):
    sources: list[str]
    targets: list[str]


class SchemaNodeType(TypedDict):
    domain: str
    properties: dict[str, str]


class SchemaRelationshipType(TypedDict):
    description: str
    ends: list[SchemaEnds]
    single_valued: bool


Schema2: TypeAlias = str


Scope: TypeAlias = Literal['one', 'many', 'all', 'unknown']


class ScopeInfo(TypedDict):
    effective: Literal['all', 'odai', 'token']
    requested: Literal['all', 'odai']
    token: str | None


class SearchHints(TypedDict):
    near_words: list[str]
    node_types: dict[str, int]
    own_nodes: int
    public_nodes: int


Sensitivity: TypeAlias = Literal['none', 'personal', 'secret', 'system']


class ServiceContext(TypedDict):
    baseUrl: str
    description: str
    documents: list[PublishedPath]
    domains: list[str]
    live: list[NextStep]
    name: str
    network: str | None
    ok: Ok
    openapi: str
    schema: Literal['svc.context.v1']
    token: Contract | None


Severity: TypeAlias = Literal['low', 'medium', 'high', 'critical']


class SignalAct(TypedDict):
    id: str
    reason: str


class Signature(TypedDict):
    alg: Literal['EdDSA']
    jws: str
    kid: str


class SignedBody(TypedDict):
    issuedAt: int
    proof: ProofToFill


class SignedPayment(TypedDict):
    amount: str
    amountUnits: str
    asset: str
    claimId: str | None
    expiresAt: str
    links: PaymentLinks
    network: str
    offer: str
    ok: Ok
    payTo: str
    payer: str
    paymentId: str
    reason: str | None
    schema: Literal['svc.agent_access.signed_payment.v1']
    status: Literal['pending', 'settled', 'failed', 'reversed']
    storedAt: str
    transactionHash: str | None


SingleValuedPredicate: TypeAlias = str


SingleValuedPredicates: TypeAlias = list[SingleValuedPredicate] | None


SizeCohort: TypeAlias = Literal['whale', 'shark', 'dolphin', 'fish', 'shrimp']


class SnapshotRef(TypedDict):
    block: int
    id: str
    time: str


Source: TypeAlias = str | None


SourceClass: TypeAlias = Literal['owner', 'signed_system', 'document', 'inference', 'hearsay']


class SourceDocument1(TypedDict):
    id: NotRequired[str | None]
    markdown: NotRequired[str | None]
    mediaType: NotRequired[Literal['text/markdown', 'text/plain', 'application/json', 'text/csv']]
    text: str | None
    title: NotRequired[str | None]
    url: NotRequired[str | None]


class SourceDocument2(TypedDict):
    id: NotRequired[str | None]
    markdown: str | None
    mediaType: NotRequired[Literal['text/markdown', 'text/plain', 'application/json', 'text/csv']]
    text: NotRequired[str | None]
    title: NotRequired[str | None]
    url: NotRequired[str | None]


SourceDocument: TypeAlias = SourceDocument1 | SourceDocument2


Source2: TypeAlias = str


Sources2Item: TypeAlias = str


Sources2: TypeAlias = list[Sources2Item] | None


Stage: TypeAlias = Literal['immutability', 'temporal', 'referential_integrity', 'authority', 'deduplication', 'provenance', 'alignment']


class StageDocument(TypedDict):
    reason: str
    result: Literal['pass', 'warn', 'fail']
    stage: str


Stages: TypeAlias = list[StageDocument]


Stages2: TypeAlias = list[StageDocument]


Stale: TypeAlias = bool


StaleAfter: TypeAlias = str | None


Stale2: TypeAlias = bool


class StateMeaning(TypedDict):
    meaning: str
    state: str


class StatementRefusal(TypedDict):
    pointer: str
    reason: str


Status: TypeAlias = Literal['live', 'planned', 'off', 'unknown']


class Step(TypedDict):
    id: str
    text: str


class StorageProofFile(TypedDict):
    bytes: int
    path: str
    sha256: str


StorageReason: TypeAlias = Literal['not_supported', 'no_state', 'rpc_unavailable', 'header_mismatch', 'proof_invalid', 'stored_elsewhere', 'layout_unknown', 'supply_not_stored', 'no_holders', 'too_costly', 'between_snapshots', 'balance_mismatch', 'supply_mismatch']


StorageVerdict: TypeAlias = Literal['proven', 'failed', 'unproven']


Summary: TypeAlias = str


Summary2: TypeAlias = HumanSummary | AgentSummary | EnterpriseSummary


class SupplyLayout(TypedDict):
    bits: int
    shift: int
    slot: str


class TextSpan(TypedDict):
    document: str
    end: int
    start: int
    text: str


class Thing(TypedDict):
    id: NotRequired[str | None]
    title: str
    type: NotRequired[str]


class Thresholds(TypedDict):
    high: int
    low: int
    medium: int


Tier: TypeAlias = Literal['free', 'basic', 'pro']


class TierEntitlements(TypedDict):
    keyPrefix: str
    plans: list[str]
    requestsPerDay: int | None
    tier: Tier


Title: TypeAlias = str


class Token(TypedDict):
    address: Address
    decimals: int | None
    name: str | None
    symbol: str | None


Token2: TypeAlias = Token | Links2


class TrailStep(TypedDict):
    at: str
    step: Literal['received', 'provisioned', 'review_approved', 'changes_requested', 'activated', 'suspended', 'reinstated']


class Traverse(TypedDict):
    depth: NotRequired[int]
    direction: NotRequired[Literal['outbound', 'inbound', 'both']]
    from_id: str


class TrialOffer(TypedDict):
    days: int
    description: str
    erasedAfterDays: int
    id: str
    name: str
    operations: list[str]
    privateNodes: int
    requestsPerDay: int
    url: str


class TrialPacket(TypedDict):
    accessExpiresAt: str
    apiKey: str
    baseUrl: str
    erasedAt: str
    firstRequest: str
    headers: dict[str, str]
    keyId: str
    owner: Address
    privateNodes: int
    requestsPerDay: int
    tier: Tier


class TrialRequest(TypedDict):
    issuedAt: IssuedAt
    proof: RecoveryProof


class Trigger(TypedDict):
    progress: float | None
    reached: bool | None
    reason: str | None
    remainingWei: BalanceWei | None
    triggerWei: str | None


class TrustConsistency(TypedDict):
    block: int
    blockHash: str
    level: Literal['finalized', 'confirmations']
    sampled: SampledScores
    time: str


class TrustTotals(TypedDict):
    agents: int
    attestations: int
    attesters: int


Type: TypeAlias = str


class TypedData(TypedDict):
    pass


class TypedDataDomain(TypedDict):
    chainId: int
    name: str
    version: str


class Unknown(TypedDict):
    about: str
    assumed: str
    question: str


class UnreadPart(TypedDict):
    document: str
    end: int
    kept: bool
    start: int
    text: str


class UsdValue(TypedDict):
    balanceUsd: str | None
    observedAt: FirstUsedAt | None
    price: str | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


UseCase: TypeAlias = str


ValidFrom: TypeAlias = str | None


ValidTo: TypeAlias = str | None


class Validator(TypedDict):
    stages: list[NamedText]
    verdicts: list[NamedText]


Value: TypeAlias = str | None


Verdict: TypeAlias = Literal['proven', 'failed', 'disputed', 'unproven']


Verdict2: TypeAlias = Literal['approved', 'rejected', 'escalated'] | None


Verdict3: TypeAlias = Literal['approved', 'rejected', 'escalated']


class Verification(TypedDict):
    clockSkewS: int
    confirmations: int | None
    finalizedFrom: str
    providers: int
    quorum: int
    tag: Literal['safe']


class Weighting(TypedDict):
    halfLifeS: int | None
    rule: str


class Withheld(TypedDict):
    id: str
    reason: Literal['corrected', 'forgotten', 'other_type']


class WorldModelCreateRequest(TypedDict):
    displayName: NotRequired[str | None]
    isAI: NotRequired[bool | None]
    name: Name
    ownerId: str
    values: NotRequired[list[Name]]
    visibility: NotRequired[Literal['public', 'private']]


class WorldRender(TypedDict):
    compact: bool
    domains: list[DrawnDomain]
    edgeCount: int
    edges: list[DrawnEdge]
    nodeCount: int
    nodes: list[DrawnNode]
    ok: Ok
    revision: int
    truncated: bool
    view: RenderView


WorldSources: TypeAlias = str


class AccountKey(TypedDict):
    changedAt: str
    createdAt: str
    firstUsedAt: FirstUsedAt | None
    hint: str
    isThisOne: bool
    keyId: str
    lastUsedAt: str | None
    state: Literal['active', 'suspended', 'revoked']


class AccountPlan(TypedDict):
    boughtTier: Tier
    expiresAt: str | None
    id: str | None
    name: str | None
    tier: Tier


class ActionLinks(TypedDict):
    actions: list[LinkedAction]


class ActionRequest(TypedDict):
    account: str
    data: NotRequired[dict[str, Data] | None]
    type: NotRequired[str | None]


class ActivationPacket(TypedDict):
    accessExpiresAt: FirstUsedAt | None
    apiKey: str
    baseUrl: str
    firstRequest: str
    headers: dict[str, str]
    keyId: str
    requestsPerDay: RequestsPerDay | None
    tier: Tier


AddressTransfer = TypedDict(
    'AddressTransfer',
    {
        'block': int,
        'from': str,
        'logIndex': int,
        'time': str,
        'to': str,
        'transactionHash': str,
        'value': Value | None,
        'valueRaw': str,
    },
)


class ApprovalAnswer(TypedDict):
    data: ApprovalResult
    ok: Ok


class BalanceLayout(TypedDict):
    base: str
    bits: int
    offset: int
    order: MappingOrder
    shift: int


class BalancePoint(TypedDict):
    balance: Value | None
    balanceRaw: str
    block: int
    changeRaw: str
    time: str


class Basis(TypedDict):
    block: int
    kind: Literal['list', 'replay']
    provenBlock: int
    provenBlockHash: str
    time: str | None
    verdict: Verdict


Basis2: TypeAlias = Basis | Links2


class BlockRef(TypedDict):
    block: int
    blockHash: str
    finality: Finality
    time: str


class Edge(TypedDict):
    confidence: NotRequired[Confidence | None]
    properties: NotRequired[dict[str, Any]]
    source: str
    target: str
    type: str
    validFrom: NotRequired[ValidFrom | None]
    validTo: NotRequired[ValidTo | None]


class Node(TypedDict):
    confidence: NotRequired[Confidence | None]
    id: str
    properties: NotRequired[dict[str, Any]]
    title: str
    type: str
    validFrom: NotRequired[ValidFrom | None]
    validTo: NotRequired[ValidTo | None]


class BuiltEdge(TypedDict):
    properties: dict[str, Any]
    rule: str
    source: str
    spans: list[TextSpan]
    target: str
    type: str
    validFrom: str | None
    validTo: str | None


class BuiltNode(TypedDict):
    domain: str
    id: str
    properties: dict[str, Any]
    rule: str
    spans: list[TextSpan]
    title: str
    type: str
    validFrom: str | None
    validTo: str | None


class CapabilityEntry(TypedDict):
    access: Literal['public', 'api_key', 'pairing']
    checkedAt: str | None
    description: str
    determinedBy: Literal['settings', 'warehouse', 'http']
    evidence: str | None
    id: str
    kind: str
    missingSettings: list[str]
    reason: str | None
    routes: list[Route]
    status: Status
    title: str
    tools: list[str]


class CapabilityRegistry(TypedDict):
    baseUrl: str
    capabilities: list[CapabilityEntry]
    network: str
    ok: Ok
    schema: Literal['svc.base_capabilities.v1']
    schemaUrl: str
    service: str
    version: str


class CaseAnswer(TypedDict):
    caseId: str
    changedAt: str
    claimId: str | None
    code: str
    next: CaseNext
    ok: Ok
    otherCases: list[str]
    payment: CasePayment
    quote: CaseQuote | Links2
    recordedAt: str
    refund: CaseRefund | Links2
    schema: Literal['svc.agent_access.case.v1']
    state: Literal['open', 'supplement_offered', 'claimed', 'issued', 'refund_due', 'refunded']


class CaseChallenge(TypedDict):
    body: SignedBody
    caseId: str
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Ok
    schema: Literal['svc.agent_access.case_challenge.v1']
    signer: str
    supplementUrl: str
    typedData: TypedData
    url: str


class CaseRequest(TypedDict):
    issuedAt: IssuedAt
    proof: RecoveryProof


class CatalogPayment(TypedDict):
    asset: str | None
    assetName: str
    assetSymbol: str
    assetVersion: str
    calls: list[CallOffer]
    claimGraceDays: int
    decimals: int
    exactAmount: Literal[True]
    live: bool
    missing: list[str]
    network: str
    payTo: str | None
    payerProofAbove: str | None
    paymentSignatureLive: bool
    reason: str | None
    scheme: Literal['exact']
    verification: Verification


class ClaimDocument(TypedDict):
    confidence: float | None
    id: str
    source: str
    sourceClass: SourceClass
    title: str
    validFrom: str
    value: str | float | bool | dict[str, Any] | list[str | float | bool | dict[str, Any]] | Links2


class ClaimIntegrity1(TypedDict):
    operator: NotRequired[OperatorProof | Links2]
    signature: str | None
    type: Literal['eip712', 'eip191', 'erc1271'] | None


class ClaimIntegrity2(TypedDict):
    operator: OperatorProof | Links2
    signature: NotRequired[str | None]
    type: NotRequired[Literal['eip712', 'eip191', 'erc1271'] | None]


class ClaimIntegrity3(TypedDict):
    operator: NotRequired[OperatorProof | Links2]
    signature: NotRequired[str | None]
    type: NotRequired[Literal['eip712', 'eip191', 'erc1271'] | None]


ClaimIntegrity: TypeAlias = ClaimIntegrity1 | ClaimIntegrity2 | ClaimIntegrity3


class ClaimRequest(TypedDict):
    integrity: NotRequired[ClaimIntegrity | Links2]
    paymentRequirementHash: str
    quoteHash: str
    quoteId: str
    transactionHash: str


class ClaimStep(TypedDict):
    body: ExampleClaim
    headers: dict[str, str]
    method: Literal['POST']
    notAfter: str
    operator: OperatorStep | Links2
    proof: dict[str, Any]
    proofRequired: bool
    url: str


class ComparedList(TypedDict):
    block: int
    concentration: Concentration
    holders: int
    id: str
    sumRaw: str
    time: str


class ConfirmResult(TypedDict):
    decision: int
    revision: Revision
    stages: list[StageDocument]
    verdict: Literal['approved', 'rejected', 'escalated']


class Consent1(TypedDict):
    accepted: Literal[True]
    at: NotRequired[FirstUsedAt | None]
    policyVersion: NotRequired[PolicyVersion | None]


Consent: TypeAlias = Literal[True] | Consent1


class ConsentData(TypedDict):
    claimId: str
    moved: MovedParts
    operator: OperatorState
    owner: Address


class ConsentRequest(TypedDict):
    over: NotRequired[Literal['claim', 'quote']]
    proof: OperatorProof


class ConsentToFill(TypedDict):
    proof: OperatorProofToFill


Consistency2: TypeAlias = TrustConsistency | Links2


class ContextBidwall(TypedDict):
    balanceWei: BalanceWei | None
    document: Document | None
    observedAt: FirstUsedAt | None
    progress: float | None
    quality: Quality
    reason: Reason2 | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None


class ContextGraph(TypedDict):
    document: Document | None
    edgeCount: int | None
    nodeCount: int | None
    observedAt: FirstUsedAt | None
    quality: Quality
    reason: Reason2 | None
    revision: int | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None


class ContextHolders(TypedDict):
    block: int | None
    document: Document | None
    holderCount: int | None
    observedAt: FirstUsedAt | None
    proof: Verdict | Links2
    quality: Quality
    reason: Reason2 | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None
    top10Share: float | None
    totalSupply: BalanceEth | None


class ContextPrice(TypedDict):
    change24h: float | None
    document: Document | None
    marketCapUsd: float | None
    observedAt: FirstUsedAt | None
    priceUsd: BalanceEth | None
    quality: Quality
    reason: Reason2 | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None


class ContextTrust(TypedDict):
    agents: int | None
    attestations: int | None
    document: Document | None
    observedAt: FirstUsedAt | None
    quality: Quality
    reason: Reason2 | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None


class ContractArtifact(TypedDict):
    artifact: Artifact
    links: Links3
    ok: Ok
    rules: list[ArtifactRule]
    schema: Schema2
    states: list[StateMeaning]
    summary: Summary
    title: Title


class ContractBalancePoint(TypedDict):
    at: BlockRef | Links2
    balanceEth: BalanceEth | None
    balanceWei: str | None
    highestWei: BalanceWei | None
    lowestWei: str | None
    quality: Quality
    readings: int
    reason: str | None
    start: str


class ContractBalanceSeries(TypedDict):
    chainId: int | None
    contract: Contract | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    interval: Literal['day', 'hour']
    observedAt: ObservedAt | None
    ok: Ok
    points: list[ContractBalancePoint]
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    triggerWei: str | None


ContractTransfer = TypedDict(
    'ContractTransfer',
    {
        'block': int,
        'direction': Literal['in', 'out', 'self'],
        'finality': Finality,
        'from': Address,
        'logIndex': int,
        'time': str,
        'timeQuality': Literal['exact', 'estimated'],
        'to': Address,
        'token': Address,
        'transactionHash': str,
        'valueRaw': str,
    },
)


class CountsByLane(TypedDict):
    agent: LaneCounts
    enterprise: LaneCounts
    human: LaneCounts


class DesignGoal(TypedDict):
    kinds: NotRequired[Kinds]
    priority: NotRequired[Literal['low', 'medium', 'high']]
    title: str


class DesignSource(TypedDict):
    kinds: NotRequired[Kinds]
    personal: NotRequired[bool | None]
    specialCategories: NotRequired[list[Literal['racial_or_ethnic_origin', 'political_opinions', 'religious_or_philosophical_beliefs', 'trade_union_membership', 'genetic_data', 'biometric_data', 'health', 'sex_life_or_sexual_orientation', 'criminal_convictions']] | None]
    title: str


class Discrepancy(TypedDict):
    absolute: int | None
    fetchedAt: str
    ours: int
    percent: float | None
    quality: Quality
    reason: str | None
    source: str
    theirs: int | None


class Dispute(TypedDict):
    answers: list[NodeAnswer]
    block: int
    fact: DisputedFact
    firstSeenAt: str
    lastSeenAt: str
    settledAt: str | None
    settledBy: str | None
    subject: str | None


class DisputeDocument(TypedDict):
    claims: list[ClaimDocument]
    predicate: str
    subject: str
    total: int


Disputes: TypeAlias = list[DisputeDocument]


class EdgeDocument(TypedDict):
    actor: str
    disputed: bool
    id: str
    origin: Origin2
    owner: str | None
    properties: dict[str, Any]
    recordedAt: str
    revision: int
    source: str
    sourceClass: SourceClass
    statedIn: str
    target: str
    type: str
    validFrom: str
    validTo: str | None
    visibility: Literal['public', 'private']


Edges: TypeAlias = list[EdgeDocument]


class EnterpriseIntake(TypedDict):
    consent: Consent
    consentAt: NotRequired[ConsentAt | None]
    consentVersion: NotRequired[ConsentVersion | None]
    contactEmail: str
    contactFullName: OrgName
    contactName: NotRequired[str | None]
    contactRole: OrgName
    lane: Literal['enterprise']
    orgName: OrgName
    source: NotRequired[Source2]
    teamSize: NotRequired[PolicyVersion | None]
    telegram: NotRequired[PolicyVersion | None]
    useCase: UseCase


class EntitlementsArtifact(TypedDict):
    artifact: Artifact
    links: Links3
    ok: Ok
    profiles: dict[str, list[str]]
    schema: Schema2
    summary: Summary
    tiers: list[TierEntitlements]
    title: Title


class ErasureData(TypedDict):
    edges: int
    erasedAtOnce: list[str]
    erasedLater: list[LaterErasure]
    erasureId: str | None
    finishedAt: str | None
    leftToOperator: list[str]
    nodes: int
    requestedAt: str
    revision: int
    saidToo: list[SaidToo]
    scope: Literal['node', 'source', 'everything']


class EventsInfo(TypedDict):
    block: int | None
    blockHash: str | None
    quality: Quality
    reason: str | None
    time: FirstUsedAt | None


class GraphHealth(TypedDict):
    graph: GraphCounts
    overlay: GraphOverlay
    status: Literal['ok', 'degraded']


class GraphHealthAnswer(TypedDict):
    data: GraphHealth
    ok: Ok


class GraphQueryRequest(TypedDict):
    asOf: NotRequired[str | None]
    atRevision: NotRequired[int | None]
    cursor: NotRequired[str | None]
    domain: NotRequired[Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS'] | None]
    include_edges: NotRequired[bool]
    include_ended: NotRequired[bool]
    limit: NotRequired[int]
    node_id: NotRequired[str | None]
    node_types: NotRequired[list[NodeTypes] | None]
    order: NotRequired[Literal['id', 'recent']]
    recordedAsOf: NotRequired[int | str | Links2]
    scope: NotRequired[Literal['own', 'public', 'both']]
    search: NotRequired[str | None]
    traverse: NotRequired[Traverse | Links2]


class GuardrailMatch(TypedDict):
    evidence: list[GuardrailEvidence]
    id: str
    reason: str
    references: list[str]
    remediation: str
    severity: Severity
    stage: Stage


class Limits(TypedDict):
    amount: NotRequired[MaxAmount | Links2]
    currency: NotRequired[str | None]
    max_amount: NotRequired[MaxAmount | Links2]
    max_amount_usd: NotRequired[float | str | Links2]
    max_per_action: NotRequired[MaxAmount | Links2]
    networks: NotRequired[Data | Links2]
    recipients: NotRequired[Data | Links2]
    spenders: NotRequired[Data | Links2]


class Context(TypedDict):
    agent_role: NotRequired[str | None]
    allowed_hosts: NotRequired[Data | Links2]
    already_done: NotRequired[bool | None]
    approval_token: NotRequired[str | None]
    approved: NotRequired[bool | None]
    backup_available: NotRequired[bool | None]
    cwd: NotRequired[str | None]
    destination: NotRequired[str | None]
    environment: NotRequired[str | None]
    expected_recipient: NotRequired[Data | Links2]
    home: NotRequired[str | None]
    instruction_origin: NotRequired[Literal['user', 'agent', 'untrusted_content', 'unknown'] | Links2]
    limits: NotRequired[Limits | None]
    manifest: NotRequired[dict[str, Any] | list[dict[str, Any]] | Links2]
    os: NotRequired[str | None]
    paid_references: NotRequired[Data | Links2]
    planned_steps: NotRequired[Data | Links2]
    run_as: NotRequired[str | None]
    scene: NotRequired[str | None]
    tool: NotRequired[str | None]
    untrusted_content: NotRequired[Data | Links2]
    user_request: NotRequired[Data | Links2]
    workspace: NotRequired[Workspace | None]


class GuardrailRequest(TypedDict):
    action: str
    context: NotRequired[Context | None]
    severity: NotRequired[Severity]


class GuardrailStage(TypedDict):
    matched: list[str]
    reason: str | None
    result: Literal['pass', 'warn', 'fail']
    stage: Stage


class GuardrailTarget(TypedDict):
    origin: Origin
    place: Place
    sensitivity: Sensitivity
    text: str


class Health(TypedDict):
    ageS: int
    brokenTokens: list[str]
    clockSkewS: int | None
    disputes: int
    failedChecks: list[str]
    failingJobs: list[FailingJob]
    generatedAt: GeneratedAt
    generation: str
    guardrailProblem: str | None
    host: str
    ledgerReachable: bool
    observedAgeS: int
    ok: Ok
    paymentsProblem: str | None
    staleDocuments: list[str]
    status: Literal['ok', 'degraded']


class Holder(TypedDict):
    address: Address
    balance: Value | None
    balanceRaw: str
    cohort: SizeCohort
    firstHeldAt: str | None
    firstSeenAt: str
    kind: HolderKind | Links2
    lastActiveAt: str
    rank: int
    share: float


class HumanIntake(TypedDict):
    activationPreference: NotRequired[PolicyVersion | None]
    agentName: NotRequired[PolicyVersion | None]
    assistantId: NotRequired[Literal['codex', 'claude-code', 'gemini', 'grok', 'custom'] | None]
    billingReadiness: NotRequired[PolicyVersion | None]
    consent: Consent
    consentAt: NotRequired[ConsentAt | None]
    consentVersion: NotRequired[ConsentVersion | None]
    email: NotRequired[str | None]
    executionSurfaces: NotRequired[list[WorldSources] | None]
    experiencePath: NotRequired[Literal['new_to_agents', 'existing_agent_operator'] | None]
    firstMission: NotRequired[str | None]
    governanceMode: NotRequired[PolicyVersion | None]
    lane: Literal['human']
    launchPath: NotRequired[Literal['/create-my-agent', '/upgrade-my-agent', '/launch-builder'] | None]
    modelAccess: NotRequired[PolicyVersion | None]
    modelProvider: NotRequired[PolicyVersion | None]
    name: OrgName
    operatorScope: NotRequired[PolicyVersion | None]
    role: NotRequired[PolicyVersion | None]
    runtimeProfile: NotRequired[PolicyVersion | None]
    source: NotRequired[Source2]
    telegram: str
    twitter: NotRequired[PolicyVersion | None]
    useCase: UseCase
    workspaceName: NotRequired[PolicyVersion | None]
    worldSources: NotRequired[list[WorldSources] | None]


class ImportResult(TypedDict):
    decisions: int
    edges: int
    nodeIds: list[str]
    nodes: int
    revision: Revision
    stages: list[StageDocument]
    verdict: Literal['approved', 'rejected', 'escalated']
    written: int


class ImportState(TypedDict):
    chunkBytes: int
    chunks: list[ChunkDocument]
    createdAt: str
    expiresAt: str
    importId: str
    mostChunks: int
    result: ImportResult | Links2
    status: Literal['open', 'applied']


class IndexDataset(TypedDict):
    columns: list[IndexColumn]
    contract: str
    description: str
    exactSums: dict[str, str]
    files: list[IndexFile]
    name: str
    split: Literal['whole', 'block', 'day', 'list']


class IntakeErased(TypedDict):
    erased: Ok
    intakeId: str
    ok: Ok


class IntakeReadiness(TypedDict):
    activation: ReadinessItem
    auth: ReadinessItem
    billing: ReadinessItem
    entitlements: ReadinessItem


class IntakeStats(TypedDict):
    byDay: list[DayCounts]
    byLane: CountsByLane
    ok: Ok
    total: int


class JsonRpcAnswer(TypedDict):
    error: NotRequired[JsonRpcError | Links2]
    id: str | int | float | Links2
    jsonrpc: Literal['2.0']
    result: NotRequired[dict[str, Any] | None]


class JsonRpcRefusal(TypedDict):
    error: JsonRpcError
    id: str | int | float | Links2
    jsonrpc: Literal['2.0']


class JsonRpcRequest(TypedDict):
    id: NotRequired[str | int | float | Links2]
    jsonrpc: Literal['2.0']
    method: str
    params: NotRequired[dict[str, Any] | None]


class MarketplaceRevenue(TypedDict):
    ageS: int | None
    agentId: str | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    grossUsd: str | None
    history: list[RevenuePoint]
    lastActiveAt: FirstUsedAt | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    revenueUsd: str | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    successRatePercent: float | None
    successfulJobs: int | None
    uniqueBuyers: int | None
    volumeUsd: str | None


class Metric(TypedDict):
    document: Document | None
    observedAt: FirstUsedAt | None
    quality: Quality
    reason: Reason2 | None
    source: str | None
    stale: Stale2
    staleAfter: FirstUsedAt | None
    unit: str
    value: int | float | str | Links2


class MissionsArtifact(TypedDict):
    artifact: Artifact
    links: Links3
    missions: list[Mission]
    ok: Ok
    schema: Schema2
    summary: Summary
    title: Title


class NodeDecisionDocument(TypedDict):
    decidedAt: str
    decision: int
    stages: list[StageDocument] | None
    verdict: str


class NodeDocument(TypedDict):
    actor: str
    confirmedAs: SourceClass | Links2
    confirmedAt: str | None
    disputed: bool
    domain: str
    endedBy: str | None
    erased: bool
    id: str
    immutable: bool
    origin: Origin2
    owner: str | None
    properties: dict[str, Any]
    recordedAt: str
    retracted: bool
    revision: int
    source: str
    sourceClass: SourceClass
    statedAt: str | None
    statedTo: str | None
    title: str
    type: str
    validFrom: str
    validTo: str | None
    visibility: Literal['public', 'private']


class NodeSourceDocument(TypedDict):
    actor: str
    source: str
    sourceClass: SourceClass
    statedAt: str


class NodeStateDocument(TypedDict):
    decision: int
    node: NodeDocument
    retiredAt: str | None


Nodes: TypeAlias = list[NodeDocument]


class NotUnderstood(TypedDict):
    leftOut: int
    leftOutCharacters: int
    parts: list[UnreadPart]
    passageCharacters: int
    passages: int


Operator: TypeAlias = OperatorState | Links2


class OperatorChallenge(TypedDict):
    body: ConsentToFill
    claimId: str
    method: Literal['POST']
    ok: Ok
    operator: OperatorState
    owner: Address
    schema: Literal['svc.agent_access.operator_challenge.v1']
    text: str
    typedData: dict[str, Any]
    url: str


class OwnEndsInput(TypedDict):
    sources: NotRequired[Sources2]
    targets: NotRequired[Sources2]


class OwnEndsOutput(TypedDict):
    sources: Sources2
    targets: Sources2


class OwnNodeTypeInput(TypedDict):
    domain: Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS']
    properties: NotRequired[Properties]


class OwnNodeTypeOutput(TypedDict):
    domain: Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS']
    properties: Properties


class OwnRelationshipTypeInput(TypedDict):
    description: str
    ends: NotRequired[list[OwnEndsInput]]
    single_valued: NotRequired[bool]


class OwnRelationshipTypeOutput(TypedDict):
    description: str
    ends: list[OwnEndsOutput]
    single_valued: bool


class PartnerSnapshot(TypedDict):
    ageS: int | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    snapshot: dict[str, Any] | None
    snapshotSha256: str | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    unchangedSince: str | None


class PendingState(TypedDict):
    acts: list[PendingAct]
    by: Literal['owner', 'operator'] | None
    decidedAt: str
    decision: int
    settledBy: int | None
    source: str
    state: Literal['waiting', 'settled']
    statements: list[PendingStatement]


class PendingWriteAnswer(TypedDict):
    data: PendingState
    ok: Ok


class PlanOffer(TypedDict):
    claimable: bool
    deliverable: str
    description: str
    id: str
    name: str
    payment: PlanPayment
    price: PlanPrice
    reason: str | None
    requestsPerDay: RequestsPerDay | None
    status: Literal['available', 'unavailable']
    tier: Tier


class PointPrice(TypedDict):
    block: int | None
    close: float
    high: float
    low: float
    open: float
    quality: Quality
    source: Literal['observed', 'pool', 'pool_then_observed']


class PriceObservation(TypedDict):
    differencePercent: float | None
    fetchedAt: str
    latencyMs: int
    observedAt: str | None
    price: str | None
    quality: Quality
    reason: str | None
    source: str
    suspicious: bool


class PricedPlan(TypedDict):
    amount: str
    billing: Literal['one_time', 'recurring']
    deliverable: str
    description: str
    id: str
    name: str
    periodDays: int | None
    requestsPerDay: RequestsPerDay | None
    tier: Tier


class PricingArtifact(TypedDict):
    artifact: Artifact
    commercialModel: IntakeCommercialModel
    currency: Literal['USD']
    links: Links3
    ok: Ok
    plans: list[PricedPlan]
    schema: Schema2
    summary: Summary
    title: Title


Problem = TypedDict(
    'Problem',
    {
        'asked': NotRequired[str],
        'askedUnits': NotRequired[str],
        'caseId': NotRequired[str],
        'claimId': NotRequired[str],
        'code': str,
        'detail': str,
        'errors': list[ProblemError],
        'instance': str,
        'links': NotRequired[dict[str, str]],
        'message': NotRequired[str],
        'nearest': NotRequired[dict[str, str]],
        'next': NotRequired[dict[str, Any]],
        'ok': Literal[False],
        'proof': NotRequired[dict[str, Any]],
        'requestId': str,
        'retryAfter': NotRequired[int],
        'retryable': bool,
        'sent': NotRequired[str],
        'sentUnits': NotRequired[str],
        'status': int,
        'title': str,
        'type': str,
        'violated-policies': NotRequired[list[str]],
    },
)


class ProjectedChange(TypedDict):
    added: int
    changed: int
    ended: int
    recordedAt: str
    revision: Revision
    source: str | None
    titles: list[str]


class ProvisioningTrail(TypedDict):
    commercialModel: IntakeCommercialModel | Links2
    currentState: Literal['received', 'provisioned', 'awaiting_activation', 'active']
    links: IntakeLinks
    nextSteps: list[str]
    steps: list[TrailStep]


class PublicContract(TypedDict):
    baseUrl: str
    capabilities: CapabilityLists
    capabilitiesUrl: str
    description: str
    domains: list[NamedText]
    legacyTerms: list[LegacyTerm]
    liveCounts: list[LiveCount]
    network: str
    ok: Ok
    openapi: str
    paymentUrl: str
    rules: list[NamedText]
    schema: Literal['svc.public_contract.v1']
    schemaUrl: str
    service: str
    summary: str
    title: str
    validator: Validator


class QuoteNext(TypedDict):
    claim: ClaimStep
    pay: PayTransfer
    plans: str
    receipt: str


class QuoteStep(TypedDict):
    body: QuoteToFill
    headers: dict[str, str]
    method: Literal['POST']
    url: str


class ReceiptClaim(TypedDict):
    agentId: str | None
    claimId: str
    keyHint: str | None
    keyId: str | None
    owner: str
    payer: str
    planId: str
    tier: Tier


class ReceiptGovernance(TypedDict):
    headAtIssue: int
    onReorganisation: str
    verification: Verification


class RecoveryChallenge(TypedDict):
    body: SignedBody
    claimId: str
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Ok
    schema: Literal['svc.agent_access.recovery_challenge.v1']
    signer: str
    typedData: TypedData
    url: str


class RecoveryData(TypedDict):
    activationPacket: ActivationPacket
    claimId: str
    revokedKeyId: str


class RegistrationMode(TypedDict):
    capability: str
    id: str
    missingSettings: list[str]
    reason: str | None
    status: Status
    steps: list[Step]
    title: str


class RevocationAnswer(TypedDict):
    data: RevocationData
    ok: Ok


class RotationData(TypedDict):
    activationPacket: ActivationPacket
    revokedKeyId: str


class SchemaArtifact(TypedDict):
    artifact: Artifact
    jsonSchema: dict[str, Any]
    links: Links3
    ok: Ok
    schema: Schema2
    summary: Summary
    title: Title


class SchemaOntology(TypedDict):
    node_types: dict[str, SchemaNodeType]
    relationship_types: dict[str, SchemaRelationshipType]
    single_valued_predicates: list[str]
    version: str


class SeriesPoint(TypedDict):
    gini: float | None
    hhi: float | None
    holders: int
    lastBlock: int
    left: int
    new: int
    priceReason: str | None
    priceUsd: PointPrice | Links2
    provenBlock: int | None
    quality: Quality
    returned: int
    start: str
    top10Share: float | None
    transfers: int
    verdict: Verdict | Links2
    volumeRaw: str


class SignalLinkInput(TypedDict):
    direction: NotRequired[Direction]
    target: str
    type: Type


class SignalLinkOutput(TypedDict):
    direction: Direction
    target: str
    type: Type


class SignalRequest(TypedDict):
    confidence: NotRequired[float | None]
    confirms: NotRequired[SignalAct | Links2]
    corrects: NotRequired[SignalAct | Links2]
    domain: NotRequired[str | None]
    expectedRevision: NotRequired[int | None]
    idempotencyKey: NotRequired[str | None]
    links: NotRequired[list[SignalLinkInput]]
    observedAt: NotRequired[str | None]
    payload: NotRequired[dict[str, Any]]
    retracts: NotRequired[SignalAct | Links2]
    signature: NotRequired[str | None]
    source: str
    sourceClass: NotRequired[SourceClass]
    title: NotRequired[str | None]
    type: NodeTypes
    validFrom: NotRequired[str | None]
    validTo: NotRequired[str | None]
    visibility: NotRequired[Literal['public', 'private']]


class SignalResult(TypedDict):
    accepted: bool
    decision: int
    disputes: list[DisputeDocument]
    edges: Edges
    nodes: Nodes
    revision: Revision
    signalId: str
    stages: Stages2
    verdict: Verdict3


class Signing(TypedDict):
    algorithm: Literal['EdDSA']
    canonicalization: Literal['RFC 8785']
    format: str
    hash: Literal['SHA-256']
    keysUrl: str
    payerDomain: TypedDataDomain


class SiteMetricValues(TypedDict):
    contractBalanceWei: Metric
    ethUsd: Metric
    graphEdges: Metric
    graphNodes: Metric
    holders: Metric
    marketCapUsd: Metric
    priceUsd: Metric
    trustAgents: Metric
    trustAttestations: Metric
    volume24hUsd: Metric


class SiteMetrics(TypedDict):
    domainCounts: dict[str, int] | None
    edgeCount: int | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    ledgerSeq: int | None
    metrics: SiteMetricValues
    nodeCount: int | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None


Sources: TypeAlias = list[PriceObservation]


class StateArtifact(TypedDict):
    artifact: Artifact
    links: Links3
    ok: Ok
    schema: Schema2
    states: list[LiveState]
    summary: Summary
    title: Title


class StorageProof(TypedDict):
    balanceLayout: BalanceLayout | Links2
    file: StorageProofFile | Links2
    proven: int
    reason: StorageReason | Links2
    supply: str | None
    supplyLayout: SupplyLayout | Links2
    unequal: int
    verdict: StorageVerdict


class TemplateArtifact(TypedDict):
    artifact: Artifact
    consentVersion: str
    links: Links3
    ok: Ok
    schema: Schema2
    summary: Summary
    templates: list[LaneTemplate]
    title: Title


class TimelineArtifact(TypedDict):
    artifact: Artifact
    checkedAt: FirstUsedAt | None
    days: list[DayCounts]
    determinedBy: str | None
    links: Links3
    ok: Ok
    schema: Schema2
    summary: Summary
    title: Title


class TokenHolder(TypedDict):
    address: Address
    balance: Value | None
    balanceRaw: str | None
    basis: Basis2
    block: int | None
    chainId: int | None
    cohort: SizeCohort | Links2
    fetchedAt: FetchedAt | None
    firstHeldAt: str | None
    firstHeldBlock: int | None
    firstSeenAt: str | None
    firstSeenBlock: int | None
    generatedAt: GeneratedAt
    generation: Generation
    history: list[BalancePoint]
    lastActiveAt: str | None
    links: Links
    nextCursor: str | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    rank: int | None
    ranks: list[RankPoint]
    reason: Reason | None
    share: float | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2


class TokenHolderEdges(TypedDict):
    among: int
    basis: Basis2
    block: int | None
    chainId: int | None
    days: int
    edges: list[Edge3]
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2


TokenHoldersTemporal = TypedDict(
    'TokenHoldersTemporal',
    {
        'chainId': int | None,
        'churn': Churn | Links2,
        'cohorts': Cohorts | Links2,
        'fetchedAt': FetchedAt | None,
        'from': ComparedList | Links2,
        'generatedAt': GeneratedAt,
        'generation': Generation,
        'movers': Movers | Links2,
        'observedAt': ObservedAt | None,
        'ok': Ok,
        'quality': Quality,
        'reason': Reason | None,
        'snapshots': list[SnapshotRef],
        'source': Source | None,
        'stale': Stale,
        'staleAfter': StaleAfter | None,
        'to': ComparedList | Links2,
        'token': Token2,
    },
)


class TokenPriceData(TypedDict):
    ageS: int | None
    block: int | None
    buys24h: int | None
    change1h: float | None
    change24h: float | None
    changeCheck: ChangeCheck
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    liquidityUsd: float | None
    mcap: float | None
    observedAt: ObservedAt | None
    pool: str | None
    pools: int | None
    price: str | None
    quality: Quality
    reason: Reason | None
    sells24h: int | None
    source: Source | None
    sources: Sources
    stale: Stale
    staleAfter: StaleAfter | None
    token: Contract | None
    tradesBlock: int | None
    tradesQuality: Quality
    tradesReason: str | None
    volume24h: float | None


class TokenSeries(TypedDict):
    basis: Basis | Links2
    chainId: int | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    interval: str
    observedAt: ObservedAt | None
    ok: Ok
    points: list[SeriesPoint]
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2


class TrialAnswer(TypedDict):
    data: TrialPacket
    ok: Ok
    schema: Literal['svc.agent_access.trial_response.v1']


class TrialChallenge(TypedDict):
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Ok
    schema: Literal['svc.agent_access.trial_challenge.v1']
    signer: Address
    trial: TrialOffer
    typedData: TypedData
    url: str


class Triple(TypedDict):
    confidence: NotRequired[Confidence | None]
    id: NotRequired[str | None]
    object: str | Thing
    predicate: str
    subject: str | Thing
    validFrom: NotRequired[ValidFrom | None]
    validTo: NotRequired[ValidTo | None]


class TrustProtocol(TypedDict):
    consistency: Consistency2
    erc8004: Erc8004Mapping
    escrow: Contract | None
    fetchedAt: FetchedAt | None
    functions: dict[str, str]
    generatedAt: GeneratedAt
    generation: Generation
    highestScore: int
    lowestScore: int
    network: Network | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    registry: Contract | None
    scorePath: str
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    thresholds: Thresholds
    totals: TrustTotals | Links2
    weighting: Weighting


class TrustRegistry(TypedDict):
    agents: list[ListedAgent]
    attestations: list[ListedAttestation]
    attesters: list[ListedAttester]
    consistency: Consistency2
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    network: Network | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    registry: Contract | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    totals: TrustTotals | Links2
    truncated: bool


class TrustScore(TypedDict):
    agent: Address
    attestationCount: int | None
    consistency: Consistency2
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    lastAttestedAt: FirstUsedAt | None
    level: Literal['none', 'low', 'medium', 'high'] | None
    network: Network | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    registered: bool | None
    registry: Contract | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    thresholds: Thresholds
    trustScore: int | None
    weightedScore: int | None


class WorldProjection(TypedDict):
    changes: list[ProjectedChange]
    edgeCount: int
    edges: list[ProjectedEdge]
    nodeCount: int
    nodes: list[ProjectedNode]
    ok: Ok
    revision: int
    truncated: bool


class WriteRule(TypedDict):
    leastConfidence: float
    link: SignalLinkOutput
    needs: list[str]
    store: str
    through: Literal['POST /api/v2/world-model/signal']
    visibility: Literal['private']


class AccountData(TypedDict):
    familyId: str
    familySize: int
    keyId: str
    keys: list[AccountKey]
    links: AccountLinks
    maxClass: SourceClass
    owner: str
    plan: AccountPlan
    quota: AccountQuota
    role: Role
    usage: list[AccountDay]
    usageSince: str


class Action(TypedDict):
    description: str
    disabled: NotRequired[bool]
    error: NotRequired[ActionError | Links2]
    icon: str
    label: str
    links: NotRequired[ActionLinks | Links2]
    title: str
    type: NotRequired[Literal['action', 'completed']]


class AddressTransfers(TypedDict):
    address: Address
    basis: Basis2
    block: int | None
    chainId: int | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    links: Links
    nextCursor: str | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2
    transfers: list[AddressTransfer]


class AgentIntake(TypedDict):
    agentContact: NotRequired[PolicyVersion | None]
    agentId: str
    consent: Consent
    consentAt: NotRequired[ConsentAt | None]
    consentVersion: NotRequired[ConsentVersion | None]
    domain: NotRequired[PolicyVersion | None]
    endpoint: str
    lane: Literal['agent']
    proof: NotRequired[str | None]
    rail: NotRequired[PolicyVersion | None]
    runtime: NotRequired[PolicyVersion | None]
    sector: NotRequired[PolicyVersion | None]
    serviceOffer: str
    source: NotRequired[Source2]
    type: NotRequired[PolicyVersion | None]
    wallet: NotRequired[str | None]


class Agreement(TypedDict):
    agreed: int
    answered: int
    asked: int
    balances: ComparedBalances
    disputes: list[Dispute]
    nodes: list[NodeStanding]
    receipts: CheckedReceipts
    sampleSeed: str
    transfers: ConfirmedRanges


At: TypeAlias = BlockRef | Links2


class BidwallBalance(TypedDict):
    at: At
    balanceEth: BalanceEth | None
    balanceWei: BalanceWei | None
    cache: CacheInfo
    chainId: int | None
    contract: Contract | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    trigger: Trigger


class BidwallEvents(TypedDict):
    cache: CacheInfo
    chainId: int | None
    contract: Contract | None
    events: list[ContractTransfer]
    eventsInfo: EventsInfo
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    limit: int
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    scope: ScopeInfo
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None


class BidwallSnapshot(TypedDict):
    at: At
    balanceEth: BalanceEth | None
    balanceWei: BalanceWei | None
    cache: CacheInfo
    chainId: int | None
    contract: Contract | None
    ethUsd: UsdValue
    events: list[ContractTransfer]
    eventsInfo: EventsInfo
    eventsLimit: int
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    scope: ScopeInfo
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    trigger: Trigger


class BuildRequest1(TypedDict):
    documents: list[SourceDocument]
    edges: NotRequired[list[Edge]]
    graphId: NotRequired[str | None]
    mode: NotRequired[Literal['preview', 'apply']]
    nodes: NotRequired[list[Node]]
    triples: NotRequired[list[Triple]]
    visibility: NotRequired[Literal['public', 'private']]


class BuildRequest2(TypedDict):
    documents: NotRequired[list[SourceDocument]]
    edges: NotRequired[list[Edge]]
    graphId: NotRequired[str | None]
    mode: NotRequired[Literal['preview', 'apply']]
    nodes: NotRequired[list[Node]]
    triples: list[Triple]
    visibility: NotRequired[Literal['public', 'private']]


class BuildRequest3(TypedDict):
    documents: NotRequired[list[SourceDocument]]
    edges: NotRequired[list[Edge]]
    graphId: NotRequired[str | None]
    mode: NotRequired[Literal['preview', 'apply']]
    nodes: list[Node]
    triples: NotRequired[list[Triple]]
    visibility: NotRequired[Literal['public', 'private']]


BuildRequest: TypeAlias = BuildRequest1 | BuildRequest2 | BuildRequest3


class BuildResult(TypedDict):
    contradictions: list[ContradictingEdge]
    duplicates: list[PossibleDuplicate]
    edges: list[BuiltEdge]
    forms: list[Form]
    graphId: str
    mode: Literal['preview', 'apply']
    nodes: list[BuiltNode]
    notUnderstood: NotUnderstood
    refused: list[StatementRefusal]
    replaced: list[str]
    revision: int
    stages: Stages
    verdict: Verdict2 | None
    withheld: list[Withheld]


class CapsuleAnswer(TypedDict):
    claimToken: str | None
    claimTokenState: Literal['shown', 'no_longer_shown', 'used']
    decision: int
    edges: Edges
    id: str
    identity: CapsuleIdentity
    links: CapsuleLinks
    nodes: Nodes
    ok: Ok
    plan: list[CapsuleStep]
    review: CapsuleReview
    revision: Revision
    stages: Stages2
    values: list[CapsuleValue]
    verdict: Verdict3
    visibility: Literal['public', 'private']


class CapsuleClaimResult(TypedDict):
    decision: int
    edges: Edges
    id: str
    nodes: Nodes
    revision: Revision
    stages: Stages2
    verdict: Verdict3


class ClaimRecord(TypedDict):
    claimId: str
    claimedAt: str
    operator: Operator
    planId: str
    quoteId: str
    status: Literal['issued', 'reversed']


class ConfirmAnswer(TypedDict):
    data: ConfirmResult
    ok: Ok


class ConsentAnswer(TypedDict):
    data: ConsentData
    ok: Ok
    schema: Literal['svc.agent_access.operator_response.v1']


class ContextSnapshot(TypedDict):
    bidwall: ContextBidwall
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    graph: ContextGraph
    holders: ContextHolders
    mode: OverviewMode
    network: str | None
    next: list[NextStep]
    observedAt: ObservedAt | None
    ok: Ok
    price: ContextPrice
    quality: Quality
    reason: Reason | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2
    trust: ContextTrust


class DataIndex(TypedDict):
    croissant: str
    dataPackage: str
    database: str
    datasets: list[IndexDataset]
    manifest: str
    service: str


class DesignRequest(TypedDict):
    agent: DesignAgentInput
    constraints: NotRequired[DesignConstraints]
    goals: list[str | DesignGoal]
    mode: NotRequired[Literal['preview', 'apply']]
    sources: NotRequired[list[str | DesignSource]]


class DesignResult(TypedDict):
    agent: DesignAgentOutput
    budget: list[BudgetShare]
    domains: list[str]
    keepFor: str
    leftOut: list[str]
    mode: Literal['preview', 'apply']
    nodeIds: list[str]
    planId: str
    privacy: Literal['public', 'internal', 'private', 'regulated']
    reserveTokens: int
    retrieval: list[RetrievalRoute]
    revision: int
    risks: list[PlanRisk]
    stages: Stages
    stores: list[MemoryStore]
    unknowns: list[Unknown]
    verdict: Verdict2 | None
    writeRules: list[WriteRule]


class ErasureAnswer(TypedDict):
    data: ErasureData
    ok: Ok


class EthPrice(TypedDict):
    ageS: int | None
    block: int | None
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    observedAt: ObservedAt | None
    ok: Ok
    price: str | None
    quality: Quality
    reason: Reason | None
    source: Source | None
    sources: Sources
    stale: Stale
    staleAfter: StaleAfter | None


class GraphQueryResult(TypedDict):
    cursor: str | None
    disputes: Disputes
    edges: list[EdgeDocument] | None
    hints: SearchHints | Links2
    matched_nodes: int
    nodes: Nodes
    query_id: str
    revision: int
    truncated: bool


class GuardrailEffect(TypedDict):
    detail: dict[str, str]
    elevated: bool
    end: int
    kind: EffectKind
    object: ObjectKind
    reversible: Reversible
    scope: Scope
    source: str
    start: int
    sure: bool
    targets: list[GuardrailTarget]


class GuardrailResult(TypedDict):
    approval: Outcome | Links2
    check_id: str
    checked_at: str
    coverage: Literal['full', 'partial', 'none']
    decision: Literal['allow', 'ask', 'deny']
    digest: str
    effects: list[GuardrailEffect]
    ignored_context: list[str]
    matched_guardrails: list[str]
    matches: list[GuardrailMatch]
    passed: bool
    problem: GuardrailProblem | Links2
    reason: str
    relied_on: list[GuardrailReliance]
    remediation: list[str]
    rules_checked: int
    ruleset_version: str
    severity: Literal['none', 'low', 'medium', 'high', 'critical']
    stages: list[GuardrailStage]
    uncovered: list[GuardrailUncovered]


class ImportAnswer(TypedDict):
    data: ImportState
    ok: Ok


class ImportApplied(TypedDict):
    data: ImportResult
    ok: Ok


class IntakeProvisioningCapsule(TypedDict):
    activation: IntakeActivationStatus
    activationPackage: ActivationPackage
    artifact: Literal['svc.intake.capsule']
    consentAt: ConsentAt2
    generatedAt: str
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: Normalized
    ok: Ok
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: Summary2
    version: str


class IntakeResponse(TypedDict):
    activationPackage: ActivationPackage
    consentAt: ConsentAt2
    eraseToken: str | None
    eraseTokenState: Literal['shown', 'no_longer_shown']
    eraseUrl: str
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: Normalized
    ok: Ok
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: Summary2


class IntakeStatusResponse(TypedDict):
    activation: IntakeActivationStatus
    activationPackage: ActivationPackage
    consentAt: ConsentAt2
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: Normalized
    ok: Ok
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: Summary2


class LiveGraph(TypedDict):
    cursor: str | None
    disputes: Disputes
    edgeCount: int
    edges: Edges
    nodeCount: int
    nodes: Nodes
    revision: int
    truncated: bool


class LiveGraphAnswer(TypedDict):
    data: LiveGraph
    ok: Ok


class NextAction(TypedDict):
    action: Action
    type: NotRequired[Literal['inline']]


class NextLinks(TypedDict):
    next: NextAction


class NodeHistoryData(TypedDict):
    acts: list[NodeActDocument]
    decisions: list[NodeDecisionDocument]
    disputes: list[DisputeDocument]
    history: list[NodeStateDocument]
    node: NodeDocument | Links2
    revision: int
    sources: list[NodeSourceDocument]
    truncated: bool


class OntologyData(TypedDict):
    changedFacts: list[str]
    node_types: dict[str, OwnNodeTypeOutput]
    recordedAt: str | None
    relationship_types: dict[str, OwnRelationshipTypeOutput]
    single_valued_predicates: SingleValuedPredicates
    version: int
    versions: list[OntologyVersionDocument]


class OntologyRequest(TypedDict):
    expectedVersion: NotRequired[int | None]
    node_types: NotRequired[dict[str, OwnNodeTypeInput]]
    relationship_types: NotRequired[dict[str, OwnRelationshipTypeInput]]
    single_valued_predicates: NotRequired[SingleValuedPredicates]


class PlansArtifact(TypedDict):
    artifact: Artifact
    commercialModel: IntakeCommercialModel
    currency: Literal['USD']
    links: Links3
    ok: Ok
    plans: list[PricedPlan]
    schema: Schema2
    states: list[LiveState]
    summary: Summary
    title: Title


class PlansNext(TypedDict):
    quote: QuoteStep | Links2


class Proof(TypedDict):
    block: int
    blockHash: str
    burned: str
    holderList: HolderListFile | Links2
    minted: str
    negativeBalances: int
    nodes: Agreement | Links2
    rangesReasked: int
    reason: str | None
    sampledBalanceOf: SampledBalances
    storage: StorageProof | Links2
    sumOfBalances: str
    totalSupply: str | None
    verdict: Verdict


class QuoteData(TypedDict):
    next: QuoteNext
    paymentRequirement: dict[str, Any]
    quote: dict[str, Any]
    warnings: list[PlanWarning]


class Receipt(TypedDict):
    accessExpiresAt: str | None
    artifact: Literal['svc.agent-access.receipt']
    claim: ReceiptClaim
    claimId: str
    claimedAt: str
    furtherPayments: list[ReceiptPayment]
    governance: ReceiptGovernance
    integrity: ReceiptIntegrity
    links: ReceiptLinks
    ok: Ok
    operator: Operator
    owner: str
    payment: ReceiptPayment
    quoteId: str
    receiptHash: str
    receiptId: str
    recovery: ReceiptRecovery
    schema: Literal['svc.agent_access.receipt.v1']
    signature: Signature
    status: Literal['issued', 'reversed']


class RecoveryAnswer(TypedDict):
    data: RecoveryData
    ok: Ok
    schema: Literal['svc.agent_access.recovery_response.v1']


class RegistrationContract(TypedDict):
    capabilitiesUrl: str
    consent: ConsentRules
    endpoints: list[Endpoint]
    mcp: McpEndpoint
    modes: list[RegistrationMode]
    ok: Ok
    openapi: str
    request: RequestSchema
    schema: Literal['svc.agent_registration.v1']
    schemaUrl: str
    summary: str
    title: str


class RotationAnswer(TypedDict):
    data: RotationData
    ok: Ok


class Schema(TypedDict):
    domains: list[SchemaDomain]
    node_types: list[str]
    ontology: SchemaOntology
    relationship_types: list[str]
    revision: int


class SchemaAnswer(TypedDict):
    data: Schema
    ok: Ok


class SignalAnswer(TypedDict):
    data: SignalResult
    ok: Ok


class TokenPrice(TypedDict):
    data: TokenPriceData
    ok: Ok


class AccountAnswer(TypedDict):
    data: AccountData
    ok: Ok


class ActionAnswer(TypedDict):
    externalLink: NotRequired[str | None]
    links: NotRequired[NextLinks | Links2]
    message: str
    type: Literal['post', 'external-link']
    verdict: NotRequired[Any]


class BuildAnswer(TypedDict):
    data: BuildResult
    ok: Ok


class CapsuleClaimAnswer(TypedDict):
    data: CapsuleClaimResult
    ok: Ok


class ClaimData(TypedDict):
    activationPacket: ActivationPacket
    claim: ClaimRecord
    receipt: Receipt
    warnings: list[PlanWarning]


class Consistency(TypedDict):
    block: int
    blockHash: str
    level: ConsistencyLevel
    proof: Proof


class DesignAnswer(TypedDict):
    data: DesignResult
    ok: Ok


class GraphQueryAnswer(TypedDict):
    data: GraphQueryResult
    ok: Ok


class GuardrailAnswer(TypedDict):
    data: GuardrailResult
    ok: Ok


class NodeHistoryAnswer(TypedDict):
    data: NodeHistoryData
    ok: Ok


class OntologyAnswer(TypedDict):
    data: OntologyData
    ok: Ok


class PlansAnswer(TypedDict):
    artifact: Literal['svc.agent-access.plans']
    claimUrl: str
    flow: Flow
    network: str
    next: PlansNext
    ok: Ok
    payment: CatalogPayment
    plans: list[PlanOffer]
    quoteUrl: str
    receiptUrlTemplate: str
    schema: Literal['svc.agent_access.plans.v1']
    service: Literal['svc']
    signing: Signing
    trial: TrialOffer | Links2


class QuoteAnswer(TypedDict):
    data: QuoteData
    expiresAt: str
    integrity: QuoteIntegrity
    ok: Ok
    paymentRequirementHash: str
    price: QuotePrice
    quoteHash: str
    quoteId: str
    schema: Literal['svc.agent_access.quote_response.v1']
    signature: Signature


class TokenHolders(TypedDict):
    backfill: Backfill | Links2
    basis: Basis2
    chainId: int | None
    concentration: Concentration | Links2
    consistency: Consistency | Links2
    discrepancy: list[Discrepancy]
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    holderCount: int | None
    largest: list[HeldByLargest]
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    snapshots: list[SnapshotRef]
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2
    totalSupply: Amount | None
    totalSupplyRaw: str | None


class TokenHoldersMap(TypedDict):
    backfill: Backfill | Links2
    basis: Basis | Links2
    block: int | None
    chainId: int | None
    consistency: Consistency | Links2
    fetchedAt: FetchedAt | None
    generatedAt: GeneratedAt
    generation: Generation
    holders: list[Holder]
    limit: int
    links: Links
    nextCursor: str | None
    observedAt: ObservedAt | None
    ok: Ok
    quality: Quality
    reason: Reason | None
    snapshot: str | None
    source: Source | None
    stale: Stale
    staleAfter: StaleAfter | None
    token: Token2
    total: int | None


class ClaimAnswer(TypedDict):
    data: ClaimData
    ok: Ok
    schema: Literal['svc.agent_access.claim_response.v1']
