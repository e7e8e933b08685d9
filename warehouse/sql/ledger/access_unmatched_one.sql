-- The unmatched transfer with an id; amount in the asset's smallest unit.
select * from access_unmatched_payments where payment_id = :payment_id
