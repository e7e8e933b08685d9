-- The first intake of an identity within its lane.
select intake_id from intakes
where lane = :lane and identity_digest = :identity_digest
order by received_at, intake_id
limit 1
