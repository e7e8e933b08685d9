-- One row: attestations, agents and attesters that are counted.
select
    (select count(*) from core_trust__history) as attestations,
    (select count(*) from core_trust__scores) as agents,
    (select count(distinct attester) from core_trust__history) as attesters
