-- Takes the lease of one quote where nobody holds it any more and no claim has redeemed it.
insert into access_leases (quote_id, owner, expires_at)
select :quote_id, :owner, :expires_at
where not exists (select 1 from access_claims where quote_id = :quote_id)
on conflict (quote_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
where access_leases.expires_at <= :now
