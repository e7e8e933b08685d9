"""From connect sessions to graph, tables and Dagster, and what remains of a user who asks to be forgotten."""

import dagster as dg
import pytest
from connect_sessions import AGENT, close, finished, keep, open_session, plan_of
from intakes import AGENT as AGENT_INTAKE
from intakes import HUMAN, register
from keyed_service import serving
from unsynced import has_unsynced_changes

from contracts.connect.anonymised import session_key
from contracts.connect.graph import node_ids
from contracts.connect.pairing import BUILT_IN_PROFILE
from contracts.connect.progress import StepReport, advance, start
from contracts.intake.graph import node_ids as intake_node_ids
from contracts.settings import Settings
from pipelines.checks import judge
from pipelines.connect.assets import sync_connect_tables
from pipelines.derived import refill_derived_tables
from pipelines.intake.assets import sync_intake_tables
from pipelines.resources import runtime_resource
from warehouse.connect import sessions
from warehouse.connect.session_sync import CONNECT, sync_sessions
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.duck.inspection import derived_tables
from warehouse.duck.rows import refill
from warehouse.intake.intake_sync import sync_intakes
from warehouse.intake.intakes import graph_key
from warehouse.intake.rights import forget_intake
from warehouse.world.audit import verify
from warehouse.world.events import decode_edges, decode_nodes, public_counts


