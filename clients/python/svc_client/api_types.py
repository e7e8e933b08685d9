"""The bodies of the service's API. Made by clients/generate.py from the description: don't edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


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


class ActionRequest(TypedDict):
    account: str
    data: NotRequired[dict[str, str | list[str]] | None]
    type: NotRequired[str | None]


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


AddressTransfer = TypedDict(
    'AddressTransfer',
    {
        'block': int,
        'from': str,
        'logIndex': int,
        'time': str,
        'to': str,
        'transactionHash': str,
        'value': str | None,
        'valueRaw': str,
    },
)


class Consent(TypedDict):
    accepted: Literal[True]
    at: NotRequired[str | None]
    policyVersion: NotRequired[str | None]


class AgentIntake(TypedDict):
    agentContact: NotRequired[str | None]
    agentId: str
    consent: Literal[True] | Consent
    consentAt: NotRequired[str | None]
    consentVersion: NotRequired[str | None]
    domain: NotRequired[str | None]
    endpoint: str
    lane: Literal['agent']
    proof: NotRequired[str | None]
    rail: NotRequired[str | None]
    runtime: NotRequired[str | None]
    sector: NotRequired[str | None]
    serviceOffer: str
    source: NotRequired[str]
    type: NotRequired[str | None]
    wallet: NotRequired[str | None]


class AgentSummary(TypedDict):
    agentId: str
    endpoint: str
    headline: str
    runtime: str
    serviceOffer: str


class ApprovalRequest(TypedDict):
    digest: str
    expires_in: NotRequired[int]
    owner: str


class ApprovalResult(TypedDict):
    approval_token: str
    digest: str
    expires_at: str
    owner: str


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


class BalancePoint(TypedDict):
    balance: str | None
    balanceRaw: str
    block: int
    changeRaw: str
    time: str


class BudgetShare(TypedDict):
    share: float
    store: str
    tokens: int


class Edge(TypedDict):
    confidence: NotRequired[float | None]
    properties: NotRequired[dict[str, Any]]
    source: str
    target: str
    type: str
    validFrom: NotRequired[str | None]
    validTo: NotRequired[str | None]


class Node(TypedDict):
    confidence: NotRequired[float | None]
    id: str
    properties: NotRequired[dict[str, Any]]
    title: str
    type: str
    validFrom: NotRequired[str | None]
    validTo: NotRequired[str | None]


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


class CaseChallenge(TypedDict):
    caseId: str
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Literal[True]
    schema: Literal['svc.agent_access.case_challenge.v1']
    signer: str
    supplementUrl: str
    typedData: dict[str, Any]
    url: str


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


class ConfirmedRanges(TypedDict):
    confirmed: int
    ranges: int


class ConsentRule(TypedDict):
    id: str
    text: str


class ConsentRules(TypedDict):
    contract: str
    rules: list[ConsentRule]
    version: str


ConsistencyLevel: TypeAlias = Literal['finalized', 'confirmations']


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
    privacy: NotRequired[Literal['public', 'internal', 'private', 'regulated']]
    retention: NotRequired[str | None]


class DesignGoal(TypedDict):
    kinds: NotRequired[list[Literal['messages', 'contacts', 'calendar', 'tasks', 'activity', 'logs', 'incidents', 'documents', 'reference', 'code', 'procedures', 'decisions', 'agreements', 'payments', 'measurements', 'risks']]]
    priority: NotRequired[Literal['low', 'medium', 'high']]
    title: str


class DesignSource(TypedDict):
    kinds: NotRequired[list[Literal['messages', 'contacts', 'calendar', 'tasks', 'activity', 'logs', 'incidents', 'documents', 'reference', 'code', 'procedures', 'decisions', 'agreements', 'payments', 'measurements', 'risks']]]
    personal: NotRequired[bool | None]
    specialCategories: NotRequired[list[Literal['racial_or_ethnic_origin', 'political_opinions', 'religious_or_philosophical_beliefs', 'trade_union_membership', 'genetic_data', 'biometric_data', 'health', 'sex_life_or_sexual_orientation', 'criminal_convictions']] | None]
    title: str


DisputedFact: TypeAlias = Literal['block_hash', 'total_supply', 'balance', 'transfers']


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
        'amount': str | None,
        'amountRaw': str,
        'firstAt': str,
        'from': str,
        'fromRank': int,
        'lastAt': str,
        'to': str,
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


class EnterpriseIntake(TypedDict):
    consent: Literal[True] | Consent
    consentAt: NotRequired[str | None]
    consentVersion: NotRequired[str | None]
    contactEmail: str
    contactFullName: str
    contactName: NotRequired[str | None]
    contactRole: str
    lane: Literal['enterprise']
    orgName: str
    source: NotRequired[str]
    teamSize: NotRequired[str | None]
    telegram: NotRequired[str | None]
    useCase: str


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


Finality: TypeAlias = Literal['final', 'pending']


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


class GraphCounts(TypedDict):
    domain_counts: dict[str, int]
    nodeCount: int
    revision: int


class GraphOverlay(TypedDict):
    events: int
    publishRequested: bool
    snapshotRevision: int


NodeType: TypeAlias = str


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


class Amount(TypedDict):
    amount: NotRequired[float | str | None]
    currency: NotRequired[str | None]


class MaxAmount(TypedDict):
    amount: NotRequired[float | str | None]
    currency: NotRequired[str | None]


class MaxPerAction(TypedDict):
    amount: NotRequired[float | str | None]
    currency: NotRequired[str | None]


class Limits(TypedDict):
    amount: NotRequired[float | str | Amount | None]
    currency: NotRequired[str | None]
    max_amount: NotRequired[float | str | MaxAmount | None]
    max_amount_usd: NotRequired[float | str | None]
    max_per_action: NotRequired[float | str | MaxPerAction | None]
    networks: NotRequired[str | list[str] | None]
    recipients: NotRequired[str | list[str] | None]
    spenders: NotRequired[str | list[str] | None]


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


class Context(TypedDict):
    agent_role: NotRequired[str | None]
    allowed_hosts: NotRequired[str | list[str] | None]
    already_done: NotRequired[bool | None]
    approval_token: NotRequired[str | None]
    approved: NotRequired[bool | None]
    backup_available: NotRequired[bool | None]
    cwd: NotRequired[str | None]
    destination: NotRequired[str | None]
    environment: NotRequired[str | None]
    expected_recipient: NotRequired[str | list[str] | None]
    home: NotRequired[str | None]
    instruction_origin: NotRequired[Literal['user', 'agent', 'untrusted_content', 'unknown'] | None]
    limits: NotRequired[Limits | None]
    manifest: NotRequired[dict[str, Any] | list[dict[str, Any]] | None]
    os: NotRequired[str | None]
    paid_references: NotRequired[str | list[str] | None]
    planned_steps: NotRequired[str | list[str] | None]
    run_as: NotRequired[str | None]
    scene: NotRequired[str | None]
    tool: NotRequired[str | None]
    untrusted_content: NotRequired[str | list[str] | None]
    user_request: NotRequired[str | list[str] | None]
    workspace: NotRequired[Workspace | None]


class GuardrailUncovered(TypedDict):
    end: int
    executable: bool
    reason: str
    start: int


class Health(TypedDict):
    ageS: int
    clockSkewS: int | None
    disputes: int
    failedChecks: list[str]
    failingJobs: list[FailingJob]
    generatedAt: str
    generation: str
    guardrailProblem: str | None
    ledgerReachable: bool
    observedAgeS: int
    ok: Literal[True]
    staleDocuments: list[str]
    status: Literal['ok', 'degraded']


HolderKind: TypeAlias = Literal['contract', 'wallet']


class HolderListFile(TypedDict):
    bytes: int
    path: str
    rows: int
    sha256: str


ExecutionSurface: TypeAlias = str


WorldSource: TypeAlias = str


class HumanIntake(TypedDict):
    activationPreference: NotRequired[str | None]
    agentName: NotRequired[str | None]
    assistantId: NotRequired[Literal['codex', 'claude-code', 'gemini', 'grok', 'custom'] | None]
    billingReadiness: NotRequired[str | None]
    consent: Literal[True] | Consent
    consentAt: NotRequired[str | None]
    consentVersion: NotRequired[str | None]
    email: NotRequired[str | None]
    executionSurfaces: NotRequired[list[ExecutionSurface] | None]
    experiencePath: NotRequired[Literal['new_to_agents', 'existing_agent_operator'] | None]
    firstMission: NotRequired[str | None]
    governanceMode: NotRequired[str | None]
    lane: Literal['human']
    launchPath: NotRequired[Literal['/create-my-agent', '/upgrade-my-agent', '/launch-builder'] | None]
    modelAccess: NotRequired[str | None]
    modelProvider: NotRequired[str | None]
    name: str
    operatorScope: NotRequired[str | None]
    role: NotRequired[str | None]
    runtimeProfile: NotRequired[str | None]
    source: NotRequired[str]
    telegram: str
    twitter: NotRequired[str | None]
    useCase: str
    workspaceName: NotRequired[str | None]
    worldSources: NotRequired[list[WorldSource] | None]


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


class IntakeErased(TypedDict):
    erased: Literal[True]
    intakeId: str
    ok: Literal[True]


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


class JsonRpcRefusal(TypedDict):
    error: JsonRpcError
    id: str | int | float | None
    jsonrpc: Literal['2.0']


class JsonRpcRequest(TypedDict):
    id: NotRequired[str | int | float | None]
    jsonrpc: Literal['2.0']
    method: str
    params: NotRequired[dict[str, Any] | None]


class Jwk(TypedDict):
    alg: str
    crv: str
    kid: str
    kty: str
    use: str
    x: str


class Jwks(TypedDict):
    keys: list[Jwk]


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


class ListedAgent(TypedDict):
    agent: str
    attestationCount: int
    lastAttestedAt: str
    level: Literal['none', 'low', 'medium', 'high']
    trustScore: int
    weightedScore: int


class ListedAttestation(TypedDict):
    agent: str
    attestedAt: str
    attester: str
    block: int
    jobId: str
    score: int
    weightedScore: int


class ListedAttester(TypedDict):
    agentCount: int
    attestationCount: int
    attester: str
    lastAttestedAt: str
    meanScore: int


class LiveCount(TypedDict):
    field: str
    name: str
    url: str


class LiveState(TypedDict):
    checkedAt: str | None
    determinedBy: str | None
    name: str
    reason: str | None
    state: str


MappingOrder: TypeAlias = Literal['solidity', 'vyper', 'solady']


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


class MissionsArtifact(TypedDict):
    artifact: str
    links: list[ArtifactLink]
    missions: list[Mission]
    ok: Literal[True]
    schema: str
    summary: str
    title: str


class MovedParts(TypedDict):
    edges: int
    left: int
    nodes: int


class Mover(TypedDict):
    address: str
    afterRaw: str
    beforeRaw: str
    changeRaw: str
    rankAfter: int | None
    rankBefore: int | None


class Movers(TypedDict):
    down: list[Mover]
    up: list[Mover]


class NamedText(TypedDict):
    description: str
    name: str


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


ObjectKind: TypeAlias = Literal['path', 'repository', 'branch', 'commit', 'database', 'table', 'rows', 'schema', 'queue', 'index', 'snapshot_or_backup', 'resource', 'container', 'volume', 'registry_key', 'service', 'scheduled_task', 'kernel_module', 'permission', 'secret', 'credential', 'personal_data', 'message', 'issue', 'project', 'order', 'event', 'payment', 'account', 'package', 'process', 'device', 'thing', 'network', 'guard']


SingleValuedPredicate: TypeAlias = str


class OntologyVersionDocument(TypedDict):
    recordedAt: str
    version: int


class OperatorProof(TypedDict):
    signature: str
    type: Literal['eip712', 'eip191', 'erc1271']


class OperatorState(TypedDict):
    address: str
    consentUrl: str
    reason: str | None
    state: Literal['proven', 'unproven', 'unsure']


class OperatorStep(TypedDict):
    address: str
    field: Literal['integrity.operator']
    later: str
    text: str
    typedData: dict[str, Any]


Origin: TypeAlias = Literal['user', 'agent', 'untrusted_content', 'unknown']


class OriginDocument(TypedDict):
    author: Literal['owner', 'pipeline', 'intake', 'constitution', 'operator', 'other']
    decision: str | None
    recordedAt: str


Outcome: TypeAlias = Literal['accepted', 'malformed', 'forged', 'other_action', 'other_owner', 'expired', 'taken']


OverviewMode: TypeAlias = Literal['live', 'fallback']


Source: TypeAlias = str


Target: TypeAlias = str


class OwnEndsInput(TypedDict):
    sources: NotRequired[list[Source]]
    targets: NotRequired[list[Target]]


class OwnEndsOutput(TypedDict):
    sources: list[Source]
    targets: list[Target]


class OwnNodeTypeInput(TypedDict):
    domain: Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS']
    properties: NotRequired[dict[str, Literal['text', 'texts', 'integer', 'fraction', 'instant', 'level']]]


class OwnNodeTypeOutput(TypedDict):
    domain: Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS']
    properties: dict[str, Literal['text', 'texts', 'integer', 'fraction', 'instant', 'level']]


class OwnRelationshipTypeInput(TypedDict):
    description: str
    ends: NotRequired[list[OwnEndsInput]]
    single_valued: NotRequired[bool]


class OwnRelationshipTypeOutput(TypedDict):
    description: str
    ends: list[OwnEndsOutput]
    single_valued: bool


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
    ok: Literal[True]
    paymentId: str
    retryAfter: int


class PendingAnswer(TypedDict):
    code: Literal['unknown_tx', 'confirmations', 'not_canonical', 'rpc_unavailable', 'rpc_disagree']
    ok: Literal[True]
    quoteId: str
    retryAfter: int


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


class PointPrice(TypedDict):
    close: float
    high: float
    low: float
    open: float


class PossibleDuplicate(TypedDict):
    nodes: list[str]
    reason: Literal['same_title', 'same_words', 'handle_of_name', 'in_live_graph']


class ProblemError(TypedDict):
    detail: str
    pointer: str


class ProjectedChange(TypedDict):
    added: int
    changed: int
    ended: int
    recordedAt: str
    revision: int
    source: str | None
    titles: list[str]


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


class PublishedChecks(TypedDict):
    failed: int
    ok: Literal[True]
    tables: list[CheckedTable]


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
    agentId: NotRequired[str | None]
    agentName: NotRequired[str | None]
    assistantId: NotRequired[str | None]
    callbackUrl: NotRequired[str | None]
    integrity: NotRequired[QuoteProof | None]
    operatorAddress: NotRequired[str | None]
    payerAddress: str | None
    planId: NotRequired[str]
    userId: NotRequired[str | None]


class QuoteRequest2(TypedDict):
    agentId: NotRequired[str | None]
    agentName: NotRequired[str | None]
    assistantId: NotRequired[str | None]
    callbackUrl: NotRequired[str | None]
    integrity: NotRequired[QuoteProof | None]
    operatorAddress: str | None
    payerAddress: NotRequired[str | None]
    planId: NotRequired[str]
    userId: NotRequired[str | None]


QuoteRequest: TypeAlias = QuoteRequest1 | QuoteRequest2


class ReadinessItem(TypedDict):
    next: str
    note: str
    state: Literal['ready', 'action_required', 'pending', 'not_required']


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
    ok: Literal[True]


class RecoveryChallenge(TypedDict):
    claimId: str
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Literal[True]
    schema: Literal['svc.agent_access.recovery_challenge.v1']
    signer: str
    typedData: dict[str, Any]
    url: str


class RecoveryProof(TypedDict):
    signature: str
    type: Literal['eip712', 'erc1271']


class RecoveryRequest(TypedDict):
    issuedAt: int
    proof: RecoveryProof


RenderView: TypeAlias = Literal['app-hero', 'hero', 'shell', 'full']


class RequestSchema(TypedDict):
    jsonSchema: dict[str, Any]
    url: str


class RetrievalRoute(TypedDict):
    budgetTokens: int
    method: Literal['recent', 'full_text', 'traverse']
    query: dict[str, Any]
    store: str


class RevenuePoint(TypedDict):
    fetchedAt: str
    grossUsd: str | None
    revenueUsd: str | None


Reversible: TypeAlias = Literal['yes', 'with_backup', 'no']


class Route(TypedDict):
    method: str
    url: str


class SampledBalances(TypedDict):
    checked: int
    equal: int


class SampledScores(TypedDict):
    checked: int
    equal: int
    reason: str | None
    verdict: Literal['proven', 'failed', 'unproven']


class SchemaArtifact(TypedDict):
    artifact: str
    jsonSchema: dict[str, Any]
    links: list[ArtifactLink]
    ok: Literal[True]
    schema: str
    summary: str
    title: str


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
    ok: Literal[True]
    openapi: str
    schema: Literal['svc.context.v1']
    token: str | None


Severity: TypeAlias = Literal['low', 'medium', 'high', 'critical']


class SignalAct(TypedDict):
    id: str
    reason: str


class SignalLinkInput(TypedDict):
    direction: NotRequired[Literal['outbound', 'inbound']]
    target: str
    type: str


class SignalLinkOutput(TypedDict):
    direction: Literal['outbound', 'inbound']
    target: str
    type: str


class Signature(TypedDict):
    alg: Literal['EdDSA']
    jws: str
    kid: str


class SignedPayment(TypedDict):
    amount: str
    amountUnits: str
    asset: str
    claimId: str | None
    expiresAt: str
    links: PaymentLinks
    network: str
    offer: str
    ok: Literal[True]
    payTo: str
    payer: str
    paymentId: str
    reason: str | None
    schema: Literal['svc.agent_access.signed_payment.v1']
    status: Literal['pending', 'settled', 'failed', 'reversed']
    storedAt: str
    transactionHash: str | None


SizeCohort: TypeAlias = Literal['whale', 'shark', 'dolphin', 'fish', 'shrimp']


class SnapshotRef(TypedDict):
    block: int
    id: str
    time: str


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


Stage: TypeAlias = Literal['immutability', 'temporal', 'referential_integrity', 'authority', 'deduplication', 'provenance', 'alignment']


class StageDocument(TypedDict):
    reason: str
    result: Literal['pass', 'warn', 'fail']
    stage: str


class StateArtifact(TypedDict):
    artifact: str
    links: list[ArtifactLink]
    ok: Literal[True]
    schema: str
    states: list[LiveState]
    summary: str
    title: str


class StateMeaning(TypedDict):
    meaning: str
    state: str


class StatementRefusal(TypedDict):
    pointer: str
    reason: str


Status: TypeAlias = Literal['live', 'planned', 'off']


class Step(TypedDict):
    id: str
    text: str


class StorageProofFile(TypedDict):
    bytes: int
    path: str
    sha256: str


StorageReason: TypeAlias = Literal['not_supported', 'no_state', 'rpc_unavailable', 'header_mismatch', 'proof_invalid', 'stored_elsewhere', 'layout_unknown', 'supply_not_stored', 'no_holders', 'too_costly', 'between_snapshots', 'balance_mismatch', 'supply_mismatch']


StorageVerdict: TypeAlias = Literal['proven', 'failed', 'unproven']


class SupplyLayout(TypedDict):
    bits: int
    shift: int
    slot: str


class TemplateArtifact(TypedDict):
    artifact: str
    consentVersion: str
    links: list[ArtifactLink]
    ok: Literal[True]
    schema: str
    summary: str
    templates: list[LaneTemplate]
    title: str


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


class TimelineArtifact(TypedDict):
    artifact: str
    checkedAt: str | None
    days: list[DayCounts]
    determinedBy: str | None
    links: list[ArtifactLink]
    ok: Literal[True]
    schema: str
    summary: str
    title: str


class Token(TypedDict):
    address: str
    decimals: int | None
    name: str | None
    symbol: str | None


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
    owner: str
    privateNodes: int
    requestsPerDay: int
    tier: Tier


class TrialRequest(TypedDict):
    issuedAt: int
    proof: RecoveryProof


class Trigger(TypedDict):
    progress: float | None
    reached: bool | None
    reason: str | None
    remainingWei: str | None
    triggerWei: str | None


class Triple(TypedDict):
    confidence: NotRequired[float | None]
    id: NotRequired[str | None]
    object: str | Thing
    predicate: str
    subject: str | Thing
    validFrom: NotRequired[str | None]
    validTo: NotRequired[str | None]


class TrustConsistency(TypedDict):
    block: int
    blockHash: str
    level: Literal['finalized', 'confirmations']
    sampled: SampledScores
    time: str


class TrustScore(TypedDict):
    agent: str
    attestationCount: int | None
    consistency: TrustConsistency | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    lastAttestedAt: str | None
    level: Literal['none', 'low', 'medium', 'high'] | None
    network: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    registered: bool | None
    registry: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    thresholds: Thresholds
    trustScore: int | None
    weightedScore: int | None


class TrustTotals(TypedDict):
    agents: int
    attestations: int
    attesters: int


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
    observedAt: str | None
    price: str | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


class Validator(TypedDict):
    stages: list[NamedText]
    verdicts: list[NamedText]


Verdict: TypeAlias = Literal['proven', 'failed', 'disputed', 'unproven']


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


Value: TypeAlias = str


class WorldModelCreateRequest(TypedDict):
    displayName: NotRequired[str | None]
    isAI: NotRequired[bool | None]
    name: str
    ownerId: str
    values: NotRequired[list[Value]]
    visibility: NotRequired[Literal['public', 'private']]


class WorldProjection(TypedDict):
    changes: list[ProjectedChange]
    edgeCount: int
    edges: list[ProjectedEdge]
    nodeCount: int
    nodes: list[ProjectedNode]
    ok: Literal[True]
    revision: int
    truncated: bool


class WorldRender(TypedDict):
    compact: bool
    domains: list[DrawnDomain]
    edgeCount: int
    edges: list[DrawnEdge]
    nodeCount: int
    nodes: list[DrawnNode]
    ok: Literal[True]
    revision: int
    truncated: bool
    view: RenderView


class WriteRule(TypedDict):
    leastConfidence: float
    link: SignalLinkOutput
    needs: list[str]
    store: str
    through: Literal['POST /api/v2/world-model/signal']
    visibility: Literal['private']


class ActionLinks(TypedDict):
    actions: list[LinkedAction]


class ActivationPacket(TypedDict):
    accessExpiresAt: str | None
    apiKey: str
    baseUrl: str
    firstRequest: str
    headers: dict[str, str]
    keyId: str
    requestsPerDay: int | None
    tier: Tier


class ApprovalAnswer(TypedDict):
    data: ApprovalResult
    ok: Literal[True]


class BalanceLayout(TypedDict):
    base: str
    bits: int
    offset: int
    order: MappingOrder
    shift: int


class Basis(TypedDict):
    block: int
    kind: Literal['list', 'replay']
    provenBlock: int
    provenBlockHash: str
    time: str | None
    verdict: Verdict


class BlockRef(TypedDict):
    block: int
    blockHash: str
    finality: Finality
    time: str


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
    ok: Literal[True]
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
    ok: Literal[True]
    otherCases: list[str]
    payment: CasePayment
    quote: CaseQuote | None
    recordedAt: str
    refund: CaseRefund | None
    schema: Literal['svc.agent_access.case.v1']
    state: Literal['open', 'supplement_offered', 'claimed', 'issued', 'refund_due', 'refunded']


class CaseRequest(TypedDict):
    issuedAt: int
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
    value: str | float | bool | dict[str, Any] | list[str | float | bool | dict[str, Any]] | None


class ClaimIntegrity1(TypedDict):
    operator: NotRequired[OperatorProof | None]
    signature: str | None
    type: Literal['eip712', 'eip191', 'erc1271'] | None


class ClaimIntegrity2(TypedDict):
    operator: OperatorProof | None
    signature: NotRequired[str | None]
    type: NotRequired[Literal['eip712', 'eip191', 'erc1271'] | None]


ClaimIntegrity: TypeAlias = ClaimIntegrity1 | ClaimIntegrity2


class ClaimRecord(TypedDict):
    claimId: str
    claimedAt: str
    operator: OperatorState | None
    planId: str
    quoteId: str
    status: Literal['issued', 'reversed']


class ClaimRequest(TypedDict):
    integrity: NotRequired[ClaimIntegrity | None]
    paymentRequirementHash: str
    quoteHash: str
    quoteId: str
    transactionHash: str


class ClaimStep(TypedDict):
    body: ExampleClaim
    headers: dict[str, str]
    method: Literal['POST']
    notAfter: str
    operator: OperatorStep | None
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


class ConsentData(TypedDict):
    claimId: str
    moved: MovedParts
    operator: OperatorState
    owner: str


class ConsentRequest(TypedDict):
    over: NotRequired[Literal['claim', 'quote']]
    proof: OperatorProof


class ContextBidwall(TypedDict):
    balanceWei: str | None
    document: str | None
    observedAt: str | None
    progress: float | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


class ContextGraph(TypedDict):
    document: str | None
    edgeCount: int | None
    nodeCount: int | None
    observedAt: str | None
    quality: Quality
    reason: str | None
    revision: int | None
    source: str | None
    stale: bool
    staleAfter: str | None


class ContextHolders(TypedDict):
    block: int | None
    document: str | None
    holderCount: int | None
    observedAt: str | None
    proof: Verdict | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    top10Share: float | None
    totalSupply: str | None


class ContextPrice(TypedDict):
    change24h: float | None
    document: str | None
    marketCapUsd: float | None
    observedAt: str | None
    priceUsd: str | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


class ContextTrust(TypedDict):
    agents: int | None
    attestations: int | None
    document: str | None
    observedAt: str | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


class ContractArtifact(TypedDict):
    artifact: str
    links: list[ArtifactLink]
    ok: Literal[True]
    rules: list[ArtifactRule]
    schema: str
    states: list[StateMeaning]
    summary: str
    title: str


ContractTransfer = TypedDict(
    'ContractTransfer',
    {
        'block': int,
        'direction': Literal['in', 'out', 'self'],
        'finality': Finality,
        'from': str,
        'logIndex': int,
        'time': str,
        'timeQuality': Literal['exact', 'estimated'],
        'to': str,
        'token': str,
        'transactionHash': str,
        'valueRaw': str,
    },
)


class CountsByLane(TypedDict):
    agent: LaneCounts
    enterprise: LaneCounts
    human: LaneCounts


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
    stages: list[StageDocument]
    stores: list[MemoryStore]
    unknowns: list[Unknown]
    verdict: Literal['approved', 'rejected', 'escalated'] | None
    writeRules: list[WriteRule]


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


class EdgeDocument(TypedDict):
    actor: str
    disputed: bool
    id: str
    origin: OriginDocument | None
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


class EntitlementsArtifact(TypedDict):
    artifact: str
    links: list[ArtifactLink]
    ok: Literal[True]
    profiles: dict[str, list[str]]
    schema: str
    summary: str
    tiers: list[TierEntitlements]
    title: str


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
    scope: Literal['node', 'source', 'everything']


class EventsInfo(TypedDict):
    block: int | None
    blockHash: str | None
    quality: Quality
    reason: str | None
    time: str | None


class GraphHealth(TypedDict):
    graph: GraphCounts
    overlay: GraphOverlay
    status: Literal['ok', 'degraded']


class GraphHealthAnswer(TypedDict):
    data: GraphHealth
    ok: Literal[True]


class GraphQueryRequest(TypedDict):
    asOf: NotRequired[str | None]
    atRevision: NotRequired[int | None]
    cursor: NotRequired[str | None]
    domain: NotRequired[Literal['FOUNDATION', 'VISION', 'STRATEGY', 'TACTICS', 'EXECUTION', 'TRACK', 'SYMBIOSIS'] | None]
    include_edges: NotRequired[bool]
    include_ended: NotRequired[bool]
    limit: NotRequired[int]
    node_id: NotRequired[str | None]
    node_types: NotRequired[list[NodeType] | None]
    order: NotRequired[Literal['id', 'recent']]
    recordedAsOf: NotRequired[int | str | None]
    scope: NotRequired[Literal['own', 'public', 'both']]
    search: NotRequired[str | None]
    traverse: NotRequired[Traverse | None]


class GuardrailMatch(TypedDict):
    evidence: list[GuardrailEvidence]
    id: str
    reason: str
    references: list[str]
    remediation: str
    severity: Severity
    stage: Stage


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


class Holder(TypedDict):
    address: str
    balance: str | None
    balanceRaw: str
    cohort: SizeCohort
    firstHeldAt: str | None
    firstSeenAt: str
    kind: HolderKind | None
    lastActiveAt: str
    rank: int
    share: float


class ImportResult(TypedDict):
    decisions: int
    edges: int
    nodeIds: list[str]
    nodes: int
    revision: int
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
    result: ImportResult | None
    status: Literal['open', 'applied']


class IndexDataset(TypedDict):
    columns: list[IndexColumn]
    contract: str
    description: str
    exactSums: dict[str, str]
    files: list[IndexFile]
    name: str
    split: Literal['whole', 'block', 'day', 'list']


class IntakeReadiness(TypedDict):
    activation: ReadinessItem
    auth: ReadinessItem
    billing: ReadinessItem
    entitlements: ReadinessItem


class IntakeStats(TypedDict):
    byDay: list[DayCounts]
    byLane: CountsByLane
    ok: Literal[True]
    total: int


class JsonRpcAnswer(TypedDict):
    error: NotRequired[JsonRpcError | None]
    id: str | int | float | None
    jsonrpc: Literal['2.0']
    result: NotRequired[dict[str, Any] | None]


class MarketplaceRevenue(TypedDict):
    ageS: int | None
    agentId: str | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    grossUsd: str | None
    history: list[RevenuePoint]
    lastActiveAt: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    revenueUsd: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    successRatePercent: float | None
    successfulJobs: int | None
    uniqueBuyers: int | None
    volumeUsd: str | None


class Metric(TypedDict):
    document: str | None
    observedAt: str | None
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    unit: str
    value: int | float | str | None


class NodeDecisionDocument(TypedDict):
    decidedAt: str
    decision: int
    stages: list[StageDocument] | None
    verdict: str


class NodeDocument(TypedDict):
    actor: str
    confirmedAs: SourceClass | None
    confirmedAt: str | None
    disputed: bool
    domain: str
    endedBy: str | None
    erased: bool
    id: str
    immutable: bool
    origin: OriginDocument | None
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


class NotUnderstood(TypedDict):
    leftOut: int
    leftOutCharacters: int
    parts: list[UnreadPart]
    passageCharacters: int
    passages: int


class OntologyData(TypedDict):
    changedFacts: list[str]
    node_types: dict[str, OwnNodeTypeOutput]
    recordedAt: str | None
    relationship_types: dict[str, OwnRelationshipTypeOutput]
    single_valued_predicates: list[SingleValuedPredicate]
    version: int
    versions: list[OntologyVersionDocument]


class OntologyRequest(TypedDict):
    expectedVersion: NotRequired[int | None]
    node_types: NotRequired[dict[str, OwnNodeTypeInput]]
    relationship_types: NotRequired[dict[str, OwnRelationshipTypeInput]]
    single_valued_predicates: NotRequired[list[SingleValuedPredicate]]


class OperatorChallenge(TypedDict):
    claimId: str
    method: Literal['POST']
    ok: Literal[True]
    operator: OperatorState
    owner: str
    schema: Literal['svc.agent_access.operator_challenge.v1']
    text: str
    typedData: dict[str, Any]
    url: str


class PartnerSnapshot(TypedDict):
    ageS: int | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    snapshot: dict[str, Any] | None
    snapshotSha256: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    unchangedSince: str | None


class PlanOffer(TypedDict):
    claimable: bool
    deliverable: str
    description: str
    id: str
    name: str
    payment: PlanPayment
    price: PlanPrice
    reason: str | None
    requestsPerDay: int | None
    status: Literal['available', 'unavailable']
    tier: Tier


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
    requestsPerDay: int | None
    tier: Tier


class PricingArtifact(TypedDict):
    artifact: str
    commercialModel: IntakeCommercialModel
    currency: Literal['USD']
    links: list[ArtifactLink]
    ok: Literal[True]
    plans: list[PricedPlan]
    schema: str
    summary: str
    title: str


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
        'ok': Literal[False],
        'proof': NotRequired[dict[str, Any]],
        'requestId': str,
        'retryable': bool,
        'sent': NotRequired[str],
        'sentUnits': NotRequired[str],
        'status': int,
        'title': str,
        'type': str,
        'violated-policies': NotRequired[list[str]],
    },
)


class ProvisioningTrail(TypedDict):
    commercialModel: IntakeCommercialModel | None
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
    ok: Literal[True]
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
    priceUsd: PointPrice | None
    provenBlock: int | None
    quality: Quality
    returned: int
    start: str
    top10Share: float | None
    transfers: int
    verdict: Verdict | None
    volumeRaw: str


class SignalRequest(TypedDict):
    confidence: NotRequired[float | None]
    confirms: NotRequired[SignalAct | None]
    corrects: NotRequired[SignalAct | None]
    domain: NotRequired[str | None]
    expectedRevision: NotRequired[int | None]
    idempotencyKey: NotRequired[str | None]
    links: NotRequired[list[SignalLinkInput]]
    observedAt: NotRequired[str | None]
    payload: NotRequired[dict[str, Any]]
    retracts: NotRequired[SignalAct | None]
    signature: NotRequired[str | None]
    source: str
    sourceClass: NotRequired[SourceClass]
    title: NotRequired[str | None]
    type: str
    validFrom: NotRequired[str | None]
    validTo: NotRequired[str | None]
    visibility: NotRequired[Literal['public', 'private']]


class SignalResult(TypedDict):
    decision: int
    disputes: list[DisputeDocument]
    edges: list[EdgeDocument]
    nodes: list[NodeDocument]
    revision: int
    signalId: str
    stages: list[StageDocument]
    verdict: Literal['approved', 'rejected', 'escalated']


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
    fetchedAt: str | None
    generatedAt: str
    generation: str
    ledgerSeq: int | None
    metrics: SiteMetricValues
    nodeCount: int | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None


class StorageProof(TypedDict):
    balanceLayout: BalanceLayout | None
    file: StorageProofFile | None
    proven: int
    reason: StorageReason | None
    supply: str | None
    supplyLayout: SupplyLayout | None
    unequal: int
    verdict: StorageVerdict


class TokenHolder(TypedDict):
    address: str
    balance: str | None
    balanceRaw: str | None
    basis: Basis | None
    block: int | None
    chainId: int | None
    cohort: SizeCohort | None
    fetchedAt: str | None
    firstHeldAt: str | None
    firstHeldBlock: int | None
    firstSeenAt: str | None
    firstSeenBlock: int | None
    generatedAt: str
    generation: str
    history: list[BalancePoint]
    lastActiveAt: str | None
    links: Links
    nextCursor: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    rank: int | None
    reason: str | None
    share: float | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None


class TokenHolderEdges(TypedDict):
    among: int
    basis: Basis | None
    block: int | None
    chainId: int | None
    days: int
    edges: list[Edge3]
    fetchedAt: str | None
    generatedAt: str
    generation: str
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None


TokenHoldersTemporal = TypedDict(
    'TokenHoldersTemporal',
    {
        'chainId': int | None,
        'churn': Churn | None,
        'cohorts': Cohorts | None,
        'fetchedAt': str | None,
        'from': ComparedList | None,
        'generatedAt': str,
        'generation': str,
        'movers': Movers | None,
        'observedAt': str | None,
        'ok': Literal[True],
        'quality': Quality,
        'reason': str | None,
        'snapshots': list[SnapshotRef],
        'source': str | None,
        'stale': bool,
        'staleAfter': str | None,
        'to': ComparedList | None,
        'token': Token | None,
    },
)


class TokenPriceData(TypedDict):
    ageS: int | None
    block: int | None
    buys24h: int | None
    change1h: float | None
    change24h: float | None
    changeCheck: ChangeCheck
    fetchedAt: str | None
    generatedAt: str
    generation: str
    liquidityUsd: float | None
    mcap: float | None
    observedAt: str | None
    pool: str | None
    pools: int | None
    price: str | None
    quality: Quality
    reason: str | None
    sells24h: int | None
    source: str | None
    sources: list[PriceObservation]
    stale: bool
    staleAfter: str | None
    token: str | None
    volume24h: float | None


class TokenSeries(TypedDict):
    basis: Basis | None
    chainId: int | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    interval: str
    observedAt: str | None
    ok: Literal[True]
    points: list[SeriesPoint]
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None


class TrialAnswer(TypedDict):
    data: TrialPacket
    ok: Literal[True]
    schema: Literal['svc.agent_access.trial_response.v1']


class TrialChallenge(TypedDict):
    expiresAt: str
    issuedAt: int
    method: Literal['POST']
    ok: Literal[True]
    schema: Literal['svc.agent_access.trial_challenge.v1']
    signer: str
    trial: TrialOffer
    typedData: dict[str, Any]
    url: str


class TrustProtocol(TypedDict):
    consistency: TrustConsistency | None
    erc8004: Erc8004Mapping
    escrow: str | None
    fetchedAt: str | None
    functions: dict[str, str]
    generatedAt: str
    generation: str
    highestScore: int
    lowestScore: int
    network: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    registry: str | None
    scorePath: str
    source: str | None
    stale: bool
    staleAfter: str | None
    thresholds: Thresholds
    totals: TrustTotals | None
    weighting: Weighting


class TrustRegistry(TypedDict):
    agents: list[ListedAgent]
    attestations: list[ListedAttestation]
    attesters: list[ListedAttester]
    consistency: TrustConsistency | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    network: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    registry: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    totals: TrustTotals | None
    truncated: bool


class Action(TypedDict):
    description: str
    disabled: NotRequired[bool]
    error: NotRequired[ActionError | None]
    icon: str
    label: str
    links: NotRequired[ActionLinks | None]
    title: str
    type: NotRequired[Literal['action', 'completed']]


class AddressTransfers(TypedDict):
    address: str
    basis: Basis | None
    block: int | None
    chainId: int | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    links: Links
    nextCursor: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None
    transfers: list[AddressTransfer]


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


class BidwallBalance(TypedDict):
    at: BlockRef | None
    balanceEth: str | None
    balanceWei: str | None
    cache: CacheInfo
    chainId: int | None
    contract: str | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    trigger: Trigger


class BidwallEvents(TypedDict):
    cache: CacheInfo
    chainId: int | None
    contract: str | None
    events: list[ContractTransfer]
    eventsInfo: EventsInfo
    fetchedAt: str | None
    generatedAt: str
    generation: str
    limit: int
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    scope: ScopeInfo
    source: str | None
    stale: bool
    staleAfter: str | None


class BidwallSnapshot(TypedDict):
    at: BlockRef | None
    balanceEth: str | None
    balanceWei: str | None
    cache: CacheInfo
    chainId: int | None
    contract: str | None
    ethUsd: UsdValue
    events: list[ContractTransfer]
    eventsInfo: EventsInfo
    eventsLimit: int
    fetchedAt: str | None
    generatedAt: str
    generation: str
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    scope: ScopeInfo
    source: str | None
    stale: bool
    staleAfter: str | None
    trigger: Trigger


class BuildResult(TypedDict):
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
    stages: list[StageDocument]
    verdict: Literal['approved', 'rejected', 'escalated'] | None
    withheld: list[Withheld]


class CapsuleAnswer(TypedDict):
    claimToken: str | None
    claimTokenState: Literal['shown', 'no_longer_shown', 'used']
    decision: int
    edges: list[EdgeDocument]
    id: str
    identity: CapsuleIdentity
    links: CapsuleLinks
    nodes: list[NodeDocument]
    ok: Literal[True]
    plan: list[CapsuleStep]
    review: CapsuleReview
    revision: int
    stages: list[StageDocument]
    values: list[CapsuleValue]
    verdict: Literal['approved', 'rejected', 'escalated']
    visibility: Literal['public', 'private']


class CapsuleClaimResult(TypedDict):
    decision: int
    edges: list[EdgeDocument]
    id: str
    nodes: list[NodeDocument]
    revision: int
    stages: list[StageDocument]
    verdict: Literal['approved', 'rejected', 'escalated']


class ConsentAnswer(TypedDict):
    data: ConsentData
    ok: Literal[True]
    schema: Literal['svc.agent_access.operator_response.v1']


class ContextSnapshot(TypedDict):
    bidwall: ContextBidwall
    fetchedAt: str | None
    generatedAt: str
    generation: str
    graph: ContextGraph
    holders: ContextHolders
    mode: OverviewMode
    network: str | None
    next: list[NextStep]
    observedAt: str | None
    ok: Literal[True]
    price: ContextPrice
    quality: Quality
    reason: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None
    trust: ContextTrust


class DataIndex(TypedDict):
    croissant: str
    dataPackage: str
    database: str
    datasets: list[IndexDataset]
    manifest: str
    service: str


class DesignAnswer(TypedDict):
    data: DesignResult
    ok: Literal[True]


class ErasureAnswer(TypedDict):
    data: ErasureData
    ok: Literal[True]


class EthPrice(TypedDict):
    ageS: int | None
    block: int | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    observedAt: str | None
    ok: Literal[True]
    price: str | None
    quality: Quality
    reason: str | None
    source: str | None
    sources: list[PriceObservation]
    stale: bool
    staleAfter: str | None


class GraphQueryResult(TypedDict):
    cursor: str | None
    disputes: list[DisputeDocument]
    edges: list[EdgeDocument] | None
    hints: SearchHints | None
    matched_nodes: int
    nodes: list[NodeDocument]
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
    approval: Outcome | None
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
    problem: GuardrailProblem | None
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
    ok: Literal[True]


class ImportApplied(TypedDict):
    data: ImportResult
    ok: Literal[True]


class IntakeProvisioningCapsule(TypedDict):
    activation: IntakeActivationStatus
    activationPackage: ActivationPackage
    artifact: Literal['svc.intake.capsule']
    consentAt: str
    generatedAt: str
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: dict[str, Any]
    ok: Literal[True]
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: HumanSummary | AgentSummary | EnterpriseSummary
    version: str


class IntakeResponse(TypedDict):
    activationPackage: ActivationPackage
    consentAt: str
    eraseToken: str | None
    eraseTokenState: Literal['shown', 'no_longer_shown']
    eraseUrl: str
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: dict[str, Any]
    ok: Literal[True]
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: HumanSummary | AgentSummary | EnterpriseSummary


class IntakeStatusResponse(TypedDict):
    activation: IntakeActivationStatus
    activationPackage: ActivationPackage
    consentAt: str
    id: str
    intakeId: str
    lane: Lane
    launchChecklist: LaunchChecklist
    normalized: dict[str, Any]
    ok: Literal[True]
    provisioningTrail: ProvisioningTrail
    readiness: IntakeReadiness
    receivedAt: str
    source: str
    summary: HumanSummary | AgentSummary | EnterpriseSummary


class LiveGraph(TypedDict):
    cursor: str | None
    disputes: list[DisputeDocument]
    edgeCount: int
    edges: list[EdgeDocument]
    nodeCount: int
    nodes: list[NodeDocument]
    revision: int
    truncated: bool


class LiveGraphAnswer(TypedDict):
    data: LiveGraph
    ok: Literal[True]


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
    node: NodeDocument | None
    revision: int
    sources: list[NodeSourceDocument]
    truncated: bool


class OntologyAnswer(TypedDict):
    data: OntologyData
    ok: Literal[True]


class PlansAnswer(TypedDict):
    artifact: Literal['svc.agent-access.plans']
    claimUrl: str
    flow: Flow
    network: str
    ok: Literal[True]
    payment: CatalogPayment
    plans: list[PlanOffer]
    quoteUrl: str
    receiptUrlTemplate: str
    schema: Literal['svc.agent_access.plans.v1']
    service: Literal['svc']
    signing: Signing
    trial: TrialOffer | None


class PlansArtifact(TypedDict):
    artifact: str
    commercialModel: IntakeCommercialModel
    currency: Literal['USD']
    links: list[ArtifactLink]
    ok: Literal[True]
    plans: list[PricedPlan]
    schema: str
    states: list[LiveState]
    summary: str
    title: str


class Proof(TypedDict):
    block: int
    blockHash: str
    burned: str
    holderList: HolderListFile | None
    minted: str
    negativeBalances: int
    nodes: Agreement | None
    rangesReasked: int
    reason: str | None
    sampledBalanceOf: SampledBalances
    storage: StorageProof | None
    sumOfBalances: str
    totalSupply: str | None
    verdict: Verdict


class QuoteData(TypedDict):
    next: QuoteNext
    paymentRequirement: dict[str, Any]
    quote: dict[str, Any]


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
    ok: Literal[True]
    operator: OperatorState | None
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
    ok: Literal[True]
    schema: Literal['svc.agent_access.recovery_response.v1']


class RegistrationContract(TypedDict):
    capabilitiesUrl: str
    consent: ConsentRules
    endpoints: list[Endpoint]
    mcp: McpEndpoint
    modes: list[RegistrationMode]
    ok: Literal[True]
    openapi: str
    request: RequestSchema
    schema: Literal['svc.agent_registration.v1']
    schemaUrl: str
    summary: str
    title: str


class Schema(TypedDict):
    domains: list[SchemaDomain]
    node_types: list[str]
    ontology: SchemaOntology
    relationship_types: list[str]
    revision: int


class SchemaAnswer(TypedDict):
    data: Schema
    ok: Literal[True]


class SignalAnswer(TypedDict):
    data: SignalResult
    ok: Literal[True]


class TokenPrice(TypedDict):
    data: TokenPriceData
    ok: Literal[True]


class ActionAnswer(TypedDict):
    externalLink: NotRequired[str | None]
    links: NotRequired[NextLinks | None]
    message: str
    type: Literal['post', 'external-link']
    verdict: NotRequired[Any]


class BuildAnswer(TypedDict):
    data: BuildResult
    ok: Literal[True]


class CapsuleClaimAnswer(TypedDict):
    data: CapsuleClaimResult
    ok: Literal[True]


class ClaimData(TypedDict):
    activationPacket: ActivationPacket
    claim: ClaimRecord
    receipt: Receipt


class Consistency(TypedDict):
    block: int
    blockHash: str
    level: ConsistencyLevel
    proof: Proof


class GraphQueryAnswer(TypedDict):
    data: GraphQueryResult
    ok: Literal[True]


class GuardrailAnswer(TypedDict):
    data: GuardrailResult
    ok: Literal[True]


class NodeHistoryAnswer(TypedDict):
    data: NodeHistoryData
    ok: Literal[True]


class QuoteAnswer(TypedDict):
    data: QuoteData
    expiresAt: str
    integrity: QuoteIntegrity
    ok: Literal[True]
    paymentRequirementHash: str
    price: QuotePrice
    quoteHash: str
    quoteId: str
    schema: Literal['svc.agent_access.quote_response.v1']
    signature: Signature


class TokenHolders(TypedDict):
    backfill: Backfill | None
    basis: Basis | None
    chainId: int | None
    concentration: Concentration | None
    consistency: Consistency | None
    discrepancy: list[Discrepancy]
    fetchedAt: str | None
    generatedAt: str
    generation: str
    holderCount: int | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    snapshots: list[SnapshotRef]
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None
    totalSupply: str | None
    totalSupplyRaw: str | None


class TokenHoldersMap(TypedDict):
    backfill: Backfill | None
    basis: Basis | None
    block: int | None
    chainId: int | None
    consistency: Consistency | None
    fetchedAt: str | None
    generatedAt: str
    generation: str
    holders: list[Holder]
    limit: int
    links: Links
    nextCursor: str | None
    observedAt: str | None
    ok: Literal[True]
    quality: Quality
    reason: str | None
    snapshot: str | None
    source: str | None
    stale: bool
    staleAfter: str | None
    token: Token | None
    total: int | None


class ClaimAnswer(TypedDict):
    data: ClaimData
    ok: Literal[True]
    schema: Literal['svc.agent_access.claim_response.v1']
