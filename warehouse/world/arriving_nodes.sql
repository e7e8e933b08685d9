-- One row per arriving state of a node, in the order of `arriving_bodies`, parsed from its JSON record. The record
-- stays there, except for tombstones. `live` is decided as by `is_live`. Times are UTC.
create temp table arriving_nodes as
select
    state.id,
    state.revision,
    state.title,
    state.type,
    state.domain,
    state.properties,
    state.visibility,
    state.owner,
    state.immutable,
    coalesce(state.erased, false) as erased,
    state.validFrom <= state.recordedAt
    and coalesce(state.recordedAt < state.validTo, true)
    and not coalesce(state.erased, false) as live,
    state.validFrom as valid_from,
    state.validTo as valid_to,
    state.recordedAt as recorded_at,
    state.source,
    state.actor,
    follows,
    case when state.erased then body end as tombstone
from (
    select
        body,
        follows,
        from_json(body, '{
            "id": "VARCHAR", "revision": "BIGINT", "title": "VARCHAR", "type": "VARCHAR", "domain": "VARCHAR",
            "properties": "JSON", "visibility": "VARCHAR", "owner": "VARCHAR", "immutable": "BOOLEAN",
            "erased": "BOOLEAN", "validFrom": "TIMESTAMP", "validTo": "TIMESTAMP", "recordedAt": "TIMESTAMP",
            "source": "VARCHAR", "actor": "VARCHAR"
        }') as state
    from arriving_bodies
)