@pytest.fixture
def service(ledger_settings: Settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        yield opened


def take_over(service) -> None:
    """Does the work of the assets without Dagster."""
    with Warehouse(service.settings.data_dir).connect() as connection:
        sync_intakes(connection, service.ledger)
        sync_sessions(connection, service.ledger)
        for table in derived_tables():
            refill(connection, table)


def materialize(settings: Settings) -> dict[str, dict]:
    assets = [sync_intake_tables, sync_connect_tables, refill_derived_tables]
    done = dg.materialize(assets, resources={"runtime": runtime_resource(settings)})
    assert done.success
    return {
        event.asset_key.path[0]: {name: value.value for name, value in event.materialization.metadata.items()}
        for event in done.get_asset_materialization_events()
    }


def rows(settings: Settings, question: str) -> list[tuple]:
    with Warehouse(settings.data_dir).connect() as connection:
        return connection.execute(question).fetchall()


def failures(connection: Connection, name: str) -> set[str]:
    return {column for _, column, _ in judge(name, gather_facts(connection, name)).failures}


def graph(service) -> tuple[dict[str, int], int]:
    with service.ledger.read() as reader:
        counts, edges = public_counts(reader)
    return {name: count for name, count in counts.items() if count}, edges


def nodes_and_edges(service, node_id: str):
    with service.ledger.read() as reader:
        return (
            decode_nodes(reader.rows("world_node", id=node_id)),
            decode_edges(reader.rows("world_edges_at", node_id=node_id)),
        )


def test_a_finished_set_up_is_seen_in_the_graph_the_tables_and_dagster_and_an_unfinished_one_is_counted(service):
    settings = service.settings
    take_over(service)
    assert not has_unsynced_changes(settings, CONNECT)
    intake_id = register(service, HUMAN).json()["id"]
    plan = plan_of(assistant="codex", os="linux")
    session = keep(service.ledger, open_session(service.ledger), finished(plan, intake_id=intake_id), intake_id)
    begun = advance(plan, start(plan), StepReport(step_id=plan.steps[0].id, outcome="failed"))
    keep(service.ledger, open_session(service.ledger), begun)
    close(service.ledger, open_session(service.ledger))
    assert has_unsynced_changes(settings, CONNECT)
    said = materialize(settings)
    assert said["connect_events"] == {"approved": 1, "rejected": 0}
    assert said["raw_ledger__connect_sessions"] == {"dagster/row_count": 3, "changed_sessions": 3}
    assert said["raw_ledger__connect_steps"]["dagster/row_count"] == 2 * len(plan.steps)
    assert rows(settings, "select * exclude (day) from out_connect__daily") == [(3, 2, 1, 1, 1)]
    first = rows(settings, "select * from out_connect__steps order by position limit 2")
    assert first == [
        ("codex", plan.steps[0].id, 1, 2, 2, 1, 0, 1, 1),
        ("codex", plan.steps[1].id, 2, 2, 1, 1, 0, 0, 0),
    ]
    assert "| codex" in said["out_connect__steps"]["preview"]
    with Warehouse(settings.data_dir).connect() as connection:
        assert failures(connection, "out_connect__daily") == failures(connection, "out_connect__steps") == set()
    key = session_key(session.session_id)
    work, runtime = node_ids(key)
    ((node,), edges) = nodes_and_edges(service, runtime)
    assert (node.type, node.domain, node.visibility) == ("Handoff", "SYMBIOSIS", "public")
    assert node.properties == {"assistant": "codex", "os": "linux", "profile": "guided_local"}
    assert {(edge.source, edge.type, edge.target) for edge in edges} == {
        (work, "PRODUCED", runtime),
        (runtime, "PART_OF", intake_node_ids(graph_key(intake_id))[0]),
    }
    assert nodes_and_edges(service, work)[0][0].domain == "EXECUTION"
    assert graph(service) == ({"SYMBIOSIS": 2, "EXECUTION": 2}, 3)
    assert not has_unsynced_changes(settings, CONNECT)
    assert materialize(settings)["connect_events"] == {"approved": 0, "rejected": 0}


def test_a_set_up_that_changes_later_is_reported_again_and_changes_nothing_twice(service):
    settings = service.settings
    session = keep(service.ledger, open_session(service.ledger), finished(plan_of(), skip_optional=True))
    take_over(service)
    told = graph(service)
    assert told == ({"SYMBIOSIS": 1, "EXECUTION": 1}, 1)
    close(service.ledger, session)
    take_over(service)
    assert graph(service) == told
    assert rows(settings, "select sessions, planned, registered, finished, closed from out_connect__daily") == [
        (1, 1, 0, 1, 1)
    ]


def test_sessions_deleted_in_the_ledger_stay_counted(service):
    settings = service.settings
    session = keep(service.ledger, open_session(service.ledger), finished(plan_of()))
    take_over(service)
    with service.ledger.transaction() as tx:
        tx.run("connect_delete_sessions", expired_before="9999-01-01T00:00:00.000000Z")
    open_session(service.ledger)
    take_over(service)
    assert rows(settings, "select sessions, finished from out_connect__daily") == [(2, 1)]
    assert session.session_id not in repr(rows(settings, "select * from raw_ledger__connect_sessions"))


def test_nothing_about_the_paired_user_reaches_the_warehouse_or_the_graph(service):
    settings = service.settings
    plan, said = plan_of(), "a detail that only the session may know"
    progress = finished(plan)
    last = progress.steps[-1].model_copy(update={"detail": said})
    progress = progress.model_copy(update={"steps": (*progress.steps[:-1], last)})
    session = keep(service.ledger, open_session(service.ledger), progress)
    take_over(service)
    held = "".join(
        repr(rows(settings, f"select * from {table}"))
        for table in ("raw_ledger__connect_sessions", "raw_ledger__connect_steps", "out_connect__daily")
    )
    with service.ledger.read() as reader:
        held += repr([tuple(row) for row in reader.rows("world_events_after", seq=0, limit=1000)])
    assert session_key(session.session_id) in held
    for secret in (AGENT, BUILT_IN_PROFILE, session.session_id, said):
        assert secret not in held


def test_a_forgotten_user_stays_counted_and_leaves_the_graph(service):
    settings = service.settings
    intake_id = register(service, HUMAN).json()["id"]
    other = register(service, AGENT_INTAKE).json()["id"]
    keep(service.ledger, open_session(service.ledger), finished(plan_of(), intake_id=intake_id), intake_id)
    keep(service.ledger, open_session(service.ledger), finished(plan_of(assistant="grok"), intake_id=other), other)
    take_over(service)
    assert graph(service) == ({"SYMBIOSIS": 4, "EXECUTION": 4}, 6)
    question = "select sessions, planned, registered, finished from out_connect__daily"
    before, steps = rows(settings, question), rows(settings, "select * from out_connect__steps order by all")
    assert before == [(2, 2, 2, 2)]
    assert forget_intake(service.ledger, intake_id, "ada") == 4 + 3
    assert graph(service) == ({"SYMBIOSIS": 2, "EXECUTION": 2}, 3)
    take_over(service)
    assert rows(settings, question) == before
    assert rows(settings, "select * from out_connect__steps order by all") == steps
    assert rows(settings, "select count(*) from raw_ledger__connect_sessions where forgotten") == [(1,)]
    assert graph(service) == ({"SYMBIOSIS": 2, "EXECUTION": 2}, 3)
    with Warehouse(settings.data_dir).connect() as connection:
        assert failures(connection, "out_connect__daily") == failures(connection, "out_connect__steps") == set()
    with service.ledger.read() as reader:
        report = verify(reader)
    assert report.intact, report.faults


def test_a_set_up_whose_intake_is_not_in_the_graph_is_reported_without_it(service):
    intake_id = register(service, HUMAN).json()["id"]
    keep(service.ledger, open_session(service.ledger), finished(plan_of()), intake_id)
    with Warehouse(service.settings.data_dir).connect() as connection:
        assert [decision.verdict for decision in sync_sessions(connection, service.ledger).decisions] == ["approved"]
    assert graph(service) == ({"SYMBIOSIS": 1, "EXECUTION": 1}, 1)


def test_a_run_is_due_when_a_session_has_changed(ledger_settings: Settings, ledger):
    with Warehouse(ledger_settings.data_dir).connect():
        pass
    assert not has_unsynced_changes(ledger_settings, CONNECT)
    with ledger.transaction() as tx:
        sessions.issue_code(tx, b"pepper")
    assert not has_unsynced_changes(ledger_settings, CONNECT)
    open_session(ledger)
    assert has_unsynced_changes(ledger_settings, CONNECT)


SESSION = (
    "insert into raw_ledger__connect_sessions values "
    "('k1', '2026-01-02', 'codex', 'linux', 'guided_local', 2, 2, 0, 0, true, false, false, false)"
)
STEPS = "insert into raw_ledger__connect_steps values ('k1', 1, 'a', 'done', 0), ('k1', 2, 'b', 'done', 1)"
DAILY = "insert into out_connect__daily values ('2026-01-02', 1, 1, 0, 1, 0)"
BY_STEP = (
    "insert into out_connect__steps values ('codex', 'a', 1, 1, 1, 1, 0, 0, 0), ('codex', 'b', 2, 1, 1, 1, 0, 0, 1)"
)
SOUND = (SESSION, STEPS, DAILY, BY_STEP)


@pytest.mark.parametrize(
    ("name", "statements", "failed"),
    [
        ("out_connect__daily", (), set()),
        ("out_connect__steps", (), set()),
        ("out_connect__daily", SOUND, set()),
        ("out_connect__steps", SOUND, set()),
        ("out_connect__daily", (SESSION,), {"sessions_missing"}),
        ("out_connect__daily", (SESSION, DAILY.replace("1, 1, 0, 1, 0", "1, 0, 0, 1, 0")), {"counts_out_of_order"}),
        ("out_connect__daily", (SESSION.replace("2, 2, 0, 0", "2, 1, 0, 0"), DAILY), {"sessions_unlike_steps"}),
        ("out_connect__steps", (SESSION, STEPS), {"steps_missing"}),
        (
            "out_connect__steps",
            (*SOUND[:3], BY_STEP.replace("1, 1, 1, 1, 0", "1, 1, 0, 1, 0")),
            {"counts_out_of_order"},
        ),
        ("out_connect__steps", (SESSION, STEPS.replace("'done', 0", "'lost', 0"), BY_STEP), {"unknown_states"}),
        (
            "out_connect__steps",
            (SESSION, STEPS.replace("'done'", "'active'"), BY_STEP),
            {"sessions_with_two_active_steps"},
        ),
        ("out_connect__steps", (SESSION,), {"sessions_without_their_steps"}),
    ],
)
def test_each_suite_passes_on_sound_rows_and_fails_on_each_fault_that_it_names(
    tmp_path, name: str, statements: tuple[str, ...], failed: set[str]
):
    with Warehouse(tmp_path).connect() as connection:
        for statement in statements:
            connection.execute(statement)
        assert failures(connection, name) == failed
