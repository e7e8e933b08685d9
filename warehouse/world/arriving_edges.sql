-- One row per arriving state of an edge, in the order of `arriving_bodies`, parsed from its JSON record. The record
-- stays there, except for tombstones. `live` is decided as by `is_live`. Times are UTC.
create temp table arriving_edges as
select
    state.id,
    state.revision,
    state.source,
    state.target,
    state.type,
    state.properties,
    state.visibility,
    state.owner,
    state.validFrom <= state.recordedAt and coalesce(state.recordedAt < state.validTo, true) as live,
    state.validFrom as valid_from,
    state.validTo as valid_to,
    state.recordedAt as recorded_at,
    state.statedIn as stated_in,
    state.actor,
    follows,
    case when state.actor = 'forgotten' then body end as tombstone
from (
    select
        body,
        follows,
        from_json(body, '{
            "id": "VARCHAR", "revision": "BIGINT", "source": "VARCHAR", "target": "VARCHAR", "type": "VARCHAR",
            "properties": "JSON", "visibility": "VARCHAR", "owner": "VARCHAR", "validFrom": "TIMESTAMP",
            "validTo": "TIMESTAMP", "recordedAt": "TIMESTAMP", "statedIn": "VARCHAR", "actor": "VARCHAR"
        }') as state
    from arriving_bodies
)
