-- The oldest claim that holds and names the intake, by its agent's id or by its own, and is not :claim_id.
select c.claim_id, c.payer
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
join intakes i on i.intake_id = q.user_id or i.agent_id = q.agent_id
where i.intake_id = :intake_id and c.claim_id <> :claim_id and c.state = 'issued'
order by c.issued_at, c.claim_id
limit 1
