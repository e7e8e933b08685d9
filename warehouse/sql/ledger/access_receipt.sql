-- The receipt of a claim.
select body_json, receipt_hash, signature_json from access_receipts where claim_id = :claim_id
