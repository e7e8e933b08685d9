-- One row per transfer that paid nothing, newest first; amount in the asset's smallest unit.
select * from access_unmatched_payments where state = :state order by recorded_at desc, payment_id
