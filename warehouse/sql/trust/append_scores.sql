-- Appends the agents of the JSON array $rows. Times come as Unix seconds, sums of weights as decimal text.
insert into core_trust__scores by name
select
    * exclude (last_at_s) replace (weight_sum::hugeint as weight_sum, weighted_sum::hugeint as weighted_sum),
    make_timestamp(last_at_s * 1000000) as last_attested_at
from (
    select unnest(
        from_json(
            $rows::json,
            '[{"agent": "varchar", "attestation_count": "bigint", "weighted_score": "bigint",
               "average_score": "bigint", "score_sum": "bigint", "weight_sum": "varchar", "weighted_sum": "varchar",
               "last_at_s": "bigint"}]'
        ),
        recursive := true
    )
)
