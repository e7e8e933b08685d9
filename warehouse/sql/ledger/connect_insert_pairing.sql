-- One pairing code; consumed_at is null where it was issued and not used yet.
insert into connect_pairings (pairing_id, code_digest, profile_id, issued_at, expires_at, consumed_at)
values (:pairing_id, :code_digest, :profile_id, :issued_at, :expires_at, :consumed_at)
