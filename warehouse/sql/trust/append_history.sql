-- Appends the attestations of the JSON array $rows with the scores after them. Times come as Unix seconds.
insert into core_trust__history by name
select * exclude (attested_at_s), make_timestamp(attested_at_s * 1000000) as attested_at
from (
    select unnest(
        from_json(
            $rows::json,
            '[{"agent": "varchar", "number": "bigint", "block": "bigint", "log_index": "integer",
               "attester": "varchar", "job_id": "varchar", "score": "bigint", "weighted_score": "bigint",
               "average_score": "bigint", "attested_at_s": "bigint", "metadata_uri": "varchar"}]'
        ),
        recursive := true
    )
)
