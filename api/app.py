"""Builds the API: the front, the rooms behind it and their shared stores. Only this module knows all rooms.

The front imports neither the framework nor a store, so it answers published documents while those still load.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from api.memory import MemoryKeeper, trimming
from api.publish.front import Application, Front, Receive, Scope, Send
from api.publish.site import PublishedSite
from contracts.discovery.service import SERVICE_NAME, SERVICE_VERSION
from contracts.settings import Settings, load_settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from api.access.account import KeyAccounts
    from api.access.coin import Coin
    from api.access.rpc import Providers
    from api.access.service import AccessService
    from api.access.settlements import Settlements
    from api.access.watcher import Watcher
    from api.connect.edge import Edge
    from api.discovery.state import StateObserver
    from api.key_gate import Admission, KeyGate
    from api.stores import Stores
    from contracts.access.tiers import Caller
    from contracts.intake.answers import ServiceUrls
    from contracts.token.holder_documents import MomentParameters
    from contracts.world.extraction.build import BuildRequest
    from contracts.world.memory.memory_plan import DesignRequest
    from contracts.world.proposal import Confirmation
    from contracts.world.signal import SignalRequest, SignalResult
    from warehouse.discovery.processes import Answered
    from warehouse.ledger.counters import Counters, Take
    from warehouse.tracing import Counts


_log = logging.getLogger(__name__)

SWITCH_INTERVAL_S = 0.0005
"""A tenth of Python's default: the event loop may wait for one interval for each thread that computes."""


def create_app(settings: Settings, *, providers: Providers | None = None) -> Front:
    """Creates the whole API as an ASGI application. `providers` default to those of the settings."""
    from warehouse.file_modes import make_data_directory
    from warehouse.ledger.counters import open_counters_when_possible

    make_data_directory(settings.data_dir)
    counters = open_counters_when_possible(settings, settings.data_dir, wait_s=0.25)
    rooms = App(settings, lambda: front.site, counters, providers, answered=lambda: front.answered)
    # Hosts that share a ledger count by its clock, not by their own.
    waits, clock = settings.ledger_url is not None, counters.now_s
    front = Front(settings, rooms, counters.take, take_waits=waits, keys=rooms, clock=clock)
    return front


def app_from_environment() -> Front:
    """Creates the application for servers that import it by name. Reads the settings from the environment."""
    from warehouse.file_modes import keep_files_private
    from warehouse.publish.served_address import hold_address

    keep_files_private()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # Objects created while loading live as long as the process. Letting the collector walk them repeatedly took a
    # fifth of the start's CPU time, so `_warm_up` enables it afterwards.
    gc.disable()
    settings = load_settings()
    front = create_app(settings)
    try:
        hold_address(settings.data_dir, settings.public_base_url)
    except OSError as error:  # a full or read-only disk, from which the API can still serve
        _log.warning("The address that is served here can't be recorded: %s", error)
    return front


