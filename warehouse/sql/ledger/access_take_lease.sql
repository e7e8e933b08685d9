-- Takes the lease of one quote where nobody holds it any more.
insert into access_leases (quote_id, owner, expires_at) values (:quote_id, :owner, :expires_at)
on conflict (quote_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
where access_leases.expires_at <= :now
