-- One row per private node of :payer that keys of the claim wrote, or that was :operator's before: its newest state as
-- JSON, and whether (1) a key wrote it too that names another operator or none.
select
    s.body,
    case
        when exists (
            select 1 from world_events e
            where e.entity_id = s.id and e.kind = 'node' and e.actor = :payer and not exists (
                select 1
                from world_decision_payloads p
                join api_keys k on k.key_id = p.key_id
                join access_claims c on c.claim_id = k.claim_id
                join access_quotes q on q.quote_id = c.quote_id
                where p.seq = e.decision_seq and c.payer = :payer and q.operator = :operator
            )
        ) then 1
        else 0
    end as shared
from world_nodes s
where s.owner = :payer and exists (
    select 1
    from world_events e
    left join world_decision_payloads p on p.seq = e.decision_seq
    left join api_keys k on k.key_id = p.key_id
    where e.entity_id = s.id and e.kind = 'node' and (k.claim_id = :claim_id or e.actor = :operator)
)
order by s.id
