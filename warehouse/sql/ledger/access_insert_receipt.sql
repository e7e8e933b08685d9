-- One new receipt.
insert into access_receipts (receipt_id, claim_id, body_json, receipt_hash, signature_json)
values (:receipt_id, :claim_id, :body_json, :receipt_hash, :signature_json)
