-- One row per state of an edge that comes next, in the order of `arriving_bodies`: of its record as JSON, which stays there
-- but for tombstones. It is live as `is_live` has it. Times are UTC.
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
