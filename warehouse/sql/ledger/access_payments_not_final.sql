-- One row per transfer of a claim that may still leave the chain, those of the newest claims first (amounts in smallest
-- units).
select p.*
from access_payments p
join access_claims c on c.claim_id = p.claim_id
where p.final_at is null
order by c.issued_at desc, p.claim_id, p.transaction_hash, p.log_position
limit :limit
