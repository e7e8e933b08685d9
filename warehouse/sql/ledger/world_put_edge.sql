-- One row per edge: its newest state.
insert into world_edges (id, source, target, type, owner, visibility, live, revision, body)
values (:id, :source, :target, :type, :owner, :visibility, :live, :revision, :body)
on conflict (id) do update set
    source = excluded.source,
    target = excluded.target,
    type = excluded.type,
    owner = excluded.owner,
    visibility = excluded.visibility,
    live = excluded.live,
    revision = excluded.revision,
    body = excluded.body
