-- Whose graph a session of connect sees beside its profile's, since a key was presented in it or an address signed. Times
-- are RFC 3339 text in UTC.

-- One row per session that opened a graph, the last one that it opened. key_id is null where the owner's address signed;
-- else the graph is seen while that key is active.
create table connect_session_graphs (
    session_id text not null primary key references connect_sessions (session_id),
    owner text not null,
    key_id text,
    opened_at text not null
);
