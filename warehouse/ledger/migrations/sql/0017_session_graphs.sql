-- The graph that a connect session sees besides its profile's, because a key was presented in it or an address signed.
-- Times are RFC 3339 text in UTC.

-- One row per session that opened a graph: the last one that it opened. key_id is null if the owner's address signed;
-- otherwise the session sees the graph while that key is active.
create table connect_session_graphs (
    session_id text not null primary key references connect_sessions (session_id),
    owner text not null,
    key_id text,
    opened_at text not null
);
