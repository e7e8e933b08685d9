-- One row per node: its newest state.
insert into world_nodes (id, owner, visibility, domain, live, dedupe_key, fact_key, revision, body)
values (:id, :owner, :visibility, :domain, :live, :dedupe_key, :fact_key, :revision, :body)
on conflict (id) do update set
    owner = excluded.owner,
    visibility = excluded.visibility,
    domain = excluded.domain,
    live = excluded.live,
    dedupe_key = excluded.dedupe_key,
    fact_key = excluded.fact_key,
    revision = excluded.revision,
    body = excluded.body
