-- name: facts_core_trust__scores
-- One row of facts about the scores against the attestations they are counted from; 0 is right everywhere.
select
    (select count(*) from core_trust__scores) as agents,
    (
        select count(*) from raw_chain__attestations
        where block_number <= coalesce((select block from core_trust__state), -1)
    ) - (select count(*) from core_trust__history) as attestations_not_counted,
    (
        select count(*)
        from core_trust__scores as held
        full join (
            select agent, count(*) as counted, max(number) as newest from core_trust__history group by agent
        ) as told using (agent)
        where held.attestation_count is distinct from told.counted or told.counted is distinct from told.newest
    ) as counts_unlike_history,
    (
        select count(*) from core_trust__scores
        where weighted_score not between 1 and 100 or average_score not between 1 and 100
    ) as scores_out_of_range,
    (select count(*) - count(distinct agent) from core_trust__scores) as doubled_agents
