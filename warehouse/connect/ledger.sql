-- name: connect_changed
-- One row per session that changed after a seq, in its current state, without profile, operator and token.
select
    session_id, substr(created_at, 1, 10) as day, assistant, os, runtime_profile, progress_json, intake_id, closed_at
from connect_sessions
where session_id in (select entity_id from ledger_changes where seq > :seq and kind = 'connect')

-- name: connect_close_session
-- Ends a session before its time.
update connect_sessions set closed_at = :closed_at, revision = revision + 1
where session_id = :session_id and closed_at is null

-- name: connect_consume_pairing
-- Marks a code as used.
update connect_pairings set consumed_at = :consumed_at where pairing_id = :pairing_id

-- name: connect_delete_pairings
-- Deletes codes that expired before :expired_before, whose sessions are gone.
delete from connect_pairings
where
    expires_at < :expired_before
    and not exists (select 1 from connect_sessions where connect_sessions.pairing_id = connect_pairings.pairing_id)

-- name: connect_delete_sessions
-- Deletes sessions that expired before :expired_before.
delete from connect_sessions where expires_at < :expired_before

-- name: connect_delete_session_graphs
-- Deletes the opened graphs of sessions that expired before :expired_before.
delete from connect_session_graphs
where session_id in (select session_id from connect_sessions where expires_at < :expired_before)

-- name: connect_forget_graph
-- Forgets the graph that a session opened.
delete from connect_session_graphs where session_id = :session_id

-- name: connect_forget_intake
-- Forgets the agent and the reports of the sessions of an intake, and closes the open ones.
update connect_sessions
set
    agent = null, progress_json = null, intake_id = null, closed_at = coalesce(closed_at, :closed_at),
    revision = revision + 1
where intake_id = :intake_id

-- name: connect_insert_pairing
-- Inserts a pairing code; consumed_at is null if it was issued and not used yet.
insert into connect_pairings (pairing_id, code_digest, profile_id, issued_at, expires_at, consumed_at)
values (:pairing_id, :code_digest, :profile_id, :issued_at, :expires_at, :consumed_at)

-- name: connect_insert_session
-- Inserts a session that was just opened.
insert into connect_sessions (
    session_id, token_digest, pairing_id, profile_id, agent, created_at, expires_at, revision
)
values (:session_id, :token_digest, :pairing_id, :profile_id, :agent, :created_at, :expires_at, 0)

-- name: connect_newest_change
-- The newest change of a session after a seq; null if there is none.
select max(seq) as seq from ledger_changes where seq > :seq and kind = 'connect'

-- name: connect_open_graph
-- Records the graph that a session opened, in place of the one it opened before.
insert into connect_session_graphs (session_id, owner, key_id, opened_at)
values (:session_id, :owner, :key_id, :opened_at)
on conflict (session_id) do update set
    owner = excluded.owner,
    key_id = excluded.key_id,
    opened_at = excluded.opened_at

-- name: connect_opened_graph
-- At most one row: the owner of the graph that a session opened, if it was by a signature or its key is still active.
select g.owner
from connect_session_graphs g
left join api_keys k on k.key_id = g.key_id
where g.session_id = :session_id and (g.key_id is null or k.state = 'active')

-- name: connect_pairing_of_code
-- The pairing that a code opens, or opened.
select pairing_id, profile_id, expires_at, consumed_at from connect_pairings where code_digest = :code_digest

-- name: connect_save_session
-- Saves the plan that an open session chose, its progress, and the intake that it registered; changes no row if another
-- write came first.
update connect_sessions
set
    assistant = :assistant, os = :os, runtime_profile = :runtime_profile, progress_json = :progress_json,
    intake_id = :intake_id, revision = revision + 1
where session_id = :session_id and revision = :revision and closed_at is null and expires_at > :now

-- name: connect_session
-- The session with an id.
{session} where session_id = :session_id

-- name: connect_session_of_token
-- The session of a token.
{session} where token_digest = :token_digest

-- name: connect_sessions_of_intake
-- One row per session that registered an intake, oldest first.
select
    session_id, profile_id, agent, created_at, expires_at, closed_at, assistant, os, runtime_profile, progress_json
from connect_sessions where intake_id = :intake_id order by created_at

-- name: connect_to_propose
-- The current progress of a session, and the key of its intake in the graph unless the intake is forgotten.
select s.progress_json, i.graph_key
from connect_sessions s
left join intakes i on i.intake_id = s.intake_id and i.forgotten_at is null
where s.session_id = :session_id

-- name: session
-- One row per session, including ended ones.
select
    session_id, profile_id, agent, created_at, expires_at, closed_at, assistant, os, runtime_profile, progress_json,
    revision, intake_id
from connect_sessions