def build_rooms(
    stores: Stores,
    site: Callable[[], PublishedSite | None],
    observer: StateObserver | None = None,
    providers: Providers | None = None,
    settlements: Settlements | None = None,
    answered: Callable[[], Mapping[str, Answered]] = dict,
    coin: Coin | None = None,
) -> FastAPI:
    """Creates the framework's application with every room's routes.

    `observer` provides the state for `/health`; the default one does not know the chain's clock. `providers` query the
    chain and default to those of the settings, `settlements` settle signed payments, and `coin` knows whether amounts
    can be quoted. `answered` returns each worker's answer counts, taken at its front.
    """
    from fastapi import FastAPI

    from api.access.account import KeyAccounts, account_router
    from api.access.cases import Cases, cases_router
    from api.access.consent import OperatorConsents, consent_router
    from api.access.payments import SignedPayments, payments_router
    from api.access.recovery import Recovery, recovery_router
    from api.access.router import access_router
    from api.access.rpc import Providers
    from api.access.service import AccessService
    from api.access.trials import Trials, trials_router
    from api.compression import Compression
    from api.connect.router import connect_router
    from api.deps import set_payments
    from api.discovery.router import discovery_router
    from api.discovery.wallet_actions import blink_router
    from api.guardrail.approvals import ApprovalDesk
    from api.guardrail.router import guardrail_router, judge_action
    from api.intake.router import intake_router
    from api.problems import handle_problems
    from api.publish.client_address import ClientAddresses
    from api.publish.router import telemetry_router
    from api.routes import merge_routes
    from api.token.router import token_router
    from api.trust.router import trust_router
    from api.world.queries import world_health_router, world_queries_router
    from api.world.router import world_writes_router
    from contracts.access.tiers import REQUESTS_A_DAY
    from contracts.discovery.installation import installation_of
    from contracts.intake.answers import ServiceUrls
    from contracts.problem_links import problem_links
    from warehouse.access.claims import claims_by_state

    installation = installation_of(stores.settings)
    app = FastAPI(title=SERVICE_NAME, version=SERVICE_VERSION, docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    app.add_middleware(Compression)
    handle_problems(app, problem_links(stores.settings), site)
    settings, providers = stores.settings, providers or Providers(stores.settings.rpc_urls)
    payments = SignedPayments(
        settlements or settlements_of(stores, providers),
        settings.public_base_url,
        lambda: stores.ledger,
        lambda: stores.secrets,
        lambda: stores.signing_keys.current(),
        clock=stores.now,
    )
    set_payments(app, payments)
    access = AccessService(
        settings,
        lambda: stores.ledger,
        lambda: stores.secrets,
        lambda: stores.signing_keys.current(),
        REQUESTS_A_DAY,
        providers=providers,
        coin=coin,
        clock=stores.now,
    )
    recovery = Recovery(
        access.rail,
        providers,
        settings.public_base_url,
        lambda: stores.ledger,
        lambda: stores.secrets,
        REQUESTS_A_DAY,
        clock=stores.now,
    )
    cases = Cases(
        access.rail,
        providers,
        settings.public_base_url,
        lambda: stores.ledger,
        lambda: stores.signing_keys.current(),
        access.coin,
        clock=stores.now,
    )
    accounts = KeyAccounts(
        settings.public_base_url,
        not access.rail.missing,
        lambda: stores.ledger,
        lambda: stores.secrets,
        lambda: stores.counters,
        clock=stores.now,
    )
    clients = ClientAddresses(settings.trusted_proxies)
    trials = Trials(
        access.rail,
        providers,
        settings.public_base_url,
        settings.trial_keys_per_day,
        lambda: stores.ledger,
        lambda: stores.secrets,
        lambda request: clients.key(request.client.host if request.client else "unknown", request.scope["headers"]),
        clock=stores.now,
    )
    urls = ServiceUrls(settings.public_base_url, settings.app_url, payments_live=not access.rail.missing)
    merge_routes(
        app.router,
        discovery_router(
            site,
            settings.host_named,
            (observer or state_observer(stores, lambda: None, tuple)).current,
            lambda: claims_by_state(stores.ledger),
            answered,
            settings.installation_dir,
        ),
        token_router(stores.served),
        trust_router(stores.served),
        guardrail_router(
            lambda: stores.guardrail,
            lambda: stores.guardrail_log,
            ApprovalDesk(lambda: stores.ledger, lambda: stores.secrets.approval_key, stores.now),
        ),
        access_router(access),
        recovery_router(recovery),
        account_router(accounts),
        trials_router(trials),
        cases_router(cases),
        payments_router(payments),
        consent_router(OperatorConsents(access.rail, providers, settings.public_base_url, lambda: stores.ledger)),
        intake_router(urls, lambda: stores.ledger, lambda: stores.secrets.pepper),
        connect_router(_edge(stores, site, access, urls, providers), _key_edge(stores, site, access, accounts)),
        blink_router(
            installation,
            lambda request: judge_action(stores.guardrail, request),
            lambda: stores.guardrail,
            lambda: stores.graph,
        ),
        world_writes_router(stores),
        world_health_router(lambda: stores.graph),
        world_queries_router(stores),
        # Last, because routes are searched one by one and the front answers nearly all requests for these itself.
        telemetry_router(stores.served, installation, lambda: stores.workers),
    )
    return app


def settlements_of(stores: Stores, providers: Providers) -> Settlements:
    """Creates the `Settlements` that use the relayer's key of the settings."""
    from api.access.settlements import Settlements
    from contracts.access.rail import rail_of
    from contracts.access.tiers import REQUESTS_A_DAY
    from warehouse.access.relayer_key import load_relayer

    settings = stores.settings
    return Settlements(
        rail_of(settings),
        settings.public_base_url,
        lambda: stores.ledger,
        lambda: stores.secrets,
        lambda: stores.signing_keys.current(),
        lambda: load_relayer(settings),
        REQUESTS_A_DAY,
        providers,
        clock=stores.now,
    )


def state_observer(
    stores: Stores,
    clock_skew_s: Callable[[], int | None],
    nodes_answering: Callable[[], tuple[bool, ...]],
    share: Callable[[], None] = lambda: None,
    payments_problem: Callable[[], str | None] = lambda: None,
) -> StateObserver:
    """Creates an observer of the ledger, the guardrail rules, our clock and the pipeline's runs. Each observation calls
    `share` first."""
    from api.discovery.state import ServiceState, StateObserver
    from warehouse.discovery.run_status import job_facts

    def observe() -> ServiceState:
        share()
        return ServiceState(
            stores.ledger_reachable(),
            stores.guardrail_problem(),
            clock_skew_s(),
            nodes_answering(),
            job_facts(stores.settings.data_dir),
            payments_problem(),
        )

    return StateObserver(observe)


def _edge(
    stores: Stores,
    site: Callable[[], PublishedSite | None],
    access: AccessService,
    urls: ServiceUrls,
    providers: Providers,
) -> Edge:
    """Creates the edge that answers `/mcp`. The SDK is imported with the first message."""
    from api.access.rpc import settle
    from api.connect.edge import Edge
    from api.connect.handoff import Handoff
    from api.connect.service import ConnectService
    from api.guardrail.approvals import ApprovalDesk
    from api.guardrail.router import check_action
    from api.intake.router import intake_status
    from api.world.queries import answer_query

    desk = ApprovalDesk(lambda: stores.ledger, lambda: stores.secrets.approval_key, stores.now)
    settings = stores.settings
    app_url, secret = settings.app_url, settings.handoff_secret

    def handoff() -> Handoff:
        assert app_url is not None
        signed = None if secret is None else secret.get_secret_value().encode()
        return Handoff(app_url, signed, stores.counters, stores.ledger.now)

    def open_server() -> Application:
        from api.connect.resources import Resources
        from api.connect.server import McpServer
        from api.connect.tools import McpTools, PairedCapabilities
        from contracts.connect.server import CONNECT_SERVER

        service = ConnectService(
            urls,
            lambda: stores.ledger,
            lambda: stores.secrets.pepper,
            lambda: stores.counters,
            None if app_url is None else handoff,
            settings.chain_id,
            lambda proof: settle(proof, providers, access.rail.quorum),
        )
        capabilities = PairedCapabilities(
            judge=lambda request, session_id, owner: check_action(
                stores.guardrail,
                stores.guardrail_log,
                request,
                source="mcp",
                caller=session_id,
                owner=owner,
                desk=desk,
            ),
            ask_graph=lambda request, owner: answer_query(stores, request, owner),
            plans=access.plans,
            intake=lambda intake_id: intake_status(stores.ledger, urls, intake_id),
        )
        return McpServer(CONNECT_SERVER, McpTools(service, capabilities), Resources(site))

    return Edge(settings, open_server)


def _key_edge(
    stores: Stores, site: Callable[[], PublishedSite | None], access: AccessService, accounts: KeyAccounts
) -> Edge:
    """Creates the edge that answers `/api/v2/mcp`, over the functions behind the HTTP routes."""
    from api.connect.edge import Edge
    from contracts.connect.key_server import COUNTED_METHODS

    def open_server() -> Application:
        from starlette.concurrency import run_in_threadpool

        from api.connect.key_tools import HOLDERS_MAP_PATH, HOLDERS_PATH, KeyCapabilities, KeyResources, KeyTools
        from api.connect.server import McpServer, Questions
        from api.guardrail.approvals import ApprovalDesk
        from api.guardrail.router import check_action
        from api.publish.variants import computed_variant
        from api.token.router import holder_body
        from api.world.knowledge import build, design
        from api.world.pending import pending_state
        from api.world.queries import answer_query, node_with_history
        from api.world.signals import signal_waits_for_owner, state_signal
        from contracts.connect.key_server import KEY_SERVER
        from contracts.connect.key_tools import KEY_PROMPTS
        from contracts.publish.registry import PROJECTIONS
        from contracts.world.alignment import alignment

        desk = ApprovalDesk(lambda: stores.ledger, lambda: stores.secrets.approval_key, stores.now)

        async def built(request: BuildRequest, body: bytes, caller: Caller) -> bytes:
            return (await build(stores, request, body, caller)).fields

        async def designed(request: DesignRequest, body: bytes, caller: Caller) -> bytes:
            return (await design(stores, request, body, caller)).fields

        async def stated(signal: SignalRequest, caller: Caller, confirmation: Confirmation | None) -> SignalResult:
            decided = await run_in_threadpool(
                state_signal, lambda: stores.ledger, alignment, signal, caller, {}, confirmation
            )
            return decided.result

        projections = {projection.path: projection for projection in PROJECTIONS}

        async def variant_of(path: str, parameters: MomentParameters, caller: Caller) -> bytes:
            body = await computed_variant(
                projections[path], parameters, stores.served, lambda: stores.workers, caller.key_id
            )
            assert body is not None  # because `computed_variant` waits for it
            return body

        capabilities = KeyCapabilities(
            state=stated,
            waits_for_owner=lambda signal, caller: run_in_threadpool(
                signal_waits_for_owner, lambda: stores.ledger, alignment, signal, caller
            ),
            pending=lambda decision, owner: run_in_threadpool(pending_state, stores, decision, owner),
            ask_graph=lambda request, owner: answer_query(stores, request, owner),
            read_node=lambda node_id, owner, asked: run_in_threadpool(node_with_history, stores, node_id, owner, asked),
            build=built,
            design=designed,
            judge=lambda request, caller: run_in_threadpool(
                check_action,
                stores.guardrail,
                stores.guardrail_log,
                request,
                source="mcp",
                caller=caller.key_id,
                owner=caller.owner,
                desk=desk,
            ),
            holder=lambda address, parameters: run_in_threadpool(holder_body, stores.served, address, parameters),
            holders_at=lambda parameters, caller: variant_of(HOLDERS_PATH, parameters, caller),
            holders_map_at=lambda parameters, caller: variant_of(HOLDERS_MAP_PATH, parameters, caller),
            plans=lambda: run_in_threadpool(access.plans),
            own_key=lambda caller: run_in_threadpool(accounts.read, caller, days=1),
            site=site,
            base_url=stores.settings.public_base_url,
        )
        questions = Questions(stores.secrets.question_key)
        return McpServer(KEY_SERVER, KeyTools(capabilities), KeyResources(capabilities), KEY_PROMPTS, questions)

    return Edge(stores.settings, open_server, COUNTED_METHODS.__contains__)


class App:
    """The rooms as one application. It loads while the front already serves documents, and then opens its stores."""

    def __init__(
        self,
        settings: Settings,
        site: Callable[[], PublishedSite | None],
        counters: Counters,
        providers: Providers | None = None,
        *,
        answered: Callable[[], Answered] = dict,
    ) -> None:
        self._settings = settings
        self._providers = providers
        self._answered = answered
        self._site = site
        self._counters = counters
        self._stores: Stores | None = None
        self._gate: KeyGate | None = None
        self._watcher: Watcher | None = None
        self._observer: StateObserver | None = None
        self._loading: asyncio.Task[Application] | None = None
        self._end_tracing: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            application = await self._application()
            await application(scope, receive, send)

    async def admit(self, presented: str, now_s: float, *, counts: bool = True) -> Admission | None:
        """Calls `KeyGate.admit` once the rooms have loaded."""
        await self._application()
        assert self._gate is not None
        return await self._gate.admit(presented, now_s, counts=counts)

    async def give_back(self, admission: Admission, now_s: float) -> None:
        """Calls `KeyGate.give_back`."""
        assert self._gate is not None
        await self._gate.give_back(admission, now_s)

    async def take_of_session(self, token: str, now_s: float) -> Take | None:
        """Calls `KeyGate.take_of_session` once the rooms have loaded."""
        await self._application()
        assert self._gate is not None
        return await self._gate.take_of_session(token, now_s)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        loading = self._application()
        await send({"type": "lifespan.startup.complete"})
        await asyncio.wait([loading])
        warming = asyncio.create_task(asyncio.to_thread(self._warm_up))
        trim = trimming()
        keeper = None if trim is None else MemoryKeeper(trim)
        background = (self._watcher, self._observer, keeper)
        tasks = [asyncio.create_task(service.run()) for service in background if service is not None]
        await receive()
        await asyncio.wait([warming])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._observer is not None:
            self._observer.close()
        if self._gate is not None:
            await asyncio.to_thread(self._gate.close)
        if self._stores is not None:
            self._stores.close()
        await asyncio.to_thread(self._end_tracing)
        await send({"type": "lifespan.shutdown.complete"})

    def _application(self) -> asyncio.Task[Application]:
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._load))
        return self._loading

    def _warm_up(self) -> None:
        """Does the work that the first requests would otherwise wait for, then enables garbage collection."""
        try:
            self._import_the_rest()
        finally:
            # Modules, models and rules live as long as the process. Walking them cost 0.2 s to any request that
            # triggered a full collection, such as one with many small arrays.
            gc.freeze()
            gc.enable()

    def _import_the_rest(self) -> None:
        from contracts.access.authorizations import domain_separator
        from contracts.access.plans import load_plans
        from contracts.access.rail import rail_of

        rail = rail_of(self._settings)
        load_plans()
        if rail.takes_signatures:
            domain_separator(rail)  # imports the libraries that read payments, which takes more than a second
        importlib.import_module("api.connect.server")
        if self._stores is not None:
            self._stores.guardrail_problem()

    def _answers(self) -> Counts:
        """Returns the front's answer counts for a telemetry collector."""
        return {
            (("svc.answered_by", by), ("http.response.status_code", status)): count
            for (by, status), count in self._answered().items()
        }

    def _load(self) -> Application:
        from api.access.coin import Coin
        from api.access.rpc import Providers
        from api.access.watcher import Watcher
        from api.key_gate import KeyGate
        from api.stores import Stores
        from contracts.access.rail import rail_of
        from warehouse.discovery.processes import SharedAnswers
        from warehouse.tracing import trace_process

        self._end_tracing = trace_process(self._settings, "api", {"svc.answers": self._answers})
        stores = self._stores = Stores(self._settings, self._counters)
        self._gate = KeyGate(stores, self._counters)
        providers = self._providers or Providers(self._settings.rpc_urls)
        settlements = settlements_of(stores, providers)
        coin = Coin(rail_of(self._settings), providers)
        watcher = self._watcher = Watcher(
            rail_of(self._settings),
            providers,
            lambda: stores.ledger,
            clock=stores.now,
            settle=settlements.watch,
            look_at_coin=coin.look,
        )
        answers = SharedAnswers(self._settings.data_dir, self._answered)
        observer = self._observer = state_observer(
            stores, lambda: watcher.skew_s, lambda: watcher.nodes_answering, answers.share, lambda: coin.problem
        )
        return build_rooms(stores, self._site, observer, providers, settlements, answers.of_all, coin)
